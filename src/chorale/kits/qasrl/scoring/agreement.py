"""Agreement of QA-SRL annotators for the command line: the mean over pairs, and every pair."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from chorale.kits.qasrl.files import QuestionAnswers
from chorale.kits.qasrl.metrics import MEASURES, QasrlAgreement, agreement, agreement_metric, consolidated_agreement
from chorale.kits.qasrl.scoring.scores import NAMES, QasrlOptions, file_notes, measure_json, measures_table
from chorale.metrics import Comparison, Interval, signature
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.model import Problem, UserError
from chorale.model.plural import plural

_MOST_ROWS = 50
"""Maximum number of pairs in a table on the terminal. `--json` has all pairs."""
_MOST_NUMBERS = 30_000_000
"""Maximum size of the statistics for intervals: pairs × verbs × 18."""
_OfPairs = Sequence[dict[str, Interval]]


def score_agreement(
    table: QuestionAnswers,
    by: str,
    options: QasrlOptions,
    resampling: Resampling,
    against: QuestionAnswers | None = None,
    *,
    for_scripts: bool = True,
) -> Score:
    """Agreement between the workers of one file and, if there are any, between the teams behind consolidated
    annotations.

    Intervals of pairs take time, so unless `for_scripts` is set, only pairs shown on the terminal get one.
    """
    if options.average == "macro" or options.rules.extra_verbs or options.per_verb:
        raise UserError("Agreement is a mean over pairs. Omit --average, --include-extra-verbs and --per-verb.")
    agreed = _agreement(table, by, options)
    teams = consolidated_agreement(table, options.rules)
    title = f"{Path(table.name).name}: mean over {plural(len(agreed.pairs), 'pair', 'pairs')} by {by}"
    around, shown, tables = _shown(agreed, resampling, (title, "Pairs"), for_scripts=for_scripts)
    json = {"by": by, **shown, "consolidated": None}
    notes = [*file_notes(table), *_nameless(table, by)]
    notes.append(
        "Each pair is scored in both directions, with one annotator and then the other as the gold. Counts are sums "
        "over all pairs and directions. Precision, recall and F1 are averaged separately, so F1 can be lower than both "
        "precision and recall."
    )
    if teams is not None:
        pairs = plural(len(teams.pairs), "pair", "pairs")
        title = f"Consolidated annotations by disjoint teams: mean over {pairs}"
        _, json["consolidated"], more = _shown(teams, resampling, (title, "Teams"), for_scripts=for_scripts)
        tables += more
    else:
        notes.append(
            "No consolidated agreement: no verb was consolidated by two disjoint teams (source_worker_ids lists the "
            "members of a team)."
        )
    inputs = {"file": table.digest}
    tests: dict[str, Comparison] = {}
    if against is not None:
        inputs["against"] = against.digest
        names = (Path(table.name).name, Path(against.name).name)
        other, other_teams = _agreement(against, by, options), consolidated_agreement(against, options.rules)
        json["against"], tests, remarks = _compared(agreed, other, names, resampling, tables, "Workers compared")
        notes += remarks
        if teams is not None and other_teams is not None:
            json["consolidated"]["against"], _, remarks = _compared(
                teams, other_teams, names, resampling, tables, "Teams compared"
            )
            notes += remarks
    settings = {**options.settings(), "average": None, "extra-verbs": None, "by": by}
    settings |= resampling.settings(compared=against is not None)
    line = signature("qasrl-agreement", settings, inputs)
    return Score(json, tables, line, notes, values=agreed.scores, intervals=around, tests=tests, main="ua_f1")


def _agreement(table: QuestionAnswers, by: str, options: QasrlOptions) -> QasrlAgreement:
    agreed = agreement(table, options.rules)
    if agreed is None:
        values = plural(len(set(table.workers) - {""}), "value", "different values")
        message = f"has no verb with two or more annotators: {by} has {values}"
        fix = "Agreement requires verbs with several annotations. Set --by to the column that identifies annotators."
        raise UserError(f"cannot compute agreement for {table.name}", [Problem(table.name, None, message, fix)])
    return agreed


def _shown(
    agreed: QasrlAgreement, resampling: Resampling, titles: tuple[str, str], *, for_scripts: bool
) -> tuple[dict[str, Interval], dict[str, Any], list[ScoreTable]]:
    """Intervals, JSON and tables for the mean, and for every pair over its common verbs."""
    around: dict[str, Interval] = {}
    of_pairs: _OfPairs = []
    if resampling.ci:
        _check_size(len(agreed.pairs) * len(agreed.verbs) * 18)
        around = resampling.intervals(agreed.statistics(), agreement_metric(len(agreed.pairs)))
        wanted = agreed.of_pairs()[: None if for_scripts else _MOST_ROWS]
        quietly = replace(resampling, progress=None)
        of_pairs = [quietly.intervals(pair, agreement_metric(1)) for pair in wanted]
    tables = [
        measures_table(titles[0], agreed.counts, agreed.scores, around),
        _pairs_table(titles[1], agreed, of_pairs),
    ]
    return around, _json(agreed, around, of_pairs), tables


def _compared(
    agreed: QasrlAgreement,
    other: QasrlAgreement,
    names: tuple[str, str],
    resampling: Resampling,
    tables: list[ScoreTable],
    title: str,
) -> tuple[dict[str, Any] | None, dict[str, Comparison], list[str]]:
    """Compares both files on verbs with two or more annotators in each, and adds a table."""
    both = agreed.beside(other)
    if both is None:
        return None, {}, [f"{title}: no result, because no verb has two annotations in each file."]
    ours, theirs, metric = both
    _check_size(ours.rows.size)
    compared = resampling.compare(ours, theirs, metric)
    tables.append(comparison_table(title, names, compared))
    left = len(set(agreed.verbs) ^ set(other.verbs))
    left_out = plural(left, "verb left out: it has", "verbs left out: they have")
    note = f"{title}: {left_out} two or more annotations in only one of the files."
    json = {"file": names[1], "verbs": len(ours.items), "scores": jsonable(compared)}
    return json, compared, [note] if left else []


def _nameless(table: QuestionAnswers, by: str) -> list[str]:
    """A note on the rows that are left out because they have no annotator."""
    codes = [code for code, worker in enumerate(table.workers) if not worker]
    rows = int(np.isin(table.rows.worker, codes).sum())
    return [f"{plural(rows, 'row left out: it has', 'rows left out: they have')} no {by}."] if rows else []


def _check_size(numbers: int) -> None:
    if numbers > _MOST_NUMBERS:
        raise UserError(
            "The file has too many pairs of annotators and verbs for --ci and --against. Omit these options, or use a "
            "file with fewer annotators."
        )


def _json(agreed: QasrlAgreement, around: dict[str, Interval], of_pairs: _OfPairs) -> dict[str, Any]:
    return {
        **{name: measure_json(name, agreed.counts[name], agreed.scores, around) for name in MEASURES},
        "verbs": len(agreed.verbs),
        "pairs": [
            {"first": pair.first, "second": pair.second, "verbs": pair.verbs}
            | {name: measure_json(name, pair.counts[name], pair.scores, drawn or {}) for name in MEASURES}
            for pair, drawn in zip_longest(agreed.pairs, of_pairs)
        ],
    }


def _pairs_table(title: str, agreed: QasrlAgreement, of_pairs: _OfPairs) -> ScoreTable:
    shown = agreed.pairs[:_MOST_ROWS]
    if len(shown) < len(agreed.pairs):
        title = f"{title}: the first {len(shown)} of {len(agreed.pairs):,}"
    columns = ["first", "second", "verbs#"]
    for name in NAMES.values():
        columns += [f"{name} F1#", *(["95% interval#"] if of_pairs else [])]
    rows: list[list[Cell]] = []
    for place, pair in enumerate(shown):
        rows.append([pair.first, pair.second, pair.verbs])
        for name in MEASURES:
            rows[-1].append(pair.scores[f"{name}_f1"])
            if of_pairs:
                rows[-1].append(shown_interval(of_pairs[place][f"{name}_f1"], 3))
    return ScoreTable(title, tuple(columns), rows)
