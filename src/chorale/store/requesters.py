"""The people who run the study, and how they sign in."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from chorale.store.erased import erased_name
from chorale.store.prepared import upsert
from chorale.store.schema import requester, worker, worker_identity

PANEL = "expert"
"""The panel of experts who work in stages."""


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


def is_erased(tx: Connection, name: str) -> bool:
    """Whether the person with this name was erased."""
    return find_requester(tx, erased_name(tx, name)) is not None


def find_by_id(tx: Connection, number: int) -> RequesterRow | None:
    row = tx.execute(select(requester).where(requester.c.id == number)).first()
    return None if row is None else RequesterRow(*row)


def has_owner(tx: Connection) -> bool:
    return tx.execute(select(requester.c.id).where(requester.c.role == "owner").limit(1)).first() is not None


def add_requester(tx: Connection, name: str, role: str) -> bool:
    """Add a person who signs in by a link, without a password; False if the name is taken."""
    made = upsert(tx, requester).values(name=name, role=role, session_version=1).on_conflict_do_nothing()
    return bool(tx.execute(made).rowcount)


def requesters(tx: Connection) -> list[RequesterRow]:
    """Everybody who has used the console or was invited to it."""
    return [RequesterRow(*row) for row in tx.execute(select(requester).order_by(requester.c.id))]


def revoke(tx: Connection, name: str, now: int) -> bool:
    """Revoke a person's link and end their sessions; False if it was already revoked."""
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


def revoke_also(tx: Connection, known: Iterable[RequesterRow]) -> list[str]:
    """Revoke the links of everybody whose link is revoked in another state of the database; returns their names."""
    revoked = []
    for row in known:
        if row.revoked_at is None:
            continue
        add_requester(tx, row.name, row.role)
        here = find_requester(tx, row.name)
        if here is not None and here.role == row.role and revoke(tx, row.name, row.revoked_at):
            revoked.append(row.name)
    return revoked


def end_all_sessions(tx: Connection) -> None:
    """End every session of everybody."""
    tx.execute(update(requester).values(session_version=requester.c.session_version + 1))


def revoked_workers(tx: Connection, panel: str) -> dict[str, int]:
    """The times at which experts' links were revoked, by worker pseudonym."""
    query = (
        select(worker.c.pseudonym, requester.c.revoked_at)
        .join(worker_identity, worker_identity.c.worker_id == worker.c.id)
        .join(requester, requester.c.name == worker_identity.c.external_id)
        .where(worker_identity.c.panel == panel, requester.c.revoked_at.is_not(None))
    )
    return {str(pseudonym): int(at) for pseudonym, at in tx.execute(query)}


def is_revoked(tx: Connection, panel: str, worker_id: int) -> bool:
    """Whether the link of an expert, as a worker, was revoked."""
    query = (
        select(requester.c.id)
        .join(worker_identity, worker_identity.c.external_id == requester.c.name)
        .where(
            worker_identity.c.panel == panel,
            worker_identity.c.worker_id == worker_id,
            requester.c.revoked_at.is_not(None),
        )
    )
    return tx.execute(query).first() is not None


def set_password(tx: Connection, name: str, role: str, password_hash: str) -> None:
    """Add a requester, or set a new password and end their sessions."""
    changed = tx.execute(
        update(requester)
        .where(requester.c.name == name)
        .values(password_hash=password_hash, session_version=requester.c.session_version + 1)
    ).rowcount
    if not changed:
        tx.execute(insert(requester).values(name=name, role=role, password_hash=password_hash, session_version=1))
