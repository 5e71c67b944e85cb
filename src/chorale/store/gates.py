"""Gates: qualifications, decisions, and closed gates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, select

from chorale.model import Qualification
from chorale.store.codec import as_ordered_text, from_text
from chorale.store.prepared import InsertIfNew, Prepared, PreparedInsert
from chorale.store.schema import gate, qualification, verdict, worker

_GRANT = InsertIfNew(qualification, "worker_id", "name", "granted_at")


def grant(tx: Connection, worker_id: int, name: str, now: int) -> bool:
    """Grant a qualification; False if they already have it."""
    return bool(_GRANT.changed(tx, worker_id=worker_id, name=name, granted_at=now))


def qualifications(tx: Connection) -> list[Qualification]:
    """All qualifications, in the order they were granted."""
    query = (
        select(worker.c.pseudonym, qualification.c.name, qualification.c.granted_at)
        .join(worker, worker.c.id == qualification.c.worker_id)
        .order_by(qualification.c.granted_at, worker.c.pseudonym, qualification.c.name)
    )
    return [Qualification(*row) for row in tx.execute(query)]


@dataclass(frozen=True, slots=True)
class VerdictRow:
    gate: str
    worker_id: int
    worker: str
    at: int
    score: float
    passed: bool
    evidence: Mapping[str, Any]

    @property
    def has_score(self) -> bool:
        """Whether the worker was scored before the gate closed."""
        return not self.evidence.get("without_score")


def verdicts(tx: Connection, name: str | None = None) -> list[VerdictRow]:
    """The decisions of one gate or all, best score first."""
    query: Select[Any] = (
        select(verdict.c.gate, verdict.c.worker_id, worker.c.pseudonym, *verdict.c["at", "score", "passed", "evidence"])
        .join(worker, worker.c.id == verdict.c.worker_id)
        .order_by(verdict.c.gate, verdict.c.score.desc(), worker.c.pseudonym)
    )
    if name is not None:
        query = query.where(verdict.c.gate == name)
    return [
        VerdictRow(by, worker_id, who, at, score, bool(passed), from_text(evidence))
        for by, worker_id, who, at, score, passed, evidence in tx.execute(query)
    ]


_DECIDED = select(verdict.c.worker_id).where(verdict.c.gate == bindparam("gate"))
_DECIDED_ABOUT = Prepared(_DECIDED)
_DECIDED_ABOUT_ONE = Prepared(_DECIDED.where(verdict.c.worker_id == bindparam("worker_id")))
_TIMES_DECIDED = Prepared(select(verdict.c.worker_id, func.count()).group_by(verdict.c.worker_id))
_VERDICTS_SO_FAR = Prepared(select(func.count()).select_from(verdict))
_SCORES_GIVEN = Prepared(select(verdict.c.score).where(verdict.c.gate == bindparam("gate")))


def decided_about(tx: Connection, name: str, worker_id: int | None = None) -> frozenset[int]:
    """The workers a gate has decided about, or whether it has decided about one worker."""
    if worker_id is None:
        return frozenset(_DECIDED_ABOUT.column(tx, gate=name))
    return frozenset(_DECIDED_ABOUT_ONE.column(tx, gate=name, worker_id=worker_id))


_FAILED_BY = Prepared(
    select(*verdict.c["gate", "evidence"]).where(verdict.c.worker_id == bindparam("worker_id"), ~verdict.c.passed)
)


def failed_by(tx: Connection, worker_id: int) -> set[str]:
    """The gates that a worker failed by their score. Having no score when a gate closes is not a failure."""
    rows = _FAILED_BY.all(tx, worker_id=worker_id)
    return {str(name) for name, evidence in rows if not from_text(evidence).get("without_score")}


def scores_given(tx: Connection, name: str) -> list[float]:
    """The scores of workers that a gate has decided about."""
    return _SCORES_GIVEN.column(tx, gate=name)


def verdicts_so_far(tx: Connection) -> int:
    return int(_VERDICTS_SO_FAR.value(tx))


def times_decided(tx: Connection) -> dict[int, int]:
    """The number of gates that have decided, by worker."""
    return {int(each): int(times) for each, times in _TIMES_DECIDED.all(tx)}


_INSERT_VERDICT = PreparedInsert(verdict, "gate", "worker_id", "at", "score", "passed", "evidence")


def add_verdict(
    tx: Connection, name: str, worker_id: int, now: int, score: float, passed: bool, evidence: Mapping[str, Any]
) -> None:
    _INSERT_VERDICT(
        tx, gate=name, worker_id=worker_id, at=now, score=score, passed=passed, evidence=as_ordered_text(dict(evidence))
    )


_CLOSED = Prepared(select(gate.c.name))


def closed_gates(tx: Connection) -> frozenset[str]:
    return frozenset(_CLOSED.column(tx))


def closing_times(tx: Connection) -> dict[str, int]:
    """The closing times of gates, by name."""
    return {str(row[0]): int(row[1]) for row in tx.execute(select(gate.c.name, gate.c.closed_at))}


_CLOSE = InsertIfNew(gate, "name", "closed_at")


def close(tx: Connection, name: str, now: int) -> bool:
    """Close a gate; False if it is already closed."""
    return bool(_CLOSE.changed(tx, name=name, closed_at=now))
