"""Who came to a study, over all of it."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from chorale.store.schema import response, worker


@dataclass(frozen=True, slots=True)
class Attendees:
    arrived: int
    consented: int
    first_at: int | None
    """When the first person arrived."""
    last_at: int | None
    """When the last answer came."""


def attendees(tx: Connection) -> Attendees:
    counted = select(func.count(), func.count(worker.c.consented_at), func.min(worker.c.arrived_at))
    arrived, consented, first_at = tx.execute(counted.select_from(worker)).one()
    return Attendees(arrived, consented, first_at, tx.execute(select(func.max(response.c.submitted_at))).scalar())
