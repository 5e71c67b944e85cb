"""The people who run the study, and how they sign in."""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from chorale.store.prepared import upsert
from chorale.store.schema import requester


@dataclass(frozen=True, slots=True)
class RequesterRow:
    id: int
    name: str
    role: str
    password_hash: str | None
    session_version: int
    revoked_at: int | None = None


def find_requester(tx: Connection, name: str) -> RequesterRow | None:
    row = tx.execute(select(requester).where(requester.c.name == name)).first()
    return None if row is None else RequesterRow(*row)


def has_owner(tx: Connection) -> bool:
    return tx.execute(select(requester.c.id).where(requester.c.role == "owner").limit(1)).first() is not None


def add_requester(tx: Connection, name: str, role: str) -> bool:
    """Make somebody who signs in by a link and has no password; False if the name is taken."""
    made = upsert(tx, requester).values(name=name, role=role, session_version=1).on_conflict_do_nothing()
    return bool(tx.execute(made).rowcount)


def requesters(tx: Connection) -> list[RequesterRow]:
    """Everybody who has come to the console, or was asked to."""
    return [RequesterRow(*row) for row in tx.execute(select(requester).order_by(requester.c.id))]


def revoke(tx: Connection, name: str, now: int) -> bool:
    """Let nobody in by somebody's link any more, and end their sessions; False if it was so already."""
    changed = tx.execute(
        update(requester)
        .where(requester.c.name == name, requester.c.revoked_at.is_(None))
        .values(revoked_at=now, session_version=requester.c.session_version + 1)
    )
    return bool(changed.rowcount)


def end_sessions(tx: Connection, name: str) -> None:
    tx.execute(
        update(requester).where(requester.c.name == name).values(session_version=requester.c.session_version + 1)
    )


def set_password(tx: Connection, name: str, role: str, password_hash: str) -> None:
    """Make the requester, or give them a new password and end their sessions."""
    changed = tx.execute(
        update(requester)
        .where(requester.c.name == name)
        .values(password_hash=password_hash, session_version=requester.c.session_version + 1)
    ).rowcount
    if not changed:
        tx.execute(insert(requester).values(name=name, role=role, password_hash=password_hash, session_version=1))
