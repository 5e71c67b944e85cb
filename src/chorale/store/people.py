"""Workers, who they are to their panel, and the people who run the study."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from sqlalchemy import Connection, bindparam, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from chorale.store.codec import as_ordered_text
from chorale.store.prepared import Prepared, prepared_if_new, prepared_numbering
from chorale.store.schema import requester, setting, worker, worker_identity

# Letters and digits that can't be mistaken for one another.
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class WorkerRow:
    id: int
    pseudonym: str
    arrived_at: int
    consented_at: int | None
    arm: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A way people came, and how many did."""

    panel: str
    came: int
    consented: int
    last_at: int


@dataclass(frozen=True, slots=True)
class RequesterRow:
    id: int
    name: str
    role: str
    password_hash: str | None
    session_version: int
    revoked_at: int | None = None


_ADD_WORKER = prepared_numbering(worker, "pseudonym", "arrived_at")
_ADD_IDENTITY = prepared_if_new(worker_identity, "worker_id", "panel", "external_id", "visit")


def arrive(
    tx: Connection, panel: str, external_id: str, visit: Mapping[str, str], now: int, rng: Random
) -> tuple[WorkerRow, bool]:
    """The worker behind a panel's id, made at the first arrival; and whether they are new."""
    known = find_by_identity(tx, panel, external_id)
    if known is not None:
        return known, False
    pseudonym = "w-" + "".join(rng.choices(_ALPHABET, k=10))
    worker_id = _ADD_WORKER.number(tx, {"pseudonym": pseudonym, "arrived_at": now})
    told = as_ordered_text(dict(visit))
    identity = {"worker_id": worker_id, "panel": panel, "external_id": external_id, "visit": told}
    if not _ADD_IDENTITY.changed(tx, identity):
        # Somebody else's transaction made the same person a moment ago: ours leaves an unused worker to take back.
        tx.execute(worker.delete().where(worker.c.id == worker_id))
        known = find_by_identity(tx, panel, external_id)
        if known is None:
            raise RuntimeError(f"the identity {panel!r} vanished while it was being made")
        return known, False
    return WorkerRow(worker_id, pseudonym, now, None), True


_BY_IDENTITY = Prepared(
    select(worker)
    .join(worker_identity, worker_identity.c.worker_id == worker.c.id)
    .where(worker_identity.c.panel == bindparam("panel"), worker_identity.c.external_id == bindparam("external_id"))
)


def find_by_identity(tx: Connection, panel: str, external_id: str) -> WorkerRow | None:
    row = _BY_IDENTITY.first(tx, {"panel": panel, "external_id": external_id})
    return None if row is None else WorkerRow(*row)


def find_by_panel_id(tx: Connection, external_id: str) -> WorkerRow | None:
    """Whoever came with an id, from any panel. To be asked for only where the asking is written down."""
    query = select(worker).join(worker_identity, worker_identity.c.worker_id == worker.c.id)
    row = tx.execute(query.where(worker_identity.c.external_id == external_id).limit(1)).first()
    return None if row is None else WorkerRow(*row)


_WORKER = Prepared(select(worker).where(worker.c.id == bindparam("worker_id")))
_PANEL = Prepared(select(worker_identity.c.panel).where(worker_identity.c.worker_id == bindparam("worker_id")))


def find_worker(tx: Connection, worker_id: int) -> WorkerRow | None:
    row = _WORKER.first(tx, {"worker_id": worker_id})
    return None if row is None else WorkerRow(*row)


def panel_of(tx: Connection, worker_id: int) -> str | None:
    found: str | None = _PANEL.value(tx, {"worker_id": worker_id})
    return found


def identity_of(tx: Connection, worker_id: int) -> tuple[str, str] | None:
    """The panel somebody came from, and what it calls them."""
    row = tx.execute(
        select(worker_identity.c.panel, worker_identity.c.external_id).where(worker_identity.c.worker_id == worker_id)
    ).first()
    return None if row is None else (str(row[0]), str(row[1]))


def panels(tx: Connection) -> dict[str, str]:
    """The panel everybody came from, by pseudonym."""
    query = select(worker.c.pseudonym, worker_identity.c.panel).join(
        worker_identity, worker_identity.c.worker_id == worker.c.id
    )
    return {str(row[0]): str(row[1]) for row in tx.execute(query)}


def from_panel(tx: Connection, panel: str) -> set[str]:
    """The pseudonyms of all who came from a panel."""
    query = select(worker.c.pseudonym).join(worker_identity, worker_identity.c.worker_id == worker.c.id)
    return set(tx.execute(query.where(worker_identity.c.panel == panel)).scalars())


_CONSENT = Prepared(
    update(worker)
    .where(worker.c.id == bindparam("of_worker"), worker.c.consented_at.is_(None))
    .values(consented_at=bindparam("now"))
)


def consent(tx: Connection, worker_id: int, now: int) -> bool:
    """Note the consent; False if it was noted before."""
    return bool(_CONSENT.changed(tx, {"of_worker": worker_id, "now": now}))


def secret(tx: Connection, name: str) -> str:
    """A random secret of this study, made the first time it is asked for."""
    upsert = postgresql.insert if tx.dialect.name == "postgresql" else sqlite.insert
    tx.execute(upsert(setting).values(key=f"secret:{name}", value=secrets.token_urlsafe(32)).on_conflict_do_nothing())
    return str(tx.execute(select(setting.c.value).where(setting.c.key == f"secret:{name}")).scalar_one())


def find_requester(tx: Connection, name: str) -> RequesterRow | None:
    row = tx.execute(select(requester).where(requester.c.name == name)).first()
    return None if row is None else RequesterRow(*row)


def has_owner(tx: Connection) -> bool:
    return tx.execute(select(requester.c.id).where(requester.c.role == "owner").limit(1)).first() is not None


def add_requester(tx: Connection, name: str, role: str) -> bool:
    """Make somebody who signs in by a link and has no password; False if the name is taken."""
    upsert = postgresql.insert if tx.dialect.name == "postgresql" else sqlite.insert
    made = upsert(requester).values(name=name, role=role, session_version=1).on_conflict_do_nothing()
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


def find_by_pseudonym(tx: Connection, pseudonym: str) -> WorkerRow | None:
    row = tx.execute(select(worker).where(worker.c.pseudonym == pseudonym)).first()
    return None if row is None else WorkerRow(*row)


def identities(tx: Connection, worker_id: int) -> list[tuple[str, str]]:
    """Panel and id there. To be asked for only where the asking is written down."""
    query = select(worker_identity.c.panel, worker_identity.c.external_id).where(
        worker_identity.c.worker_id == worker_id
    )
    return [(str(panel), str(external)) for panel, external in tx.execute(query)]


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


def sources(tx: Connection) -> list[Source]:
    """How everybody came, in the order of the ways' names."""
    query = (
        select(
            worker_identity.c.panel,
            func.count(),
            func.count(worker.c.consented_at),
            func.max(worker.c.arrived_at),
        )
        .join(worker, worker.c.id == worker_identity.c.worker_id)
        .group_by(worker_identity.c.panel)
        .order_by(worker_identity.c.panel)
    )
    return [Source(*row) for row in tx.execute(query)]
