"""Qualification types, their holders and requests, and blocked workers."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from chorale.kits.mturk.store.schema import block, qualification, qualification_request, qualification_type
from chorale.store.schema import worker


@dataclass(frozen=True, slots=True)
class QualificationTypeRow:
    id: int
    name: str
    title: str
    keywords: str
    description: str
    status: str
    test: str | None
    answer_key: str | None
    test_seconds: int | None
    retry_seconds: int | None
    auto_value: int | None
    """Value granted automatically on request; None if requests are reviewed."""
    created_at: int
    deleted_at: int | None


def add_type(tx: Connection, values: dict[str, Any]) -> None:
    tx.execute(insert(qualification_type).values(values))


def type_called(tx: Connection, name: str) -> QualificationTypeRow | None:
    query = select(qualification_type).where(
        qualification_type.c.name == name, qualification_type.c.deleted_at.is_(None)
    )
    row = tx.execute(query).first()
    return None if row is None else QualificationTypeRow(*row)


def type_titled(tx: Connection, title: str) -> QualificationTypeRow | None:
    query = select(qualification_type).where(
        qualification_type.c.title == title, qualification_type.c.deleted_at.is_(None)
    )
    row = tx.execute(query).first()
    return None if row is None else QualificationTypeRow(*row)


def change_type(tx: Connection, type_id: int, **values: Any) -> None:
    tx.execute(update(qualification_type).where(qualification_type.c.id == type_id).values(values))


def types(
    tx: Connection, limit: int, after: int | None, *, query: str | None, requestable: bool
) -> list[QualificationTypeRow]:
    asked = select(qualification_type).where(qualification_type.c.deleted_at.is_(None))
    if after is not None:
        asked = asked.where(qualification_type.c.id > after)
    if query:
        within = (qualification_type.c.title, qualification_type.c.keywords, qualification_type.c.description)
        asked = asked.where(or_(*(func.lower(column).contains(query.lower(), autoescape=True) for column in within)))
    if requestable:
        asked = asked.where(qualification_type.c.status == "Active")
    return [QualificationTypeRow(*row) for row in tx.execute(asked.order_by(qualification_type.c.id).limit(limit))]


@dataclass(frozen=True, slots=True)
class HeldRow:
    id: int
    pseudonym: str
    value: int
    status: str
    granted_at: int


_HELD = select(
    qualification.c.id,
    worker.c.pseudonym,
    qualification.c.value,
    qualification.c.status,
    qualification.c.granted_at,
).join(worker, worker.c.id == qualification.c.worker_id)


def grant(tx: Connection, type_id: int, worker_id: int, value: int, now: int) -> None:
    upsert = postgresql.insert if tx.dialect.name == "postgresql" else sqlite.insert
    values = {"value": value, "status": "Granted", "granted_at": now}
    tx.execute(
        upsert(qualification)
        .values(type_id=type_id, worker_id=worker_id, **values)
        .on_conflict_do_update(index_elements=[qualification.c.type_id, qualification.c.worker_id], set_=values)
    )


def revoke(tx: Connection, type_id: int, worker_id: int) -> bool:
    changed = (
        update(qualification)
        .where(
            qualification.c.type_id == type_id,
            qualification.c.worker_id == worker_id,
            qualification.c.status == "Granted",
        )
        .values(status="Revoked")
    )
    return bool(tx.execute(changed).rowcount)


def held(tx: Connection, type_id: int, worker_id: int) -> HeldRow | None:
    row = tx.execute(_HELD.where(qualification.c.type_id == type_id, qualification.c.worker_id == worker_id)).first()
    return None if row is None else HeldRow(*row)


def values_of(tx: Connection, worker_id: int) -> dict[str, int]:
    """Qualifications of a worker, by type name."""
    query = (
        select(qualification_type.c.name, qualification.c.value)
        .join(qualification_type, qualification_type.c.id == qualification.c.type_id)
        .where(
            qualification.c.worker_id == worker_id,
            qualification.c.status == "Granted",
            qualification_type.c.deleted_at.is_(None),
        )
    )
    return {str(row[0]): int(row[1]) for row in tx.execute(query)}


def holders(tx: Connection, type_id: int, limit: int, after: int | None, status: str | None) -> list[HeldRow]:
    query = _HELD.where(qualification.c.type_id == type_id)
    if after is not None:
        query = query.where(qualification.c.id > after)
    if status is not None:
        query = query.where(qualification.c.status == status)
    return [HeldRow(*row) for row in tx.execute(query.order_by(qualification.c.id).limit(limit))]


@dataclass(frozen=True, slots=True)
class RequestRow:
    id: int
    name: str
    type_id: int
    worker_id: int
    state: str
    at: int
    answer: str | None
    reason: str | None
    type: str
    test: str | None
    pseudonym: str


_REQUESTS = (
    select(*qualification_request.c, qualification_type.c.name, qualification_type.c.test, worker.c.pseudonym)
    .join(qualification_type, qualification_type.c.id == qualification_request.c.type_id)
    .join(worker, worker.c.id == qualification_request.c.worker_id)
)


def add_request(tx: Connection, name: str, type_id: int, worker_id: int, state: str, now: int) -> None:
    tx.execute(
        insert(qualification_request).values(name=name, type_id=type_id, worker_id=worker_id, state=state, at=now)
    )


def request_called(tx: Connection, name: str, *, lock: bool = False) -> RequestRow | None:
    query = _REQUESTS.where(qualification_request.c.name == name)
    row = tx.execute(query.with_for_update(of=qualification_request) if lock else query).first()
    return None if row is None else RequestRow(*row)


def last_request(tx: Connection, type_id: int, worker_id: int) -> RequestRow | None:
    query = _REQUESTS.where(
        qualification_request.c.type_id == type_id, qualification_request.c.worker_id == worker_id
    ).order_by(qualification_request.c.id.desc())
    row = tx.execute(query.limit(1)).first()
    return None if row is None else RequestRow(*row)


def change_request(tx: Connection, request_id: int, **values: Any) -> None:
    tx.execute(update(qualification_request).where(qualification_request.c.id == request_id).values(values))


def open_requests(tx: Connection, type_name: str | None, limit: int, after: int | None) -> list[RequestRow]:
    query = _REQUESTS.where(qualification_request.c.state == "open", qualification_type.c.deleted_at.is_(None))
    if type_name is not None:
        query = query.where(qualification_type.c.name == type_name)
    if after is not None:
        query = query.where(qualification_request.c.id > after)
    return [RequestRow(*row) for row in tx.execute(query.order_by(qualification_request.c.id).limit(limit))]


def add_block(tx: Connection, worker_id: int, reason: str, now: int) -> bool:
    """Blocks a worker. False if already blocked."""
    upsert = postgresql.insert if tx.dialect.name == "postgresql" else sqlite.insert
    made = upsert(block).values(worker_id=worker_id, reason=reason, at=now).on_conflict_do_nothing()
    return bool(tx.execute(made).rowcount)


def end_block(tx: Connection, worker_id: int) -> bool:
    return bool(tx.execute(delete(block).where(block.c.worker_id == worker_id)).rowcount)


def is_blocked(tx: Connection, worker_id: int) -> bool:
    return tx.execute(select(block.c.worker_id).where(block.c.worker_id == worker_id)).first() is not None


def blocks(tx: Connection, limit: int, after: int | None) -> list[tuple[int, str, str]]:
    """Worker, pseudonym and reason."""
    query = select(block.c.worker_id, worker.c.pseudonym, block.c.reason).join(worker, worker.c.id == block.c.worker_id)
    if after is not None:
        query = query.where(block.c.worker_id > after)
    return [(int(a), str(b), str(c)) for a, b, c in tx.execute(query.order_by(block.c.worker_id).limit(limit))]


def worker_called(tx: Connection, pseudonym: str) -> int | None:
    return tx.execute(select(worker.c.id).where(worker.c.pseudonym == pseudonym)).scalar()
