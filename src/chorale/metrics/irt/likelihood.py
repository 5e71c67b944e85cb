"""The expected log likelihood under a mean-field normal posterior, with its gradient, for all cells at once.

In every cell the expectation is over four independent normals: θ, β, log α and logit γ. θ and β enter by their
difference alone, which is normal too, so three dimensions are left; each gets a Gauss–Hermite rule. That is
deterministic and the same in every cell: nothing depends on the order of responders or items, and the gradient is
exactly that of the maximised function.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.irt.model import IrtModel

BETA, LOG_ALPHA, LOGIT_GAMMA = 0, 1, 2
_CELLS_AT_ONCE = 12_288
"""Block size for which arrays stay in the processor's cache."""
_LOWEST = -30.0
"""Lower bound of logits: a probability of about 1e-13."""


@dataclass(frozen=True, slots=True)
class Responses:
    """Correct and wrong answers as arrays of responders × items."""

    right: FloatArray
    """1 if the answer was correct, otherwise 0."""
    sign: FloatArray
    """+1 correct, −1 wrong, 0 missing."""
    weight: FloatArray
    """The item's weight if there is an answer, otherwise 0."""

    @classmethod
    def of(cls, matrix: FloatArray, weights: FloatArray) -> "Responses":
        observed = ~np.isnan(matrix)
        right = np.where(observed, matrix, 0.0)
        return cls(right, np.where(observed, 2 * right - 1, 0.0), observed * weights)

    def of_items(self, columns: NDArray[np.intp] | slice) -> "Responses":
        """Restricted to some items."""
        return Responses(self.right[:, columns], self.sign[:, columns], self.weight[:, columns])


@dataclass(slots=True)
class Posterior:
    """Means and deviations of all parameters. The rows of an items' array are β, log α and logit γ."""

    theta: FloatArray
    theta_sd: FloatArray
    items: FloatArray
    items_sd: FloatArray

    def of_items(self, columns: NDArray[np.intp]) -> "Posterior":
        """Restricted to some items."""
        return Posterior(self.theta, self.theta_sd, self.items[:, columns], self.items_sd[:, columns])

    def copy(self) -> "Posterior":
        return Posterior(self.theta.copy(), self.theta_sd.copy(), self.items.copy(), self.items_sd.copy())


@dataclass(slots=True)
class Expected:
    """The expected log likelihood, summed per item and per responder, and its derivatives."""

    of_items: FloatArray
    of_responders: FloatArray
    slope: FloatArray
    """Derivatives with respect to the means of the item parameters."""
    curvature: FloatArray
    """Expected second derivatives, computed from derivatives with respect to the deviations (Stein's lemma)."""
    theta_slope: FloatArray
    theta_curvature: FloatArray
    information: FloatArray
    """Fisher information per item at the posterior means: items × 3 × 3."""

    @classmethod
    def zero(cls, responders: int, items: int) -> "Expected":
        return cls(
            np.zeros(items),
            np.zeros(responders),
            np.zeros((3, items)),
            np.zeros((3, items)),
            np.zeros(responders),
            np.zeros(responders),
            np.zeros((items, 3, 3)),
        )

    def undo(self, columns: NDArray[np.intp], there: "Expected", here: "Expected") -> None:
        """Reverts the step of these items: `there` is the result after the step, `here` the result before it."""
        self.of_items[columns], self.slope[:, columns] = here.of_items, here.slope
        self.curvature[:, columns], self.information[columns] = here.curvature, here.information
        self.of_responders += here.of_responders - there.of_responders
        self.theta_slope += here.theta_slope - there.theta_slope
        self.theta_curvature += here.theta_curvature - there.theta_curvature

    def stretch(self, factor: float) -> None:
        """Derivatives when θ and β grow by a factor and α shrinks by it."""
        self.slope[BETA] /= factor
        self.theta_slope /= factor
        self.curvature[BETA] /= factor**2
        self.theta_curvature /= factor**2
        self.information[:, BETA] /= factor
        self.information[:, :, BETA] /= factor


