"""Pay for work. All amounts are integers in minor units (cents)."""

from collections.abc import Sequence
from dataclasses import dataclass

from chorale.model import GoldBonus, GoldRecord, LengthPay, PartsBonus

HOUR_MS = 3_600_000


# Fees are summed in ten-thousandths of a minor unit: whole numbers for every percentage with two decimals.
FEE_UNIT = 10_000


def fee_on(paid: int, fee_percent: float) -> int:
    """The exact fee on a payment, in ten-thousandths of a minor unit."""
    return paid * round(fee_percent * 100)


def fee_due(exact_fees: int, fees_booked: int) -> int:
    """The fee still to be booked, given the exact fees of all payments so far.

    Rounding the running total instead of each small payment keeps the error below one minor unit. Each payment uses the
    fee rate in force at its time.
    """
    return (exact_fees + FEE_UNIT // 2) // FEE_UNIT - fees_booked


# Model calls are summed in billionths of a minor unit: whole numbers for every price with three decimals.
CALL_UNIT = 1_000_000_000


def calls_due(exact_cost: int, booked: int) -> int:
    """The cost still to be booked, given the exact cost of all calls so far.

    >>> calls_due(1_499_999_999, 0), calls_due(1_500_000_000, 1)
    (1, 1)
    """
    return (exact_cost + CALL_UNIT // 2) // CALL_UNIT - booked


def gold_bonus(record: GoldRecord, rule: GoldBonus | None, parts: int | None = None) -> int:
    """The gold bonus of the latest answer in a record, paid at the end of every block of `of` gold answers.

    `record.recent` has the marks of the current or just completed block. If parts count, it has all marks, and the
    answer has added `parts` marks: it may have completed several blocks.
    """
    if rule is None:
        return 0
    kept = len(record.recent)
    answered = record.answered if parts is None else kept
    ends = (end for end in range(answered - (parts or 1) + 1, answered + 1) if end > 0 and end % rule.of == 0)
    rows = (record.recent[max(0, kept - answered + end - rule.of) : kept - answered + end] for end in ends)
    return sum(rule.amount for row in rows if row.count("1") >= rule.right)


def length_pay(words: int, rule: LengthPay | None) -> int:
    """The additional pay for the length of an item.

    >>> [length_pay(words, LengthPay(per_100_words=5, most=20)) for words in (0, 1, 100, 250, 9000)]
    [0, 1, 5, 13, 20]
    """
    return 0 if rule is None else min(rule.most, -(-words * rule.per_100_words // 100))


def parts_bonus(parts: int, rule: PartsBonus | None) -> int:
    """The bonus for an answer with this number of parts, beyond those that the pay per judgment covers."""
    if rule is None or parts <= rule.beyond:
        return 0
    further = parts - rule.beyond
    listed = rule.amounts[:further]
    return sum(listed) + (further - len(listed)) * rule.amounts[-1]


def part_of_round(whole: int, answered: int, size: int) -> int:
    """The part of the pay for finishing a round that this number of answers earns, rounded up.

    >>> [part_of_round(100, answered, 3) for answered in range(4)]
    [0, 34, 67, 100]
    """
    return -(-whole * answered // size)


def hourly_wage(paid: float, worked_ms: int) -> int | None:
    """Minor units per hour; None if no time was measured."""
    if worked_ms <= 0:
        return None
    return round(paid * HOUR_MS / worked_ms)


@dataclass(frozen=True, slots=True)
class WageSummary:
    workers: int
    median: int | None
    tenth_percentile: int | None


def wage_summary(paid_and_worked_ms: Sequence[tuple[int, int]]) -> WageSummary:
    """Median and 10th percentile of the workers' hourly wages.

    The median of an even number of wages is the mean of the two in the middle, rounded down. The percentile is by
    nearest rank.

    >>> wage_summary([(1, HOUR_MS), (2, HOUR_MS), (5, HOUR_MS), (9, HOUR_MS)])
    WageSummary(workers=4, median=3, tenth_percentile=1)
    """
    wages = sorted(wage for paid, worked in paid_and_worked_ms if (wage := hourly_wage(paid, worked)) is not None)
    if not wages:
        return WageSummary(0, None, None)
    middle = len(wages) // 2
    median = wages[middle] if len(wages) % 2 else (wages[middle - 1] + wages[middle]) // 2
    return WageSummary(len(wages), median, wages[max(0, (len(wages) + 9) // 10 - 1)])
