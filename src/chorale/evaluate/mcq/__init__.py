"""Human performance on multiple-choice questions, beside that of models on the same questions."""

from chorale.evaluate.mcq.agreement import (
    ALPHA_VARIANTS,
    AlphaVariant,
    DrawnAlpha,
    McqAlpha,
    alpha_over_draws,
    mcq_alpha,
)
from chorale.evaluate.mcq.comparison import UnpairedComparison, compare_apart, compare_unpaired
from chorale.evaluate.mcq.measures import SECTIONS, McqMeasures, Section, measure_mcq, runs_of_models
from chorale.evaluate.mcq.outcomes import DISCARDED, TIES, Outcome, Ties, outcomes_of

__all__ = [
    "ALPHA_VARIANTS",
    "DISCARDED",
    "SECTIONS",
    "TIES",
    "AlphaVariant",
    "DrawnAlpha",
    "McqAlpha",
    "McqMeasures",
    "Outcome",
    "Section",
    "Ties",
    "UnpairedComparison",
    "alpha_over_draws",
    "compare_apart",
    "compare_unpaired",
    "mcq_alpha",
    "measure_mcq",
    "outcomes_of",
    "runs_of_models",
]
