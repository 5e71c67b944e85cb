"""Workers, their panel IDs, and counts of arrivals."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from sqlalchemy import (
    BigInteger,
    Connection,
    Select,
    and_,
    bindparam,
    delete,
    func,
    literal_column,
    or_,
    select,
    update,
)

from chorale.model import Worker
from chorale.model.logins import login_of
from chorale.store.codec import as_ordered_text
from chorale.store.prepared import InsertIfNew, NumberingInsert, Prepared, Scope, upsert
from chorale.store.schema import response, used_token, worker, worker_identity

# Letters and digits that can't be confused with each other.
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class PanelCounts:
    """A panel, with its number of people."""

    panel: str
    came: int
    consented: int
    last_at: int


_ADD_WORKER = NumberingInsert(worker, "pseudonym", "arrived_at")
_ADD_IDENTITY = InsertIfNew(worker_identity, "worker_id", "panel", "external_id", "visit")


def arrive(
    tx: Connection, panel: str, external_id: str, visit: Mapping[str, str], now: int, rng: Random
) -> tuple[Worker, bool]:
    """The worker with a panel ID, created at the first arrival, and whether they are new."""
    known = find_by_identity(tx, panel, external_id)
    if known is not None:
        return known, False
    pseudonym = "w-" + "".join(rng.choices(_ALPHABET, k=10))
    worker_id = _ADD_WORKER.number(tx, pseudonym=pseudonym, arrived_at=now)
    visit_text = as_ordered_text(dict(visit))
    identity = {"worker_id": worker_id, "panel": panel, "external_id": external_id, "visit": visit_text}
    if not _ADD_IDENTITY.changed(tx, **identity):
        # Another transaction has just created the same person: delete our unused worker.
        tx.execute(worker.delete().where(worker.c.id == worker_id))
        known = find_by_identity(tx, panel, external_id)
        if known is None:
            raise RuntimeError(f"the identity {panel!r} was deleted while it was being added")
        return known, False
    return Worker(worker_id, pseudonym, now, None), True


def arrive_named(tx: Connection, panel: str, name: str, pseudonym: str, now: int) -> tuple[Worker, bool]:
    """The worker with a public name, created at the first call, and whether they are new."""
    known = find_by_identity(tx, panel, name)
    if known is not None:
        return known, False
    worker_id = _ADD_WORKER.number(tx, pseudonym=pseudonym, arrived_at=now)
    _ADD_IDENTITY.changed(tx, worker_id=worker_id, panel=panel, external_id=name, visit="{}")
    return Worker(worker_id, pseudonym, now, None), True


_BY_IDENTITY = Prepared(
    select(worker)
    .join(worker_identity, worker_identity.c.worker_id == worker.c.id)
    .where(worker_identity.c.panel == bindparam("panel"), worker_identity.c.external_id == bindparam("external_id"))
)


def find_by_identity(tx: Connection, panel: str, external_id: str) -> Worker | None:
    row = _BY_IDENTITY.first(tx, panel=panel, external_id=external_id)
    return None if row is None else Worker(*row)


def find_by_panel_id(tx: Connection, external_id: str) -> Worker | None:
    """The worker with a platform ID or a sign-in name. Call it only where the look-up is logged."""
    query = select(worker).join(worker_identity, worker_identity.c.worker_id == worker.c.id)
    row = tx.execute(query.where(worker_identity.c.external_id == external_id).limit(1)).first()
    return find_by_identity(tx, "team", login_of(external_id)) if row is None else Worker(*row)


_WORKER = Prepared(select(worker).where(worker.c.id == bindparam("worker_id")))
_PANEL = Prepared(
    select(worker_identity.c.panel).where(worker_identity.c.worker_id == bindparam("worker_id")),
    Scope(worker="worker_id"),
)


def find_worker(tx: Connection, worker_id: int) -> Worker | None:
    row = _WORKER.first(tx, worker_id=worker_id)
    return None if row is None else Worker(*row)


def panel_of(tx: Connection, worker_id: int) -> str | None:
    panel: str | None = _PANEL.value(tx, worker_id=worker_id)
    return panel


def identity_of(tx: Connection, worker_id: int) -> tuple[str, str] | None:
    """A worker's panel and panel ID."""
    row = tx.execute(
        select(worker_identity.c.panel, worker_identity.c.external_id).where(worker_identity.c.worker_id == worker_id)
    ).first()
    return None if row is None else (str(row[0]), str(row[1]))


