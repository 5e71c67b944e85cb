"""Workers' arms."""

from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, select, update

from chorale.store.prepared import Prepared
from chorale.store.schema import qualification, worker
from chorale.store.settings import set_setting, setting_value

_ARM = Prepared(select(worker.c.arm).where(worker.c.id == bindparam("worker_id")))


def arm_of(tx: Connection, worker_id: int) -> str | None:
    arm: str | None = _ARM.value(tx, worker_id=worker_id)
    return arm


_SEED = "arm seed"


def stored_seed(tx: Connection) -> int | None:
    """The seed of the assignment to arms; None before the first assignment, and in studies of earlier versions."""
    seed = setting_value(tx, _SEED)
    return None if seed is None else int(seed)


def store_seed(tx: Connection, seed: int) -> None:
    set_setting(tx, _SEED, str(seed))


_PUT_IN_ARM = Prepared(update(worker).where(worker.c.id == bindparam("of_worker")).values(arm=bindparam("drawn_arm")))


def put_in_arm(tx: Connection, worker_id: int, arm: str) -> None:
    _PUT_IN_ARM(tx, of_worker=worker_id, drawn_arm=arm)


def without_arm(tx: Connection, after: str | None) -> list[int]:
    """Workers who have consented and have no arm, in the order in which they became ready for assignment.

    That is the time of consent or, with `after`, the time they got that qualification.
    """
    query: Select[Any] = select(worker.c.id).where(worker.c.arm.is_(None), worker.c.consented_at.is_not(None))
    if after is None:
        return list(tx.execute(query.order_by(worker.c.consented_at, worker.c.id)).scalars())
    got = query.join(qualification, qualification.c.worker_id == worker.c.id).where(qualification.c.name == after)
    return list(tx.execute(got.order_by(qualification.c.granted_at, worker.c.id)).scalars())


def arms_by_worker(tx: Connection) -> dict[str, str]:
    """The arms of all assigned workers, by pseudonym."""
    query = select(worker.c.pseudonym, worker.c.arm).where(worker.c.arm.is_not(None))
    return {str(row[0]): str(row[1]) for row in tx.execute(query)}


def arm_counts(tx: Connection) -> dict[str, int]:
    query = select(worker.c.arm, func.count()).where(worker.c.arm.is_not(None)).group_by(worker.c.arm)
    return {str(row[0]): int(row[1]) for row in tx.execute(query)}
