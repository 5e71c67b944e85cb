"""CrowdTruth quality scores of workers, items and options, for stages whose answers can be compared."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from fastapi import Query, Request, Response

from chorale.contract import AnswerField, QualityNames, Scale
from chorale.contract.fields import LEVELS
from chorale.engine.quality import stage_quality, worker_qualities
from chorale.engine.running import RunningStage, Study
from chorale.model import Refusal
from chorale.monitor.field_gold import gold_by_worker
from chorale.protocol import WorkerQuality
from chorale.store import Tx
from chorale.store.items import find_item
from chorale.web.console.frame import NO_NUL, Console
from chorale.web.console.paging import PageNumber, Paging
from chorale.web.console.texts import item_text
from chorale.web.worker import StageInPath

if TYPE_CHECKING:
    # It imports NumPy.
    from chorale.metrics.aggregation.crowdtruth import CrowdTruth

FieldName = Annotated[str, Query(max_length=60, pattern=NO_NUL)]
PER_PAGE = 15
MOST_AT_ONCE = 5_000
"""Up to this many annotations, scores are recomputed on every request; with more, after every 5% increase."""
OPTIONS_SHOWN = 3
"""Number of options listed for an item, the best first."""


@dataclass(frozen=True, slots=True)
class UnitLine:
    """An item with its quality score and its best options."""

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
    item_count: int
    options: list[tuple[str, float]]
    names: QualityNames
    gold: Mapping[str, tuple[int, int]]
    """By worker: the numbers of correct and of all answers to gold in the displayed field."""


def add_quality_routes(console: Console) -> None:
    router, site = console.to_see, console.site

    @router.get("/quality")
    async def first(request: Request, field: FieldName = "") -> Response:
        stages = site.study.stages.values()
        return await shown(request, next((stage for stage in stages if has_quality(stage)), None), field, (1, 1, 1))

    @router.get("/quality/{name}")
    async def of_stage(
        request: Request,
        name: StageInPath,
        field: FieldName = "",
        workers: PageNumber = 1,
        items: PageNumber = 1,
        options: PageNumber = 1,
    ) -> Response:
        return await shown(request, site.study.stage(name), field, (workers, items, options))

    async def shown(request: Request, stage: RunningStage | None, field: str, pages: tuple[int, int, int]) -> Response:
        if stage is None or not has_quality(stage):
            lacking = "This study has no stage" if stage is None else f"{stage.name} is not a stage"
            message = (
                f"{lacking} with CrowdTruth quality scores. Such scores need comparable answers, and are not "
                "computed for training rounds."
            )
            raise Refusal("no_choices", message, 404)
        fields = {each.name: each for each in stage.task.shape.compared}
        asked = fields.get(field) or next(iter(fields.values()), None)
        if stage.task.combining.chosen is not None and not fields:
            asked = None
        opening = "part" not in request.query_params
        view = await asyncio.to_thread(_view, site.study, stage, asked, page=pages[1], opening=opening)
        choosing = [each.name for each in site.study.stages.values() if has_quality(each)]
        return console.live_page(
            request,
            "quality",
            under="/console/quality",
            view=view,
            choosing=choosing,
            workers=Paging(pages[0], len(view.workers), PER_PAGE),
            items=Paging(pages[1], view.item_count, PER_PAGE),
            options=Paging(pages[2], len(view.options), PER_PAGE),
            fields=list(fields),
            asked=asked,
        )


def has_quality(stage: RunningStage) -> bool:
    """Whether a stage has quality scores: it is no training round, and its answers can be compared."""
    return stage.settings.round is None and (stage.task.combining.chosen is not None or bool(stage.task.shape.compared))


def _view(study: Study, stage: RunningStage, field: AnswerField | None, *, page: int, opening: bool) -> QualityView:
    known = stage_quality(study, stage, field=field)
    if opening or len(known.answers) <= MOST_AT_ONCE:
        known = stage_quality(study, stage, at_once=True, field=field)
    names, scores = stage.task.combining.quality_names, known.crowdtruth
    if scores is None:
        return QualityView(stage, len(known.answers), [], [], 0, [], names, {})
    workers = sorted(((name, quality) for _, name, quality in worker_qualities(known)), key=lambda one: one[1].wqs)
    options = sorted(zip(scores.annotations, scores.aqs.tolist(), strict=True), key=lambda one: (one[1], one[0]))
    if field is not None and field.scale not in LEVELS and field.scale is not Scale.SET:
        options = []  # token numbers mean nothing without their item
    units = sorted(zip(scores.units, scores.uqs.tolist(), strict=True), key=lambda one: (one[1], one[0]))
    shown = list(Paging(page, len(units), PER_PAGE).rows(units))
    lines = study.store.look(lambda tx: _lines(tx, stage, shown, scores))
    words = {} if field is None else {str(value): text for value, text in field.options}
    options = _named(options, words)
    lines = [replace(line, options=_named(line.options, words) if options else []) for line in lines]
    gold = study.store.look(lambda tx: _gold(tx, stage, field))
    return QualityView(stage, len(known.answers), workers, lines, len(units), options, names, gold)


def _named(scores: list[tuple[str, float]], words: Mapping[str, str]) -> list[tuple[str, float]]:
    """Scores of options, with the texts that workers read in place of stored values."""
    return [(words.get(name, name), score) for name, score in scores]


def _gold(tx: Tx, stage: RunningStage, field: AnswerField | None) -> dict[str, tuple[int, int]]:
    if field is None or stage.settings.gold is None:
        return {}
    return {name: own[field.name] for name, own in gold_by_worker(tx, stage).items() if field.name in own}


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
