"""Standard errors by the delta method, from the first-order influence of every item on a coefficient.

A coefficient θ is a function of sums over items. With x_u the contribution of item u and ∇θ the gradient at the sums,
item u has the influence z_u = n ∇θ·x_u, and

    SE² = Σ_u (z_u − mean z)² / (n (n − 1))

This gives the formulas of Gwet (2014) for chance-corrected coefficients and those of Fleiss, Cohen and Everitt (1969)
for κ, except for n − 1 instead of n. The interval is θ ± t SE with n − 1 degrees of freedom, at most 1. For weighted
coefficients, it is computed for log(1 − θ), because a few large distances make θ skewed. If few items determine the
coefficient, as for a rare label, the interval would cover far fewer than 95% of true values and is omitted.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from chorale.metrics import FloatArray, Interval, Metric, Tally
from chorale.metrics.sampling import TOO_FEW
from chorale.metrics.student import t_bound
from chorale.metrics.support import on_log_scale, tally_support

_STEP = 1e-5
_MOST_COLUMNS = 2048
_TAIL = 0.025
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Analytic:
    """The standard error of a score (None without a formula) and its 95% interval."""

    error: float | None
    interval: Interval


def analytic_of(tally: Tally, metric: Metric) -> dict[str, Analytic]:
    """Errors of every score of an additive metric; empty if items are too few or all equal, or have too many
    statistics.
    """
    n = float(tally.counts.sum())
    if n < 2 or tally.rows.shape[1] > _MOST_COLUMNS:
        return {}
    sums = tally.sums()
    values, gradients, carried = metric.formula(sums), _gradients(metric, sums), tally_support(tally, metric)
    errors = {}
    for name, gradient in gradients.items():
        influence = n * (tally.rows @ gradient)
        away = influence - tally.counts @ influence / n
        error = sqrt(float(tally.counts @ away**2) / (n * (n - 1)))
        if error <= _ROUNDING:
            continue
        around = _around(float(values[name]), error, n, metric) if carried[name].is_enough else TOO_FEW
        errors[name] = Analytic(error, around)
    return errors


def _around(value: float, error: float, n: float, metric: Metric) -> Interval:
    if metric.log_scale_from is not None:
        return on_log_scale(value, error, n)
    half = t_bound(_TAIL, n - 1) * error
    return Interval(value - half, min(1.0, value + half))


def _gradients(metric: Metric, sums: FloatArray) -> dict[str, FloatArray]:
    """Gradient by central differences, with steps as large as the sums allow, because smaller steps lose precision."""
    steps = _STEP * np.maximum(np.abs(sums), np.abs(sums).mean() + 1e-12)
    above, below = (metric.formula(sums + sign * np.diag(steps)) for sign in (1, -1))
    return {name: (np.asarray(above[name]) - np.asarray(below[name])) / (2 * steps) for name in above}
