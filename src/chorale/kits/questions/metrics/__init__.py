"""Human and model performance on multiple-choice questions."""

from chorale.kits.questions.metrics.agreement import (
    ALPHA_VARIANTS,
    AlphaVariant,
    DrawnAlpha,
    McqAlpha,
    alpha_over_draws,
    mcq_alpha,
)
from chorale.kits.questions.metrics.measures import (
    SECTIONS,
    McqMeasures,
    Section,
    measure_mcq,
    runs_of_models,
)
from chorale.kits.questions.metrics.outcomes import DISCARDED, TIES, DrawOutcome, Ties, outcomes_of

__all__ = [
    "ALPHA_VARIANTS",
    "DISCARDED",
    "SECTIONS",
    "TIES",
    "AlphaVariant",
    "DrawOutcome",
    "DrawnAlpha",
    "McqAlpha",
    "McqMeasures",
    "Section",
    "Ties",
    "alpha_over_draws",
    "mcq_alpha",
    "measure_mcq",
    "outcomes_of",
    "runs_of_models",
]
