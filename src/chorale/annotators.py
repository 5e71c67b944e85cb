"""Models as annotators, from Python: `chorale.models(data)` and `chorale.estimate(data, …)`.

Both return the result of `chorale models` or `chorale estimate` as a `Score` with `values`, `intervals`, `signature`,
`notes`, `to_pandas()` and `to_polars()`.
"""

from collections.abc import Sequence
from typing import Any, Literal

from chorale.metrics.agreement.distances import Distance
from chorale.metrics.checked_options import check_options, naming_keywords
from chorale.metrics.reading.judged import Reading, judged_in
from chorale.metrics.replacing.alternative import EPSILONS, FEWEST_BY_T
from chorale.metrics.replacing.who import models_in
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.score import Score
from chorale.metrics.scoring.estimates import EstimateOptions, score_estimates
from chorale.metrics.scoring.models import ModelOptions, score_models
from chorale.model import UserError


@naming_keywords()
def models(
    data: Any,
    *,
    model: Sequence[str] = (),
    kind: str | None = None,
    by: str | Distance = "accuracy",
    annotators: Literal["experts", "skilled", "crowd"] = "crowd",
    epsilon: float | None = None,
    min_items: int = FEWEST_BY_T,
    expert: str | None = None,
    ranks: bool = False,
    task: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    sep: str | None = None,
    plan: bool = False,
    people: bool = False,
    confusions: bool = False,
    items: bool = False,
    ci: bool = True,
    resamples: int = 1000,
    seed: int = 1,
) -> Score:
    """Test whether models can replace people (Calderon et al. 2025), and measure their agreement with people.

    `data` is a path or any table of judgments. `model` lists the workers that are models. Without it, a worker
    is a model if the column `kind` (or the column that the argument `kind` names) has the value `model`. `by` is
    accuracy, rmse, a distance (jaccard, masi, span, ua-f1) or a function of two sets.
    """
    check_options(models, {"annotators": annotators})
    if min_items < 2:
        raise UserError(f"min_items must be at least 2, not {min_items}.")
    if epsilon is not None and not 0 <= epsilon <= 1:
        raise UserError(f"epsilon must be between 0 and 1, not {epsilon}.")
    reading = Reading(task=task, worker=worker, label=label, sep=sep)
    judged = judged_in(data, reading)
    judged, named = models_in(data, judged, reading, [model] if isinstance(model, str) else model, kind)
    worth = EPSILONS[annotators] if epsilon is None else epsilon
    options = ModelOptions(named, by, worth, min_items, expert, ranks, plan, people, confusions, items)
    return score_models(judged, options, checked_resampling(ci, resamples, seed))


@naming_keywords()
def estimate(
    data: Any,
    *,
    people: str = "people",
    model: str = "model",
    prevalence: str | Sequence[str] = (),
    by: str | None = None,
    on: str | Sequence[str] = (),
    probability: str | None = None,
) -> Score:
    """Estimate means, shares, group differences or slopes from many model labels and few human labels (PPI++).

    `data` is a path or a table with one row per item. The arguments name its columns: labels of the model (`model`) and
    of people (`people`, empty for unsampled items), groups (`by`), covariates (`on`), and the probability that an item
    was sampled for people (`probability`). Only `prevalence` lists labels: those whose shares are estimated.
    """
    labels = (prevalence,) if isinstance(prevalence, str) else tuple(prevalence)
    covariates = (on,) if isinstance(on, str) else tuple(on)
    options = EstimateOptions(people, model, labels, by, covariates, probability)
    return score_estimates(data, options)