def panels(tx: Connection) -> dict[str, str]:
    """The panels of all workers, by pseudonym."""
    query = select(worker.c.pseudonym, worker_identity.c.panel).join(
        worker_identity, worker_identity.c.worker_id == worker.c.id
    )
    return {str(row[0]): str(row[1]) for row in tx.execute(query)}


def from_panel(tx: Connection, panel: str) -> set[str]:
    """The pseudonyms of all workers from a panel."""
    query = select(worker.c.pseudonym).join(worker_identity, worker_identity.c.worker_id == worker.c.id)
    return set(tx.execute(query.where(worker_identity.c.panel == panel)).scalars())


_CONSENT = Prepared(
    update(worker)
    .where(
        worker.c.id == bindparam("of_worker"),
        # Values below 0 mean that a worker has withdrawn.
        or_(
            worker.c.consent_version.is_(None),
            and_(worker.c.consent_version >= literal_column("0"), worker.c.consent_version < bindparam("version")),
        ),
    )
    .values(
        consented_at=func.coalesce(worker.c.consented_at, bindparam("now", type_=BigInteger)),
        consent_version=bindparam("version"),
    )
)


def consent(tx: Connection, worker_id: int, version: int, now: int) -> bool:
    """Record consent to a version of the form; False if it is already recorded."""
    return bool(_CONSENT.changed(tx, of_worker=worker_id, version=version, now=now))


def use_token(tx: Connection, digest: str, expires_at: int, now: int) -> bool:
    """Record the use of a signed link; False if it was already used."""
    tx.execute(delete(used_token).where(used_token.c.expires_at < now))
    row = {"digest": digest, "expires_at": expires_at}
    return bool(tx.execute(upsert(tx, used_token).values(**row).on_conflict_do_nothing()).rowcount)


def models() -> Select[int]:
    """The workers that are models."""
    return select(worker_identity.c.worker_id).where(worker_identity.c.panel == literal_column("'model'"))


def came_from(tx: Connection, panel: str) -> bool:
    """Whether anybody has joined from a panel."""
    query = select(worker_identity.c.worker_id).where(worker_identity.c.panel == panel).limit(1)
    return tx.execute(query).first() is not None


def find_by_pseudonym(tx: Connection, pseudonym: str) -> Worker | None:
    row = tx.execute(select(worker).where(worker.c.pseudonym == pseudonym)).first()
    return None if row is None else Worker(*row)


def identities(tx: Connection, worker_id: int) -> list[tuple[str, str]]:
    """A worker's platforms and IDs. Call it only where the look-up is logged."""
    query = select(worker_identity.c.panel, worker_identity.c.external_id).where(
        worker_identity.c.worker_id == worker_id
    )
    return [(str(panel), str(external)) for panel, external in tx.execute(query) if not external.startswith("erased:")]


def panel_counts(tx: Connection) -> list[PanelCounts]:
    """Numbers of people by panel, sorted by name."""
    query = (
        select(worker_identity.c.panel, func.count(), func.count(worker.c.consented_at), func.max(worker.c.arrived_at))
        .join(worker, worker.c.id == worker_identity.c.worker_id)
        .group_by(worker_identity.c.panel)
        .order_by(worker_identity.c.panel)
    )
    return [PanelCounts(*row) for row in tx.execute(query)]


@dataclass(frozen=True, slots=True)
class Attendees:
    """Counts of people who joined. Experts are staff and counted separately."""

    arrived: int
    consented: int
    in_time: int | None
    """Number of people who joined before the last answer; None if there is no answer yet."""
    experts: int
    """Number of experts who have worked in this study."""
    first_at: int | None
    """When the first person arrived, or the first expert if nobody else has."""
    last_at: int | None
    """Time of the last answer."""


def attendees(tx: Connection, experts_panel: str) -> Attendees:
    """Count arrivals. `experts_panel` is the panel of experts. Models are not counted."""
    last_at = tx.execute(select(func.max(response.c.submitted_at))).scalar()
    experts = select(worker_identity.c.worker_id).where(worker_identity.c.panel == experts_panel)
    first_at = func.min(worker.c.arrived_at)
    people = worker.c.id.not_in(experts) & worker.c.id.not_in(models())
    counted = select(func.count(), func.count(worker.c.consented_at), first_at).where(people)
    arrived, consented, first = tx.execute(counted).one()
    in_time = None
    if last_at is not None:
        in_time = tx.execute(select(func.count()).where(people, worker.c.arrived_at <= last_at)).scalar_one()
    staff, first_of_staff = tx.execute(select(func.count(), first_at).where(worker.c.id.in_(experts))).one()
    return Attendees(arrived, consented, in_time, staff, first if arrived else first_of_staff, last_at)
