"""Agreement between raters, from Python: `chorale.alpha(data)` and its siblings.

`data` is a path, a table of pandas, Polars or Arrow, a dict of columns, a list of dicts, a list of tuples
(task, worker, label), or a matrix with a row per rater. Each function returns a `Score` with `value`, `interval`,
`signature`, `notes`, `to_pandas()` and `to_polars()`. It is the result that `chorale agreement` prints.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack, get_args

from chorale.metrics.agreement import DISTANCES, Distance, Level, Weights
from chorale.metrics.agreement.distances import SPAN_DISTANCES
from chorale.metrics.agreement.icc import IccForm
from chorale.metrics.checked_options import check_keywords, naming_keywords
from chorale.metrics.judgments import NOTHING
from chorale.metrics.reading.judged import Reading, ReadingOptions, check_used, judged_in
from chorale.metrics.reading.judged_clusters import judged_clusters
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.score import Score
from chorale.metrics.scoring.agreement import score_agreement
from chorale.metrics.scoring.agreement_options import AgreementOptions, Shares
from chorale.model import UserError
from chorale.model.problems import did_you_mean


class AgreementRequest(ReadingOptions, total=False):
    """Options of all coefficients, in addition to those for reading the data."""

    against: Any
    """Judgments of the same items by other raters, in any form, to test whether the difference is significant."""
    ci: bool
    """Whether to compute the 95% bootstrap interval; the default is True."""
    cluster: str | Sequence[str]
    """One or two columns that group items, for example by document. Grouped items are resampled together."""
    resamples: int
    seed: int
    pairs: bool
    """Whether to add a table of all pairs of raters."""
    items: bool
    """Whether to add a table of items, the most disputed first."""
    analytic: bool
    """Whether to add the standard error and interval by formula; the default is False."""


def alpha(
    data: Any,
    *,
    level: Level = "nominal",
    distance: str | Distance | None = None,
    order: Sequence[str] | None = None,
    **request: Unpack[AgreementRequest],
) -> Score:
    """Krippendorff's α, for any number of raters, with missing judgments.

    `level` is the level of measurement: nominal, ordinal, interval or ratio. `distance` is used instead of a level:
    jaccard, masi, span, ua-f1, or a function of two sets. `order` names ordinal labels from the lowest to the highest.

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
    if distance in SPAN_DISTANCES:
        request.setdefault("empty", NOTHING)
    return _scored(data, AgreementOptions("alpha", level, distance, _ordered(order)), request)


def kappa(
    data: Any,
    *,
    weights: Weights = "none",
    order: Sequence[str] | None = None,
    min_common: int = 1,
    **request: Unpack[AgreementRequest],
) -> Score:
    """Cohen's κ of two raters; for more raters, the mean over pairs with at least `min_common` common items.

    With linear or quadratic `weights`, disagreements are weighted by the distance of the labels in their `order`.
    """
    if order is not None and weights == "none":
        raise UserError('An order needs weights="linear" or weights="quadratic".')
    options = AgreementOptions("kappa", min_common=_at_least_one(min_common), **_weighted(weights, order))
    return _scored(data, options, request)


def pi(data: Any, *, min_common: int = 1, **request: Unpack[AgreementRequest]) -> Score:
    """Scott's π of two raters; for more raters, the mean over pairs with at least `min_common` common items."""
    return _scored(data, AgreementOptions("pi", min_common=_at_least_one(min_common)), request)


def fleiss(
    data: Any,
    *,
    shares: Shares = "judgments",
    weights: Weights = "none",
    order: Sequence[str] | None = None,
    **request: Unpack[AgreementRequest],
) -> Score:
    """Fleiss' κ, for any number of raters, with missing judgments.

    `shares` sets how the frequencies of labels are computed: over all judgments (`"judgments"`), or as means over items
    (`"items"`), as in Gwet and irrCAC for missing data. `weights` require `"items"`.
    """
    if shares not in get_args(Shares):
        raise _unknown("shares", shares, get_args(Shares))
    return _scored(data, AgreementOptions("fleiss", shares=shares, **_weighted(weights, order)), request)


