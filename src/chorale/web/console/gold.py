"""Gold items: what could become gold, gold in use, and retired gold."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Form, Request, Response
from fastapi.responses import RedirectResponse

from chorale.engine import gold_desk
from chorale.engine.running import RunningStage, Study
from chorale.model import Item, Refusal
from chorale.model import Response as StudyResponse
from chorale.store import Tx, gold, responses
from chorale.store.gold import GoldItem
from chorale.web.console.answers import read_answer, typed_answer
from chorale.web.console.frame import NO_NUL, Console, back_to, on_mistake
from chorale.web.console.paging import PageNumber, Paging
from chorale.web.pages import markdown
from chorale.web.worker import StageInPath

CANDIDATES_SHOWN = 10
# Beyond this number the page does not count.
CANDIDATES_COUNTED = 200
GOLD_PER_PAGE = 10
# Gold that enough people answered and most got wrong is more likely to be wrong itself.
SUSPICIOUS_AFTER = 5
SUSPICIOUS_BELOW = 0.5

Text = Annotated[str, Form(max_length=4000, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class GoldLine:
    row: GoldItem

    @property
    def suspicious(self) -> bool:
        return self.row.answered >= SUSPICIOUS_AFTER and self.row.right < SUSPICIOUS_BELOW * self.row.answered


@dataclass(frozen=True, slots=True)
class Confusing:
    item: Item
    judgments: list[StudyResponse]


@dataclass(frozen=True, slots=True)
class GoldDesk:
    """A stage's gold, and items that could become gold."""

    active: list[GoldLine]
    retired: list[GoldLine]
    unanimous: list[Item]
    unanimous_total: int
    confusing: list[Confusing]
    confusing_total: int


def _desk(tx: Tx, _study: Study, stage: RunningStage) -> GoldDesk:
    lines = [GoldLine(row) for row in gold.gold_items(tx, stage.name, stage.lowest_correct)]
    # Gold that may be wrong comes first.
    lines.sort(key=lambda line: (not line.suspicious, line.row.key))
    candidates = gold_desk.first_candidates(tx, stage, CANDIDATES_SHOWN, CANDIDATES_COUNTED)
    judgments: dict[int, list[StudyResponse]] = defaultdict(list)
    for given in responses.all_responses(tx, item_ids=[item.id for item in candidates.confusing]):
        if given.counts:
            judgments[given.item_id].append(given)
    return GoldDesk(
        [line for line in lines if line.row.active],
        [line for line in lines if not line.row.active],
        candidates.unanimous,
        candidates.unanimous_total,
        [Confusing(item, judgments[item.id]) for item in candidates.confusing],
        candidates.confusing_total,
    )


def stage_with_gold(study: Study, name: str) -> RunningStage:
    """A stage by its name, if it has gold."""
    stage = study.stage(name)
    if stage.settings.gold is None:
        raise Refusal(
            "no_gold",
            "This stage has no [stage.gold] table in study.toml. This table can only be added before people start.",
            404,
        )
    return stage


def stage_with_answers_known(study: Study, name: str) -> RunningStage:
    """A stage by its name, if it has gold or is a round, whose questions all have known answers."""
    stage = study.stage(name)
    return stage if stage.settings.round is not None else stage_with_gold(study, name)


async def _desk_page(
    console: Console,
    request: Request,
    name: str,
    code: int = 200,
    *,
    page: int = 1,
    retired_page: int = 1,
    typed: dict[str, str] | None = None,
    **context: Any,
) -> Response:
    stage = stage_with_answers_known(console.site.study, name)
    desk = await console.site.read(_desk, stage)
    return console.page(
        request,
        "gold",
        code,
        under="/console/gold",
        chosen=stage,
        desk=desk,
        active=Paging(page, len(desk.active), GOLD_PER_PAGE),
        retired=Paging(retired_page, len(desk.retired), GOLD_PER_PAGE),
        suspicious=sum(line.suspicious for line in desk.active),
        hides_promoted=stage.settings.gold is not None and gold_desk.hides_promoted(console.site.study, stage),
        unanimous_explanation=gold_desk.UNANIMOUS_EXPLANATION,
        gold_answer=lambda item: gold_desk.gold_of(stage, item.answer, gold_desk.gold_fields(stage)),
        typed=typed or {},
        most_counted=CANDIDATES_COUNTED,
        **context,
    )


def add_gold_routes(console: Console) -> None:
    router, study = console.for_experts, console.site.study

    @router.get("/gold")
    async def first_desk(request: Request) -> Response:
        with_gold = [stage for stage in study.stages.values() if stage.settings.gold is not None]
        rounds = [stage for stage in study.stages.values() if stage.settings.round is not None]
        if there := [*with_gold, *rounds]:
            return RedirectResponse(f"/console/gold/{there[0].name}", 303)
        return console.page(request, "no_gold")

    @router.get("/gold/{name}")
    async def desk(request: Request, name: StageInPath, page: PageNumber = 1, retired_page: PageNumber = 1) -> Response:
        return await _desk_page(console, request, name, page=page, retired_page=retired_page)

    @router.get("/guidelines/{name}")
    async def guidelines(request: Request, name: StageInPath) -> Response:
        stage = study.stage(name)
        return console.page(
            request, "guidelines", chosen=stage, guidelines_html=markdown(stage.guidelines), under="/console/study"
        )


def add_gold_actions(console: Console) -> None:
    router, site = console.for_experts, console.site

    @router.post("/gold/{name}/promote")
    async def promote(request: Request, name: StageInPath, key: Text = "", explanation: Text = "") -> Response:
        stage = stage_with_gold(site.study, name)
        typed = {**await typed_answer(request), "key": key, "explanation": explanation}
        on_mistake(_desk_page, console, request, name, typed=typed)
        chosen = read_answer(stage.task, typed)
        await site.write(gold_desk.promote, stage, key, chosen, explanation, request.state.staff.name)
        return back_to(f"/console/gold/{name}", "gold")

    @router.post("/gold/{name}/promote-unanimous")
    async def promote_unanimous(request: Request, name: StageInPath) -> Response:
        stage = stage_with_gold(site.study, name)
        made = await asyncio.to_thread(gold_desk.promote_unanimous, site.study, stage, request.state.staff.name)
        return back_to(f"/console/gold/{name}", "all-gold", made)
