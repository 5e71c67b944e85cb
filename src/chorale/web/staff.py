"""Requesters and experts: their links, their passwords, their sessions."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from chorale.engine.entering import EXPERTS_PANEL, arrive_as_expert
from chorale.engine.leases import give_back_everything
from chorale.engine.managing import Act, take_qualification
from chorale.engine.running import Study
from chorale.engine.sessions import REVOKED, SIGNED_OUT, NewSession, begin, moment_text
from chorale.model import EXPERT as EXPERT_QUALIFICATION
from chorale.model import Refusal, UserError
from chorale.model.wording import worded
from chorale.store import Tx, epochs, events, locks, requesters, settings, workers
from chorale.store import sessions as store_sessions
from chorale.store.epochs import Epoch
from chorale.store.erased import ERASED
from chorale.store.identities import newest_response
from chorale.store.requesters import RequesterRow
from chorale.web.links import EXPERT, OWNER, VIEWER
from chorale.web.serving import Site
from chorale.web.sessions import STAFF_COOKIE, STAFF_SECONDS, StaffSession

SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 200
HASHES_AT_ONCE = 2
MOST_COLLEAGUES = 1_000
UNUSED_DAYS = 30
"""A new link expires if nobody opens it within this time. It can be created again. An opened link does not expire."""


def not_signed_in() -> Refusal:
    """The refusal of requests to the console without a session."""
    return Refusal("signed_out", "You are not signed in, or your session has ended. Sign in again.", 401)


class Passwords:
    """Argon2 hashing off the event loop, few at a time, since each needs 64 MB."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._turn = asyncio.Semaphore(HASHES_AT_ONCE)

    @cached_property
    def _dummy(self) -> str:
        return self._hasher.hash(secrets.token_urlsafe())

    async def hash(self, password: str) -> str:
        async with self._turn:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def matches(self, known: str | None, password: str) -> bool:
        """Whether a password matches a hash; takes the same time for unknown names, without a hash."""
        async with self._turn:
            return await asyncio.to_thread(self._matches, known, password)

    def _matches(self, known: str | None, password: str) -> bool:
        try:
            return self._hasher.verify(known or self._dummy, password) and known is not None
        except (VerificationError, InvalidHashError):
            return False


def check_new_password(name: str, password: str, again: str) -> None:
    if len(password) < SHORTEST_PASSWORD:
        raise UserError(
            worded(
                "The password needs at least {number} characters. Yours has {found}.",
                number=SHORTEST_PASSWORD,
                found=len(password),
            )
        )
    if len(password) > LONGEST_PASSWORD:
        raise UserError(
            worded("The password is longer than {number} characters. Choose a shorter one.", number=LONGEST_PASSWORD)
        )
    if password != again:
        raise UserError(worded("The two passwords differ. Type the same one twice."))
    if password.casefold() == name.casefold():
        raise UserError(worded("The password must not be the name. Choose another one."))


def is_setup_token(tx: Tx, _study: Study, nonce: str | None) -> bool:
    return nonce is not None and secrets.compare_digest(nonce, settings.secret(tx, "setup"))


def make_owner(tx: Tx, study: Study, name: str, password_hash: str) -> RequesterRow:
    """Create the first owner. If two try at once, one is refused."""
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    refuse_second_owner(tx, study)
    if requesters.find_requester(tx, name) is not None:
        raise UserError(f"{name!r} is the name of an expert. Choose another one.")
    requesters.set_password(tx, name, OWNER, password_hash)
    events.record(tx, study.clock(), "set up", {"by": name})
    return _existing(tx, name)


def refuse_second_owner(tx: Tx, _study: Study) -> None:
    if requesters.has_owner(tx):
        raise Refusal("already_set_up", "This study is already set up. Sign in with your user name and password.", 410)


def change_password(tx: Tx, study: Study, name: str, password_hash: str) -> RequesterRow:
    """Set an owner's new password, and end all their sessions."""
    requesters.set_password(tx, name, OWNER, password_hash)
    events.record(tx, study.clock(), "password changed", {"by": name})
    return _existing(tx, name)


def enter_by_link(tx: Tx, study: Study, name: str, role: str) -> RequesterRow:
    """The expert or viewer of a link, created when it is first opened."""
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    known = requesters.find_requester(tx, name)
    if known is None:
        if requesters.is_erased(tx, name):
            raise _revoked()
        if _is_too_old(study, _invited(tx, role).get(name)):
            message = f"This link has expired, because nobody opened it within {UNUSED_DAYS} days. Ask for a new one."
            raise Refusal("expired", message, 403)
        requesters.add_requester(tx, name, role)
        events.record(tx, study.clock(), f"{role} came", {"by": name})
    elif known.role != role:
        raise Refusal(
            "bad_link",
            "The name in this link belongs to another person in this study. Ask for a link of your own.",
            403,
        )
    elif known.revoked_at is not None:
        raise _revoked()
    return _existing(tx, name)


def _revoked() -> Refusal:
    return Refusal("revoked", "This link was revoked by the study's owner. Ask for a new one.", 403)


def revoke(tx: Tx, study: Study, name: str, role: str, by: str, reason: str) -> bool:
    """Revoke somebody's link, and end their sessions at once."""
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    known = requesters.find_requester(tx, name)
    if known is None:
        requesters.add_requester(tx, name, role)
    elif known.role != role or known.role == OWNER:
        raise Refusal("not_found", f"There is no {role} with this name.", 404)
    revoked = requesters.revoke(tx, name, study.clock())
    if revoked:
        evidence = {"by": by, "name": name, "role": role, "reason": reason}
        evidence |= _take_from_desk(tx, study, name, by, reason)
        events.record(tx, study.clock(), "link revoked", evidence)
    return revoked


