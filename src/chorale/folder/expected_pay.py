"""The expected pay of an answer, with the bonuses that depend on its content."""

from collections.abc import Sequence
from math import floor
from statistics import fmean

from chorale.contract import Task
from chorale.contract.reading_time import shown_words, writing_seconds
from chorale.folder.checking.content import KnownAnswers
from chorale.model import EXPERT, EntrySettings, LengthPay, PartsBonus, Payload, StagePay
from chorale.protocol import length_pay, parts_bonus


def expected_pay(pay: StagePay, task: Task, known: KnownAnswers, shown: Sequence[Payload]) -> float:
    """The pay for an answer, for the length of its item and for its parts.

    Item lengths are those of `shown`; without any, the maximum for length is assumed. The number of parts comes from
    the correct answers to the items, or else from `expected_parts`, or else from other correct answers. If it is
    unknown, only parts covered by the pay for the answer count. All parts count as kept (`pay.kept`).
    """
    for_parts = sum(_for_parts(rule, pay.expected_parts, task, known) for rule in (pay.parts, pay.kept))
    return pay.per_judgment + expected_for_length(pay.by_length, task, shown) + for_parts


def expected_for_length(rule: LengthPay | None, task: Task, shown: Sequence[Payload]) -> float:
    """The mean pay for the length of the items in `shown`; the maximum if there are none."""
    if rule is None or not shown:
        return 0.0 if rule is None else rule.most
    return fmean(length_pay(shown_words(task, payload), rule) for payload in shown)


def _for_parts(rule: PartsBonus | None, expected: float | None, task: Task, known: KnownAnswers) -> float:
    if rule is None:
        return 0.0
    if expected is not None and not known.to_items:
        return _on_average(expected, rule)
    bonuses = [parts_bonus(task.grading.parts(answer), rule) for answer in known.answers]
    return fmean(bonuses) if bonuses else 0.0


def expected_writing(pay: StagePay, task: Task, known: KnownAnswers) -> float:
    """Seconds to write an answer with the expected number of parts."""
    parts = None if known.to_items else pay.expected_parts
    if parts is None:
        parts = fmean(task.grading.parts(answer) for answer in known.answers) if known.answers else 1
    return writing_seconds(task, parts)


def works_for_nothing(entry: EntrySettings, pay: StagePay) -> bool:
    """Whether a stage is unpaid expert work: experts belong to the team and are paid elsewhere."""
    return EXPERT in entry.qualifications and not pay.per_judgment and pay.by_length is None


def _on_average(parts: float, rule: PartsBonus) -> float:
    """The mean bonus for a fractional number of parts, interpolated between whole numbers."""
    fewer = floor(parts)
    return parts_bonus(fewer, rule) + (parts - fewer) * (parts_bonus(fewer + 1, rule) - parts_bonus(fewer, rule))
