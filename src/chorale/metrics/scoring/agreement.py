"""Agreement as a command tells it: the coefficient, tables of pairs and items, a second file beside the first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from chorale.metrics import Comparison, Interval, Statistics, signature
from chorale.metrics.agreement import (
    Agreement,
    Distance,
    Level,
    Pair,
    PairEvidence,
    UnfitLabelError,
    Weights,
    agreement_of_pairs,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    pair_evidence,
    pair_evidence_beside,
    percent_agreement,
    scott_pi,
    side_by_side,
)
from chorale.metrics.judgments import Judgments, codes_in_use
from chorale.metrics.reading.judged import Judged, short_names
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.metrics.scoring.agreement_pairs import (
    compared_json,
    compared_pairs,
    compared_pairs_table,
    drawn_pairs,
    most_common,
    pairs_json,
    pairs_table,
)
from chorale.metrics.signatures import Setting
from chorale.model import Problem, UserError
from chorale.model.plural import plural

_Computed = TypeVar("_Computed")
_MOST_ROWS = 50
"""Of a table on a terminal; `--json` has them all."""


@dataclass(frozen=True, slots=True)
class AgreementOptions:
    """What to compute. Options that a coefficient does not have are refused rather than ignored."""

    metric: str = "alpha"
    level: Level = "nominal"
    distance: str | Distance | None = None
    """A name, or a function of one's own."""
    order: tuple[str, ...] | None = None
    weights: Weights = "none"
    min_common: int = 1

    def __post_init__(self) -> None:
        if self.metric != "alpha" and (self.level != "nominal" or self.distance):
            raise UserError("Only alpha has levels and distances. Leave out --level and --distance.")
        if self.metric != "kappa" and self.weights != "none":
            raise UserError("Only kappa has weights. Leave out --weights, or take --metric kappa.")
        if self.level != "nominal" and self.distance:
            raise UserError("A level and a distance exclude each other. Leave one of them out.")
        if self.metric not in {"kappa", "pi"} and self.min_common != 1:
            raise UserError("Only kappa and pi are means over pairs of workers. Leave out --min-common.")
        if self.order and self.level != "ordinal" and self.weights == "none":
            raise UserError("An order needs --level ordinal, or --metric kappa with --weights.")

    def compute(self, judgments: Judgments) -> Agreement:
        if self.metric == "alpha":
            return krippendorff_alpha(judgments, level=self.level, distance=self.distance, order=self.order)
        if self.metric == "kappa":
            return cohen_kappa(judgments, weights=self.weights, order=self.order, min_common=self.min_common)
        if self.metric == "pi":
            return scott_pi(judgments, min_common=self.min_common)
        return fleiss_kappa(judgments) if self.metric == "fleiss" else percent_agreement(judgments)

    def pairs(self, judgments: Judgments) -> tuple[Pair, ...]:
        return agreement_of_pairs(judgments, weights=self.weights, order=self.order)

    def evidence(self, judgments: Judgments, pairs: Sequence[Pair]) -> list[PairEvidence]:
        """What the coefficients of these pairs rest on."""
        only = frozenset((pair.first, pair.second) for pair in pairs)
        return list(pair_evidence(judgments, weights=self.weights, order=self.order, only=only))

    def evidence_beside(self, both: Judgments, n_tasks: int) -> list[PairEvidence]:
        return list(pair_evidence_beside(both, n_tasks, weights=self.weights, order=self.order))

    @property
    def distance_name(self) -> str | None:
        return getattr(self.distance, "__name__", "own") if callable(self.distance) else self.distance

    def settings(self) -> dict[str, Setting]:
        of_pairs = self.metric in {"kappa", "pi"}
        return {
            "level": self.level if self.metric == "alpha" and not self.distance else None,
            "distance": self.distance_name,
            "weights": self.weights if self.metric == "kappa" else None,
            "order": self.order,
            "min-common": self.min_common if of_pairs else None,
        }


