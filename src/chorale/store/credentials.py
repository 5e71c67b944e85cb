"""A worker's credentials: what admits them to stages or keeps them out."""

from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Text, bindparam, literal_column, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from chorale.store.prepared import Prepared
from chorale.store.schema import gate, participation, qualification, stage, worker


class Credentials(NamedTuple):
    """The current facts that decide whether a stage admits a worker."""

    arm: str | None
    held: frozenset[str]
    """Their qualifications."""
    dropped: frozenset[str]
    """The stages they were removed from."""
    closed: frozenset[str]
    """The closed gates."""


class listed(FunctionElement[str]):  # noqa: N801 - stands among functions, and reads like one
    """An SQL aggregate of names, separated by commas, which names do not contain."""

    type = Text()
    inherit_cache = True


@compiles(listed, "sqlite")
def _listed_by_sqlite(element: listed, compiler: Any, **kwargs: Any) -> str:
    return f"group_concat({compiler.process(element.clauses, **kwargs)}, ',')"


@compiles(listed, "postgresql")
def _listed_by_postgresql(element: listed, compiler: Any, **kwargs: Any) -> str:
    return f"string_agg({compiler.process(element.clauses, **kwargs)}, ',')"


CREDENTIALS: tuple[ColumnElement[Any], ...] = (
    worker.c.arm,
    select(listed(qualification.c.name)).where(qualification.c.worker_id == worker.c.id).scalar_subquery(),
    select(listed(stage.c.name))
    .select_from(participation.alias("dropped").join(stage, stage.c.id == literal_column("dropped.stage_id")))
    .where(
        literal_column("dropped.worker_id") == worker.c.id,
        literal_column("dropped.standing") == literal_column("'dropped'"),
        # Other stages must not reveal a removal before its own stage does.
        literal_column("dropped.answered") >= literal_column("dropped.removed_after"),
    )
    .correlate(worker)
    .scalar_subquery(),
    select(listed(gate.c.name)).scalar_subquery(),
)
"""Additional columns of a worker query, for `as_credentials`. In one statement, since it runs for every item."""

_CREDENTIALS_OF = Prepared(select(*CREDENTIALS).where(worker.c.id == bindparam("worker_id")))


def credentials_of(tx: Connection, worker_id: int) -> Credentials:
    """A worker's credentials; empty ones if there is no such worker."""
    row = _CREDENTIALS_OF.first(tx, worker_id=worker_id)
    return as_credentials(*(row or (None, None, None, None)))


@lru_cache(maxsize=4096)
def as_credentials(arm: str | None, held: str | None, dropped: str | None, closed: str | None) -> Credentials:
    return Credentials(arm, names_in(held), names_in(dropped), names_in(closed))


@lru_cache(maxsize=4096)
def names_in(text: str | None) -> frozenset[str]:
    return frozenset(text.split(",")) if text else frozenset()
