"""What became of the things a study set out to judge, as its tasks tell it."""

from collections.abc import Mapping
from functools import partial

from chorale.store import Tx, results, work
from chorale.study.running import RunningStage, Study
from chorale.tasks import Seeds, StageResults


def stage_results(tx: Tx, study: Study, stage: RunningStage) -> StageResults:
    """A stage's items and those they were derived from, streamed."""
    earlier = stage.settings.sources
    items = stage.settings.items
    return StageResults(
        items=(item.as_source() for item in results.all_items(tx, stage.name)),
        sources=(item.as_source() for name in earlier for item in results.all_items(tx, name)) if earlier else None,
        confidence=items.confidence if items else 0.0,
        options=stage.options,
        judgments=lambda item: work.judgments_of(tx, item.id, stage.settings.gold),
        seeds=partial(Seeds.of, study.settings.study.seed, stage.name),
    )


def tallies(tx: Tx, study: Study) -> Mapping[str, Mapping[str, int]]:
    """For every table of a task that leaves things out: how many came to which end."""
    return {
        export.name: export.tally(stage_results(tx, study, stage))
        for stage in study.stages.values()
        for export in stage.task.exports
        if export.tally is not None
    }