class Likelihood:
    """Evaluates posteriors against one set of responses.

    `nodes` is the number of quadrature points for θ − β, `item_nodes` for log α and logit γ.
    """

    def __init__(self, responses: Responses, model: IrtModel, nodes: int = 3, item_nodes: int = 3) -> None:
        self._responses, self._model = responses, model
        self._nodes, self._item_nodes = nodes, item_nodes
        self._guessing = model == "3pl"
        self._rule = _rule(nodes)
        self._alpha_rule = _rule(1 if model == "1pl" else item_nodes)
        self._gamma_rule = _rule(item_nodes if self._guessing else 1)

    def of_items(self, columns: NDArray[np.intp]) -> "Likelihood":
        """Restricted to some items."""
        return Likelihood(self._responses.of_items(columns), self._model, self._nodes, self._item_nodes)

    def evaluate(self, at: Posterior) -> Expected:
        responders, items = self._responses.right.shape
        expected = Expected.zero(responders, items)
        block = max(1, _CELLS_AT_ONCE // responders)
        for start in range(0, items, block):
            self._add_block(at, slice(start, start + block), expected)
        return expected

    def _add_block(self, at: Posterior, part: slice, expected: Expected) -> None:
        right, sign = self._responses.right[:, part], self._responses.sign[:, part]
        weight = self._responses.weight[:, part]
        spread = np.sqrt(at.theta_sd[:, None] ** 2 + at.items_sd[BETA, part] ** 2)
        centre = sign * (at.theta[:, None] - at.items[BETA, part])
        guess = self._guesses(at, part)
        sums = _Sums(right, guess)
        for x, x_weight in zip(*self._rule, strict=True):
            signed_gap = centre + spread * x
            for u, u_weight in zip(*self._alpha_rule, strict=True):
                alpha = np.exp(at.items[LOG_ALPHA, part] + at.items_sd[LOG_ALPHA, part] * u)
                sums.add(alpha, alpha * signed_gap, float(x), float(u), float(x_weight * u_weight))
        log_likelihood = sums.log_likelihood * weight
        expected.of_items[part] = log_likelihood.sum(axis=0)
        expected.of_responders += log_likelihood.sum(axis=1)
        by_gap = sums.by_gap * weight * sign
        by_gap_twice = sums.by_gap_and_x * weight / spread
        expected.slope[BETA, part] = -by_gap.sum(axis=0)
        expected.curvature[BETA, part] = by_gap_twice.sum(axis=0)
        expected.theta_slope += by_gap.sum(axis=1)
        expected.theta_curvature += by_gap_twice.sum(axis=1)
        if len(self._alpha_rule[0]) > 1:
            expected.slope[LOG_ALPHA, part] = np.einsum("ij,ij->j", sums.by_alpha, weight)
            by_alpha_and_u = np.einsum("ij,ij->j", sums.by_alpha_and_u, weight)
            expected.curvature[LOG_ALPHA, part] = by_alpha_and_u / at.items_sd[LOG_ALPHA, part]
        if self._guessing:
            for (z, gamma, z_weight), by_gamma in zip(guess, sums.by_gamma, strict=True):
                slope = z_weight * gamma * (1 - gamma) * np.einsum("ij,ij->j", by_gamma, weight)
                expected.slope[LOGIT_GAMMA, part] += slope
                expected.curvature[LOGIT_GAMMA, part] += slope * z / at.items_sd[LOGIT_GAMMA, part]
        expected.information[part] = self._information(at, part, weight)

    def _guesses(self, at: Posterior, part: slice) -> "list[_Guess]":
        """For every quadrature node of logit γ: the node, γ for every item, and the weight."""
        if not self._guessing:
            return [(0.0, np.zeros(at.items[BETA, part].shape), 1.0)]
        centre, spread = at.items[LOGIT_GAMMA, part], at.items_sd[LOGIT_GAMMA, part]
        return [(float(z), _sigmoid(centre + spread * z), float(w)) for z, w in zip(*self._gamma_rule, strict=True)]

    def _information(self, at: Posterior, part: slice, weight: FloatArray) -> FloatArray:
        """Expected Fisher information of a response about (β, log α, logit γ)."""
        alpha = np.exp(at.items[LOG_ALPHA, part])
        logit = np.maximum(alpha * (at.theta[:, None] - at.items[BETA, part]), _LOWEST)
        knows = _sigmoid(logit)
        gamma = _sigmoid(at.items[LOGIT_GAMMA, part]) if self._guessing else np.zeros(alpha.shape)
        common = weight * (1 - gamma) * (1 - knows) / (gamma + (1 - gamma) * knows)
        once = common * knows
        twice = once * knows
        information = np.empty((len(alpha), 3, 3))
        information[:, 0, 0] = alpha**2 * twice.sum(axis=0)
        information[:, 0, 1] = information[:, 1, 0] = -alpha * (twice * logit).sum(axis=0)
        information[:, 1, 1] = (twice * logit**2).sum(axis=0)
        information[:, 0, 2] = information[:, 2, 0] = -alpha * gamma * once.sum(axis=0)
        information[:, 1, 2] = information[:, 2, 1] = gamma * (once * logit).sum(axis=0)
        information[:, 2, 2] = gamma**2 * common.sum(axis=0)
        return information


_Guess = tuple[float, FloatArray, float]


class _Sums:
    """Sums over the nodes, for a block of cells.

    With t = σ(±logit), the probability of "knowing" the answer that was given, the probability of the answer is
    P = γ·[right] + (1 − γ)·t, whether it was right or wrong.
    """

    def __init__(self, right: FloatArray, guess: list[_Guess]) -> None:
        self._right, self._guess = right, guess
        self._lucky = [right * gamma for _, gamma, _ in guess]
        self.log_likelihood, self.by_gap, self.by_gap_and_x, self.by_alpha, self.by_alpha_and_u = (
            np.zeros_like(right) for _ in range(5)
        )
        self.by_gamma = [np.zeros_like(right) for _ in guess]

    def add(self, alpha: FloatArray, logit: FloatArray, x: float, u: float, node_weight: float) -> None:
        np.maximum(logit, _LOWEST, out=logit)
        knows = np.exp(-logit)
        knows += 1
        np.reciprocal(knows, out=knows)
        surprise = self._right - knows
        inverse_sum = np.zeros_like(knows)
        logs = np.zeros_like(knows)
        for number, (_, gamma, weight) in enumerate(self._guess):
            probability = (1 - gamma) * knows
            probability += self._lucky[number]
            inverse = np.reciprocal(probability)
            np.log(probability, out=probability)
            probability *= weight
            logs += probability
            inverse_sum += (weight * (1 - gamma)) * inverse
            inverse *= surprise
            inverse *= node_weight
            self.by_gamma[number] += inverse
        logs *= node_weight
        self.log_likelihood += logs
        by_logit = inverse_sum
        by_logit *= knows
        np.subtract(1, knows, out=knows)
        by_logit *= knows
        by_logit *= node_weight
        logit *= by_logit
        by_logit *= alpha
        self.by_gap += by_logit
        self.by_alpha += logit
        if x:
            by_logit *= x
            self.by_gap_and_x += by_logit
        if u:
            logit *= u
            self.by_alpha_and_u += logit


def _rule(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Gauss–Hermite nodes and weights for a standard normal. One node is the mean itself."""
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    return np.where(np.abs(points) < 1e-12, 0.0, points), weights / weights.sum()


def _sigmoid(logit: FloatArray) -> FloatArray:
    result: FloatArray = 1 / (1 + np.exp(-logit))
    return result
