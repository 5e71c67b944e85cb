"""Evidence of workers' identities, for `chorale verify`."""

from typing import NamedTuple

from sqlalchemy import Connection, exists, func, select

from chorale.store.erased import ERASED_TEXT
from chorale.store.identity_schema import worker_session
from chorale.store.recruiting_schema import submission
from chorale.store.schema import erasure, event, response, worker, worker_identity


class Arrival(NamedTuple):
    """A worker, and the event of their arrival."""

    worker_id: int
    pseudonym: str
    event_id: int | None
    evidence: str | None


def arrivals(tx: Connection) -> list[Arrival]:
    """All workers with the first event of their arrival, sorted by number."""
    first = (
        select(event.c.worker_id, func.min(event.c.id).label("event_id"))
        .where(event.c.kind == "arrived")
        .group_by(event.c.worker_id)
        .subquery()
    )
    query = (
        select(worker.c.id, worker.c.pseudonym, first.c.event_id, event.c.evidence)
        .outerjoin(first, first.c.worker_id == worker.c.id)
        .outerjoin(event, event.c.id == first.c.event_id)
        .order_by(worker.c.id)
    )
    return [Arrival._make(row) for row in tx.execute(query)]


def sessions_of_others(tx: Connection) -> list[tuple[str, str]]:
    """Sessions whose pseudonym differs from their worker's: both pseudonyms."""
    query = (
        select(worker_session.c.pseudonym, worker.c.pseudonym)
        .join(worker, worker.c.id == worker_session.c.worker_id)
        .where(worker_session.c.pseudonym != worker.c.pseudonym)
        .order_by(worker_session.c.pseudonym)
    )
    return [(str(claimed), str(now)) for claimed, now in tx.execute(query)]


def submissions_of_others(tx: Connection) -> list[str]:
    """The workers with a submission whose participant is not one of their platform IDs."""
    own = exists().where(
        worker_identity.c.worker_id == submission.c.worker_id,
        worker_identity.c.external_id == submission.c.participant,
    )
    query = (
        select(worker.c.pseudonym)
        .join(submission, submission.c.worker_id == worker.c.id)
        .where(~own, submission.c.participant != ERASED_TEXT)
        .distinct()
        .order_by(worker.c.pseudonym)
    )
    return [str(name) for name in tx.execute(query).scalars()]


def session_count(tx: Connection) -> int:
    return int(tx.execute(select(func.count()).select_from(worker_session)).scalar_one())


def responses_without_session(tx: Connection, epoch: int, after: int, up_to: int | None) -> list[tuple[int, str]]:
    """Number and worker of responses in a range whose worker never signed in during an epoch."""
    signed_in = exists().where(worker_session.c.worker_id == response.c.worker_id, worker_session.c.epoch == epoch)
    # Sessions are erased with a worker's identity.
    erased = exists().where(erasure.c.worker_id == response.c.worker_id, erasure.c.identity)
    query = (
        select(response.c.id, worker.c.pseudonym)
        .join(worker, worker.c.id == response.c.worker_id)
        .where(response.c.id > after, ~signed_in, ~erased)
        .order_by(response.c.id)
    )
    if up_to is not None:
        query = query.where(response.c.id <= up_to)
    return [(int(number), str(pseudonym)) for number, pseudonym in tx.execute(query)]


def responses_after(tx: Connection, pseudonym: str, after: int) -> list[int]:
    """The numbers of a worker's responses that are above a number, sorted."""
    query = (
        select(response.c.id)
        .join(worker, worker.c.id == response.c.worker_id)
        .where(worker.c.pseudonym == pseudonym, response.c.id > after)
        .order_by(response.c.id)
    )
    return list(tx.execute(query).scalars())


def newest_response(tx: Connection) -> int:
    """The number of the newest response; 0 if there is none."""
    return int(tx.execute(select(func.max(response.c.id))).scalar() or 0)
