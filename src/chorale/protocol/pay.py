"""What work pays. Amounts are integers in minor units (cents) throughout."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

HOUR_MS = 3_600_000


def fee_due(paid_total: int, fees_booked: int, fee_percent: float) -> int:
    """The fee still to be booked for a worker who has been paid `paid_total` in all.

    Taking the fee from the running total instead of each small payment keeps rounding below one cent per worker.
    """
    whole = Decimal(paid_total) * Decimal(str(fee_percent)) / 100
    return int(whole.quantize(Decimal(1), rounding=ROUND_HALF_UP)) - fees_booked


def hourly_wage(paid: int, worked_ms: int) -> int | None:
    """Minor units per hour; None where no time was measured."""
    if worked_ms <= 0:
        return None
    return round(paid * HOUR_MS / worked_ms)


@dataclass(frozen=True, slots=True)
class WageSummary:
    workers: int
    median: int | None
    tenth_percentile: int | None


def wage_summary(paid_and_worked_ms: Sequence[tuple[int, int]]) -> WageSummary:
    """Median and 10th percentile (nearest rank, rounded down) of the workers' hourly wages."""
    wages = sorted(wage for paid, worked in paid_and_worked_ms if (wage := hourly_wage(paid, worked)) is not None)
    if not wages:
        return WageSummary(0, None, None)
    middle = len(wages) // 2
    median = wages[middle] if len(wages) % 2 else (wages[middle - 1] + wages[middle]) // 2
    return WageSummary(len(wages), median, wages[max(0, (len(wages) + 9) // 10 - 1)])
