"""Annotators who sign in with a name and a password: invited, given a new link, deactivated.

An account is in a study's own database, or in one shared by several studies. In each study, it acts as a worker of that
study. Functions that take a study also manage that worker.
"""

import re
import secrets
import unicodedata
from dataclasses import dataclass
from typing import Any, NamedTuple

from chorale.engine.entering import arrive
from chorale.engine.leases import give_back_everything
from chorale.engine.running import Study
from chorale.engine.sessions import REVOKED, SIGNED_OUT, NewSession, begin, digest_of
from chorale.model import Refusal, UserError
from chorale.model.logins import login_of
from chorale.model.wording import worded
from chorale.store import Tx, events, locks, sessions, team, workers
from chorale.store.identities import newest_response
from chorale.store.team import PANEL, Member

DEACTIVATED = "member deactivated"
REACTIVATED = "member reactivated"
CHOSEN = "member password chosen"
INVITATION_HOURS = 7 * 24
RESET_HOURS = 24
_NAME = re.compile(r"[\w.@+-][\w .@+'-]{0,58}[\w.@+-]|\w")
_HOUR = 3_600_000


class NewLink(NamedTuple):
    """The content of a one-time link."""

    name: str
    token: str
    hours: int


@dataclass(frozen=True, slots=True)
class TeamMember:
    """An annotator in the list of the team."""

    name: str
    state: str
    """invited, link expired, active, password reset or deactivated."""
    invited_at: int
    signed_in_at: int | None
    deactivated_at: int | None


def invite(tx: Tx, now: int, name: str, by: str) -> NewLink:
    """Create an account, or a new link for a member without a password."""
    name = unicodedata.normalize("NFKC", name).strip()
    if not _NAME.fullmatch(name):
        raise UserError(
            f"{name[:60]!r} can't be a name. Use 1 to 60 letters, digits, spaces and . _ @ + ' -, with no ' at the "
            "beginning or end."
        )
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    known = team.find(tx, login_of(name))
    if known is None:
        team.add(tx, login_of(name), name, now)
    elif known.deactivated_at is not None:
        raise UserError(f"The account of {known.name!r} is deactivated. To let them work again, reactivate it.")
    elif known.password_hash is not None:
        raise UserError(f"{known.name!r} already has an account. To give them a new password, reset it.")
    return _link(tx, now, member_called(tx, name), by, "member invited", INVITATION_HOURS)


def reset(tx: Tx, now: int, name: str, by: str) -> NewLink:
    """Make a link to choose a new password. The old password stops working at once, and every session ends."""
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    member = member_called(tx, name)
    if member.deactivated_at is not None:
        raise UserError(f"The account of {member.name!r} is deactivated. To let them work again, reactivate it.")
    team.set_password(tx, member.id, None)
    _end_sessions(tx, now, member.login, SIGNED_OUT)
    return _link(tx, now, member, by, "member password reset", RESET_HOURS)


def _link(tx: Tx, now: int, member: Member, by: str, kind: str, hours: int) -> NewLink:
    token = secrets.token_urlsafe(18)
    team.end_links(tx, member.id, "replaced", now)
    team.add_link(tx, member.id, digest_of(token), now, now + hours * _HOUR)
    # Names can be erased, but the log cannot, so it has numbers.
    events.record(tx, now, kind, {"by": by, "member": member.id})
    return NewLink(member.name, token, hours)


def member_called(tx: Tx, name: str) -> Member:
    member = team.find(tx, login_of(name))
    if member is None:
        raise UserError(
            f"No annotator is called {name[:60]!r}. `chorale team DIR` lists all annotators with an account."
        )
    return member


def bad_link() -> Refusal:
    message = worded("This link is not valid. Copy the whole link, or ask for a new one.")
    return Refusal("bad_link", message, 403)


def link_owner(tx: Tx, now: int, token: str) -> Member:
    """The owner of a link that is still valid."""
    link = team.find_link(tx, digest_of(token))
    member = None if link is None else team.find_by_id(tx, link.member_id)
    if link is None or member is None:
        raise bad_link()
    if link.ended_by == "used":
        message = worded("This link was used before. Sign in with your password, or ask for a new link.")
        raise Refusal("used", message, 410)
    if link.ended_by is not None or member.deactivated_at is not None:
        raise Refusal("ended", worded("This link is no longer valid. Ask for a new one."), 410)
    if link.expires_at <= now:
        raise Refusal("expired", worded("This link has expired. Ask for a new one."), 410)
    return member


def choose_password(tx: Tx, now: int, token: str, password_hash: str) -> Member:
    """Use a link to set its owner's password. If it is used twice at once, one attempt fails."""
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    member = link_owner(tx, now, token)
    team.end_links(tx, member.id, "used", now)
    team.set_password(tx, member.id, password_hash)
    _end_sessions(tx, now, member.login, SIGNED_OUT)
    events.record(tx, now, CHOSEN, {"member": member.id})
    return member_called(tx, member.login)


