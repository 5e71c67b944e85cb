"""Workers and items: every number with what it came from."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter, Path, Query, Request, Response

from chorale.model import Refusal
from chorale.protocol import hourly_wage
from chorale.store import Tx, events, results
from chorale.store.events import EventRow
from chorale.store.results import ItemRow, LedgerLine, ResponseRow, WorkerStanding
from chorale.study import RunningStage, Study
from chorale.study.status import trust_of
from chorale.web.console.frame import NO_NUL, Console
from chorale.web.links import OWNER

WORKERS_PER_PAGE = 100
ITEMS_PER_PAGE = 50
LAST_LINES = 50

PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]
StageName = Annotated[str, Query(max_length=40)]
ItemKey = Annotated[str, Query(min_length=1, max_length=400, pattern=NO_NUL)]
Pseudonym = Annotated[str, Path(pattern=r"^w-[a-z0-9]{1,30}$")]
WorkerOrder = Literal["worker", "standing", "trust", "gold", "judgments", "earned", "time", "wage", "entered"]
Direction = Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class WorkerLine:
    row: WorkerStanding
    trust: float
    wage: int | None


WORKER_ORDERS: dict[str, Callable[[WorkerLine], Any]] = {
    "worker": lambda line: line.row.worker,
    "standing": lambda line: line.row.standing,
    "trust": lambda line: line.trust,
    "gold": lambda line: line.row.gold_answered,
    "judgments": lambda line: line.row.answered,
    "earned": lambda line: line.row.earned,
    "time": lambda line: line.row.worked_ms,
    "wage": lambda line: -1 if line.wage is None else line.wage,
    "entered": lambda line: line.row.entered_at,
}


def results_routes(console: Console) -> APIRouter:
    router = console.router(OWNER)
    _add_workers(router, console)
    _add_items(router, console)
    return router


def _chosen_stage(study: Study, name: str) -> RunningStage:
    return study.stage(name) if name else next(iter(study.stages.values()))


def _line(study: Study, row: WorkerStanding) -> WorkerLine:
    return WorkerLine(row, trust_of(study, row), hourly_wage(row.earned, row.worked_ms))


def _workers(tx: Tx, study: Study, stage: RunningStage) -> list[WorkerLine]:
    return [_line(study, row) for row in results.worker_standings(tx, stage_name=stage.name)]


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """Everything about one worker."""

    standings: list[WorkerLine]
    events: list[EventRow]
    lines: list[LedgerLine]
    responses: list[ResponseRow]
    """The last ones, newest first."""

    def why(self, stage: str, kind: str) -> EventRow | None:
        """The event that let the worker into a stage, or dropped them from it."""
        return next((event for event in self.events if event.stage == stage and event.kind == kind), None)


def _worker(tx: Tx, study: Study, pseudonym: str) -> WorkerRecord:
    found = WorkerRecord(
        [_line(study, row) for row in results.worker_standings(tx, pseudonym=pseudonym)],
        events.recent(tx, 1000, pseudonym=pseudonym),
        list(results.ledger(tx, limit=LAST_LINES, pseudonym=pseudonym)),
        list(deque(results.all_responses(tx, pseudonym=pseudonym), maxlen=LAST_LINES))[::-1],
    )
    if not found.standings and not found.events:
        raise Refusal("not_found", f"There is no worker {pseudonym}. The list of workers has all there are.", 404)
    return found


def _add_workers(router: APIRouter, console: Console) -> None:
    study = console.site.study

    @router.get("/workers")
    async def workers(
        request: Request,
        stage: StageName = "",
        order: WorkerOrder = "entered",
        direction: Direction = "up",
        page: PageNumber = 1,
    ) -> Response:
        chosen = _chosen_stage(study, stage)
        lines = await console.site.read(_workers, chosen)
        lines.sort(key=WORKER_ORDERS[order], reverse=direction == "down")
        start = (page - 1) * WORKERS_PER_PAGE
        return console.live_page(
            request,
            "workers",
            chosen=chosen,
            lines=lines[start : start + WORKERS_PER_PAGE],
            order=order,
            direction=direction,
            paging=Paging(page, len(lines), WORKERS_PER_PAGE),
            minimum_hourly=study.settings.pay.minimum_hourly,
        )

    @router.get("/workers/{pseudonym}")
    async def worker(request: Request, pseudonym: Pseudonym) -> Response:
        found = await console.site.read(_worker, pseudonym)
        return console.page(request, "worker", pseudonym=pseudonym, found=found, last_lines=LAST_LINES)


@dataclass(frozen=True, slots=True)
class Paging:
    number: int
    total: int
    size: int

    @property
    def last(self) -> int:
        return max(1, -(-self.total // self.size))


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """Everything about one item."""

    item: ItemRow
    responses: list[ResponseRow]
    trusts: dict[str, float]
    lineage: list[tuple[str, str]]
    events: list[EventRow]


def _item(tx: Tx, study: Study, stage: RunningStage, key: str) -> ItemRecord:
    item = results.one_item(tx, stage.name, key)
    if item is None:
        raise Refusal("not_found", f"Stage {stage.name} has no item {key}. The list of items has all there are.", 404)
    return ItemRecord(
        item,
        list(results.all_responses(tx, item_id=item.id)),
        {line.row.worker: line.trust for line in _workers(tx, study, stage)},
        results.lineage(tx, item.id),
        events.recent(tx, 100, item_key=(stage.name, key)),
    )


def _items(tx: Tx, _study: Study, stage: RunningStage, **filters: Any) -> tuple[list[ItemRow], int]:
    return results.items_page(tx, stage.name, limit=ITEMS_PER_PAGE, **filters)


ItemOrder = Literal["key", "confidence", "judgments"]
ItemFilter = Literal["", "open", "complete", "withdrawn"]
ReleasedFilter = Literal["", "yes", "no"]


def _add_items(router: APIRouter, console: Console) -> None:
    study = console.site.study

    @router.get("/items")
    async def items(
        request: Request,
        stage: StageName = "",
        state: ItemFilter = "",
        released: ReleasedFilter = "",
        order: ItemOrder = "key",
        page: PageNumber = 1,
    ) -> Response:
        chosen = _chosen_stage(study, stage)
        rows, total = await console.site.read(
            _items,
            chosen,
            state=state or None,
            released={"yes": True, "no": False}.get(released),
            order=order,
            offset=(page - 1) * ITEMS_PER_PAGE,
        )
        return console.live_page(
            request,
            "items",
            chosen=chosen,
            rows=rows,
            paging=Paging(page, total, ITEMS_PER_PAGE),
            filters={"state": state, "released": released, "order": order},
            options={"state": get_args(ItemFilter), "released": get_args(ReleasedFilter), "order": get_args(ItemOrder)},
        )

    @router.get("/items/one")
    async def item(request: Request, stage: StageName, key: ItemKey) -> Response:
        chosen = study.stage(stage)
        found = await console.site.read(_item, chosen, key)
        return console.page(request, "item", chosen=chosen, found=found)
