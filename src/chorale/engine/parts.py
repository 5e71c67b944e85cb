"""What a kit has in a study beside the items of its stages."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass

from chorale.registry import loaded_parts
from chorale.store import Tx
from chorale.store.kit_tables import KitTables
from chorale.store.stages import Also


@dataclass(frozen=True, slots=True)
class WorkPart:
    """Work that is no item of a stage, such as tasks that a program puts beside one."""

    tables: KitTables | None = None
    """Where it is kept."""
    promised: Callable[[Tx, int], tuple[int, int]] | None = None
    """What is promised at a time and not paid yet, before fees, and in how many payments. The budget covers it."""
    also_working: Also = ()
    """Conditions on `chorale.store.schema.participation`: who has worked in a stage without an answer to an item."""


def tables_by_kit(settings_text: str) -> dict[str, KitTables]:
    """The tables of the kits that a study with these settings uses."""
    tasks = {stage["task"] for stage in tomllib.loads(settings_text).get("stage", [])}
    parts: dict[str, WorkPart] = loaded_parts(lambda kit: kit.work, tasks)
    return {kit: part.tables for kit, part in parts.items() if part.tables is not None}
