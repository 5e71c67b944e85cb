"""Aggregates image masks of several workers.

Every function takes the masks of one image as an array of workers × rows × columns, and returns the joint mask.

D. Jung-Lin Lee, A. Das Sarma and A. Parameswaran. Aggregating crowdsourced image segmentations. HCOMP 2018 (majority,
EM). RASA is the method of `vector_answers`, with 1 − intersection over union as the distance.
"""

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.limits import check_limits

Masks = NDArray[np.bool_]
_NEAREST = 1e-5
_HALF = 0.5


def segmentation_majority(masks: Masks, weights: FloatArray | None = None) -> Masks:
    """Pixels marked by at least half of the total weight of workers."""
    given = np.ones(len(masks)) if weights is None else weights
    return np.asarray(2 * np.tensordot(given, masks.astype(np.float64), 1) >= given.sum())


def segmentation_rasa(masks: Masks, *, iterations: int = 10, tolerance: float = 1e-5) -> tuple[Masks, FloatArray]:
    """The joint mask and the normalised weights of workers, log(1 + 1 / distance), estimated alternately."""
    check_limits(iterations, tolerance)
    weights = np.full(len(masks), 1 / len(masks))
    before = None
    joint = np.zeros(masks.shape[1:], dtype=np.bool_)
    for _ in range(iterations):
        shares = np.tensordot(weights, masks.astype(np.float64), 1)
        joint = shares >= _HALF
        union = (masks | joint).sum(axis=(1, 2))
        common = (masks & joint).sum(axis=(1, 2))
        # Two empty masks are equal.
        distance = 1 - np.divide(common, union, out=np.ones(len(masks)), where=union > 0)
        weights = np.log(1 / (distance + _NEAREST) + 1)
        weights /= weights.sum()
        size = float((shares**2).sum())
        if before is not None and (size == 0 or float(((shares - before) ** 2).sum()) / size < tolerance):
            break
        before = shares
    return joint, weights


def segmentation_em(
    masks: Masks, *, iterations: int = 10, tolerance: float = 1e-5, least: float = 1e-15
) -> tuple[Masks, FloatArray]:
    """The joint mask, and the accuracy of each worker on pixels that anybody marked.

    Probabilities of pixels and accuracies of workers are estimated alternately, starting with the share of workers who
    marked each pixel. Each round uses the last probabilities as priors. Probabilities below `least` are 0.
    """
    check_limits(iterations, tolerance)
    region = int(masks.any(axis=0).sum())
    if not region:
        return np.zeros(masks.shape[1:], dtype=np.bool_), np.ones(len(masks))
    marked = masks.astype(np.float64)
    sizes = marked.sum(axis=(1, 2))

    def accuracy_of(joint: FloatArray) -> FloatArray:
        wrong = sizes + joint.sum() - 2 * np.tensordot(marked, joint, 2)
        return np.asarray(1 - wrong / region)

    prior = marked.mean(axis=0)
    accuracy = accuracy_of(np.round(prior))
    bound = -np.inf
    for _ in range(iterations):
        # Pixels with an undefined probability count as 0.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inside, outside = _chances(marked, accuracy)
            odds = np.log(1 - prior) + np.log(outside).sum(axis=0) - np.log(prior) - np.log(inside).sum(axis=0)
            joint = np.nan_to_num(1 / (1 + np.exp(odds)), nan=0.0)
        joint[joint < least] = 0.0
        accuracy = accuracy_of(joint)
        reached = _bound(marked, accuracy, prior, joint) / marked.size
        prior = joint
        if reached - bound < tolerance:
            break
        bound = reached
    return np.asarray(prior > _HALF), accuracy


def _chances(marked: FloatArray, accuracy: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probability of each worker's answer for each pixel, if it is inside and if it is outside."""
    right = accuracy[:, None, None]
    inside = np.where(marked > 0, right, 1 - right)
    return inside, 1 - inside


def _bound(marked: FloatArray, accuracy: FloatArray, prior: FloatArray, joint: FloatArray) -> float:
    """Bound on the log-likelihood of all answers: the prior is counted once per answer, and the entropy is added.

    This matches crowd-kit, so both stop at the same round.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        inside, outside = _chances(marked, accuracy)
        logs = np.where(joint > 0, (np.log(inside) + np.log(prior)) * joint, 0.0).sum()
        logs += np.where(joint < 1, (np.log(outside) + np.log(1 - prior)) * (1 - joint), 0.0).sum()
        return float(logs - np.where(joint > 0, np.log(joint) * joint, 0.0).sum())
