"""What is left of people: of whom something could be erased, and of whom something was."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, func, or_, select

from chorale.store.erased import ERASED
from chorale.store.erasing import WITHDRAWN
from chorale.store.schema import response, worker, worker_identity
from chorale.store.workers import models


def erased_answers(tx: Connection) -> set[int]:
    """The responses whose answers were erased."""
    return set(tx.execute(select(response.c.id).where(response.c.erased_at.is_not(None))).scalars())


class LastSeen(NamedTuple):
    """Somebody whose identity is still there, and when they last did anything."""

    worker_id: int
    worker: str
    at: int
    has_answers: bool
    """Whether there are answers of theirs that are not erased."""
    identified: bool


def last_seen(tx: Connection, experts_panel: str) -> list[LastSeen]:
    """Everybody of whom something could be erased. Experts are staff, and not among them."""
    last = (
        select(
            response.c.worker_id,
            func.max(response.c.submitted_at).label("at"),
            func.count().filter(response.c.erased_at.is_(None)).label("answers"),
        )
        .group_by(response.c.worker_id)
        .subquery()
    )
    identified = worker_identity.c.external_id.not_like(f"{ERASED}%")
    query = (
        select(
            worker.c.id,
            worker.c.pseudonym,
            worker.c.arrived_at,
            func.coalesce(last.c.at, 0),
            func.coalesce(last.c.answers, 0),
            identified,
        )
        .join(worker_identity, worker_identity.c.worker_id == worker.c.id)
        .outerjoin(last, last.c.worker_id == worker.c.id)
        .where(worker_identity.c.panel != experts_panel, worker.c.id.not_in(models()))
        .where(or_(identified, func.coalesce(last.c.answers, 0) > 0))
        .order_by(worker.c.id)
    )
    return [
        LastSeen(number, name, max(arrived, answered), answers > 0, bool(known))
        for number, name, arrived, answered, answers, known in tx.execute(query)
    ]


class ErasedState(NamedTuple):
    """Who has what left, by pseudonym."""

    nameless: set[str]
    """Without an identity."""
    silent: set[str]
    """With answers, all of which are gone."""
    answered: set[str]
    """Who ever gave an answer."""
    stopped: set[str]
    """Who gets no more work."""


def erased_state(tx: Connection, beside: Collection[int]) -> ErasedState:
    """Who has what left; not looking at some responses, which went with what others had answered."""
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
