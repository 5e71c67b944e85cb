"""Synchronises with Prolific while the site runs: every few minutes, and at once after a notification."""

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field

from fastapi import APIRouter, Request, Response

from chorale.engine import payouts, recruiting
from chorale.model import Refusal, UserError
from chorale.platforms.prolific import Prolific
from chorale.platforms.prolific.hooks import SIGNATURE_HEADER, TIMESTAMP_HEADER, is_genuine
from chorale.web.logs import CodeName
from chorale.web.serving import Site

PATH = "/hooks/prolific"
GATHER_SECONDS = 2.0
"""How long notifications are collected before a sync, since they come in groups."""
_SEE_WHY = CodeName("`chorale sync` prints why")
log = logging.getLogger("chorale.web")


@dataclass
class Notifications:
    """The signing secret of Prolific's notifications, and whether one has arrived."""

    secret: str | None = None
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, seconds: float) -> None:
        """Wait for a notification, up to a maximum time."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.arrived.wait(), seconds)
            await asyncio.sleep(GATHER_SECONDS)
        self.arrived.clear()


def add_notification_route(router: APIRouter, notifications: Notifications) -> None:
    @router.post(PATH, include_in_schema=False)
    async def notified(request: Request) -> Response:
        """Handle Prolific's notification of a change. The change itself is read from Prolific."""
        if notifications.secret is None:
            raise Refusal("not_ready", "The site does not accept notifications now. Try again later.", 503)
        given = (request.headers.get(TIMESTAMP_HEADER, ""), await request.body())
        signature = request.headers.get(SIGNATURE_HEADER, "")
        if not is_genuine(notifications.secret, *given, signature, time.time()):
            raise Refusal("bad_signature", "This notification is not signed by Prolific.", 403)
        notifications.arrived.set()
        return Response(status_code=204)


async def sync_for_ever(site: Site, prolific: Prolific, notifications: Notifications) -> None:
    """Synchronise with Prolific repeatedly. Failures are retried."""
    study = site.study
    rule = study.settings.prolific
    minutes = 2.0 if rule is None else rule.sync_minutes
    while True:
        try:
            if rule is not None and rule.webhooks and notifications.secret is None:
                await _subscribe(site, prolific, notifications)
            done = await asyncio.to_thread(recruiting.sync, study, prolific)
            await asyncio.to_thread(payouts.confirm, study, prolific)
            if done.notes:
                log.warning("%d notes about the study on Prolific: `chorale sync` prints them", len(done.notes))
        except UserError as error:
            log.warning("synchronising with Prolific failed; trying again: %s. %s", type(error), _SEE_WHY)
        except Exception:
            log.exception("synchronising with Prolific failed; trying again in %s minutes", minutes)
        await notifications.wait(minutes * 60)


async def _subscribe(site: Site, prolific: Prolific, notifications: Notifications) -> None:
    """Subscribe to Prolific's notifications. Without them, the site still synchronises every few minutes."""
    address = f"{site.public_url or ''}{PATH}"
    try:
        notifications.secret = await asyncio.to_thread(recruiting.subscribe, site.study, prolific, address)
    except Exception as error:
        log.warning(
            "Prolific does not notify the site; trying again later: %s. Webhooks need an https address "
            "(--public-url) and a token with access to them.",
            type(error),
        )
