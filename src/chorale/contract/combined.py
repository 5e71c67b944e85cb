"""Aggregated answers to one item."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from chorale.contract.fields import FieldResult
from chorale.metrics.aggregation import trust_weighted_share
from chorale.model import Answer, Judgment


class Combined(NamedTuple):
    """An aggregated answer."""

    answer: Answer
    confidence: float


def by_confidence(judgments: Sequence[Judgment]) -> Combined | None:
    """The default of `Combining.combine`: the answer with the largest trust-weighted share."""
    draw = judgments[0].draw if judgments else 0
    share = trust_weighted_share(((judgment.answer, judgment.trust) for judgment in judgments), draw)
    return None if share is None else Combined(share.answer, share.confidence)


def combined_fields(fields: Mapping[str, FieldResult], needed: Collection[str] = ()) -> Combined:
    """Combine the results of fields into one answer, with the lowest confidence of the needed fields.

    Default for `needed`: all fields with a confidence.
    """
    sure = [
        each.confidence
        for name, each in fields.items()
        if each.confidence is not None and (not needed or name in needed)
    ]
    answer = {name: each.value for name, each in fields.items() if each.value is not None}
    return Combined(answer, min(sure, default=1.0))
