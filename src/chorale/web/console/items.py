"""Items: the list with its filters, and everything about one item."""

import asyncio
import json
from dataclasses import dataclass
from math import isnan, nan
from typing import Annotated, Any, Literal, get_args

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from chorale.engine import settling
from chorale.engine.asking_experts import ask_experts
from chorale.engine.combining import field_results
from chorale.engine.correcting import GoldCorrection, correct_gold
from chorale.engine.running import RunningStage, Study
from chorale.model import Event, Grade, Item, ItemState, Refusal
from chorale.model import Response as StudyResponse
from chorale.monitor.event_words import in_words
from chorale.monitor.status import gold_of, has_seen_arms
from chorale.protocol import why_so_many_judgments
from chorale.store import Tx, events, labels, participations, responses
from chorale.store.gold import GoldAnswer, gold_answer
from chorale.store.grades import all_grades
from chorale.store.items import ItemsWanted, find_item, item_ids, items_by_id, lineage, made_from
from chorale.store.listing import Counted, count_items
from chorale.web.console.answers import read_answer, typed_answer
from chorale.web.console.frame import NO_NUL, Console, item_address, on_mistake
from chorale.web.console.gold import Text
from chorale.web.console.workers import StageName, chosen_stage
from chorale.web.worker import StageInPath

ITEMS_PER_PAGE = 25
MOST_CHILDREN = 25
EVENTS_SHOWN = 20
PATIENCE_SECONDS = 5.0

