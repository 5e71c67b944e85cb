"""Item response theory: difficulty and discrimination of items, and ability of responders."""

from chorale.metrics.irt.checking import ItemFit, item_fit, item_information
from chorale.metrics.irt.fitting import GUESS_RATE, MOST_CATEGORIES, MarginalFit, fit_irt, irt_intervals
from chorale.metrics.irt.model import (
    BINARY_MODELS,
    GUESSING_SPREADS,
    MODELS,
    SIGMA_ALPHAS,
    GuessingPrior,
    IrtFit,
    IrtIntervals,
    IrtModel,
    Normal,
    VariationalFit,
    item_weights,
)
from chorale.metrics.irt.variational import fit_variational

__all__ = [
    "BINARY_MODELS",
    "GUESSING_SPREADS",
    "GUESS_RATE",
    "MODELS",
    "MOST_CATEGORIES",
    "SIGMA_ALPHAS",
    "GuessingPrior",
    "IrtFit",
    "IrtIntervals",
    "IrtModel",
    "ItemFit",
    "MarginalFit",
    "Normal",
    "VariationalFit",
    "fit_irt",
    "fit_variational",
    "irt_intervals",
    "item_fit",
    "item_information",
    "item_weights",
]
