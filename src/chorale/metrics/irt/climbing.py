"""Maximises the bound, sweep by sweep.

Items are independent given the responders and vice versa, so both are updated alternately: a Newton step of all items
(with Fisher information instead of the Hessian), then of all responders, each kept only if it raises its part of the
bound. In between, the whole scale is shifted and stretched to fit the priors, which does not change the likelihood and
would otherwise take many steps.
"""

from dataclasses import dataclass

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.irt.likelihood import BETA, LOG_ALPHA, LOGIT_GAMMA, Expected, Likelihood, Posterior
from chorale.metrics.irt.model import IrtModel

_LONGEST_STEP = 1.0
_MOST_EAGER = 20.0


@dataclass(slots=True)
class ParameterVariances:
    """Prior variances of the item parameters, and the prior mean of logit γ."""

    variance: FloatArray
    guessing_centre: float
    fits_centre: bool

    def item_terms(self, at: Posterior) -> FloatArray:
        """Negative divergence from the prior, per item."""
        means = at.items.copy()
        means[LOGIT_GAMMA] -= self.guessing_centre
        variance = self.variance[:, None]
        return -0.5 * (means**2 + at.items_sd**2) / variance + np.log(at.items_sd) - 0.5 * np.log(variance) + 0.5

    def of_centre(self) -> float:
        return -0.5 * self.guessing_centre**2 if self.fits_centre else 0.0


