"""Agreement for the command line: the coefficient, tables of pairs and items, and a comparison with another file."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from chorale.metrics import Comparison, Interval, Statistics, signature
from chorale.metrics.agreement import Agreement, UnfitLabelError, percent_agreement, side_by_side
from chorale.metrics.agreement.errors import Analytic, analytic_of
from chorale.metrics.judgments import Judgments, codes_in_use
from chorale.metrics.reading.judged import ReadJudgments, short_names
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.metrics.scoring.agreement_options import AgreementOptions
from chorale.metrics.scoring.agreement_pairs import (
    compared_json,
    compared_pairs,
    compared_pairs_table,
    drawn_pairs,
    most_common,
    pairs_json,
    pairs_table,
)
from chorale.metrics.scoring.label_notes import are_numbers, looks_otherwise
from chorale.model import Problem, UserError
from chorale.model.plural import plural

_Computed = TypeVar("_Computed")
_MOST_ROWS = 50
"""Maximum number of rows on the terminal. `--json` has all."""


def score_agreement(
    judged: ReadJudgments,
    options: AgreementOptions,
    resampling: Resampling,
    *,
    against: ReadJudgments | None = None,
    with_pairs: bool = False,
    with_items: bool = False,
    with_analytic: bool = False,
    for_scripts: bool = True,
) -> Score:
    """One coefficient of one file, with the requested extras.

    Intervals of pairs take time, so unless `for_scripts` is set, only pairs shown on the terminal get one.
    """
    result = _computed(judged, lambda: options.compute(judged.judgments))
    notes = _notes(judged.judgments, result, options)
    notes += resampling.notes(judged.judgments.task_names, compared=against is not None)
    interval = _interval(result, resampling) if resampling.ci else None
    if interval is not None and not interval.is_known:
        notes.append(resampling.why_too_few(options.metric, *result.statistics(), "value"))
    json: dict[str, Any] = {
        "metric": options.metric,
        **options.measured_on(),
        "value": result.value,
        "n_items": result.n_items,
        "n_workers": result.n_workers,
        "n_judgments": result.n_judgments,
    }
    if resampling.ci:
        json["ci"] = None if interval is None else interval.as_list()
    settings = {**options.settings(), **judged.reading, **resampling.settings(compared=against is not None)}
    inputs = {judged.source: judged.digest} | ({} if against is None else {"against": against.digest})
    tables = [_main_table(Path(judged.name).name, result, interval, resampling)]
    scored = Score(
        json,
        tables,
        signature(options.metric, settings, inputs),
        notes,
        values={options.metric: result.value},
        intervals={} if interval is None else {options.metric: interval},
    )
    if with_analytic:
        scored = _with_analytic(scored, judged, result, options)
    if with_pairs or options.metric in {"kappa", "pi"}:
        scored = _with_pairs(scored, judged, options, resampling, listed=with_pairs, for_scripts=for_scripts)
    if with_items:
        scored = _with_items(scored, result, resampling)
    if against is not None:
        scored = _with_comparison(scored, judged, against, result, options, resampling, with_pairs=with_pairs)
    return scored


def _with_analytic(scored: Score, judged: ReadJudgments, result: Agreement, options: AgreementOptions) -> Score:
    analytic = _analytic(judged, result, options)
    if analytic is None:
        return scored.extended(
            {"analytic": None}, notes=[f"{options.metric} has no analytic standard error for these data."]
        )
    around = analytic.interval
    json = {"analytic": {"se": analytic.error, "ci": around.as_list()}}
    row: tuple[Cell, ...] = (options.metric, analytic.error, shown_interval(around))
    return scored.extended(json, [ScoreTable("Analytic", ("metric", "standard error#", "95% interval#"), [row])])


def _analytic(judged: ReadJudgments, result: Agreement, options: AgreementOptions) -> Analytic | None:
    if options.metric not in {"kappa", "pi"}:
        return result.analytic()
    # With more than two people, pairs are not independent, so the mean over pairs has no formula.
    pairs = options.pairs(judged.judgments) if result.value is not None else ()
    if len(pairs) != 1:
        return None
    (evidence,) = options.evidence(judged.judgments, pairs)
    return analytic_of(evidence.tally, evidence.metric).get(options.metric)


def _with_pairs(
    scored: Score,
    judged: ReadJudgments,
    options: AgreementOptions,
    resampling: Resampling,
    *,
    listed: bool,
    for_scripts: bool,
) -> Score:
    """The pairs behind a mean coefficient; as a table and with intervals only on request."""
    pairs = _computed(judged, lambda: options.pairs(judged.judgments))
    if not listed:
        return scored.extended({"pairs": pairs_json(pairs, {})})
    shown = most_common(pairs, _MOST_ROWS)
    drawn: dict[tuple[str, str], dict[str, Interval]] = {}
    if resampling.ci and resampling.clusters is None:
        drawn = drawn_pairs(options.evidence(judged.judgments, pairs if for_scripts else shown), resampling)
    title = _title("Pairs of workers", "with the most items in common", len(shown), len(pairs))
    return scored.extended({"pairs": pairs_json(pairs, drawn)}, [pairs_table(title, shown, drawn)])


def _with_items(scored: Score, result: Agreement, resampling: Resampling) -> Score:
    rows = _item_rows(result)
    items = [dict(zip(("item", "judgments", "disagreement"), row, strict=True)) for row in rows]
    notes = (
        ["The disagreement of a single item has no interval, because there are no items to resample."]
        if resampling.ci
        else []
    )
    return scored.extended({"items": items}, [_items_table(rows)], notes)


def _with_comparison(
    scored: Score,
    judged: ReadJudgments,
    against: ReadJudgments,
    result: Agreement,
    options: AgreementOptions,
    resampling: Resampling,
    *,
    with_pairs: bool,
) -> Score:
    other = _computed(against, lambda: options.compute(against.judgments))
    both, items = _beside(judged, against)
    compared = _compared(both, items, options, (result, other), resampling)
    tests = {} if compared is None else {options.metric: compared["value"]}
    json: dict[str, Any] = {"against": None if compared is None else jsonable(compared)["value"]}
    tables, notes, names = [], [], short_names(judged.name, against.name)
    if compared is None:
        notes.append(f"Not compared: {options.metric} is undefined in one of the files.")
    else:
        tables.append(comparison_table("Compared", names, tests))
    if with_pairs and resampling.clusters is None:
        evidence = options.evidence_beside(both, items)
        pairs_compared = compared_pairs(evidence, resampling)
        json["pairs_against"] = compared_json(evidence, pairs_compared)
        if pairs_compared:
            some = dict(list(pairs_compared.items())[:_MOST_ROWS])
            tables.append(compared_pairs_table("Pairs compared", names, some))
        else:
            notes.append("No pairs are compared, because no two workers have common items in both files.")
    return scored.extended(json, tables, notes, tests=tests)


def _computed(judged: ReadJudgments, compute: Callable[[], _Computed]) -> _Computed:
    """The result of `compute`. A label that does not fit is reported as a problem of the file or the options."""
    try:
        return compute()
    except UnfitLabelError as error:
        line = judged.line_of(error.value)
        problem = Problem(judged.name, line, error.message, error.fix, repr(error.value))
        raise UserError(f"{judged.name} can't be used", [problem]) from None
    except ValueError as error:
        raise UserError(f"{judged.name} can't be used: {error}.") from None


def _notes(judgments: Judgments, result: Agreement, options: AgreementOptions) -> list[str]:
    notes = [*judgments.notes, *result.notes]
    single = int(np.count_nonzero(np.bincount(judgments.tasks) == 1))
    if single and result.counts_singles:
        items = plural(single, "item has", "items have")
        notes.append(f"{items} only one judgment, which counts only towards label frequencies.")
    elif single:
        items = plural(single, "item does not count because it has", "items do not count because they have")
        notes.append(f"{items} only one judgment.")
    if judgments.sets is not None and not options.distance and options.metric != "gamma":
        notes.append("Labels are sets, which are equal only if all options are equal (see --distance).")
    notes += looks_otherwise(judgments)
    if options.metric == "alpha" and options.level == "nominal" and not options.distance and are_numbers(judgments):
        notes.append(
            "Labels are numbers but are compared as names. Add --level ordinal for ratings, or --level interval for "
            "measurements."
        )
    if result.value is None:
        notes.append(f"{options.metric} is undefined: {result.undefined}.")
    return notes


def _interval(result: Agreement, resampling: Resampling) -> Interval | None:
    if result.value is None:
        return None
    return resampling.intervals(*result.statistics())["value"]


def _beside(judged: ReadJudgments, against: ReadJudgments) -> tuple[Judgments, int]:
    _check_same_items(judged, against)
    try:
        return side_by_side(judged.judgments, against.judgments)
    except ValueError as error:
        raise UserError(f"Cannot compare {judged.name} and {against.name}: {error}.") from None


def _compared(
    both: Judgments, items: int, options: AgreementOptions, results: tuple[Agreement, Agreement], resampling: Resampling
) -> Mapping[str, Comparison] | None:
    if results[0].value is None or results[1].value is None:
        return None
    if options.metric == "gamma":
        # Random spans are sampled for each file separately.
        first, second = (_by_item(result) for result in results)
        return resampling.compare(first, second, results[0].statistics()[1])
    combined = options.compute(both)
    if combined.value is None:
        raise UserError(
            f"Cannot compare the two files by {options.metric}: in the two files together, {combined.undefined}."
        )
    statistics, metric = combined.statistics(all_items=True)
    halves = slice(0, items), slice(items, 2 * items)
    first, second = (Statistics(statistics.items[part], statistics.rows[part]) for part in halves)
    return resampling.compare(first, second, metric)


def _by_item(result: Agreement) -> Statistics:
    """Statistics of all judged items, in alphabetical order."""
    statistics, _ = result.statistics(all_items=True)
    used = sorted(codes_in_use(result.judgments.tasks), key=lambda code: statistics.items[code])
    return Statistics(tuple(statistics.items[code] for code in used), statistics.rows[used])


def _check_same_items(judged: ReadJudgments, against: ReadJudgments) -> None:
    there, here = (
        {side.judgments.task_names[code] for code in codes_in_use(side.judgments.tasks)} for side in (against, judged)
    )
    # Data from Python all have the same name.
    other = against.name if against.name != judged.name else f"{against.name} of `against`"
    for items, has, lacks in ((here - there, judged.name, other), (there - here, other, judged.name)):
        if items:
            fix = "Keep only items that are in both."
            message = f"lacks {plural(len(items), 'item', 'items')} of {has}, such as {min(items)!r}"
            raise UserError("Only judgments of the same items can be compared", [Problem(lacks, None, message, fix)])


def _main_table(name: str, result: Agreement, interval: Interval | None, resampling: Resampling) -> ScoreTable:
    value: Cell = result.value if result.value is not None else f"undefined: {result.undefined}"
    columns: tuple[str, ...] = ("metric", "value#", "items#", "workers#", "judgments#")
    row: tuple[Cell, ...] = (result.metric, value, result.n_items, result.n_workers, result.n_judgments)
    if resampling.ci:
        columns, row = (*columns[:2], "95% interval#", *columns[2:]), (*row[:2], shown_interval(interval), *row[2:])
    return ScoreTable(f"Agreement in {name}", columns, [row])


def _item_rows(result: Agreement) -> list[tuple[str, int, float]]:
    """Items with two or more judgments, ordered by disagreement."""
    judgments = result.judgments
    disagreement = result.item_disagreement
    if disagreement is None:
        disagreement = percent_agreement(judgments).item_disagreement
    if disagreement is None:
        return []
    sizes = np.bincount(judgments.tasks, minlength=len(judgments.task_names))
    rows = [
        (judgments.task_names[place], int(sizes[place]), float(disagreement[place]))
        for place in np.flatnonzero(~np.isnan(disagreement))
    ]
    return sorted(rows, key=lambda row: (-row[2], row[0]))


def _items_table(rows: Sequence[tuple[str, int, float]]) -> ScoreTable:
    title = _title("Items", "with the most disagreement", len(rows[:_MOST_ROWS]), len(rows))
    return ScoreTable(title, ("item", "judgments#", "disagreement#"), rows[:_MOST_ROWS])


def _title(title: str, chosen: str, shown: int, there: int) -> str:
    return title if shown == there else f"{title}: the {shown} of {there:,} {chosen} (--json has all)"
