"""Who came to a study, over all of it."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from chorale.store.schema import response, worker, worker_identity


@dataclass(frozen=True, slots=True)
class Attendees:
    """Experts are staff: they are told apart, and nothing else here counts them."""

    arrived: int
    consented: int
    in_time: int | None
    """How many came before the last answer did; None if there is no answer yet."""
    experts: int
    """How many experts have been at their desk for this study."""
    first_at: int | None
    """When the first person arrived, or the first expert if nobody else has."""
    last_at: int | None
    """When the last answer came, whoever gave it."""


def attendees(tx: Connection, experts_panel: str) -> Attendees:
    """`experts_panel` is the panel that experts come from."""
    last_at = tx.execute(select(func.max(response.c.submitted_at))).scalar()
    experts = select(worker_identity.c.worker_id).where(worker_identity.c.panel == experts_panel)
    first_at = func.min(worker.c.arrived_at)
    counted = select(func.count(), func.count(worker.c.consented_at), first_at).where(worker.c.id.not_in(experts))
    arrived, consented, first = tx.execute(counted).one()
    in_time = None
    if last_at is not None:
        in_time = tx.execute(
            select(func.count()).where(worker.c.id.not_in(experts), worker.c.arrived_at <= last_at)
        ).scalar_one()
    staff, first_of_staff = tx.execute(select(func.count(), first_at).where(worker.c.id.in_(experts))).one()
    return Attendees(arrived, consented, in_time, staff, first if arrived else first_of_staff, last_at)