def active_member(tx: Tx, name: str, version: int | None = None) -> Member:
    """A member who can sign in, or whose session of that version is valid."""
    member = team.find(tx, login_of(name))
    if member is None or member.deactivated_at is not None or version not in (None, member.session_version):
        message = worded("You are signed out. Sign in again. Everything you submitted is saved.")
        raise Refusal("signed_out", message, 401)
    return member


def sign_in(tx: Tx, study: Study, name: str, version: int) -> NewSession:
    """Start a session in the study whose database has the account, which may have changed since the password check."""
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    member = active_member(tx, name, version)
    team.note_sign_in(tx, member.id, study.clock())
    return begin(tx, study, arrive(tx, study, PANEL, member.login, {}))


def sign_out(tx: Tx, study: Study, worker_id: int) -> None:
    """End every session of a member with a password, on all devices."""
    identity = workers.identity_of(tx, worker_id)
    if identity is not None and identity[0] == PANEL:
        end_sessions(tx, study, identity[1])


def end_sessions(tx: Tx, study: Study, login: str) -> None:
    """End every session of an account, on all devices."""
    team.end_sessions(tx, login)
    _end_sessions(tx, study.clock(), login, SIGNED_OUT)


def change_password(tx: Tx, study: Study, login: str, version: int, password_hash: str) -> Member:
    """Change the password of an authenticated member, and end every session."""
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    member, now = active_member(tx, login, version), study.clock()
    team.set_password(tx, member.id, password_hash)
    _end_sessions(tx, now, member.login, SIGNED_OUT)
    events.record(tx, now, CHOSEN, {"member": member.id})
    return member_called(tx, member.login)


def _end_sessions(tx: Tx, now: int, login: str, why: str) -> None:
    worker = workers.find_by_identity(tx, PANEL, login)
    if worker is not None:
        sessions.end_all_of(tx, worker.id, why, now)


def deactivate(tx: Tx, study: Study, name: str, by: str, reason: str) -> bool:
    """Deactivate an account: end its sessions, return its items, and refuse late answers.

    False if it was already deactivated. An account that was never used is deleted.
    """
    now = study.clock()
    member = end_account(tx, now, name, reason)
    if member is None:
        return False
    worker = workers.find_by_identity(tx, PANEL, member.login)
    if worker is not None:
        sessions.end_all_of(tx, worker.id, REVOKED, now)
        give_back_everything(tx, study, worker.id)
    note_deactivation(tx, now, member, {"by": by, "reason": reason.strip()})
    if worker is None:
        team.delete(tx, member.id)
    return True


def end_account(tx: Tx, now: int, name: str, reason: str) -> Member | None:
    """Deactivate an account with its links and password; None if it was already deactivated."""
    if not reason.strip():
        raise UserError("Enter a reason. It is kept in the activity log.")
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    member = member_called(tx, name)
    if not team.deactivate(tx, member.id, now):
        return None
    team.end_links(tx, member.id, "deactivated", now)
    return member


def note_deactivation(tx: Tx, now: int, member: Member, why: dict[str, Any]) -> None:
    """Log a deactivation, with the study's newest answer: no later answer can be from this account."""
    worker = workers.find_by_identity(tx, PANEL, member.login)
    evidence = {**why, "member": member.id}
    if worker is None:
        events.record(tx, now, DEACTIVATED, evidence)
        return
    evidence |= {"worker": worker.pseudonym, "last_response": newest_response(tx)}
    events.record(tx, now, DEACTIVATED, evidence, worker_id=worker.id)


def reactivate(tx: Tx, now: int, name: str, by: str) -> NewLink:
    """Reactivate an account; returns a link to choose a new password."""
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    member = member_called(tx, name)
    if not team.reactivate(tx, member.id):
        raise UserError(f"The account of {member.name!r} is not deactivated. To give them a new password, reset it.")
    worker = workers.find_by_identity(tx, PANEL, member.login)
    if worker is not None:
        evidence = {"by": by, "member": member.id, "worker": worker.pseudonym, "last_response": newest_response(tx)}
        events.record(tx, now, REACTIVATED, evidence, worker_id=worker.id)
    return _link(tx, now, member, by, "member invited", INVITATION_HOURS)


def accounts(tx: Tx, now: int) -> list[TeamMember]:
    """The team, sorted by name. Participant IDs are shown only on request."""
    links = team.open_links(tx, now)
    return [
        TeamMember(
            member.name,
            _state(member, has_link=member.id in links),
            member.invited_at,
            member.signed_in_at,
            member.deactivated_at,
        )
        for member in team.members(tx)
    ]


def _state(member: Member, *, has_link: bool) -> str:
    if member.deactivated_at is not None:
        return "deactivated"
    if member.password_hash is not None:
        return "active"
    if not has_link:
        return "link expired"
    return "invited" if member.signed_in_at is None else "password reset"
