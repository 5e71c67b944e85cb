"""The report's section about questions and answers."""

from chorale.engine.running import Study
from chorale.kits.qasrl.study_numbers import qasrl_study
from chorale.metrics.resampling import Resampling
from chorale.report.document import SectionContent
from chorale.store import Tx


def qasrl_section(tx: Tx, study: Study, _resampling: Resampling) -> SectionContent | None:
    numbers = qasrl_study(tx, study)
    return None if numbers is None else SectionContent(numbers.tables(study.settings.pay.currency), numbers.as_json())
