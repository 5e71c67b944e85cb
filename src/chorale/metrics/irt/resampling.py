"""Bootstrap intervals of an item response model: other responders for the items, other items for the responders.

Of an item the responders who answered it are drawn with replacement, of a responder the items; the other side stays as
it was fitted. Fitting each of a thousand resamples to the end would take an hour. So each takes one step of Newton's
method from where the fit ended, which is where most of the way lies (Davidson and MacKinnon 1999): the slope and the
information of a resample are sums over its answers, and those of all resamples are matrix products.
"""

from collections.abc import Callable

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.irt.likelihood import Responses
from chorale.metrics.irt.model import IrtFit, IrtIntervals
from chorale.metrics.sampling import ends_of, times_each_taken

_LONGEST_STEP = 2.0
_NUMBERS_AT_ONCE = 2**21


def irt_bootstrap(
    fit: IrtFit,
    matrix: FloatArray,
    *,
    weights: FloatArray | None = None,
    resamples: int = 1000,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> IrtIntervals:
    """Percentile intervals for the answers that were fitted, with the weights they were fitted with."""
    matrix = np.asarray(matrix, dtype=np.float64)
    responses = Responses.of(matrix, np.ones(matrix.shape[1]) if weights is None else weights)
    responders, items = matrix.shape
    total = responders + items
    ends = np.empty((3, 2, items))
    drawn = _drawn(responders, resamples, np.random.default_rng([seed, 0]))
    for part in _parts(items, resamples * 9):
        ends[:, :, part] = _around_items(fit, responses, part, drawn)
        if progress:
            progress(part.stop, total)
    ability = np.empty((2, responders))
    drawn = _drawn(items, resamples, np.random.default_rng([seed, 1]))
    for part in _parts(responders, resamples * 2 + items):
        ability[:, part] = _around_responders(fit, responses, part, drawn)
        if progress:
            progress(items + part.stop, total)
    return IrtIntervals(ability, ends[0], np.exp(ends[1]), 1 / (1 + np.exp(-ends[2])))


def _drawn(count: int, resamples: int, rng: np.random.Generator) -> FloatArray:
    """How much more or less often than once each is in each resample: resamples × count."""
    return times_each_taken(count, resamples, rng) - 1.0


def _parts(count: int, numbers: int) -> list[slice]:
    width = max(1, _NUMBERS_AT_ONCE // numbers)
    return [slice(start, min(start + width, count)) for start in range(0, count, width)]


def _around_items(fit: IrtFit, responses: Responses, part: slice, drawn: FloatArray) -> FloatArray:
    """The ends of β, log α and logit γ: 3 × 2 × items."""
    cells = _Cells(fit, responses, (slice(None), part))
    free = {"1pl": 1, "2pl": 2, "3pl": 3}[fit.model]
    slopes = (cells.by_beta, cells.by_log_alpha, cells.by_logit_gamma)[:free]
    at = np.stack([fit.difficulty.mean[part], fit.log_discrimination.mean[part], fit.logit_guessing.mean[part]])
    slope = np.stack([drawn @ (cells.surprise * one) for one in slopes], axis=-1)
    information = np.empty((*slope.shape, free))
    for row in range(free):
        for column in range(row + 1):
            known = cells.known * slopes[row] * slopes[column]
            information[..., row, column] = information[..., column, row] = known.sum(axis=0) + drawn @ known
    spreads = np.array([1.0, fit.sigma_alpha or 1.0, fit.guessing_spread or 1.0])[:free]
    information += np.diag(1 / spreads**2)
    step = np.linalg.solve(information, slope[..., None])[..., 0].clip(-_LONGEST_STEP, _LONGEST_STEP)
    ends = np.repeat(at[:, None], 2, axis=1)
    ends[:free] += np.moveaxis(ends_of(step), -1, 0)
    return ends


def _around_responders(fit: IrtFit, responses: Responses, part: slice, drawn: FloatArray) -> FloatArray:
    """The ends of θ: 2 × responders."""
    cells = _Cells(fit, responses, (part, slice(None)))
    known = cells.known * cells.by_beta**2
    slope = drawn @ -(cells.surprise * cells.by_beta).T
    step = slope / (1 + known.sum(axis=1) + drawn @ known.T)
    ends: FloatArray = fit.ability.mean[part] + ends_of(step.clip(-_LONGEST_STEP, _LONGEST_STEP))
    return ends


class _Cells:
    """Of every answer: how surprising it was, how much it tells, and how its probability moves with each parameter."""

    def __init__(self, fit: IrtFit, responses: Responses, where: tuple[slice, slice]) -> None:
        some, part = where
        alpha, gamma = fit.discrimination[part], fit.guessing[part]
        gap = fit.ability.mean[some, None] - fit.difficulty.mean[part]
        knows = 1 / (1 + np.exp(-np.clip(alpha * gap, -30.0, 30.0)))
        chance = gamma + (1 - gamma) * knows
        spread = np.maximum(chance * (1 - chance), 1e-12)
        weight = responses.weight[where]
        self.surprise = weight * (responses.right[where] - chance) / spread
        self.known = weight / spread
        rise = (1 - gamma) * knows * (1 - knows)
        self.by_beta = -alpha * rise
        self.by_log_alpha = alpha * gap * rise
        self.by_logit_gamma = (1 - knows) * gamma * (1 - gamma)
