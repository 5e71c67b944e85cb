"""Agreement of QA-SRL annotators as a command tells it: the mean over pairs, and every pair."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chorale.kits.qasrl.files import QuestionAnswers
from chorale.kits.qasrl.metrics import (
    MEASURES,
    Agreement,
    agreement,
    agreement_metric,
    consolidated_agreement,
)
from chorale.kits.qasrl.scoring.scores import NAMES, QasrlOptions, file_notes, measure_json, measures_table
from chorale.metrics import Comparison, Interval, signature
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.model import Problem, UserError
from chorale.model.plural import plural

_MOST_ROWS = 50
"""Of a table on a terminal; `--json` has all pairs."""
_MOST_NUMBERS = 30_000_000
"""Statistics that intervals may need: pairs × verbs × 18."""


def score_agreement(
    table: QuestionAnswers,
    by: str,
    options: QasrlOptions,
    resampling: Resampling,
    against: QuestionAnswers | None = None,
    *,
    for_scripts: bool = True,
) -> Score:
    """How far the workers of one file agree, and the teams behind consolidated annotations, if there are any.

    Intervals of pairs take time: if it is not `for_scripts`, only those that a terminal shows get one.
    """
    if options.average == "macro" or options.rules.extra_verbs or options.per_verb:
        raise UserError("Agreement is a mean over pairs. Leave out --average, --include-extra-verbs and --per-verb.")
    found = _found(table, by, options)
    teams = consolidated_agreement(table, options.rules)
    around = _intervals(found, resampling) if resampling.ci else {}
    of_pairs = _pair_intervals(found, resampling, for_scripts=for_scripts)
    json = {"by": by, **_json(found, around, of_pairs), "consolidated": None}
    title = f"{Path(table.name).name}: mean over {plural(len(found.pairs), 'pair', 'pairs')} by {by}"
    tables = [measures_table(title, found.counts, found.scores, around), _pairs_table("Pairs", found, of_pairs)]
    notes = [*file_notes(table), *_nameless(table, by)]
    notes.append("Counts are of both directions of every pair; fractions are means over pairs.")
    if teams is not None:
        of_teams = _intervals(teams, resampling) if resampling.ci else {}
        of_pairs = _pair_intervals(teams, resampling, for_scripts=for_scripts)
        json["consolidated"] = _json(teams, of_teams, of_pairs)
        pairs = plural(len(teams.pairs), "pair", "pairs")
        title = f"Consolidated annotations by teams that share nobody: mean over {pairs}"
        tables += [measures_table(title, teams.counts, teams.scores, of_teams), _pairs_table("Teams", teams, of_pairs)]
    else:
        notes.append(
            "No verb was consolidated by two teams that share nobody (source_worker_ids tells who is in a team), "
            "so there is no consolidated agreement."
        )
    inputs = {"file": table.digest}
    tests: dict[str, Comparison] = {}
    if against is not None:
        inputs["against"] = against.digest
        names = (Path(table.name).name, Path(against.name).name)
        other, other_teams = _found(against, by, options), consolidated_agreement(against, options.rules)
        json["against"], tests, told = _compared(found, other, names, resampling, tables, "Workers compared")
        notes += told
        if teams is not None and other_teams is not None:
            json["consolidated"]["against"], _, told = _compared(
                teams, other_teams, names, resampling, tables, "Teams compared"
            )
            notes += told
    settings = {**options.settings(), "average": None, "extra-verbs": None, "by": by}
    settings |= resampling.settings(compared=against is not None)
    line = signature("qasrl-agreement", settings, inputs)
    return Score(json, tables, line, notes, values=found.scores, intervals=around, tests=tests, main="ua_f1")


def _found(table: QuestionAnswers, by: str, options: QasrlOptions) -> Agreement:
    found = agreement(table, options.rules)
    if found is None:
        values = plural(len(_named(table)), "value", "different values")
        message = f"has no verb that two or more annotators worked on: {by} has {values}"
        fix = "Agreement needs verbs annotated more than once; name the column that tells annotators apart with --by."
        raise UserError(f"{table.name} has no agreement", [Problem(table.name, None, message, fix)])
    return found


def _compared(
    found: Agreement,
    other: Agreement,
    names: tuple[str, str],
    resampling: Resampling,
    tables: list[ScoreTable],
    title: str,
) -> tuple[dict[str, Any] | None, dict[str, Comparison], list[str]]:
    """Both on the verbs that two or more worked on in each; adds a table."""
    both = found.beside(other)
    if both is None:
        return None, {}, [f"{title}: no verb has two annotations in both files, so there is nothing to compare."]
    ours, theirs, metric = both
    _check_size(ours.rows.size)
    compared = resampling.compare(ours, theirs, metric)
    tables.append(comparison_table(title, names, compared))
    left = len(set(found.verbs) ^ set(other.verbs))
    notes = (
        [f"{title}: {plural(left, 'verb', 'verbs')} left out, annotated twice in only one of the files."]
        if left
        else []
    )
    return {"file": names[1], "verbs": len(ours.items), "scores": jsonable(compared)}, compared, notes


def _nameless(table: QuestionAnswers, by: str) -> list[str]:
    """Rows that are nobody's agree with nobody."""
    codes = [code for code, worker in enumerate(table.workers) if not worker]
    rows = int(np.isin(table.rows.worker, codes).sum())
    return [f"{plural(rows, 'row left out: it has', 'rows left out: they have')} no {by}."] if rows else []


