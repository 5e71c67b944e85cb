"""What a kit adds to `chorale verify`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chorale.audit.protocol import Bonuses
from chorale.engine.running import Study
from chorale.store import Tx


@dataclass(frozen=True, slots=True)
class AuditPart:
    add_pay: Callable[[Tx, Study, Bonuses], None]
    """Adds what the kit's own work earned to what was paid beside answers, by stage and worker."""
    differences: Callable[[Tx], list[str]]
    """One line for every number that differs from what it should be."""
    worked: Callable[[Tx, Study], Mapping[tuple[str, str], int]] | None = None
    """How many milliseconds were spent on the kit's own work, by stage and worker."""
    messages: tuple[str, ...] = ()
    """How the causes of messages begin that the kit decides about, and no gate: `("ranking:",)`."""