class Climb:
    """Sweeps over items and responders that raise the bound."""

    def __init__(self, likelihood: Likelihood, priors: ParameterVariances, model: IrtModel, begin: Posterior) -> None:
        self._likelihood, self._priors, self._model = likelihood, priors, model
        self._free = np.array([True, model != "1pl", model == "3pl"])
        self._at = begin.copy()
        items, responders = begin.items.shape[1], len(begin.theta)
        self._item_stride, self._responder_stride = np.ones(items), np.ones(responders)
        self._eagerness, self._last_move = 1.0, 0.0

    def run(self, sweeps: int, tolerance: float) -> tuple[Posterior, float, bool]:
        """Iterates until a sweep changes the bound by less than the tolerance. Returns False without convergence."""
        seen = self._likelihood.evaluate(self._at)
        bound = self._bound(seen)
        for _ in range(sweeps):
            seen = self._step_items(seen)
            self._centre_guessing()
            seen = self._step_responders(seen)
            last, bound = bound, self._bound(seen)
            if abs(bound - last) < tolerance:
                return self._at, bound, True
        return self._at, bound, False

    def _bound(self, seen: Expected) -> float:
        items = seen.of_items + self._item_terms(self._at)
        return float(items.sum() + _standard_terms(self._at.theta, self._at.theta_sd).sum() + self._priors.of_centre())

    def _item_terms(self, at: Posterior) -> FloatArray:
        terms: FloatArray = self._priors.item_terms(at)[self._free].sum(axis=0)
        return terms

    def _step_items(self, seen: Expected) -> Expected:
        at, free = self._at, self._free
        precision = 1 / self._priors.variance
        means = at.items - np.array([0.0, 0.0, self._priors.guessing_centre])[:, None]
        with np.errstate(invalid="ignore"):
            slope = np.where(free[:, None], seen.slope - means * precision[:, None], 0.0)
        curvature = seen.information + np.diag(precision)
        curvature[:, ~free] = curvature[:, :, ~free] = 0.0
        curvature[:, ~free, ~free] = 1.0
        step = np.linalg.solve(curvature, slope.T[..., None])[..., 0].T.clip(-_LONGEST_STEP, _LONGEST_STEP)
        proposed = at.copy()
        proposed.items[free] += (self._item_stride * step)[free]
        sharpness = np.maximum(precision[:, None] - seen.curvature, 0.5 * precision[:, None])
        proposed.items_sd[free] *= (((1 / np.sqrt(sharpness)) / at.items_sd) ** self._item_stride)[free]
        there = self._likelihood.evaluate(proposed)
        tried = proposed.copy()
        better = there.of_items + self._item_terms(proposed) >= seen.of_items + self._item_terms(at) - 1e-9
        self._item_stride = np.where(better, np.minimum(1.0, self._item_stride * 1.5), self._item_stride * 0.3)
        for new, old in ((proposed.items, at.items), (proposed.items_sd, at.items_sd)):
            new[:, ~better] = old[:, ~better]
        self._at = proposed
        if not better.all():
            worse = np.flatnonzero(~better)
            some = self._likelihood.of_items(worse)
            there.undo(worse, some.evaluate(tried.of_items(worse)), some.evaluate(at.of_items(worse)))
        return there

    def _centre_guessing(self) -> None:
        """Moves the prior of logit γ towards the items.

        The items follow it by an unpredictable amount, so the step grows while the direction stays the same.
        """
        priors = self._priors
        if not priors.fits_centre:
            return
        means = self._at.items[LOGIT_GAMMA]
        move = float(means.sum() / (len(means) + priors.variance[LOGIT_GAMMA])) - priors.guessing_centre
        if move * self._last_move < 0:
            self._eagerness = max(1.0, self._eagerness / 2)
        else:
            self._eagerness = min(_MOST_EAGER, self._eagerness * 1.3)
        self._last_move = move
        priors.guessing_centre += float(np.clip(self._eagerness * move, -0.5, 0.5))

    def _step_responders(self, seen: Expected) -> Expected:
        at = self._at
        old_theta, old_sd = at.theta, at.theta_sd
        sharpness = np.maximum(1 - seen.theta_curvature, 0.5)
        step = ((seen.theta_slope - at.theta) / np.maximum(sharpness, 1.0)).clip(-_LONGEST_STEP, _LONGEST_STEP)
        at.theta = at.theta + self._responder_stride * step
        at.theta_sd = at.theta_sd * ((1 / np.sqrt(sharpness)) / at.theta_sd) ** self._responder_stride
        there = self._likelihood.evaluate(at)
        before = seen.of_responders + _standard_terms(old_theta, old_sd)
        better = there.of_responders + _standard_terms(at.theta, at.theta_sd) >= before - 1e-9
        stride = self._responder_stride
        self._responder_stride = np.where(better, np.minimum(1.0, stride * 1.5), stride * 0.3)
        if not better.all():
            at.theta, at.theta_sd = np.where(better, at.theta, old_theta), np.where(better, at.theta_sd, old_sd)
            there = self._likelihood.evaluate(at)
        there.stretch(self._shift_and_stretch())
        return there

    def _shift_and_stretch(self) -> float:
        """Shifts θ and β together, and stretches both while α shrinks. The likelihood does not change."""
        at = self._at
        responders, items = len(at.theta), at.items.shape[1]
        shift = -(at.theta.sum() + at.items[BETA].sum()) / (responders + items)
        at.theta = at.theta + shift
        at.items[BETA] += shift
        if not self._free[LOG_ALPHA]:
            return 1.0
        stretch = self._best_stretch()
        factor = float(np.exp(stretch))
        at.theta, at.theta_sd = at.theta * factor, at.theta_sd * factor
        at.items[BETA] *= factor
        at.items_sd[BETA] *= factor
        at.items[LOG_ALPHA] -= stretch
        return factor

    def _best_stretch(self) -> float:
        """Optimal stretch for priors and entropies, which are concave there, by Newton's method."""
        at = self._at
        responders, items = len(at.theta), at.items.shape[1]
        squares = float((at.theta**2 + at.theta_sd**2).sum() + (at.items[BETA] ** 2 + at.items_sd[BETA] ** 2).sum())
        variance, logs = float(self._priors.variance[LOG_ALPHA]), float(at.items[LOG_ALPHA].sum())
        stretch = 0.0
        for _ in range(20):
            slope = -np.exp(2 * stretch) * squares + responders + items + (logs - items * stretch) / variance
            stretch -= float(slope / (-2 * np.exp(2 * stretch) * squares - items / variance))
        return stretch


def _standard_terms(mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Negative divergence of normal distributions from the standard normal."""
    return -0.5 * (mean**2 + sd**2) + np.log(sd) + 0.5
