"""Joining from a panel, by invitation, or from the public page; and signing out."""

import asyncio
import logging
import re
from collections.abc import Mapping

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from chorale.engine import arrivals, entering, recruiting, sessions, team
from chorale.engine.publishing import PANEL as PROLIFIC
from chorale.engine.running import Study
from chorale.engine.sessions import NewSession
from chorale.model import Refusal, UserError
from chorale.model.wording import joined, worded
from chorale.platforms.prolific import Prolific
from chorale.store import Tx, workers
from chorale.store.codec import storable
from chorale.store.sessions import SessionClaim
from chorale.web.serving import Site
from chorale.web.sessions import WORKER_COOKIE, WORKER_SECONDS
from chorale.web.signed_links import AGAIN_FROM_PLATFORM, TOKEN_PARAMETER, SignedArrival

log = logging.getLogger("chorale.web")
_OTHER_STUDY = worded("This link belongs to another study.")


def signed_in_worker(site: Site, session: NewSession, path: str = "/") -> Response:
    """Redirect a worker to their overview or a stage, with a new session."""
    response = RedirectResponse(path, 303)
    site.set_cookie(response, WORKER_COOKIE, site.sessions.worker_cookie(session), WORKER_SECONDS)
    return response


def add_arrival_routes(router: APIRouter, site: Site) -> None:
    arrival = site.study.settings.arrival
    worker_pattern = re.compile(arrival.worker_pattern)

    @router.get("/join", include_in_schema=False)
    async def join_by_url(request: Request) -> Response:
        """Join with a platform's URL parameters."""
        if not site.open_by_url:
            raise arrivals.by_invitation()
        signed = await _signed(site, request)
        values: Mapping[str, str] = request.query_params if signed is None else signed.values
        given = {name: storable(value) for name, value in values.items()}
        external_id = given.get(arrival.worker_parameter, "")
        if not worker_pattern.fullmatch(external_id):
            wrong = worded("Part of the link is missing or wrong ({name}).", name=arrival.worker_parameter)
            raise Refusal("bad_arrival", joined(wrong, AGAIN_FROM_PLATFORM), 400)
        study_id = given.get(arrival.study_parameter, "")[:100]
        if arrival.study_id is not None and study_id != arrival.study_id:
            raise Refusal("bad_arrival", joined(_OTHER_STUDY, AGAIN_FROM_PLATFORM), 400)
        session_id = given.get(arrival.session_parameter, "")[:100]
        if signed is not None:
            before = site.sessions.worker(request.cookies.get(WORKER_COOKIE))
            await site.write(_use_once, signed, arrival.panel, external_id, before)
        elif site.prolific is not None and arrival.panel == PROLIFIC:
            await _ask_prolific(site.prolific, external_id, session_id, study_id)
        session = await site.write(_arrive_from_panel, arrival.panel, external_id, study_id, session_id)
        return signed_in_worker(site, session)

    @router.post("/leave", include_in_schema=False)
    async def leave(request: Request) -> Response:
        """Sign out, for people who share a device. Copies of the cookie become invalid, too."""
        session = site.sessions.worker(request.cookies.get(WORKER_COOKIE))
        if session is not None:
            await site.write(_leave, session)
        response = RedirectResponse("/", 303)
        site.delete_cookie(response, WORKER_COOKIE)
        return response

    @router.get("/join/{token}", include_in_schema=False)
    async def join_by_invitation(request: Request, token: str) -> Response:
        """Join by a signed invitation link."""
        invitation = site.sessions.read_link("invitation", token)
        if invitation is None:
            raise Refusal(
                "bad_invitation",
                worded("This invitation is not valid. Copy the whole link, or ask for a new one."),
                403,
            )
        before = site.sessions.worker(request.cookies.get(WORKER_COOKIE))
        session, stage = await site.write(_arrive_invited, invitation, before)
        return signed_in_worker(site, session, "/" if stage is None else f"/stages/{stage}")

    @router.post("/welcome", include_in_schema=False)
    async def join_in_public(request: Request) -> Response:
        """Join from the public page, if the study allows it."""
        before = site.sessions.worker(request.cookies.get(WORKER_COOKIE))
        return signed_in_worker(site, await site.write(_arrive_in_public, before))


def _leave(tx: Tx, study: Study, session: SessionClaim) -> None:
    """End a session; for people with a password, all sessions."""
    if sessions.end(tx, study, session):
        team.sign_out(tx, study, session.worker_id)


async def _signed(site: Site, request: Request) -> SignedArrival | None:
    """The identity in a signed link; its other parameters are not trusted. None if links are not signed."""
    if site.signed_links is None:
        return None
    return await asyncio.to_thread(site.signed_links.read, request.query_params.get(TOKEN_PARAMETER, ""))


def _use_once(
    tx: Tx, study: Study, signed: SignedArrival, panel: str, external_id: str, before: SessionClaim | None
) -> None:
    """Accept a signed link once; later only for the same worker in the same browser, since links can be shared."""
    if workers.use_token(tx, signed.digest, signed.expires_at, study.clock()):
        return
    known, signed_in = workers.find_by_identity(tx, panel, external_id), sessions.recognised(tx, before)
    if known is None or signed_in is None or known.id != signed_in.id:
        used = worded("This link has been used before.")
        raise Refusal("bad_arrival", joined(used, AGAIN_FROM_PLATFORM), 403)


def _arrive_in_public(tx: Tx, study: Study, before: SessionClaim | None) -> NewSession:
    """A new worker, or the browser's previous worker if their session was not ended."""
    return sessions.begin(tx, study, sessions.recognised(tx, before) or arrivals.arrive_in_public(tx, study))


def _arrive_invited(
    tx: Tx, study: Study, invitation: str, before: SessionClaim | None
) -> tuple[NewSession, str | None]:
    """The session of a worker who joins by a link, and the stage to start with."""
    known = sessions.recognised(tx, before)
    worker, row = arrivals.arrive_invited(tx, study, invitation, None if known is None else known.id)
    stage = None if row is None or not study.has_consent(worker.consent_version) else row.stage
    return sessions.begin(tx, study, worker), stage


def _arrive_from_panel(
    tx: Tx, study: Study, panel: str, external_id: str, study_id: str, session_id: str
) -> NewSession:
    known = workers.find_by_identity(tx, panel, external_id)
    if known is None and panel == PROLIFIC and not recruiting.is_ours(tx, study_id):
        raise Refusal("bad_arrival", joined(_OTHER_STUDY, AGAIN_FROM_PLATFORM), 403)
    worker = entering.arrive(tx, study, panel, external_id, {"study": study_id, "session": session_id})
    if panel == PROLIFIC:
        recruiting.note_arrival(tx, study, worker.id, external_id, study_id, session_id)
    return sessions.begin(tx, study, worker)


async def _ask_prolific(prolific: Prolific, participant: str, session_id: str, study_id: str) -> None:
    """Refuse people whom Prolific does not confirm.

    If Prolific can't be reached, people are admitted, and are paid once Prolific confirms them.
    """
    try:
        known = await asyncio.to_thread(recruiting.is_theirs, prolific, participant, session_id, study_id)
    except UserError as error:
        log.warning("a visit could not be checked with Prolific: %s", type(error))
        return
    if not known:
        unknown = worded("Prolific has no record of this visit.")
        raise Refusal("bad_arrival", joined(unknown, AGAIN_FROM_PLATFORM), 403)
