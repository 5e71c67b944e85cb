"""Items assigned to named members of the team. Items without assignees are for everybody."""

from collections.abc import Mapping

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from chorale.model import AssignmentKind
from chorale.store.erased import ERASED
from chorale.store.identity_schema import item_assignee, team_member
from chorale.store.schema import assignment, item, response, worker, worker_identity

_VALID = item_assignee.c.removed_at.is_(None)
# A literal, not a bound parameter: statements with it are prepared once for all workers.
_OF_TEAM = worker_identity.c.panel == literal_column("'team'")


def _named(worker_id: ColumnElement[int]) -> ColumnElement[bool]:
    """A condition: a row of assignees names this worker."""
    return exists().where(
        worker_identity.c.worker_id == worker_id, _OF_TEAM, worker_identity.c.external_id == item_assignee.c.login
    )


def is_for_worker(item_id: ColumnElement[int]) -> ColumnElement[bool]:
    """A condition: an item is for everybody, or for the worker whose `worker_id` is bound."""
    here = item_assignee.c.item_id == item_id
    for_them = exists().where(here, _VALID, _named(bindparam("worker_id")))
    return or_(for_them, ~exists().where(here, _VALID))


def is_for(tx: Connection, item_id: int, worker_id: int) -> bool:
    """Whether a worker may get an item, by its assignees."""
    query = select(item.c.id).where(item.c.id == item_id, is_for_worker(item.c.id))
    return tx.execute(query, {"worker_id": worker_id}).first() is not None


def may_come(tx: Connection, stage_id: int, worker_id: int) -> bool:
    """Whether a stage has an open item that a worker may get, even if its places are taken now.

    Items of groups that the worker has seen do not count.
    """
    had = exists().where(
        assignment.c.worker_id == bindparam("worker_id"),
        assignment.c.stage_id == item.c.stage_id,
        assignment.c.group_key == item.c.group_key,
    )
    query = select(item.c.id).where(
        item.c.stage_id == stage_id, item.c.state == literal_column("'open'"), ~had, is_for_worker(item.c.id)
    )
    return tx.execute(query.limit(1), {"worker_id": worker_id}).first() is not None


def count_for(tx: Connection, worker_id: int) -> dict[int, int]:
    """Number of items assigned to a worker, by stage id; groups count once."""
    query = (
        select(item.c.stage_id, func.count(item.c.group_key.distinct()))
        .join(item_assignee, item_assignee.c.item_id == item.c.id)
        .where(_VALID, _named(bindparam("worker_id")))
        .group_by(item.c.stage_id)
    )
    return {int(stage_id): int(count) for stage_id, count in tx.execute(query, {"worker_id": worker_id})}


def bring_in(tx: Connection, stage_id: int, wanted: Mapping[str, frozenset[str]], now: int) -> tuple[int, int]:
    """Set the assignees of a stage's items, by key; returns the numbers of added and removed names."""
    of_stage = item.c.stage_id == stage_id
    query = select(item.c.key, item_assignee.c.item_id, item_assignee.c.login).join(
        item, item.c.id == item_assignee.c.item_id
    )
    there = {(str(key), str(login)): int(number) for key, number, login in tx.execute(query.where(of_stage, _VALID))}
    named = {(key, login) for key, logins in wanted.items() for login in logins}
    gone = [place for place in there if place not in named and not place[1].startswith(ERASED)]
    for place in gone:
        ending = update(item_assignee).where(
            item_assignee.c.item_id == there[place], item_assignee.c.login == place[1], _VALID
        )
        tx.execute(ending.values(removed_at=now))
    new = sorted(named - there.keys())
    if new:
        numbers = {str(key): int(number) for key, number in tx.execute(select(item.c.key, item.c.id).where(of_stage))}
        rows = [{"item_id": numbers[key], "login": login, "added_at": now} for key, login in new]
        tx.execute(insert(item_assignee), rows)
    return len(new), len(gone)


def strangers(tx: Connection) -> list[str]:
    """Assignees without an active account."""
    active = exists().where(team_member.c.login == item_assignee.c.login, team_member.c.deactivated_at.is_(None))
    query = select(item_assignee.c.login).where(_VALID, ~active).distinct().order_by(item_assignee.c.login)
    return [login for login in tx.execute(query).scalars() if not login.startswith(ERASED)]


def _named_then() -> Select[int]:
    """The assignees of an item at the time it was assigned to a worker."""
    return select(item_assignee.c.item_id).where(
        item_assignee.c.item_id == assignment.c.item_id,
        item_assignee.c.added_at <= assignment.c.leased_at,
        or_(item_assignee.c.removed_at.is_(None), item_assignee.c.removed_at >= assignment.c.leased_at),
    )


def not_theirs(tx: Connection) -> list[tuple[int, str, str]]:
    """Answers to items that were assigned to others at the time: number, worker and item.

    Models can't be assignees, and names of erased people are unknown.
    """
    identity = worker_identity.alias("whose")
    then = _named_then()
    query = (
        select(response.c.id, worker.c.pseudonym, item.c.key)
        .join(assignment, assignment.c.id == response.c.assignment_id)
        .join(item, item.c.id == response.c.item_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .join(identity, identity.c.worker_id == worker.c.id)
        .where(
            response.c.kind == AssignmentKind.PRODUCTION.value,
            identity.c.panel != literal_column("'model'"),
            ~identity.c.external_id.startswith(ERASED),
            then.exists(),
            ~then.where(and_(identity.c.panel == "team", identity.c.external_id == item_assignee.c.login)).exists(),
        )
        .order_by(response.c.id)
    )
    return [(int(number), str(name), str(key)) for number, name, key in tx.execute(query)]
