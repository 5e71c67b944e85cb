"""The page of items in which models and people differ most."""

from collections import Counter
from typing import NamedTuple

from fastapi import Request, Response

from chorale.contract.answer_words import answer_words
from chorale.engine.running import RunningStage
from chorale.monitor.differing import DifferingItem, differing_items
from chorale.store import Tx
from chorale.store.items import find_item
from chorale.web.console.frame import Console
from chorale.web.console.texts import item_text
from chorale.web.worker import StageInPath

MOST = 100


class DifferingLine(NamedTuple):
    """An item as the page shows it."""

    item: DifferingItem
    text: str
    models: list[tuple[str, str]]
    people: list[tuple[str, int]]
    """Answers in words, and how many gave each."""


def add_differing_routes(console: Console) -> None:
    """Where models and people differ, stage by stage."""
    site = console.site

    @console.to_see.get("/differing")
    async def first(request: Request) -> Response:
        stages = [stage for stage in site.study.stages.values() if stage.round_size is None]
        return await shown(request, stages[0] if stages else next(iter(site.study.stages.values())))

    @console.to_see.get("/differing/{name}")
    async def of_stage(request: Request, name: StageInPath) -> Response:
        return await shown(request, site.study.stage(name))

    async def shown(request: Request, stage: RunningStage) -> Response:
        lines = await site.read(lambda tx, _study: _lines(tx, stage))
        stages = [each for each in site.study.stages.values() if each.round_size is None]
        return console.page(request, "differing", stage=stage, stages=stages, lines=lines, most=MOST)


def _lines(tx: Tx, stage: RunningStage) -> list[DifferingLine]:
    lines = []
    for differing in differing_items(tx, stage, MOST):
        item = find_item(tx, stage.name, differing.key)
        payload = {} if item is None else item.payload
        given = [(name, answer_words(stage.task, payload, answer)) for name, answer in differing.models]
        people = Counter(answer_words(stage.task, payload, answer) for answer in differing.people)
        lines.append(DifferingLine(differing, item_text(stage, payload), given, people.most_common()))
    return lines
