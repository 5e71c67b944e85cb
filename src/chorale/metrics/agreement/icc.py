"""Intraclass correlation of numbers, in the six forms of Shrout and Fleiss (1979).

| form | people | reliability of |
| --- | --- | --- |
| 1, 1k | any, and they may differ between items | one judgment, the mean of an item's judgments |
| 2, 2k | the same for every item, a sample of all who could judge | one judgment, the mean over people |
| 3, 3k | the same for every item, and only these people are of interest | one judgment, the mean over people |

With mean squares between items (MSR), between people (MSC), within items (MSW) and of the residual (MSE):

    1: (MSR − MSW) / (MSR + (k−1) MSW)                      1k: (MSR − MSW) / MSR
    2: (MSR − MSE) / (MSR + (k−1) MSE + k (MSC − MSE) / n)  2k: (MSR − MSE) / (MSR + (MSC − MSE) / n)
    3: (MSR − MSE) / (MSR + (k−1) MSE)                      3k: (MSR − MSE) / MSR

Forms 2 and 3 use the items that everybody judged. For form 1 the number of judgments may differ; k is then their mean,
corrected as in an analysis of variance with unequal groups. Intervals are those of McGraw and Wong (1996).
"""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from chorale.metrics import FloatArray, Interval, Metric, ratio
from chorale.metrics.agreement.counts import sums_at
from chorale.metrics.agreement.result import NO_PAIRS, Agreement
from chorale.metrics.agreement.scales import numbers_of
from chorale.metrics.judgments import Judgments, codes_in_use
from chorale.metrics.variance_ratio import f_bound
from chorale.model.plural import plural

IccForm = Literal["1", "2", "3", "1k", "2k", "3k"]
ICC_FORMS: tuple[IccForm, ...] = get_args(IccForm)
_TAIL = 0.025
_SAME = "every judgment has the same value"


def icc(judgments: Judgments, *, form: IccForm = "2") -> Agreement:
    """Intraclass correlation of one form.

    >>> two = Judgments.from_columns([1, 2, 3] * 2, list("xxxyyy"), [1, 2, 4, 2, 2, 5])
    >>> round(icc(two).value, 4), round(icc(two, form="3k").value, 4)
    (0.8824, 0.9677)
    """
    if form not in ICC_FORMS:
        raise ValueError(f"unknown form {form!r} of the intraclass correlation. Use one of {', '.join(ICC_FORMS)}")
    numbers = numbers_of(judgments.label_names, level="interval")
    given = numbers[judgments.labels] if len(judgments) else np.zeros(0)
    # Centring keeps variance components and preserves the precision of sums of squares.
    given = given - given.mean() if len(given) else given
    return _one_way(judgments, given, form) if form in ("1", "1k") else _two_way(judgments, given, form)


def _one_way(judgments: Judgments, given: FloatArray, form: IccForm) -> Agreement:
    n_items = len(judgments.task_names)
    sizes = np.bincount(judgments.tasks, minlength=n_items).astype(np.float64)
    sums, squares = (sums_at(judgments.tasks, given**power, n_items) for power in (1, 2))
    rows = np.column_stack([np.ones(n_items), sizes, sizes**2, ratio(sums**2, sizes), squares, sums])
    rows[sizes < 2] = 0
    total = rows.sum(axis=0)
    if total[0] < 2:
        return Agreement(
            "icc", None, judgments, undefined=NO_PAIRS if not total[0] else "only one item has two judgments"
        )
    between, within, k = _one_way_squares(total)
    if float(between + within) <= 0:
        return Agreement("icc", None, judgments, undefined=_SAME)
    of = _averaged if form == "1k" else _single
    freedom = float(total[0] - 1), float(total[1] - total[0])
    return Agreement(
        "icc",
        float(of(between, within, k)),
        judgments,
        exact_interval=_ratio_interval(float(between), float(within), float(k), freedom, of),
        _evidence=lambda: (rows, Metric(lambda sums: {"value": of(*_one_way_squares(sums))})),
    )


