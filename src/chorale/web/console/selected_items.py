"""Bulk actions on the selected items of a stage: send them to the review queue, retire gold, download rows."""

from typing import Annotated, Any, Literal

from fastapi import Form, Request, Response

from chorale.engine import gold_desk
from chorale.engine.asking_experts import ask_experts
from chorale.engine.running import RunningStage, Study
from chorale.model import Item, UserError
from chorale.model.plural import plural
from chorale.store import Tx
from chorale.store.items import find_item
from chorale.web.console import texts
from chorale.web.console.frame import WHY_NEEDED, Console, on_mistake
from chorale.web.console.gold import Text, stage_with_gold
from chorale.web.console.selecting import (
    Confirmation,
    ListQuery,
    Selected,
    back_to_table,
    confirmation_page,
    note_download,
    selected,
    table_file,
)
from chorale.web.worker import StageInPath

ITEMS = "/console/items"
COLUMNS = ["stage", "item", "text", "state", "released", "label", "confidence", "judgments", "is_gold"]


def _items(tx: Tx, _study: Study, stage: RunningStage, keys: list[str]) -> list[Item]:
    items = [item for key in keys if (item := find_item(tx, stage.name, key))]
    if not items:
        raise UserError(f"Stage {stage.name} has none of the selected items.")
    return items


async def _ask_page(
    console: Console,
    request: Request,
    stage: RunningStage,
    keys: list[str],
    query: str,
    code: int = 200,
    **context: Any,
) -> Response:
    items = await console.site.read(_items, stage, keys)
    number = plural(len(items), "item", "items")
    confirmation = Confirmation(
        title=f"Send {number} to the review queue",
        consequence="Experts answer the question for each item. Their answers are stored next to the labels and do not "
        "change them.",
        button=f"Send {number}",
        action=f"{ITEMS}/{stage.name}/selected/expert",
        path=ITEMS,
        chosen=[item.key for item in items],
        asks="question",
        stage=stage.name,
    )
    return confirmation_page(console, request, confirmation, query, code, form_key="", **context)


def _ask_all(tx: Tx, study: Study, stage: RunningStage, keys: list[str], by: str, reason: str) -> int:
    return sum(ask_experts(tx, study, stage, key, by, reason) for key in keys)


def add_selected_item_routes(console: Console) -> None:
    router, site = console.for_owner, console.site

    @router.post("/items/{name}/selected")
    async def ask(
        request: Request,
        name: StageInPath,
        act: Annotated[Literal["expert", "download"], Form()],
        chosen: Selected = None,
        query: ListQuery = "",
    ) -> Response:
        stage, keys = site.study.stage(name), selected(chosen, "item")
        if act == "expert":
            return await _ask_page(console, request, stage, keys, query)
        items = await site.read(_items, stage, keys)
        await site.write(note_download, "selected items", len(items), request.state.staff.name)
        return table_file(f"items-{stage.name}", COLUMNS, [_cells(stage, item) for item in items])

    @router.post("/items/{name}/selected/expert")
    async def send(
        request: Request, name: StageInPath, chosen: Selected = None, query: ListQuery = "", reason: Text = ""
    ) -> Response:
        stage, keys = site.study.stage(name), selected(chosen, "item")
        on_mistake(_ask_page, console, request, stage, keys, query, typed={"reason": reason})
        sent = await site.write(_ask_all, stage, keys, request.state.staff.name, reason)
        return back_to_table(ITEMS, query or f"stage={name}", "all-sent" if sent else "was-sent", sent)


def _cells(stage: RunningStage, item: Item) -> dict[str, Any]:
    return {
        "stage": item.stage,
        "item": item.key,
        "text": texts.item_text(stage, item.payload),
        "state": str(item.state),
        "released": item.released,
        "label": item.answer,
        "confidence": item.confidence,
        "judgments": item.judgments,
        "is_gold": item.is_gold,
    }


async def _retire_page(
    console: Console, request: Request, stage: RunningStage, keys: list[str], code: int = 200, **context: Any
) -> Response:
    items = plural(len(keys), "gold item", "gold items")
    confirmation = Confirmation(
        title=f"Retire {items}",
        consequence="Workers no longer get these items as gold. Answers so far stay graded.",
        button=f"Retire {items}",
        action=f"/console/gold/{stage.name}/retire",
        path=f"/console/gold/{stage.name}",
        chosen=keys,
        is_danger=True,
        stage=stage.name,
    )
    return confirmation_page(console, request, confirmation, "", code, form_key="", **context)


def _retire_all(tx: Tx, study: Study, stage: RunningStage, keys: list[str], by: str, reason: str) -> int:
    """Retire gold; returns the number of items, without those that somebody else retired in the meantime."""
    if not reason.strip():
        raise UserError(WHY_NEEDED)
    in_use = [key for key in keys if (item := find_item(tx, stage.name, key)) and item.is_gold]
    for key in in_use:
        gold_desk.retire(tx, study, stage, key, by, reason.strip())
    return len(in_use)


def add_selected_gold_routes(console: Console) -> None:
    router, site = console.for_experts, console.site

    @router.post("/gold/{name}/selected")
    async def ask(request: Request, name: StageInPath, chosen: Selected = None) -> Response:
        return await _retire_page(console, request, stage_with_gold(site.study, name), selected(chosen, "gold item"))

    @router.post("/gold/{name}/retire")
    async def retire(request: Request, name: StageInPath, chosen: Selected = None, reason: Text = "") -> Response:
        stage, keys = stage_with_gold(site.study, name), selected(chosen, "gold item")
        on_mistake(_retire_page, console, request, stage, keys, typed={"reason": reason})
        retired = await site.write(_retire_all, stage, keys, request.state.staff.name, reason)
        return back_to_table(f"/console/gold/{name}", "", "all-retired" if retired else "already-done", retired)