def _named(table: QuestionAnswers) -> list[str]:
    return [worker for worker in table.workers if worker]


def _intervals(found: Agreement, resampling: Resampling) -> dict[str, Interval]:
    _check_size(len(found.pairs) * len(found.verbs) * 18)
    return resampling.intervals(found.statistics(), agreement_metric(len(found.pairs)))


def _check_size(numbers: int) -> None:
    if numbers > _MOST_NUMBERS:
        raise UserError(
            "There are too many pairs of annotators on too many verbs for --ci and --against. Leave them out, or take "
            "a file with fewer annotators."
        )


_OfPairs = Sequence[dict[str, Interval]]


def _pair_intervals(found: Agreement, resampling: Resampling, *, for_scripts: bool) -> _OfPairs:
    """For each pair, over the verbs both worked on; none if none are wanted."""
    if not resampling.ci:
        return []
    metric = agreement_metric(1)
    wanted = found.of_pairs()[: None if for_scripts else _MOST_ROWS]
    return [resampling.tally_intervals(tally, metric) for tally in wanted]


def _json(found: Agreement, around: dict[str, Interval], of_pairs: _OfPairs) -> dict[str, Any]:
    return {
        **{name: measure_json(name, found.counts[name], found.scores, around) for name in MEASURES},
        "verbs": len(found.verbs),
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "verbs": pair.verbs,
                **{name: measure_json(name, pair.counts[name], pair.scores, drawn) for name in MEASURES},
            }
            for pair, drawn in zip(found.pairs, [*of_pairs, *([{}] * (len(found.pairs) - len(of_pairs)))], strict=True)
        ],
    }


def _pairs_table(title: str, found: Agreement, of_pairs: _OfPairs) -> ScoreTable:
    shown = found.pairs[:_MOST_ROWS]
    if len(shown) < len(found.pairs):
        title = f"{title}: the first {len(shown)} of {len(found.pairs):,}"
    columns = ["first", "second", "verbs#"]
    for name in NAMES.values():
        columns += [f"{name} F1#", *(["95% interval#"] if of_pairs else [])]
    rows: list[list[Cell]] = []
    for place, one in enumerate(shown):
        rows.append([one.first, one.second, one.verbs])
        for name in MEASURES:
            rows[-1].append(one.scores[f"{name}_f1"])
            if of_pairs:
                rows[-1].append(shown_interval(of_pairs[place][f"{name}_f1"], 3))
    return ScoreTable(title, tuple(columns), rows)
