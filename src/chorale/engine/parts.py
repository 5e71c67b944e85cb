"""What a kit adds to a study in addition to the items of its stages."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from chorale.registry import loaded_parts
from chorale.store import Tx
from chorale.store.kit_tables import KitTables
from chorale.store.stages import Also

if TYPE_CHECKING:
    from chorale.engine.running import Study


class WorkBeside(NamedTuple):
    """What a worker did beside the items of a stage."""

    stage: str
    done: int
    is_open: bool
    """Whether there is more of it for them."""


@dataclass(frozen=True, slots=True)
class WorkPart:
    """Work that is no item of a stage, such as tasks that a program puts beside one."""

    tables: KitTables | None = None
    """Where it is kept."""
    promised: Callable[[Tx, int], tuple[int, int]] | None = None
    """What is promised at a time and not paid yet, before fees, and in how many payments. The budget covers it."""
    also_working: Also = ()
    """Conditions on `chorale.store.schema.participation`: who has worked in a stage without an answer to an item."""
    beside: "Callable[[Tx, Study, int, int], WorkBeside | None] | None" = None
    """What a worker did, by their number, from a time on: it counts towards finishing, as answers do."""
    erase: Callable[[Tx, int], int] | None = None
    """Erases what a worker answered, by their number; how many answers."""
    erase_identity: Callable[[Tx, int], int] | None = None
    """Erases who a worker is elsewhere, by their number; how many ids."""
    erase_texts: Callable[[Tx, int], int] | None = None
    """Erases what was written about a worker, by their number; how many texts."""


def tables_by_kit(settings_text: str) -> dict[str, KitTables]:
    """The tables of the kits that a study with these settings uses."""
    tasks = {stage["task"] for stage in tomllib.loads(settings_text).get("stage", [])}
    parts: dict[str, WorkPart] = loaded_parts(lambda kit: kit.work, tasks)
    return {kit: part.tables for kit, part in parts.items() if part.tables is not None}
