"""The report's section on frames."""

from typing import Any

from chorale.engine.running import Study
from chorale.kits.frames.browsing import (
    browsing_of_study,
    histogram_tables,
    pairs_table,
    sentences_table,
    summary_table,
)
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable
from chorale.report.document import SectionContent
from chorale.store import Tx

_SHOWN = 10


def frames_section(_tx: Tx, study: Study, _resampling: Resampling) -> SectionContent | None:
    tables: list[ScoreTable] = []
    details: list[ScoreTable] = []
    by_stage: dict[str, Any] = {}
    for stage in study.stages.values():
        if stage.task.name != "frames" or stage.settings.round is not None:
            continue
        browsing = browsing_of_study(study, stage)
        if browsing.sentences:
            tables.append(summary_table(browsing))
            details += histogram_tables(browsing)
            details += [sentences_table(browsing, _SHOWN), pairs_table(browsing, _SHOWN)]
            counts = browsing.majorities
            by_stage[stage.name] = {
                "sentences": counts.sentences,
                "majorities": {"several": counts.several, "one": counts.single, "none": counts.none},
                "sqs": browsing.histograms(),
            }
    return SectionContent(tables, by_stage, details=details) if tables else None
