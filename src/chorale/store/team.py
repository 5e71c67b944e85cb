"""Accounts of annotators with a password, and their one-time links."""

import secrets
from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, insert, select, update
from sqlalchemy import delete as sql_delete

from chorale.store.erased import ERASED
from chorale.store.identity_schema import item_assignee, team_link, team_member
from chorale.store.schema import worker_identity

PANEL = "team"
"""The panel of annotators with a password."""


class Member(NamedTuple):
    id: int
    login: str
    name: str
    password_hash: str | None
    session_version: int
    invited_at: int
    signed_in_at: int | None
    deactivated_at: int | None


class InvitationLink(NamedTuple):
    member_id: int
    expires_at: int
    ended_by: str | None


def members(tx: Connection) -> list[Member]:
    """Everybody who was ever invited, sorted by name."""
    return [Member._make(row) for row in tx.execute(select(team_member).order_by(team_member.c.login))]


def has_members(tx: Connection) -> bool:
    return tx.execute(select(team_member.c.id).limit(1)).first() is not None


def find(tx: Connection, login: str) -> Member | None:
    return _first(tx, team_member.c.login == login)


def find_by_id(tx: Connection, member_id: int) -> Member | None:
    return _first(tx, team_member.c.id == member_id)


def _first(tx: Connection, which: ColumnElement[bool]) -> Member | None:
    row = tx.execute(select(team_member).where(which)).first()
    return None if row is None else Member._make(row)


def add(tx: Connection, login: str, name: str, now: int) -> None:
    tx.execute(insert(team_member).values(login=login, name=name, session_version=1, invited_at=now))


def set_password(tx: Connection, member_id: int, password_hash: str | None) -> None:
    """Set or remove a password; all earlier sessions end."""
    values = {"password_hash": password_hash, "session_version": team_member.c.session_version + 1}
    tx.execute(update(team_member).where(team_member.c.id == member_id).values(**values))


def end_sessions(tx: Connection, login: str) -> None:
    raised = {"session_version": team_member.c.session_version + 1}
    tx.execute(update(team_member).where(team_member.c.login == login).values(**raised))


def end_all_sessions(tx: Connection) -> None:
    tx.execute(update(team_member).values(session_version=team_member.c.session_version + 1))


def note_sign_in(tx: Connection, member_id: int, now: int) -> None:
    tx.execute(update(team_member).where(team_member.c.id == member_id).values(signed_in_at=now))


def deactivate(tx: Connection, member_id: int, now: int) -> bool:
    """Deactivate an account with its password; False if it is already deactivated."""
    ending = update(team_member).where(team_member.c.id == member_id, team_member.c.deactivated_at.is_(None))
    values = {"deactivated_at": now, "password_hash": None, "session_version": team_member.c.session_version + 1}
    return bool(tx.execute(ending.values(**values)).rowcount)


def reactivate(tx: Connection, member_id: int) -> bool:
    """Reactivate an account, which needs a new password; False if it is active."""
    beginning = update(team_member).where(team_member.c.id == member_id, team_member.c.deactivated_at.is_not(None))
    return bool(tx.execute(beginning.values(deactivated_at=None)).rowcount)


def is_deactivated(tx: Connection, worker_id: int) -> bool:
    """Whether the account of a worker is deactivated."""
    query = (
        select(team_member.c.id)
        .join(worker_identity, worker_identity.c.external_id == team_member.c.login)
        .where(
            worker_identity.c.panel == PANEL,
            worker_identity.c.worker_id == worker_id,
            team_member.c.deactivated_at.is_not(None),
        )
    )
    return tx.execute(query).first() is not None


def add_link(tx: Connection, member_id: int, digest: str, now: int, expires_at: int) -> None:
    tx.execute(insert(team_link).values(digest=digest, member_id=member_id, made_at=now, expires_at=expires_at))


def find_link(tx: Connection, digest: str) -> InvitationLink | None:
    query = select(team_link.c.member_id, team_link.c.expires_at, team_link.c.ended_by)
    row = tx.execute(query.where(team_link.c.digest == digest)).first()
    return None if row is None else InvitationLink._make(row)


def end_links(tx: Connection, member_id: int | None, why: str, now: int) -> None:
    """End the open links of a member, or of everybody."""
    whose = team_link.c.member_id == member_id if member_id is not None else team_link.c.member_id.is_not(None)
    tx.execute(update(team_link).where(whose, team_link.c.ended_at.is_(None)).values(ended_at=now, ended_by=why))


def open_links(tx: Connection, now: int) -> dict[int, int]:
    """The expiry times of open links, by member number."""
    query = select(team_link.c.member_id, team_link.c.expires_at)
    rows = tx.execute(query.where(team_link.c.ended_at.is_(None), team_link.c.expires_at > now))
    return {int(member_id): int(expires_at) for member_id, expires_at in rows}


def deactivate_also(tx: Connection, known: Iterable[Member]) -> list[Member]:
    """Deactivate members who are deactivated in another state of the database and exist in this one."""
    ended = []
    for member in known:
        here = None if member.deactivated_at is None else find(tx, member.login)
        if here is not None and deactivate(tx, here.id, member.deactivated_at or 0):
            ended.append(here)
    return ended


def keep_passwords(tx: Connection, known: Iterable[Member]) -> None:
    """Copy the passwords from another state of the database, and remove those that were reset there."""
    for member in known:
        here = find(tx, member.login)
        if here is not None and here.password_hash != member.password_hash:
            set_password(tx, here.id, member.password_hash)


def erase(tx: Connection, logins: Iterable[str]) -> int:
    """Erase the accounts of erased people, and their names as assignees; returns the number of accounts."""
    erased = 0
    for login in logins:
        member = find(tx, login)
        # The items stay unavailable to others.
        new = ERASED + secrets.token_urlsafe(16)
        tx.execute(update(item_assignee).where(item_assignee.c.login == login).values(login=new))
        if member is not None:
            delete(tx, member.id)
            erased += 1
    return erased


def delete(tx: Connection, member_id: int) -> None:
    """Delete an account and its links."""
    tx.execute(sql_delete(team_link).where(team_link.c.member_id == member_id))
    tx.execute(sql_delete(team_member).where(team_member.c.id == member_id))
