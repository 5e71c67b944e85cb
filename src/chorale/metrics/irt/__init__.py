"""Item response theory: how hard each item is, how well it tells responders apart, and how able each responder is."""

from chorale.metrics.irt.fitting import fit_irt
from chorale.metrics.irt.model import (
    GUESSING_SPREADS,
    MODELS,
    SIGMA_ALPHAS,
    GuessingPrior,
    IrtFit,
    IrtIntervals,
    IrtModel,
    Normal,
    item_weights,
)
from chorale.metrics.irt.resampling import irt_bootstrap
from chorale.metrics.irt.uncertainty import irt_intervals

__all__ = [
    "GUESSING_SPREADS",
    "MODELS",
    "SIGMA_ALPHAS",
    "GuessingPrior",
    "IrtFit",
    "IrtIntervals",
    "IrtModel",
    "Normal",
    "fit_irt",
    "irt_bootstrap",
    "irt_intervals",
    "item_weights",
]
