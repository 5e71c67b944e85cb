"""The checks that a kit adds to `chorale verify`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chorale.audit.protocol import Bonuses
from chorale.engine.running import Study
from chorale.store import Tx


@dataclass(frozen=True, slots=True)
class AuditPart:
    add_pay: Callable[[Tx, Study, Bonuses], None]
    """Adds the earnings from the kit's own work, by stage and worker."""
    differences: Callable[[Tx], list[str]]
    """One line for every number that differs from its recomputed value."""
    worked: Callable[[Tx, Study], Mapping[tuple[str, str], int]] | None = None
    """Milliseconds spent on the kit's own work, by stage and worker."""
    messages: tuple[str, ...] = ()
    """Prefixes of the causes of messages that the kit writes instead of a gate: `("ranking:",)`."""
