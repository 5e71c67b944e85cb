"""How far people agree, for stages where they choose from a list: workers, items and options, as of now."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import Request, Response

from chorale.contract import QualityNames
from chorale.engine.quality import stage_quality, worker_qualities
from chorale.engine.running import RunningStage, Study
from chorale.model import Refusal
from chorale.protocol import WorkerQuality
from chorale.store import Tx
from chorale.store.items import find_item
from chorale.web.console.frame import Console
from chorale.web.console.texts import item_text
from chorale.web.worker import StageInPath

if TYPE_CHECKING:
    # It brings NumPy along.
    from chorale.metrics.aggregation.crowdtruth import CrowdTruth

SHOWN = 50
"""Rows of a table: the least agreed on come first, and nobody reads on from there."""


MOST_AT_ONCE = 5_000
"""Judgments up to which the scores are computed again whenever the page asks; beyond, when 5% more have come."""
OPTIONS_SHOWN = 3
"""Of an item: those that fit best."""


@dataclass(frozen=True, slots=True)
class UnitLine:
    """An item with its quality, and the options that fit it best."""

    key: str
    text: str
    score: float
    options: list[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class QualityView:
    stage: RunningStage
    judgments: int
    workers: list[tuple[str, WorkerQuality]]
    items: list[UnitLine]
    options: list[tuple[str, float]]
    names: QualityNames


def add_quality_routes(console: Console) -> None:
    router, site = console.to_see, console.site

    @router.get("/quality")
    async def first(request: Request) -> Response:
        return await shown(
            request, next((stage for stage in site.study.stages.values() if stage.task.combining.chosen), None)
        )

    @router.get("/quality/{name}")
    async def of_stage(request: Request, name: StageInPath) -> Response:
        return await shown(request, site.study.stage(name))

    async def shown(request: Request, stage: RunningStage | None) -> Response:
        if stage is None or stage.task.combining.chosen is None:
            raise Refusal("no_choices", "Nobody chooses from a list there, so nothing is measured.", 404)
        view = await asyncio.to_thread(_view, site.study, stage, opening="part" not in request.query_params)
        choosing = [each.name for each in site.study.stages.values() if each.task.combining.chosen is not None]
        return console.live_page(request, "quality", view=view, choosing=choosing, shown=SHOWN)


def _view(study: Study, stage: RunningStage, *, opening: bool) -> QualityView:
    known = stage_quality(study, stage)
    if opening or len(known.answers) <= MOST_AT_ONCE:
        known = stage_quality(study, stage, at_once=True)
    names, scores = stage.task.combining.quality_names, known.crowdtruth
    if scores is None:
        return QualityView(stage, len(known.answers), [], [], [], names)
    workers = sorted(((name, quality) for _, name, quality in worker_qualities(known)), key=lambda one: one[1].wqs)
    options = sorted(zip(scores.annotations, scores.aqs.tolist(), strict=True), key=lambda one: (one[1], one[0]))
    units = sorted(zip(scores.units, scores.uqs.tolist(), strict=True), key=lambda one: (one[1], one[0]))[:SHOWN]
    lines = study.store.look(lambda tx: _lines(tx, stage, units, scores))
    return QualityView(stage, len(known.answers), workers, lines, options, names)


def _lines(tx: Tx, stage: RunningStage, units: list[tuple[str, float]], scores: "CrowdTruth") -> list[UnitLine]:
    wanted = {key for key, _ in units}
    fitting = {key: found for key, found in scores.unit_annotation_scores() if key in wanted}
    lines = []
    for key, score in units:
        item = find_item(tx, stage.name, key)
        best = sorted(fitting[key].items(), key=lambda one: (-one[1], one[0]))[:OPTIONS_SHOWN]
        text = "" if item is None else item_text(stage, item.payload)
        lines.append(UnitLine(key, text, score, [(name, fit) for name, fit in best if fit > 0]))
    return lines
