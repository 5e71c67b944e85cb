"""What an answer is expected to earn, before anybody has worked: with the bonuses that depend on what is in it."""

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

    Items are as long as those `shown`; where they are still to come, the most is paid for their length. Parts are as
    many as the right answers to its items have; where those are not known, as many as the study file expects, or else
    as other right answers have. Where nothing tells, only those count that the pay for the answer covers. All parts
    are taken to be kept (`pay.kept`).
    """
    for_parts = sum(_for_parts(rule, pay.expected_parts, task, known) for rule in (pay.parts, pay.kept))
    return pay.per_judgment + _for_length(pay.by_length, task, shown) + for_parts


def _for_length(rule: LengthPay | None, task: Task, shown: Sequence[Payload]) -> float:
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
    """How many seconds it takes to write an answer, with as many parts as it is expected to have."""
    parts = None if known.to_items else pay.expected_parts
    if parts is None:
        parts = fmean(task.grading.parts(answer) for answer in known.answers) if known.answers else 1
    return writing_seconds(task, parts)


def works_for_nothing(entry: EntrySettings, pay: StagePay) -> bool:
    """Whether a stage is for experts who get nothing for an answer: they are colleagues, and are paid elsewhere."""
    return EXPERT in entry.qualifications and not pay.per_judgment and pay.by_length is None


def _on_average(parts: float, rule: PartsBonus) -> float:
    """The bonus for a number of parts that need not be whole: some answers have one more than others."""
    fewer = floor(parts)
    return parts_bonus(fewer, rule) + (parts - fewer) * (parts_bonus(fewer + 1, rule) - parts_bonus(fewer, rule))
