"""Mechanical Turk on a study's site: the requester API, and pages for workers and the console."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from fastapi import APIRouter

from chorale.engine.running import Study
from chorale.kits.mturk.market import market_stage, sweep, working
from chorale.kits.mturk.market.notifying import send_due
from chorale.kits.mturk.web.console import HITS_PATH, console_routes
from chorale.kits.mturk.web.endpoint import add_endpoint
from chorale.kits.mturk.web.expecting import pay_facts
from chorale.kits.mturk.web.frames import SUBMIT_PATH
from chorale.kits.mturk.web.pages import add_hit_pages
from chorale.store import Tx
from chorale.web.parts import HomeCard, SitePart
from chorale.web.serving import Site

_WEB = Path(__file__).with_name("web")


def _add_routes(router: APIRouter, site: Site) -> None:
    add_hit_pages(router, site)
    add_endpoint(router, site)


def _recruiting_tabs(study: Study) -> Sequence[tuple[str, str]]:
    return [] if market_stage(study) is None else [(HITS_PATH, "HITs")]


def _home_card(tx: Tx, study: Study, worker_id: int) -> HomeCard | None:
    if market_stage(study) is None:
        return None
    board = working.board(tx, study, worker_id)
    held, count = len(board.held), board.open_count
    facts = [*([(held, "accepted")] if held else []), (count, "open to you")]
    return HomeCard(
        "Tasks",
        bool(held or count),
        facts,
        "/hits",
        "See the tasks",
        pay=pay_facts(study, [offer.offered for offer in board.offers if not offer.lacking]),
        only_if_empty=not (board.offers or board.held),
    )


async def _sweep(study: Study) -> None:
    if market_stage(study) is not None:
        await asyncio.wrap_future(study.store.write(lambda tx: sweep(tx, study)))
        await asyncio.to_thread(send_due, study)


SITE = SitePart(
    name="mturk",
    templates=_WEB / "templates",
    static=_WEB / "static",
    add_routes=_add_routes,
    console_routes=console_routes,
    recruiting_tabs=_recruiting_tabs,
    home_card=_home_card,
    from_frames=frozenset({SUBMIT_PATH}),
    sweep=_sweep,
)
