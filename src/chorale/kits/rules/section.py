"""The report's section about inference rules."""

from collections import Counter

from chorale.engine.running import Study
from chorale.kits.rules.tasks.entailment import applications
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable
from chorale.monitor.outcomes import stage_results
from chorale.report.document import SectionContent
from chorale.store import Tx

_SHOWN = 10


def rules_section(tx: Tx, study: Study, _resampling: Resampling) -> SectionContent | None:
    judged = [
        application
        for stage in study.stages.values()
        if stage.task.name == "rules-entailment" and stage.settings.sources
        for application in applications(stage_results(tx, study, stage))
        if application.judgment is not None
    ]
    if not judged:
        return None
    counts = Counter(str(application.judgment) for application in judged)
    surest = sorted(judged, key=lambda each: (-(each.confidence or 0.0), str(each.payload)))[:_SHOWN]
    rows = [(each.payload["lhs"], each.payload["rhs"], str(each.judgment), each.confidence) for each in surest]
    columns = ("first phrase", "second phrase", "judgment", "confidence#")
    return SectionContent(
        [
            ScoreTable("Judged rule applications", ("judgment", "applications#"), sorted(counts.items())),
            ScoreTable("The most confident", columns, rows, digits=2),
        ],
        {"judged": dict(counts)},
    )
