"""What became of the things a study set out to judge, as its tasks tell it."""

from collections.abc import Mapping

from chorale.store import Tx, results
from chorale.study.running import RunningStage, Study
from chorale.tasks import StageResults


def stage_results(tx: Tx, study: Study, stage: RunningStage) -> StageResults:
    """A stage's items and those they were derived from, streamed."""
    earlier = stage.settings.items.from_
    return StageResults(
        items=(item.as_source() for item in results.all_items(tx, stage.name)),
        sources=None
        if earlier is None
        else (item.as_source() for item in results.all_items(tx, study.stage(earlier).name)),
        confidence=stage.settings.items.confidence,
        options=stage.options,
    )


def tallies(tx: Tx, study: Study) -> Mapping[str, Mapping[str, int]]:
    """For every table of a task that leaves things out: how many came to which end."""
    return {
        export.name: export.tally(stage_results(tx, study, stage))
        for stage in study.stages.values()
        for export in stage.task.exports
        if export.tally is not None
    }
