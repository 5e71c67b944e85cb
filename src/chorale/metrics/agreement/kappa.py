"""Cohen's κ: two people's agreement beyond what their own shares of the labels would give by chance.

    κ = 1 − Σ w_ab p_ab / Σ w_ab p_a. p_.b

p_ab is the share of items that the first called a and the second b. w_ab is 0 for equal labels and otherwise 1; with
weights it is how many places apart the labels are, or the square of it (Cohen 1960, 1968).
"""

from collections.abc import Sequence

from chorale.metrics.agreement.pairs import mean_over_pairs
from chorale.metrics.agreement.result import Agreement
from chorale.metrics.agreement.scales import WEIGHTS, Weights
from chorale.metrics.judgments import Judgments


def cohen_kappa(
    judgments: Judgments, *, weights: Weights = "none", order: Sequence[str] | None = None, min_common: int = 1
) -> Agreement:
    """κ; of more than two people the mean over all pairs with at least `min_common` items in common.

    With weights, labels stand in the order given, or in that of numbers; places are counted over the labels of all.

    >>> two = Judgments.from_columns([1, 2, 3, 4] * 2, list("xxxxyyyy"), list("yynnynnn"))
    >>> cohen_kappa(two).value
    0.5
    """
    if weights not in WEIGHTS:
        raise ValueError(f"there are no weights {weights!r}; there are {', '.join(WEIGHTS)}")
    return mean_over_pairs(judgments, "kappa", weights=weights, order=order, min_common=min_common)