def _take_from_desk(tx: Tx, study: Study, name: str, by: str, reason: str) -> dict[str, Any]:
    """End a person's work in stages; returns their worker, and the number of the latest answer so far."""
    worker = workers.find_by_identity(tx, EXPERTS_PANEL, name)
    if worker is None:
        return {}
    store_sessions.end_all_of(tx, worker.id, REVOKED, study.clock())
    give_back_everything(tx, study, worker.id)
    act = Act(by, f"link revoked: {reason}", f"revoked-{worker.id}")
    take_qualification(tx, study, worker.pseudonym, EXPERT_QUALIFICATION, act)
    return {"worker": worker.pseudonym, "last_response": newest_response(tx)}


def begin_at_desk(tx: Tx, study: Study, session: StaffSession) -> NewSession:
    """Start an expert's worker session in stages for experts, unless they were revoked in the meantime."""
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    row = with_session(tx, study, session)
    if row is None:
        raise not_signed_in()
    return begin(tx, study, arrive_as_expert(tx, study, row.name))


@dataclass(frozen=True, slots=True)
class Colleague:
    """A person invited to the console by a link."""

    name: str
    role: str
    state: str
    """`invited`, `expired`, `came` (signed in) or `revoked`."""
    revoked_at: int | None = None


def colleagues(tx: Tx, study: Study) -> list[Colleague]:
    """Everybody with a link, sorted by role and name."""
    known = {
        row.name: Colleague(row.name, row.role, "came" if row.revoked_at is None else "revoked", row.revoked_at)
        for row in requesters.requesters(tx)
        if row.role != OWNER
    }
    asked = [
        Colleague(name, role, "expired" if _is_too_old(study, at) else "invited")
        for role in (EXPERT, VIEWER)
        for name, at in _invited(tx, role).items()
        if name not in known
    ]
    here = [one for one in (*known.values(), *asked) if not one.name.startswith(ERASED)]
    return sorted(here, key=lambda one: (one.role, one.name))


def _invited(tx: Tx, role: str) -> dict[str, int]:
    """The time of the latest invitation of everybody with a role, by name."""
    invited_at: dict[str, int] = {}
    for event in events.recent(tx, MOST_COLLEAGUES, kinds=(f"{role} invited",)):
        invited_at.setdefault(str(event.evidence[role]), event.at)
    return invited_at


def _is_too_old(study: Study, invited_at: int | None) -> bool:
    return invited_at is not None and study.clock() - invited_at > UNUSED_DAYS * 24 * 3_600_000


def end_sessions(tx: Tx, study: Study, name: str) -> int | None:
    """End all sessions of a person, on all devices; returns their worker in stages for experts, if any."""
    requesters.end_sessions(tx, name)
    at_desk = workers.find_by_identity(tx, EXPERTS_PANEL, name)
    if at_desk is None:
        return None
    store_sessions.end_all_of(tx, at_desk.id, SIGNED_OUT, study.clock())
    return at_desk.id


def _existing(tx: Tx, name: str) -> RequesterRow:
    row = requesters.find_requester(tx, name)
    if row is None:
        raise RuntimeError(f"the requester {name!r} vanished in the transaction that made them")
    return row


async def signed_in(site: Site, row: RequesterRow, to: str) -> Response:
    """Redirect a person with a new session."""
    response = RedirectResponse(to, 303)
    epoch = await site.read(current_epoch)
    session = site.sessions.staff_cookie(StaffSession(row.name, row.session_version, epoch.mark))
    site.set_cookie(response, STAFF_COOKIE, session, STAFF_SECONDS)
    return response


async def who_is_it(site: Site, request: Request) -> RequesterRow | None:
    """The person of a staff cookie; None if it is forged, expired or ended: see `with_session`."""
    session = site.sessions.staff(request.cookies.get(STAFF_COOKIE))
    return None if session is None else await site.read(with_session, session)


def with_session(tx: Tx, _study: Study, session: StaffSession) -> RequesterRow | None:
    """The person of a session; None if it was ended by signing out, a new password, revoking, or restoring a backup."""
    row = requesters.find_requester(tx, session.name)
    holds = row is not None and row.session_version == session.version and row.revoked_at is None
    return row if holds and epochs.current(tx).mark == session.epoch else None


def restored_since(tx: Tx, _study: Study, session: StaffSession) -> str | None:
    """The message for a person whose session was ended by a restore."""
    epoch = epochs.current(tx)
    if epoch.mark == session.epoch or epoch.backup_at is None:
        return None
    return (
        f"This study was restored on {moment_text(epoch.began_at)} from a backup of {moment_text(epoch.backup_at)}. "
        "Everybody was signed out. Names and passwords are those of the backup."
    )


def current_epoch(tx: Tx, _study: Study) -> Epoch:
    return epochs.current(tx)


Gatekeeper = Callable[[Request], Awaitable[None]]
NOT_YOURS = {
    EXPERT: "This page is for the owner of the study. The review queue is open to you.",
    VIEWER: "This is for the study's owner. Your link is read-only.",
    OWNER: "This page is for experts.",
}


def staff_only(site: Site, *roles: str) -> Gatekeeper:
    """A dependency for whole routers, so that no page can omit the check."""

    async def check(request: Request) -> None:
        row = await who_is_it(site, request)
        if row is None:
            raise not_signed_in()
        request.state.staff = row
        if row.role not in roles:
            raise Refusal("not_yours", NOT_YOURS.get(row.role, NOT_YOURS[VIEWER]), 403)

    return check
