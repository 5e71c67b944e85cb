"""Scott's π: like κ, but chance is drawn from the labels of both people together.

    π = (p_o − Σ p_c²) / (1 − Σ p_c²)

p_c is the share of label c among all judgments of the two (Scott 1955). For any number of people at once, Fleiss' κ is
the coefficient of this kind.
"""

from chorale.metrics.agreement.pairs import mean_over_pairs
from chorale.metrics.agreement.result import Agreement
from chorale.metrics.judgments import Judgments


def scott_pi(judgments: Judgments, *, min_common: int = 1) -> Agreement:
    """π; of more than two people the mean over all pairs with at least `min_common` items in common.

    >>> two = Judgments.from_columns([1, 2, 3, 4] * 2, list("xxxxyyyy"), list("yynnynnn"))
    >>> round(scott_pi(two).value, 4)
    0.4667
    """
    return mean_over_pairs(judgments, "pi", weights="none", order=None, min_common=min_common)
