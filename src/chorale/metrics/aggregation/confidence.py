"""Trust-weighted confidence, as CrowdFlower defined it.

The confidence of an answer is the summed trust of the workers who gave it over the summed trust of all who answered:

    confidence(item, a) = Σ trust(w) [w answered a] / Σ trust(w)

See Zeichner, Berant and Dagan (2012), who accepted results with a confidence of at least 0.7.
"""

from collections.abc import Hashable, Iterable
from typing import NamedTuple

from chorale.metrics.aggregation.tie_draw import TIE


class Share(NamedTuple):
    """The leading answer with its trust-weighted share."""

    answer: Hashable
    confidence: float


def trust_weighted_share(votes: Iterable[tuple[Hashable, float]], draw: int = 0) -> Share | None:
    """The answer with the largest share of trust; None without votes.

    `draw` selects one of the tied answers in alphabetical order (0 selects the first), so the result does not depend on
    the order of votes. If no worker has any trust, all votes count equally.

    >>> trust_weighted_share([("yes", 1.0), ("no", 0.5), ("yes", 0.5)])
    Share(answer='yes', confidence=0.75)
    """
    pairs = list(votes)
    if not pairs:
        return None
    first = pairs[0][0]
    for answer, _ in pairs:
        if answer != first:
            break
    else:
        # A single vote, or all votes for the same answer.
        return Share(first, 1.0)
    if not any(weight > 0 for _, weight in pairs):
        pairs = [(answer, 1.0) for answer, _ in pairs]
    weights: dict[Hashable, float] = {}
    # Summing in a fixed order makes the last digit independent of the order of votes.
    for answer, weight in sorted(pairs, key=lambda pair: (str(pair[0]), pair[1])):
        weights[answer] = weights.get(answer, 0.0) + weight
    # For ties, the first in alphabetical order, which was inserted first.
    leading, whole = max(weights, key=weights.__getitem__), sum(weights.values())
    if draw:
        tied = [answer for answer, weight in weights.items() if weight >= weights[leading] - TIE * whole]
        leading = tied[draw % len(tied)]
    return Share(leading, weights[leading] / whole)
