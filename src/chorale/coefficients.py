"""Agreement between raters, from Python: `chorale.alpha(data)` and its siblings.

`data` is a path, a table of pandas, Polars or Arrow, a dict of columns, a list of dicts, a list of tuples
(task, worker, label), or a matrix with a row per rater. Each function gives a `Score` with `value`, `interval`,
`signature`, `notes`, `to_pandas()` and `to_polars()`: the same that `chorale agreement` prints.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack, get_args

from chorale.metrics.agreement import DISTANCES, Distance, Level, Weights
from chorale.metrics.checked_options import check_keywords, naming_keywords
from chorale.metrics.reading.cluster_columns import judged_clusters
from chorale.metrics.reading.judged import Reading, ReadingOptions, check_used, judged_in
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.score import Score
from chorale.metrics.scoring.agreement import AgreementOptions, score_agreement
from chorale.model import UserError
from chorale.model.problems import did_you_mean


class AgreementRequest(ReadingOptions, total=False):
    """What all coefficients can be asked for, beside how the data is read."""

    against: Any
    """Judgments of the same items by others, in any form: is the difference more than luck?"""
    ci: bool
    """Whether to compute the 95% bootstrap interval; the default is True."""
    cluster: str | Sequence[str]
    """The column, or two, that says which items belong together, as a document: they are resampled together."""
    resamples: int
    seed: int
    pairs: bool
    """Whether to add a table of every two raters."""
    items: bool
    """Whether to add a table of items, the most disputed first."""


def alpha(
    data: Any,
    *,
    level: Level = "nominal",
    distance: str | Distance | None = None,
    order: Sequence[str] | None = None,
    **request: Unpack[AgreementRequest],
) -> Score:
    """Krippendorff's α: any number of raters, any of them missing.

    `level` is nominal, ordinal, interval or ratio. `distance` takes its place: jaccard, masi, span, ua-f1, or a
    function of two sets. `order` names ordinal labels from the lowest to the highest.

    >>> import chorale
    >>> chorale.alpha([[1, 1, 2, 3], [1, 1, 2, 2]], level="interval", ci=False)
    <Score: alpha 0.7742>
    """
    if level not in get_args(Level):
        raise _unknown("level", level, get_args(Level))
    if isinstance(distance, str) and distance not in DISTANCES:
        raise _unknown("distance", distance, list(DISTANCES))
    if order is not None and level != "ordinal":
        raise UserError('An order needs level="ordinal".')
    ordered = None if order is None else tuple(map(str, order))
    return _scored(data, AgreementOptions("alpha", level, distance, ordered), request)


def kappa(
    data: Any,
    *,
    weights: Weights = "none",
    order: Sequence[str] | None = None,
    min_common: int = 1,
    **request: Unpack[AgreementRequest],
) -> Score:
    """Cohen's κ of two raters; of more, the mean over pairs with at least `min_common` items in common.

    With `weights` linear or quadratic, disagreements count by how far apart the labels are, in their `order`.
    """
    if weights not in get_args(Weights):
        raise _unknown("weights", weights, get_args(Weights))
    if order is not None and weights == "none":
        raise UserError('An order needs weights="linear" or weights="quadratic".')
    ordered = None if order is None else tuple(map(str, order))
    options = AgreementOptions("kappa", order=ordered, weights=weights, min_common=_at_least_one(min_common))
    return _scored(data, options, request)


def pi(data: Any, *, min_common: int = 1, **request: Unpack[AgreementRequest]) -> Score:
    """Scott's π of two raters; of more, the mean over pairs with at least `min_common` items in common."""
    return _scored(data, AgreementOptions("pi", min_common=_at_least_one(min_common)), request)


def fleiss(data: Any, **request: Unpack[AgreementRequest]) -> Score:
    """Fleiss' κ: any number of raters, any of them missing."""
    return _scored(data, AgreementOptions("fleiss"), request)


def percent(data: Any, **request: Unpack[AgreementRequest]) -> Score:
    """Percent agreement as a fraction: how often two judgments of one item are the same. Chance is not taken off."""
    return _scored(data, AgreementOptions("percent"), request)


@naming_keywords()
def _scored(data: Any, options: AgreementOptions, request: AgreementRequest) -> Score:
    asked: dict[str, Any] = dict(request)
    check_keywords(options.metric, AgreementRequest, asked)
    reading = Reading(**{name: asked.pop(name) for name in ReadingOptions.__annotations__ if name in asked})
    judged, against = judged_in(data, reading), asked.get("against")
    other = None if against is None else judged_in(against, reading)
    check_used(reading, judged, *([] if other is None else [other]))
    resampling = checked_resampling(asked.get("ci", True), asked.get("resamples", 1000), asked.get("seed", 1))
    return score_agreement(
        judged,
        options,
        replace(resampling, clusters=judged_clusters(data, reading, asked.get("cluster", ()))),
        against=other,
        with_pairs=asked.get("pairs", False),
        with_items=asked.get("items", False),
    )


def _unknown(what: str, value: object, known: Sequence[str]) -> UserError:
    return UserError(f"{what} is one of {', '.join(known)}, not {value!r}.{did_you_mean(str(value), known)}")


def _at_least_one(min_common: int) -> int:
    if min_common < 1:
        raise UserError(f"min_common is at least 1, not {min_common}.")
    return min_common
