"""Remaining personal data: people whose data could be erased, and people whose data were erased."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from chorale.store.erased import ERASED
from chorale.store.erasing import WITHDRAWN
from chorale.store.identity_schema import worker_session
from chorale.store.schema import response, worker, worker_identity
from chorale.store.workers import models


def erased_answers(tx: Connection) -> set[int]:
    """The responses whose answers were erased."""
    return set(tx.execute(select(response.c.id).where(response.c.erased_at.is_not(None))).scalars())


class LastSeen(NamedTuple):
    """A person, with their last visit: when they last joined, signed in or answered."""

    worker_id: int
    worker: str
    at: int
    has_answers: bool
    """Whether they have answers that are not erased."""
    identified: bool


class WorkLeft(NamedTuple):
    """A worker's work other than a stage's items."""

    last_at: int
    """When they last answered."""
    answers: int
    """Number of answers that are not erased."""


NO_WORK = WorkLeft(0, 0)


def last_seen(tx: Connection, experts_panel: str, beside: Mapping[int, WorkLeft]) -> list[LastSeen]:
    """Everybody with data that could be erased, given their work other than items. Experts are staff, and left out."""
    last = (
        select(
            response.c.worker_id,
            func.max(response.c.submitted_at).label("at"),
            func.count().filter(response.c.erased_at.is_(None)).label("answers"),
        )
        .group_by(response.c.worker_id)
        .subquery()
    )
    signed_in = (
        select(worker_session.c.worker_id, func.max(worker_session.c.began_at).label("at"))
        .group_by(worker_session.c.worker_id)
        .subquery()
    )
    query = (
        select(
            worker.c.id,
            worker.c.pseudonym,
            worker.c.arrived_at,
            func.coalesce(signed_in.c.at, 0),
            func.coalesce(last.c.at, 0),
            func.coalesce(last.c.answers, 0),
            worker_identity.c.external_id.not_like(f"{ERASED}%"),
        )
        .join(worker_identity, worker_identity.c.worker_id == worker.c.id)
        .outerjoin(last, last.c.worker_id == worker.c.id)
        .outerjoin(signed_in, signed_in.c.worker_id == worker.c.id)
        .where(worker_identity.c.panel != experts_panel, worker.c.id.not_in(models()))
        .order_by(worker.c.id)
    )
    people = []
    for number, name, *times, answers, identified in tx.execute(query):
        other = beside.get(number, NO_WORK)
        has_answers = answers + other.answers > 0
        if identified or has_answers:
            people.append(LastSeen(number, name, max(*times, other.last_at), has_answers, bool(identified)))
    return people


class ErasedState(NamedTuple):
    """Remaining data by kind, as sets of pseudonyms."""

    nameless: set[str]
    """Without an identity."""
    silent: set[str]
    """People whose answers are all erased."""
    answered: set[str]
    """With any answer, erased or not."""
    stopped: set[str]
    """Who can get no more work."""


def erased_state(tx: Connection, beside: Collection[int]) -> ErasedState:
    """Remaining data, ignoring responses that were erased with others' answers."""
    of_worker = select(worker.c.pseudonym)
    identified = of_worker.join(worker_identity, worker_identity.c.worker_id == worker.c.id)
    answers = of_worker.join(response, response.c.worker_id == worker.c.id).distinct()
    answers = answers.where(response.c.id.not_in(sorted(beside)))
    answered = set(tx.execute(answers).scalars())
    return ErasedState(
        set(tx.execute(identified.where(worker_identity.c.external_id.like(f"{ERASED}%"))).scalars()),
        answered - set(tx.execute(answers.where(response.c.erased_at.is_(None))).scalars()),
        answered,
        set(tx.execute(of_worker.where(worker.c.consent_version == WITHDRAWN)).scalars()),
    )
