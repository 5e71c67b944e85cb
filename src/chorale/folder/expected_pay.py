"""What an answer is expected to earn, before anybody has worked: with the bonuses that depend on what is in it."""

from collections.abc import Sequence
from math import floor
from statistics import fmean

from chorale.contract import Task
from chorale.model import EXPERT, Answer, EntrySettings, PartsBonus, StagePay
from chorale.protocol import parts_bonus


def expected_pay(pay: StagePay, task: Task, known: Sequence[Answer]) -> float:
    """The pay for an answer and for its parts.

    Parts are as many as the study file expects, or else as many as the right answers have that are `known`. Where
    neither tells, only those count that the pay for the answer covers.
    """
    rule = pay.parts
    if rule is None:
        return pay.per_judgment
    if pay.expected_parts is not None:
        return pay.per_judgment + _on_average(pay.expected_parts, rule)
    return pay.per_judgment + (
        fmean(parts_bonus(task.grading.parts(answer), rule) for answer in known) if known else 0.0
    )


def works_for_nothing(entry: EntrySettings, pay: StagePay) -> bool:
    """Whether a stage is for experts who get nothing for an answer: they are colleagues, and are paid elsewhere."""
    return EXPERT in entry.qualifications and not pay.per_judgment


def _on_average(parts: float, rule: PartsBonus) -> float:
    """The bonus for a number of parts that need not be whole: some answers have one more than others."""
    fewer = floor(parts)
    return parts_bonus(fewer, rule) + (parts - fewer) * (parts_bonus(fewer + 1, rule) - parts_bonus(fewer, rule))
