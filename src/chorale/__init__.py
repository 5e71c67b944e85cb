"""Chorale: collect and evaluate crowdsourced annotations.

    import chorale

    chorale.alpha("judgments.csv")                          # agreement, with its interval
    chorale.evaluate.qasrl("system.csv", "gold.csv")        # a system against a gold standard
    chorale.aggregate.DawidSkene().fit_predict(table)       # one label per task

Names are loaded when they are first used, so importing the package is fast.
"""

from chorale.lazy import attach

TYPE_CHECKING = False  # importing TYPE_CHECKING from typing takes ten times as long as the rest of the module

if TYPE_CHECKING:
    from chorale import aggregate, evaluate
    from chorale.annotators import estimate, models
    from chorale.coefficients import (
        alpha,
        brennan_prediger,
        conger,
        fleiss,
        gamma,
        gwet,
        icc,
        kappa,
        kendall_tau,
        kendall_w,
        percent,
        pi,
        spearman,
    )
    from chorale.metrics.score import Score
    from chorale.model import UserError

__version__ = "0.1.0"

__all__ = [
    "Score",
    "UserError",
    "__version__",
    "aggregate",
    "alpha",
    "brennan_prediger",
    "conger",
    "estimate",
    "evaluate",
    "fleiss",
    "gamma",
    "gwet",
    "icc",
    "kappa",
    "kendall_tau",
    "kendall_w",
    "models",
    "percent",
    "pi",
    "spearman",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "aggregate": (),
        "annotators": ("estimate", "models"),
        "coefficients": (
            "alpha",
            "brennan_prediger",
            "conger",
            "fleiss",
            "gamma",
            "gwet",
            "icc",
            "kappa",
            "kendall_tau",
            "kendall_w",
            "percent",
            "pi",
            "spearman",
        ),
        "evaluate": (),
        "metrics.score": ("Score",),
        "model": ("UserError",),
    },
)
