"""Fits item response models by marginal maximum likelihood with hierarchical priors.

Abilities are N(0, 1) in the population and are integrated out on a grid (Bock and Aitkin 1981), so the fit does not
depend on the uncertainty of single abilities. Item parameters have normal priors whose means and deviations are fitted
too: items with little information are shrunk towards the others (Mislevy 1986).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.irt.curves import LOG_ALPHA, Curves, ResponseArrays

_FARTHEST = 6.0
"""Range of the ability grid in deviations of the population."""
_STEP, _WIDEST_STEP = 1.5, 0.25
"""Distance between nodes in deviations of the best-known ability, and its maximum."""
_LONGEST_MOVE = 1.0
_MOST_ROUNDS = 200
_TOLERANCE = 5e-4
"""Convergence threshold: maximum change of a parameter."""
_SHIFTED_TOLERANCE = 2e-3
"""Convergence threshold for fits used only in differences."""
_SELDOM = 5
"""Rounds between updates of the integration term, which hardly changes."""
_NEAR = 0.01
"""Step size of the finite differences for the integration term."""


@dataclass(slots=True)
class ColumnPriors:
    """Normal priors of each parameter column, with weak hyperpriors."""

    mean: FloatArray
    variance: FloatArray
    centre: FloatArray
    centre_variance: FloatArray
    typical_variance: FloatArray
    typical_count: FloatArray
    """Weight of the typical variance, as a number of items."""

    @classmethod
    def usual(cls, thresholds: int, guess_rate: float | None) -> Self:
        """Initial values. The prior of guessing is fixed, because answers carry too little information about it."""

        def columns(alpha: float, beta: float, gamma: float) -> FloatArray:
            return np.array([alpha, *[beta] * thresholds, *([] if guess_rate is None else [gamma])])

        rate = guess_rate or 0.5
        centre, variance = columns(0.0, 0.0, np.log(rate / (1 - rate))), columns(0.16, 1.0, 0.64)
        priors = cls(centre, variance, centre, columns(1.0, 4.0, 1.0), variance, columns(4.0, 4.0, 4.0))
        if guess_rate is not None:
            priors.hold(-1, 0.64)
        return priors

    def hold(self, column: int, variance: float) -> None:
        """Fixes the prior of a column with this variance."""
        self.variance[column] = self.typical_variance[column] = variance
        self.centre_variance[column], self.typical_count[column] = 1e-9, 1e9

    def of_items(self, parameters: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
        """Log density of each item, up to a constant."""
        off = np.where(free, parameters - self.mean, 0.0)
        density: FloatArray = -0.5 * (off**2 / self.variance).sum(axis=1)
        return density

    def shared(self, column: int, count: int) -> float:
        """Loss of precision of every pair of items because the mean of their prior is estimated."""
        variance = float(self.variance[column])
        return 1 / (variance * (count + variance / float(self.centre_variance[column])))

    def refit(self, parameters: FloatArray, variances: FloatArray, free: NDArray[np.bool_]) -> None:
        """Updates means and deviations from the items."""
        count = free.sum(axis=0)
        known, loose = count / self.variance, 1 / self.centre_variance
        sums = np.where(free, parameters, 0.0).sum(axis=0)
        self.mean = (sums / self.variance + self.centre * loose) / (known + loose)
        squares = np.where(free, (parameters - self.mean) ** 2 + variances, 0.0).sum(axis=0)
        self.variance = (squares + self.typical_count * self.typical_variance) / (count + self.typical_count)


@dataclass(slots=True)
class MarginalState:
    """Item parameters, and the implied posterior of responders."""

    parameters: FloatArray
    theta: FloatArray
    curves: Curves
    shares: FloatArray
    """The posterior of each ability: responders × nodes."""
    step: float
    """Distance between the nodes."""
    log_likelihood: float


class Ascent:
    """Expectation–maximisation."""

    def __init__(
        self, answers: ResponseArrays, priors: ColumnPriors, begin: FloatArray, thresholds: int, pooled: bool
    ) -> None:
        """If items are pooled, they share one α, whose prior counts once."""
        self.answers, self.priors = answers, priors
        self.thresholds, self.pooled = thresholds, pooled
        self.free = np.isfinite(begin)
        self._stride = np.ones(len(begin))
        self._step = _WIDEST_STEP
        self._rounds, self._integral = 0, np.zeros_like(begin)
        if pooled:
            priors.hold(LOG_ALPHA, float(len(begin)))
        self.at = self._expected(begin)

    def run(self, progress: Callable[[int, int], None] | None = None, tolerance: float = _TOLERANCE) -> bool:
        """Iterates until no parameter changes by more than the tolerance. Returns False without convergence."""
        for number in range(_MOST_ROUNDS):
            before = self.at.parameters
            self.at = self._expected(self._maximised())
            if progress:
                progress(number + 1, _MOST_ROUNDS)
            if np.abs(self.at.parameters[self.free] - before[self.free]).max() < tolerance:
                return True
        return False

    def shifted(self, column: int, by: float) -> "Ascent":
        """Refits with a shifted mean of one prior."""
        priors = replace(self.priors, mean=self.priors.mean.copy(), centre=self.priors.centre.copy())
        priors.mean[column] += by
        priors.centre[column] += by
        other = Ascent(self.answers, priors, self.at.parameters.copy(), self.thresholds, pooled=False)
        other.run(tolerance=_SHIFTED_TOLERANCE)
        return other

    def _expected(self, parameters: FloatArray) -> MarginalState:
        theta = _nodes(self._step)
        curves = Curves.of(parameters, theta, self.thresholds)
        best_known = 1 / np.sqrt(1 + float(curves.on_ability().sum(axis=0).max()))
        if _STEP * best_known < 0.8 * self._step:
            self._step = _STEP * best_known
            theta = _nodes(self._step)
            curves = Curves.of(parameters, theta, self.thresholds)
        logs = self.answers.sums_of(np.log(curves.chance)) - 0.5 * theta**2
        highest = logs.max(axis=1, keepdims=True)
        logs -= highest
        np.exp(logs, out=logs)
        sums = logs.sum(axis=1, keepdims=True)
        logs /= sums
        constant = np.log(self._step / np.sqrt(2 * np.pi)) * len(logs)
        return MarginalState(
            parameters, theta, curves, logs, self._step, float((highest + np.log(sums)).sum() + constant)
        )

    def _maximised(self) -> FloatArray:
        """A Newton step with Fisher information for every item, kept if it improves the objective."""
        at, free, priors = self.at, self.free, self.priors
        counts = self.answers.counts(at.shares)
        slope = np.einsum("cin,acin->ia", counts / at.curves.chance, at.curves.slopes)
        slope = np.where(free, slope - (at.parameters - priors.mean) / priors.variance, 0.0)
        every = counts.sum(axis=0)
        information = self.known(at.curves, every, np.diag(1 / priors.variance))
        integrated = self._integrated(every)
        slope += integrated
        solve = self._pooled_step if self.pooled else _newton_step
        step = solve(information, slope)
        step = self._stride[:, None] * np.where(free, step, 0.0).clip(-_LONGEST_MOVE, _LONGEST_MOVE)
        proposed = at.parameters + step
        here = (counts * np.log(at.curves.chance)).sum(axis=(0, 2)) + priors.of_items(at.parameters, free)
        here -= (integrated * step).sum(axis=1)
        curves = Curves.of(proposed, at.theta, self.thresholds)
        there = (counts * np.log(curves.chance)).sum(axis=(0, 2)) + priors.of_items(proposed, free)
        better = there >= here - 1e-9
        if self.pooled:
            better[:] = there.sum() >= here.sum() - 1e-9
        self._stride = np.where(better, np.minimum(1.0, self._stride * 1.5), self._stride * 0.3)
        kept = np.where(better[:, None], proposed, at.parameters)
        variances: FloatArray = np.linalg.inv(information).astype(np.float64).diagonal(axis1=1, axis2=2).copy()
        self._rescale(kept, variances)
        priors.refit(kept, variances, free)
        return kept

    def _rescale(self, parameters: FloatArray, variances: FloatArray) -> None:
        """Standardises the abilities of these responders to mean 0 and deviation 1 (Liu, Rubin and Wu 1998)."""
        middle, spread = _moments(self.at)
        betas = slice(1, self.thresholds + 1)
        parameters[:, betas] = (parameters[:, betas] - middle) / spread
        parameters[:, LOG_ALPHA] += np.log(spread)
        variances[:, betas] /= spread**2

    def _integrated(self, counts: FloatArray) -> FloatArray:
        """Derivative with respect to log α and logit γ of the term added by integrating over an item's parameters.

        The joint mode is not where most of the posterior mass is: a steep item without guessing has a more precise
        threshold, so the mode is biased towards it.
        """
        if self._rounds % _SELDOM == 0:
            at, precision = self.at, np.diag(1 / self.priors.variance)
            slope = np.zeros_like(at.parameters)
            for column in (LOG_ALPHA, *range(self.thresholds + 1, slope.shape[1])):
                ends = []
                for move in (-_NEAR, _NEAR):
                    near = at.parameters.copy()
                    near[:, column] += move
                    curves = Curves.of(near, at.theta, self.thresholds)
                    ends.append(np.linalg.slogdet(self.known(curves, counts, precision))[1])
                slope[:, column] = -0.5 * (ends[1] - ends[0]) / (2 * _NEAR)
            self._integral = slope
        self._rounds += 1
        return self._integral

    def known(self, curves: Curves, counts: FloatArray, precision: FloatArray) -> FloatArray:
        """Information on each item's free parameters, and 1 on the others."""
        known = curves.information(counts) + precision
        held = ~self.free
        known[held[:, :, None] | held[:, None, :]] = 0.0
        known += held[:, :, None] * np.eye(known.shape[1])
        return known

    @staticmethod
    def _pooled_step(information: FloatArray, slope: FloatArray) -> FloatArray:
        """All items share one α, so its step is solved together with all difficulties."""
        tilt = information[:, 0, 1] / information[:, 1, 1]
        known = information[:, 0, 0] - tilt * information[:, 0, 1]
        alpha = float((slope[:, 0] - tilt * slope[:, 1]).sum() / known.sum())
        step = np.empty_like(slope)
        step[:, LOG_ALPHA] = alpha
        step[:, 1] = slope[:, 1] / information[:, 1, 1] - tilt * alpha
        return step


def _newton_step(information: FloatArray, slope: FloatArray) -> FloatArray:
    return np.linalg.solve(information, slope[..., None])[..., 0].astype(np.float64)


def _moments(at: MarginalState) -> tuple[float, float]:
    """Mean and deviation of the responders' abilities."""
    share = at.shares.mean(axis=0)
    middle = float(share @ at.theta)
    return middle, float(np.sqrt(share @ (at.theta - middle) ** 2))


def _nodes(step: float) -> FloatArray:
    count = int(np.ceil(_FARTHEST / step))
    return step * np.arange(-count, count + 1, dtype=np.float64)
