"""Calibration of a model's confidence on gold."""

from collections.abc import Sequence
from math import exp, log
from typing import NamedTuple

BINS = 10
_NEAR = 1e-6
"""Minimum distance of confidences from 0 and 1, to keep logarithms finite."""
_PRIOR = 1.0
"""Shrinkage of slope and offset towards no change."""
_STEPS = 50


class Bin(NamedTuple):
    """The answers in one confidence bin."""

    low: float
    high: float
    answers: int
    confidence: float
    """Mean confidence."""
    right: float
    """Fraction of correct answers."""


def reliability(confidence: Sequence[float], right: Sequence[bool], bins: int = BINS) -> list[Bin]:
    """A reliability diagram: equal-width bins from 0 to 1, without empty bins.

    >>> [(one.answers, one.right) for one in reliability([0.9, 0.95, 0.2], [True, False, False])]
    [(1, 0.0), (2, 0.5)]
    """
    parts: dict[int, list[tuple[float, bool]]] = {}
    for sure, correct in zip(confidence, right, strict=True):
        parts.setdefault(min(bins - 1, int(sure * bins)), []).append((sure, correct))
    return [
        Bin(
            number / bins,
            (number + 1) / bins,
            len(of),
            sum(sure for sure, _ in of) / len(of),
            sum(correct for _, correct in of) / len(of),
        )
        for number, of in sorted(parts.items())
    ]


def expected_calibration_error(diagram: Sequence[Bin]) -> float | None:
    """Mean distance between confidence and accuracy, weighted by answers (Naeini et al. 2015); None without answers.

    >>> expected_calibration_error(reliability([0.9, 0.9], [True, False]))
    0.4
    """
    answers = sum(one.answers for one in diagram)
    if not answers:
        return None
    return sum(one.answers * abs(one.confidence - one.right) for one in diagram) / answers


class Calibration(NamedTuple):
    """Calibrated confidence: the logistic of slope × log odds + offset (Platt scaling)."""

    slope: float = 1.0
    offset: float = 0.0

    def apply(self, confidence: float) -> float:
        return _logistic(self.slope * _log_odds(confidence) + self.offset)


def calibrated(confidence: Sequence[float], right: Sequence[bool]) -> Calibration:
    """Fits the calibration to answers on gold by Newton's method, with shrinkage towards no change.

    >>> calibrated([], [])
    Calibration(slope=1.0, offset=0.0)
    """
    odds = [_log_odds(sure) for sure in confidence]
    slope, offset = 1.0, 0.0
    for _ in range(_STEPS):
        means = [_logistic(slope * one + offset) for one in odds]
        errors = [mean - correct for mean, correct in zip(means, right, strict=True)]
        weights = [mean * (1 - mean) for mean in means]
        by_slope = sum(error * one for error, one in zip(errors, odds, strict=True)) + _PRIOR * (slope - 1)
        by_offset = sum(errors) + _PRIOR * offset
        first = sum(weight * one * one for weight, one in zip(weights, odds, strict=True)) + _PRIOR
        mixed = sum(weight * one for weight, one in zip(weights, odds, strict=True))
        second = sum(weights) + _PRIOR
        determinant = first * second - mixed * mixed
        step = (
            (second * by_slope - mixed * by_offset) / determinant,
            (first * by_offset - mixed * by_slope) / determinant,
        )
        slope, offset = slope - step[0], offset - step[1]
        if max(map(abs, step)) < 1e-10:
            break
    return Calibration(slope, offset)


def _log_odds(share: float) -> float:
    inside = min(1 - _NEAR, max(_NEAR, share))
    return log(inside / (1 - inside))


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value)) if value >= 0 else exp(value) / (1 + exp(value))