ItemKey = Annotated[str, Query(min_length=1, max_length=400, pattern=NO_NUL)]
ItemOrder = Literal["key", "least confident", "most confident", "most divided", "most judged"]
ItemFilter = Literal["", "waiting", "open", "complete", "withdrawn"]
ReleasedFilter = Literal["", "yes", "no"]
Disagreement = Literal["", "split", "unanimous"]
CHOICES = {
    "state": get_args(ItemFilter),
    "accepted": get_args(ReleasedFilter),
    "disagreement": get_args(Disagreement),
    "order": get_args(ItemOrder),
}
"""The choices of the filters on the page of items."""
Below = Annotated[str, Query(max_length=20, pattern=NO_NUL)]
Name = Annotated[str, Query(max_length=60, pattern=NO_NUL)]
AfterKey = Annotated[str, Query(max_length=400, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class ItemStory:
    """Everything about one item."""

    item: Item
    responses: list[StudyResponse]
    gold_counts: dict[str, tuple[int, int]]
    """By worker: the numbers of correct and of all answers to gold; of their parts, if the stage counts parts."""
    grades: list[Grade]
    lineage: list[tuple[str, str]]
    children: list[tuple[str, str, str]]
    """Stage, key and state of the items made from this item."""
    gold: GoldAnswer | None
    events: list[Event]
    origin: StudyResponse | None
    """The answer that this item was made from, if it was made from a single answer."""
    asking: str
    """The reason for the item's number of judgments."""
    fields: list[tuple[str, float | None]]
    """The confidence of each compared field, from the judgments; empty if answers have no fields."""


def _story(tx: Tx, study: Study, stage: RunningStage, key: str) -> ItemStory:
    item = find_item(tx, stage.name, key)
    if item is None:
        raise Refusal("not_found", f"Stage {stage.name} has no item {key}. Search the list of items.", 404)
    given = list(responses.all_responses(tx, item_ids=[item.id]))
    counts = {
        worker: gold_of(study, row)
        for worker in dict.fromkeys(one.worker for one in given)
        for row in participations.participation_summaries(tx, stage_name=stage.name, pseudonym=worker)
    }
    sources = lineage(tx, item.id)
    return ItemStory(
        item,
        given,
        counts,
        all_grades(tx, item.id),
        sources,
        made_from(tx, item.id, MOST_CHILDREN),
        gold_answer(tx, item.id),
        in_words(tx, study, events.recent(tx, EVENTS_SHOWN, item_id=item.id)),
        _origin(tx, item, sources),
        why_so_many_judgments(
            stage.settings.judgments,
            item.judgments,
            item.confidence,
            complete=item.state == ItemState.COMPLETE,
            sampled=item.sampled,
        ),
        [
            (name, 1.0 if name in (item.decision or {}) else result.confidence)
            for name, result in field_results(
                stage, item.key, labels.judgments_of(tx, item.id, stage.settings.gold)
            ).items()
            if result.confidence is not None
        ],
    )


def _origin(tx: Tx, item: Item, sources: list[tuple[str, str]]) -> StudyResponse | None:
    if item.response_id is None:
        return None
    ids = [source.id for stage, key in sources if (source := find_item(tx, stage, key))]
    return next((one for one in responses.all_responses(tx, item_ids=ids) if one.id == item.response_id), None)


@dataclass(frozen=True, slots=True)
class ItemsPage:
    rows: list[Item]
    next: dict[str, str]
    """The query of the next page; empty if there is none."""
    previous: dict[str, str]
    """The query of the previous page; empty if there is none."""
    count: Counted | None
    """The number of matching items; None if that depends on their answers."""


def _page_of(tx: Tx, _study: Study, wanted: ItemsWanted) -> ItemsPage:
    # One more than is shown: whether there is another page.
    ordered = item_ids(tx, wanted, ITEMS_PER_PAGE + 1)
    shown, more = ordered[:ITEMS_PER_PAGE], len(ordered) > ITEMS_PER_PAGE
    if wanted.backwards:
        shown.reverse()
    rows = items_by_id(tx, [item_id for item_id, _ in shown])
    has_next, has_previous = (True, more) if wanted.backwards else (more, wanted.after is not None)
    return ItemsPage(
        rows,
        _place(shown[-1][1], rows[-1]) if rows and has_next else {},
        {**_place(shown[0][1], rows[0]), "turn": "back"} if rows and has_previous else {},
        None if wanted.disagreement or wanted.order == "most divided" else count_items(tx, wanted),
    )


def _place(value: float | None, item: Item) -> dict[str, str]:
    return {"after": "" if value is None else repr(value), "after_key": item.key}


def _number(typed: str) -> float | None:
    try:
        number = float(typed) if typed.strip() else None
    except ValueError:
        number = nan
    if number is not None and isnan(number):
        raise Refusal("no_number", f"{typed} is not a number. Example: 0.7.", 422)
    return number


async def _item_page(
    shown: Console, request: Request, stage: RunningStage, key: str, code: int = 200, **context: Any
) -> Response:
    story = await shown.site.read(_story, stage, key)
    return shown.page(
        request,
        "item",
        code,
        **{
            "chosen": stage,
            "story": story,
            "under": "/console/items",
            "gold_now": None if story.gold is None else json.loads(story.gold.answer),
            "typed": None,
            **context,
        },
    )


def _arm_names(study: Study) -> list[str]:
    return [] if study.settings.arms is None else list(study.settings.arms.names)


def _first_with_items(study: Study) -> RunningStage:
    stages = study.stages.values()
    return next((stage for stage in stages if stage.settings.round is None), chosen_stage(study, ""))


def add_item_routes(shown: Console) -> None:
    router, study = shown.to_see, shown.site.study

    @router.get("/items")
    async def items(
        request: Request,
        stage: StageName = "",
        state: ItemFilter = "",
        accepted: ReleasedFilter = "",
        released: ReleasedFilter = "",
        disagreement: Disagreement = "",
        below: Below = "",
        worker: Name = "",
        arm: Name = "",
        find: Annotated[str, Query(max_length=100, pattern=NO_NUL)] = "",
        order: ItemOrder = "key",
        turn: Literal["", "back"] = "",
        after: Annotated[str, Query(max_length=30, pattern=r"^[0-9.e-]*$")] = "",
        after_key: AfterKey = "",
    ) -> Response:
        chosen = chosen_stage(study, stage) if stage else _first_with_items(study)
        accepted = accepted or released  # an address of an earlier version says `released`
        arms = await shown.site.read(has_seen_arms, request.state.staff.name)
        wanted = ItemsWanted(
            chosen.id,
            order=order,
            state=state,
            released={"yes": True, "no": False}.get(accepted),
            disagreement=disagreement,
            written=tuple(field.name for field in chosen.task.shape.fields if not field.compared),
            below=_number(below),
            worker=worker.strip(),
            arm=arm if arms else "",
            find=find.strip(),
            after=(_number(after), after_key) if after_key else None,
            backwards=bool(turn and after_key),
        )
        filters = {"state": state, "accepted": accepted, "disagreement": disagreement, "order": order, "below": below}
        filters |= {"worker": worker, "find": find, **({"arm": arm} if arms else {})}
        return shown.live_page(
            request,
            "items",
            chosen=chosen,
            page=await shown.site.read(_page_of, wanted),
            filters=filters,
            arms=_arm_names(study) if arms else [],
            options=CHOICES,
            has_models=bool(study.settings.model),
        )

    @router.get("/items/one")
    async def item(request: Request, stage: StageName, key: ItemKey) -> Response:
        return await _item_page(shown, request, study.stage(stage), key)


def add_item_actions(shown: Console) -> None:
    router, site = shown.for_owner, shown.site

    @router.post("/items/{name}/expert")
    async def send(request: Request, name: StageInPath, key: Text = "", reason: Text = "") -> Response:
        stage = site.study.stage(name)
        on_mistake(_item_page, shown, request, stage, key)
        sent = await site.write(ask_experts, stage, key, request.state.staff.name, reason)
        return RedirectResponse(item_address(name, key, "sent" if sent else "was-sent"), 303)

    @router.post("/items/{name}/correct")
    async def correct(
        request: Request,
        name: StageInPath,
        key: Text = "",
        explanation: Text = "",
        reason: Text = "",
    ) -> Response:
        stage = site.study.stage(name)
        typed = {**await typed_answer(request), "explanation": explanation, "reason": reason}
        on_mistake(_item_page, shown, request, stage, key, typed=typed)
        chosen = read_answer(stage.task, typed)
        new = GoldCorrection(stage, key, chosen, explanation, request.state.staff.name, reason)
        await asyncio.to_thread(correct_gold, site.study, new)
        # Labels are recomputed at once, so that the next page shows them. After a few seconds, the page no longer
        # waits: the update continues, and if it fails, the next sweep repeats it.
        following = asyncio.create_task(asyncio.to_thread(settling.settle_everything, site.study))
        done, _ = await asyncio.wait({following}, timeout=PATIENCE_SECONDS)
        for task in done:
            task.result()
        return RedirectResponse(item_address(name, key, "corrected" if done else "correcting"), 303)
