"""The parts that a kit adds to a study besides the items of its stages."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from chorale.registry import loaded_parts
from chorale.store import Tx
from chorale.store.kit_tables import KitTables
from chorale.store.remaining import WorkLeft
from chorale.store.stages import Also

if TYPE_CHECKING:
    from chorale.engine.running import Study


class WorkBeside(NamedTuple):
    """A worker's work other than a stage's items."""

    stage: str
    done: int
    is_open: bool
    """Whether more of this work is available to the worker."""


@dataclass(frozen=True, slots=True)
class WorkPart:
    """Work other than a stage's items, such as tasks created by scripts."""

    tables: KitTables | None = None
    """Its tables."""
    promised: Callable[[Tx, int], tuple[int, int]] | None = None
    """Promised but unpaid amounts at a given time, before fees, and the number of payments.
    The budget reserves them."""
    also_working: Also = ()
    """Conditions on `chorale.store.schema.participation`: workers who have worked in a stage without answering an item.
    """
    beside: "Callable[[Tx, Study, int, int], WorkBeside | None] | None" = None
    """A worker's work since a time, by worker number. Like answers, it counts towards finishing."""
    erase: Callable[[Tx, int], int] | None = None
    """Erases a worker's answers, by worker number; returns how many."""
    erase_identity: Callable[[Tx, int], int] | None = None
    """Erases a worker's external ids, by worker number; returns how many."""
    erase_texts: Callable[[Tx, int], int] | None = None
    """Erases texts about a worker, by worker number; returns how many."""
    give_back: "Callable[[Tx, Study, int], int] | None" = None
    """Frees everything that a worker holds, by worker number, so that others can do it; returns how much."""
    work_left: Callable[[Tx], Mapping[int, WorkLeft]] | None = None
    """The work of all workers, by worker number: retention periods depend on it."""
    personal_data: Callable[[Tx, int], Mapping[str, Any]] | None = None
    """A worker's data, by worker number, for a copy that they asked for."""


def tables_by_kit(settings_text: str) -> dict[str, KitTables]:
    """The tables of the kits that a study with these settings uses."""
    tasks = {stage["task"] for stage in tomllib.loads(settings_text).get("stage", [])}
    parts: dict[str, WorkPart] = loaded_parts(lambda kit: kit.work, tasks)
    return {kit: part.tables for kit, part in parts.items() if part.tables is not None}
