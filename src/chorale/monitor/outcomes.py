"""Outcomes of a study's items, as its tasks count them."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache

from chorale.contract import Origin, Seeds, StageResults
from chorale.engine.running import RunningStage, Study
from chorale.model import ItemState, SourceItem
from chorale.store import Tx, arms, participations
from chorale.store.first_answers import imported_pairs
from chorale.store.items import all_items
from chorale.store.judgments_in_order import JudgmentsInOrder
from chorale.store.origins import origins


def stage_results(tx: Tx, study: Study, stage: RunningStage) -> StageResults:
    """A stage's items and those they were derived from, streamed."""
    earlier = stage.settings.sources
    items = stage.settings.items
    judgments = JudgmentsInOrder(tx, stage.settings.gold)
    return StageResults(
        items=(item.as_source() for item in all_items(tx, stage.name) if item.state != ItemState.WITHDRAWN),
        sources=(item.as_source() for name in earlier for item in all_items(tx, name)) if earlier else None,
        confidence=items.confidence if items else 0.0,
        options=stage.options,
        judgments=lambda item: judgments.of(item.id),
        seeds=_seeds(tx, study, stage),
        origin=_origins(tx, stage),
        arm=arms.arms_by_worker(tx).get,
        seconds=_seconds(tx, stage),
    )


def _seeds(tx: Tx, study: Study, stage: RunningStage) -> Callable[[str, str], Seeds | None]:
    """The seeds by worker and item; None for imported answers, where the order of the options is unknown."""

    @cache
    def imported() -> frozenset[tuple[str, str]]:
        return imported_pairs(tx, stage.id)

    def seeds(worker: str, key: str) -> Seeds | None:
        return None if (worker, key) in imported() else Seeds.of(study.settings.study.seed, stage.name, worker, key)

    return seeds


def _seconds(tx: Tx, stage: RunningStage) -> Callable[[str], float | None]:
    """The mean time per answer of each worker, read at the first request."""

    @cache
    def seconds_by_worker() -> Mapping[str, float]:
        standings = (
            row for row in participations.participation_summaries(tx) if row.stage == stage.name and row.answered
        )
        return {row.worker: row.worked_ms / row.answered / 1000 for row in standings}

    return lambda worker: seconds_by_worker().get(worker)


def _origins(tx: Tx, stage: RunningStage) -> Callable[[SourceItem], Origin | None]:
    """The answers that items were made from, read at the first request."""

    @cache
    def origin_by_item() -> Mapping[int, Origin]:
        return {row.item_id: Origin(row.worker, row.arm, row.stage, row.item) for row in origins(tx, stage.name)}

    return lambda item: origin_by_item().get(item.id)


def tallies(tx: Tx, study: Study) -> Mapping[str, Mapping[str, int]]:
    """Counts by outcome, for every table of a task that leaves rows out.

    If several stages have the table, names include the stage, as in exports.
    """
    tables = [(stage, export) for stage in study.stages.values() for export in stage.task.exports]
    count = Counter(export.name for _, export in tables)
    origin_by_item = {
        export.name if count[export.name] == 1 else f"{export.name}-{stage.name}": export.tally(
            stage_results(tx, study, stage)
        )
        for stage, export in tables
        if export.tally is not None
    }
    return {name: tally for name, tally in origin_by_item.items() if tally}