def score_agreement(
    judged: Judged,
    options: AgreementOptions,
    resampling: Resampling,
    *,
    against: Judged | None = None,
    with_pairs: bool = False,
    with_items: bool = False,
    for_scripts: bool = True,
) -> Score:
    """One coefficient of one file, and what was asked for beside it.

    Intervals of pairs take time: if it is not `for_scripts`, only those that a terminal shows get one.
    """
    result = _computed(judged, lambda: options.compute(judged.judgments))
    notes = _notes(judged.judgments, result, options)
    notes += resampling.notes(judged.judgments.task_names, compared=against is not None)
    interval = _interval(result, resampling) if resampling.ci else None
    json: dict[str, Any] = {
        "metric": options.metric,
        "level": None if options.distance else "ordinal" if options.weights != "none" else options.level,
        "distance": options.distance_name,
        "weights": options.weights if options.metric == "kappa" else None,
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
    if with_pairs or options.metric in {"kappa", "pi"}:
        scored = _with_pairs(scored, judged, options, resampling, listed=with_pairs, for_scripts=for_scripts)
    if with_items:
        scored = _with_items(scored, result, resampling)
    if against is not None:
        scored = _with_comparison(scored, judged, against, result, options, resampling, with_pairs=with_pairs)
    return scored


def _with_pairs(
    scored: Score,
    judged: Judged,
    options: AgreementOptions,
    resampling: Resampling,
    *,
    listed: bool,
    for_scripts: bool,
) -> Score:
    """Of a coefficient of pairs, what it is the mean of; in a table, and with intervals, only if they are asked for."""
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
    notes = ["A single item's disagreement has no interval: there are no items to draw."] if resampling.ci else []
    return scored.extended({"items": items}, [_items_table(rows)], notes)


def _with_comparison(
    scored: Score,
    judged: Judged,
    against: Judged,
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
        notes.append(f"No comparison: {options.metric} is undefined in one of the files.")
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
            notes.append("No two workers judged items together in both files, so no pairs are compared.")
    return scored.extended(json, tables, notes, tests=tests)


def _computed(judged: Judged, compute: Callable[[], _Computed]) -> _Computed:
    """What `compute` returns; a label that does not fit is reported as a problem of the file or the options."""
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
    if single:
        items = plural(single, "item does not count: it has", "items do not count: they have")
        notes.append(f"{items} one judgment.")
    if judgments.sets is not None and not options.distance:
        notes.append("Labels are sets, and two are the same only if all their options are (see --distance).")
    if result.value is None:
        notes.append(f"{options.metric} is undefined: {result.undefined}.")
    return notes


def _interval(result: Agreement, resampling: Resampling) -> Interval | None:
    if result.value is None:
        return None
    return resampling.intervals(*result.statistics())["value"]


def _beside(judged: Judged, against: Judged) -> tuple[Judgments, int]:
    _check_same_items(judged, against)
    try:
        return side_by_side(judged.judgments, against.judgments)
    except ValueError as error:
        raise UserError(f"{judged.name} and {against.name} can't be compared: {error}.") from None


def _compared(
    both: Judgments, items: int, options: AgreementOptions, results: tuple[Agreement, Agreement], resampling: Resampling
) -> Mapping[str, Comparison] | None:
    if results[0].value is None or results[1].value is None:
        return None
    statistics, metric = options.compute(both).statistics(all_items=True)
    halves = slice(0, items), slice(items, 2 * items)
    first, second = (Statistics(statistics.items[part], statistics.rows[part]) for part in halves)
    return resampling.compare(first, second, metric)


def _check_same_items(judged: Judged, against: Judged) -> None:
    there, here = (
        {side.judgments.task_names[code] for code in codes_in_use(side.judgments.tasks)} for side in (against, judged)
    )
    for items, has, lacks in ((here - there, judged, against), (there - here, against, judged)):
        if items:
            fix = "Leave only items in both files that both have."
            message = f"lacks {plural(len(items), 'item', 'items')} that {has.name} has"
            raise UserError(
                "Only judgments of the same items can be compared",
                [Problem(lacks.name, None, message, fix, repr(min(items)))],
            )


def _main_table(name: str, result: Agreement, interval: Interval | None, resampling: Resampling) -> ScoreTable:
    value: Cell = result.value if result.value is not None else f"undefined: {result.undefined}"
    columns: tuple[str, ...] = ("metric", "value#", "items#", "workers#", "judgments#")
    row: tuple[Cell, ...] = (result.metric, value, result.n_items, result.n_workers, result.n_judgments)
    if resampling.ci:
        columns, row = (*columns[:2], "95% interval#", *columns[2:]), (*row[:2], shown_interval(interval), *row[2:])
    return ScoreTable(f"Agreement in {name}", columns, [row])


def _item_rows(result: Agreement) -> list[tuple[str, int, float]]:
    """Items with two judgments or more, the most disputed first."""
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


def _title(what: str, chosen: str, shown: int, there: int) -> str:
    return what if shown == there else f"{what}: the {shown} of {there:,} {chosen} (--json has all)"
