"""The console's page about HITs and access keys."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from chorale.engine.running import Study
from chorale.kits.mturk.market import market_of, market_stage
from chorale.kits.mturk.store import hits, keys
from chorale.kits.mturk.store.hits import HitRow
from chorale.kits.mturk.store.keys import KeyRow
from chorale.model import Refusal
from chorale.store import Tx
from chorale.web.console.frame import Console
from chorale.web.links import OWNER, VIEWER

HITS_PATH = "/console/recruiting/hits"
HITS_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ListedHits:
    rows: list[tuple[HitRow, str]]
    """With their status, the newest first."""
    older: int | None
    keys: list[KeyRow]


def _listed(tx: Tx, study: Study, before: int | None) -> ListedHits:
    now = market_of(tx, study).now
    # One more than is shown, to know whether there are older ones.
    rows = hits.newest_hits(tx, HITS_PER_PAGE + 1, before, now=now)
    shown = rows[:HITS_PER_PAGE]
    older = shown[-1].id if len(rows) > HITS_PER_PAGE else None
    return ListedHits([(row, row.status(now)) for row in shown], older, keys.keys(tx))


def console_routes(console: Console) -> APIRouter:
    router = console.router(OWNER, VIEWER)
    site = console.site

    @router.get("/recruiting/hits")
    async def listed_hits(request: Request, before: Annotated[int | None, Query(ge=1, le=2**53)] = None) -> Response:
        if market_stage(site.study) is None:
            raise Refusal("not_found", "This study has no HITs.", 404)
        return console.page(request, "mturk/console.html", listed=await site.read(_listed, before))

    return router
