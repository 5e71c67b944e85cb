"""How far people agree, for stages where they choose from a list: workers, items and options, as of now."""

import asyncio
from dataclasses import dataclass

from fastapi import Request, Response

from chorale.engine.quality import stage_quality, worker_qualities
from chorale.engine.running import RunningStage, Study
from chorale.model import Refusal
from chorale.protocol import WorkerQuality
from chorale.web.console.frame import Console
from chorale.web.worker import StageInPath

SHOWN = 50
"""Rows of a table: the least agreed on come first, and nobody reads on from there."""


@dataclass(frozen=True, slots=True)
class QualityView:
    stage: RunningStage
    judgments: int
    workers: list[tuple[str, WorkerQuality]]
    items: list[tuple[str, float]]
    options: list[tuple[str, float]]
    iterations: int


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
        view = await asyncio.to_thread(_view, site.study, stage)
        choosing = [each.name for each in site.study.stages.values() if each.task.combining.chosen is not None]
        return console.page(request, "quality", view=view, choosing=choosing, shown=SHOWN)


def _view(study: Study, stage: RunningStage) -> QualityView:
    known = stage_quality(study, stage, at_once=True)
    scores = known.crowdtruth
    if scores is None:
        return QualityView(stage, len(known.answers), [], [], [], 0)
    workers = sorted(((name, quality) for _, name, quality in worker_qualities(known)), key=lambda one: one[1].wqs)
    items = sorted(zip(scores.units, scores.uqs.tolist(), strict=True), key=lambda one: (one[1], one[0]))
    options = sorted(zip(scores.annotations, scores.aqs.tolist(), strict=True), key=lambda one: (one[1], one[0]))
    return QualityView(stage, len(known.answers), workers, items, options, scores.iterations)