def _one_way_squares(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean squares between and within items, and the number of judgments per item."""
    items, judged, squared, by_item, squares, total = (sums[..., column] for column in range(6))
    between = ratio(by_item - ratio(total**2, judged), items - 1)
    within = ratio(squares - by_item, judged - items)
    return between, np.maximum(within, 0.0), ratio(judged - ratio(squared, judged), items - 1)


def _single(between: FloatArray, within: FloatArray, k: FloatArray) -> FloatArray:
    return ratio(between - within, between + (k - 1) * within)


def _averaged(between: FloatArray, within: FloatArray, k: FloatArray) -> FloatArray:  # noqa: ARG001 - as of one
    return ratio(between - within, between)


def _ratio_interval(
    between: float,
    within: float,
    k: float,
    freedom: tuple[float, float],
    of: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
) -> Interval | None:
    """Interval from the F distribution of the ratio of two mean squares."""
    if within <= 0:
        return None
    observed = between / within
    low, high = observed / f_bound(_TAIL, *freedom), observed * f_bound(_TAIL, freedom[1], freedom[0])
    ends = [float(of(np.asarray(end), np.asarray(1.0), np.asarray(k))) for end in (low, high)]
    return Interval(*ends)


def _two_way(judgments: Judgments, given: FloatArray, form: IccForm) -> Agreement:
    people = codes_in_use(judgments.workers)
    table = np.full((len(judgments.task_names), len(people)), np.nan)
    table[judgments.tasks, np.searchsorted(people, judgments.workers)] = given
    complete = ~np.isnan(table).any(axis=1)
    n, k = int(complete.sum()), len(people)
    left_out = len(codes_in_use(judgments.tasks)) - n
    notes: tuple[str, ...] = ()
    if left_out:
        left = plural(left_out, "item does", "items do")
        notes = (
            f"{left} not count, because not everybody judged {'it' if left_out == 1 else 'them'} (--icc-form 1 uses "
            "all items with at least two judgments).",
        )
    if k < 2 or n < 2:
        why = NO_PAIRS if k < 2 else "fewer than two items were judged by everybody"
        return Agreement("icc", None, judgments, notes=notes, undefined=why)
    full = np.where(complete[:, None], table, 0.0)
    rows = np.column_stack([complete, full.sum(axis=1) ** 2 / k, (full**2).sum(axis=1), full])
    mean_squares = _two_way_squares(rows.sum(axis=0))
    between, people_apart, left_over, _ = (float(each) for each in mean_squares)
    if between + people_apart + left_over <= 0:
        return Agreement("icc", None, judgments, notes=notes, undefined=_SAME)
    return Agreement(
        "icc",
        float(_of_form(form, *mean_squares, k)),
        judgments,
        notes=notes,
        exact_interval=_two_way_interval(form, between, people_apart, left_over, n, k),
        _evidence=lambda: (rows, Metric(lambda sums: {"value": _of_form(form, *_two_way_squares(sums), k)})),
    )


def _two_way_squares(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Mean squares between items, between people and of the residual, and the number of items."""
    items, by_item, squares, by_person = sums[..., 0], sums[..., 1], sums[..., 2], sums[..., 3:]
    k = by_person.shape[-1]
    of_all = ratio(by_person.sum(axis=-1) ** 2, items * k)
    of_people = ratio((by_person**2).sum(axis=-1), items)
    between = ratio(by_item - of_all, items - 1)
    left = ratio(squares - by_item - of_people + of_all, (items - 1) * (k - 1))
    return between, (of_people - of_all) / (k - 1), np.maximum(left, 0.0), items


def _of_form(
    form: IccForm, between: FloatArray, people: FloatArray, left: FloatArray, items: FloatArray, k: int
) -> FloatArray:
    bias = ratio(people - left, items) if form.startswith("2") else np.zeros(np.shape(items))
    if form.endswith("k"):
        return ratio(between - left, between + bias)
    return ratio(between - left, between + (k - 1) * left + k * bias)


def _two_way_interval(form: IccForm, between: float, people: float, left: float, n: int, k: int) -> Interval | None:
    if left <= 0:
        return None
    if form.startswith("3"):
        freedom = float(n - 1), float((n - 1) * (k - 1))
        return _ratio_interval(between, left, k, freedom, _averaged if form == "3k" else _single)
    value = (between - left) / (between + (k - 1) * left + k * (people - left) / n)
    of_people, rest = k * value * people / left, n * (1 + (k - 1) * value) - k * value
    freedom_left = (k - 1) * (n - 1) * (of_people + rest) ** 2 / ((n - 1) * of_people**2 + rest**2)
    upper, lower = f_bound(_TAIL, n - 1, freedom_left), f_bound(_TAIL, freedom_left, n - 1)
    apart = k * people + (k * n - k - n) * left
    ends = [
        n * (between - upper * left) / (upper * apart + n * between),
        n * (lower * between - left) / (apart + n * lower * between),
    ]
    if form == "2k":
        ends = [end * k / (1 + end * (k - 1)) for end in ends]
    return Interval(*ends)
