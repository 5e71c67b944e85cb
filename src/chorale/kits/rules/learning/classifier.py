"""Logistic regression that predicts from local scores whether one predicate entails another.

It is trained on pairs known to be rules or not. Both classes have the same total weight, whatever their sizes (Berant,
Dagan and Goldberger 2010 sample equal numbers). λ, the minimum log-odds of an edge, then sets the base rate.
"""

from dataclasses import dataclass

import numpy as np

from chorale.metrics import FloatArray

FEATURES = ("dirt", "cover", "binc", "back")
"""Scores of a rule, and the cover of the inverse rule. All are 0 for predicates without common fillers."""
_PENALTY = 1.0
_STEPS = 100
_CLOSE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """Log-odds are `constant` + `coefficients` · features."""

    constant: float
    coefficients: FloatArray

    def log_odds(self, features: FloatArray) -> FloatArray:
        return np.asarray(self.constant + features @ self.coefficients)

    def probability(self, features: FloatArray) -> FloatArray:
        return np.asarray(1 / (1 + np.exp(-self.log_odds(features))))


def trained(features: FloatArray, is_rule: FloatArray, penalty: float = _PENALTY) -> Classifier:
    """Fits the coefficients to the examples by Newton's method.

    `penalty` is the weight of ½ Σ coefficient² for features divided by their standard deviation. Each class has half of
    the total weight, which is the number of examples.
    """
    spread = np.where(features.std(axis=0) > 0, features.std(axis=0), 1.0)
    middle = features.mean(axis=0)
    table = np.column_stack([np.ones(len(features)), (features - middle) / spread])
    weight = np.where(is_rule > 0, 1 / max(1, is_rule.sum()), 1 / max(1, (1 - is_rule).sum())) * len(features) / 2
    penalties = np.diag([0.0] + [penalty] * features.shape[1])
    estimate = np.zeros(table.shape[1])
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(-table @ estimate))
        slope = table.T @ (weight * (is_rule - expected)) - penalties @ estimate
        curvature = (table * (weight * expected * (1 - expected))[:, None]).T @ table + penalties
        step = np.linalg.solve(curvature + 1e-12 * np.eye(len(estimate)), slope)
        estimate = estimate + step
        if np.abs(step).max() < _CLOSE:
            break
    coefficients = estimate[1:] / spread
    return Classifier(float(estimate[0] - middle @ coefficients), np.asarray(coefficients))
