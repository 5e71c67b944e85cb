"""Agreement of QA-SRL annotators as a command tells it: the mean over pairs, and every pair."""

from pathlib import Path
from typing import Any

from chorale.evaluate.qasrl import MEASURES, Agreement, agreement, agreement_metric, consolidated_agreement
from chorale.formats.qasrl import QuestionAnswers
from chorale.formats.wording import many
from chorale.model import Problem, UserError
from chorale.report.drawing import Drawing
from chorale.report.qasrl_scores import QasrlOptions, file_notes, measure_json, measures_table
from chorale.report.scoring import Cell, Scored, ScoreTable
from chorale.scores import Interval, signature

_MOST_ROWS = 50
"""Of a table on a terminal; `--json` has all pairs."""
_MOST_NUMBERS = 30_000_000
"""Statistics that intervals may need: pairs × verbs × 18."""


def score_agreement(table: QuestionAnswers, by: str, options: QasrlOptions, drawing: Drawing) -> Scored:
    """How far the workers of one file agree, and the teams behind consolidated annotations, if there are any."""
    if options.average == "macro" or options.rules.extra_verbs or options.per_verb:
        raise UserError("Agreement is a mean over pairs. Leave out --average, --include-extra-verbs and --per-verb.")
    found = agreement(table, options.rules)
    if found is None:
        message = f"has no verb that two or more annotators worked on: {by} has {len(_named(table)):,} different values"
        fix = "Agreement needs verbs annotated more than once; name the column that tells annotators apart with --by."
        raise UserError(f"{table.name} has no agreement", [Problem(table.name, None, message, fix)])
    teams = consolidated_agreement(table, options.rules)
    around = _intervals(found, drawing) if drawing.ci else {}
    json = {"by": by, **_json(found, around), "consolidated": None}
    title = f"{Path(table.name).name}: mean over {many(len(found.pairs), 'pair', 'pairs')} by {by}"
    tables = [measures_table(title, found.counts, found.scores, around), _pairs_table("Pairs", found)]
    notes = [*file_notes(table), "Counts are of both directions of every pair; fractions are means over pairs."]
    if teams is not None:
        of_teams = _intervals(teams, drawing) if drawing.ci else {}
        json["consolidated"] = _json(teams, of_teams)
        pairs = many(len(teams.pairs), "pair", "pairs")
        title = f"Consolidated annotations by teams that share nobody: mean over {pairs}"
        tables += [measures_table(title, teams.counts, teams.scores, of_teams), _pairs_table("Teams", teams)]
    else:
        notes.append(
            "No verb was consolidated by two teams that share nobody (source_worker_ids tells who is in a team), "
            "so there is no consolidated agreement."
        )
    settings = {**options.settings(), "average": None, "extra-verbs": None, "by": by}
    settings |= drawing.settings()
    return Scored(json, tables, signature("qasrl-agreement", settings, {"file": table.digest}), notes)


def _named(table: QuestionAnswers) -> list[str]:
    return [worker for worker in table.workers if worker]


def _intervals(found: Agreement, drawing: Drawing) -> dict[str, Interval]:
    if len(found.pairs) * len(found.verbs) * 18 > _MOST_NUMBERS:
        raise UserError(
            f"{len(found.pairs):,} pairs on {len(found.verbs):,} verbs are too many for --ci. Leave it out, or take a "
            "file with fewer annotators."
        )
    return drawing.intervals(found.statistics(), agreement_metric(len(found.pairs)))


def _json(found: Agreement, around: dict[str, Interval]) -> dict[str, Any]:
    return {
        **{name: measure_json(name, found.counts[name], found.scores, around) for name in MEASURES},
        "verbs": len(found.verbs),
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "verbs": pair.verbs,
                **{name: measure_json(name, pair.counts[name], pair.scores, {}) for name in MEASURES},
            }
            for pair in found.pairs
        ],
    }


def _pairs_table(title: str, found: Agreement) -> ScoreTable:
    shown = found.pairs[:_MOST_ROWS]
    if len(shown) < len(found.pairs):
        title = f"{title}: the first {len(shown)} of {len(found.pairs):,}"
    rows: list[list[Cell]] = [
        [one.first, one.second, one.verbs, *(one.scores[f"{name}_f1"] for name in MEASURES)] for one in shown
    ]
    return ScoreTable(title, ("first", "second", "verbs#", "UA F1#", "LA F1#", "role F1#"), rows)