def percent(data: Any, **request: Unpack[AgreementRequest]) -> Score:
    """Percent agreement as a fraction: how often two judgments of an item are the same, not corrected for chance."""
    return _scored(data, AgreementOptions("percent"), request)


def gwet(
    data: Any,
    *,
    weights: Weights = "none",
    order: Sequence[str] | None = None,
    **request: Unpack[AgreementRequest],
) -> Score:
    """Gwet's AC1 (AC2 with weights), for any number of raters, with missing judgments. `order` names all possible
    labels.

    >>> import chorale
    >>> chorale.gwet([["y", "y", "y", "n"], ["y", "y", "y", "y"]], ci=False)
    <Score: gwet 0.6800>
    """
    return _scored(data, AgreementOptions("gwet", **_weighted(weights, order)), request)


def brennan_prediger(
    data: Any,
    *,
    weights: Weights = "none",
    order: Sequence[str] | None = None,
    **request: Unpack[AgreementRequest],
) -> Score:
    """Brennan and Prediger's coefficient, whose chance agreement assumes that all labels are equally likely.

    `order` names all possible labels.
    """
    return _scored(data, AgreementOptions("brennan-prediger", **_weighted(weights, order)), request)


def conger(
    data: Any,
    *,
    weights: Weights = "none",
    order: Sequence[str] | None = None,
    **request: Unpack[AgreementRequest],
) -> Score:
    """Conger's κ, for any number of raters, with missing judgments.

    Chance agreement uses each rater's label frequencies.
    """
    return _scored(data, AgreementOptions("conger", **_weighted(weights, order)), request)


def icc(data: Any, *, form: IccForm = "2", **request: Unpack[AgreementRequest]) -> Score:
    """Intraclass correlation of numbers, in the form 1, 2, 3, 1k, 2k or 3k of Shrout and Fleiss."""
    if form not in get_args(IccForm):
        raise _unknown("the ICC's form", form, get_args(IccForm))
    return _scored(data, AgreementOptions("icc", icc_form=form), request)


def kendall_w(data: Any, *, order: Sequence[str] | None = None, **request: Unpack[AgreementRequest]) -> Score:
    """Kendall's W: how similarly all raters rank the items, over the items that everybody rated."""
    return _scored(data, AgreementOptions("kendall-w", order=_ordered(order)), request)


def kendall_tau(
    data: Any, *, order: Sequence[str] | None = None, min_common: int = 1, **request: Unpack[AgreementRequest]
) -> Score:
    """Kendall's τ-b of two raters; for more raters, the mean over pairs with at least `min_common` common items."""
    options = AgreementOptions("kendall-tau", order=_ordered(order), min_common=_at_least_one(min_common))
    return _scored(data, options, request)


def spearman(
    data: Any, *, order: Sequence[str] | None = None, min_common: int = 1, **request: Unpack[AgreementRequest]
) -> Score:
    """Spearman's ρ of two raters; for more raters, the mean over pairs with at least `min_common` common items."""
    options = AgreementOptions("spearman", order=_ordered(order), min_common=_at_least_one(min_common))
    return _scored(data, options, request)


def gamma(data: Any, **request: Unpack[AgreementRequest]) -> Score:
    """γ for spans: agreement on their positions and categories, with texts as items.

    A label is the set of spans a rater marked in a text, each `start:end` or `start:end:category`, or a list of objects
    with `start`, `end` and optionally `label`. `seed` also applies to the random spans for chance agreement.
    """
    request.setdefault("empty", NOTHING)
    return _scored(data, AgreementOptions("gamma", seed=request.get("seed", 1)), request)


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
        with_analytic=asked.get("analytic", False),
    )


def _weighted(weights: Weights, order: Sequence[str] | None) -> dict[str, Any]:
    if weights not in get_args(Weights):
        raise _unknown("weights", weights, get_args(Weights))
    return {"weights": weights, "order": _ordered(order)}


def _ordered(order: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if order is None else tuple(map(str, order))


def _unknown(option: str, value: object, known: Sequence[str]) -> UserError:
    return UserError(f"{option} must be one of {', '.join(known)}, not {value!r}.{did_you_mean(str(value), known)}")


def _at_least_one(min_common: int) -> int:
    if min_common < 1:
        raise UserError(f"min_common must be at least 1, not {min_common}.")
    return min_common
