"""The ledger and the activity log: the newest entries first, a page at a time."""

from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response

from chorale.engine.running import Study
from chorale.model import EntryKind
from chorale.monitor.event_words import event_name, in_words
from chorale.monitor.status import has_seen_arms
from chorale.store import Tx, calls
from chorale.store.console import bonuses
from chorale.store.listing import EventsPage, LedgerPage, Window, events_page, ledger_page
from chorale.store.stages import StageCounts, stage_tallies
from chorale.web.console.frame import NO_NUL, Console
from chorale.web.console.paging import RowNumber

ROWS = 25
EVENT_KINDS = (
    *("arrived", "consented", "entered", "returned", "expired", "dropped"),
    *("labelled", "reopened", "drawn", "sampled", "begun", "derived", "withdrawn", "brought back"),
    *("passed", "not passed", "qualified", "arm", "gate closed", "message sent", "budget reached"),
    *("made gold", "retired gold", "corrected gold", "gold graded again", "adjudicated"),
    *("reinstated", "sent to expert", "expert answered"),
    *("message written", "bonus given", "disqualified", "identity shown", "arms shown"),
    *("payout planned", "payout", "payment failed", "recruitment"),
    *("paused", "resumed", "settings", "exported", "report created", "set up", "password changed", "invited"),
    *("expert invited", "expert came", "viewer invited", "viewer came", "link revoked"),
)
"""Events in the menu of the page's filter. The address can name other events."""
EventKind = Annotated[str, Query(max_length=40, pattern="^[a-z ]*$")]
LedgerKind = Literal["", "base", "bonus", "fee", "model"]
Name = Annotated[str, Query(max_length=60, pattern=NO_NUL)]


def _ledger(
    tx: Tx, study: Study, window: Window, **wanted: str
) -> tuple[dict[str, int], list[StageCounts], LedgerPage]:
    counts = stage_tallies(tx, study.round_sizes, study.also_working)
    paid, fees, bonus = sum(one.paid for one in counts), sum(one.fees for one in counts), bonuses(tx)
    called = sum(row.booked for row in calls.costs(tx))
    totals = {
        EntryKind.BASE.value: paid - bonus,
        EntryKind.BONUS.value: bonus,
        EntryKind.FEE.value: fees - called,
        EntryKind.MODEL.value: called,
    }
    return totals, counts, ledger_page(tx, window, **wanted)


def _log(tx: Tx, study: Study, window: Window, name: str, **wanted: str) -> dict[str, Any]:
    listed = events_page(tx, window, **wanted)
    page = EventsPage(in_words(tx, study, listed.rows), listed.has_newer, listed.has_older, listed.count)
    return {"page": page, "arms_seen": has_seen_arms(tx, study, name)}


def add_record_routes(console: Console) -> None:
    router, site = console.to_see, console.site

    @router.get("/ledger")
    async def ledger(
        request: Request,
        before: RowNumber = None,
        after: RowNumber = None,
        kind: LedgerKind = "",
        stage: Name = "",
        worker: Name = "",
    ) -> Response:
        wanted = {"kind": kind, "stage_name": stage, "pseudonym": worker.strip()}
        totals, counts, page = await site.read(_ledger, Window(ROWS, before, after), **wanted)
        return console.live_page(
            request,
            "ledger",
            totals=totals,
            counts=counts,
            page=page,
            filters={"kind": kind, "stage": stage, "worker": worker},
            kinds=[each.value for each in EntryKind],
            currency=site.study.settings.pay.currency,
        )

    @router.get("/activity")
    async def activity(
        request: Request,
        before: RowNumber = None,
        after: RowNumber = None,
        kind: EventKind = "",
        stage: Name = "",
        worker: Name = "",
    ) -> Response:
        wanted = {"kind": kind, "stage_name": stage, "pseudonym": worker.strip()}
        listed = await site.read(_log, Window(ROWS, before, after), request.state.staff.name, **wanted)
        return console.page(
            request,
            "activity",
            filters={"kind": kind, "stage": stage, "worker": worker},
            kinds=sorted(EVENT_KINDS, key=event_name),
            **listed,
        )
