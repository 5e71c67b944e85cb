"""Tables of the scores of semantic role labelling."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from chorale.kits.srl.files import Corpus
from chorale.kits.srl.metrics import MetricOutcome
from chorale.metrics import Comparison, Counts, Interval
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, shown_interval

Drawn = Mapping[str, Interval]
OfName = TypeVar("OfName", Mapping[str, Interval], Mapping[str, Comparison])
ByName = Mapping[str, Mapping[str, OfName]]
"""Key of a score in the tables by role, part of speech or frame: (table, name, score)."""
_TITLES = {
    "primesrl": "PriMeSRL",
    "conll05": "CoNLL-2005",
    "conll09": "CoNLL-2009",
    "conll08": "CoNLL-2008",
    "senseval3": "Senseval-3",
    "semeval07": "SemEval-2007 task 19",
}
_SENSE = {"primesrl": "sense", "conll09": "sense", "conll08": "sense", "semeval07": "frame"}
RANKED_BY = {
    "primesrl": "argument",
    "conll05": "",
    "conll09": "argument",
    "conll08": "macro",
    "senseval3": "",
    "semeval07": "all",
}
"""The group of scores whose F1 ranks the systems. An empty name stands for the only group."""
_ALL_ROLES = {"primesrl": "argument.", "conll05": "", "conll09": "argument.", "conll08": "argument.", "senseval3": ""}
"""Prefix of the scores over all roles. A score that is in two tables has one interval."""
_BARE = ("conll05", "senseval3")
"""Metrics with a single precision, recall and F1."""
_FRACTIONS = ("precision", "recall", "f1")
_ERROR_GROUPS = {"argument": "all", "core": "core", "context": "context"}
_MOST_ERRORS = 6
"""Maximum number of errors shown per sentence. All errors are in the JSON."""


@dataclass(slots=True)
class System:
    """Results of one system, with intervals and comparisons if requested."""

    name: str
    corpus: Corpus
    outcomes: Mapping[str, MetricOutcome]
    intervals: Mapping[str, Drawn] = field(default_factory=dict)
    compared: Mapping[str, Mapping[str, Comparison]] = field(default_factory=dict)
    table_intervals: Mapping[str, ByName[Drawn]] = field(default_factory=dict)
    table_compared: Mapping[str, ByName[Mapping[str, Comparison]]] = field(default_factory=dict)
    error_intervals: Drawn = field(default_factory=dict)
    """Intervals of the error counts, by `group.kind`."""
    error_compared: Mapping[str, Comparison] = field(default_factory=dict)


def tables_of(
    systems: Sequence[System],
    ranks: Mapping[str, Mapping[str, int]],
    rival: str,
    worst: Mapping[str, list[dict[str, Any]]],
    *,
    confusion: bool,
) -> list[ScoreTable]:
    tables = [_summary(systems, ranks)]
    by_role = [metric for metric in ranks if metric != "semeval07"]
    seen: set[str] = set()
    # CoNLL-2008 would repeat the rows of CoNLL-2009.
    if "conll08" in ranks and "conll09" in ranks:
        by_role.remove("conll08")
        seen = {score.rpartition(".")[0] or score for score in systems[0].outcomes["conll09"].scores()}
    tables += [_scores(metric, systems, without=seen if metric == "conll08" else ()) for metric in ranks]
    for system in systems:
        if "primesrl" in system.outcomes:
            tables.append(_errors(system))
        if len(systems) == 1:
            tables += [_roles(metric, system) for metric in by_role]
        if confusion and "conll05" in system.outcomes:
            tables.append(_confusion(system))
        if system.name in worst:
            tables.append(_worst(system.name, worst[system.name]))
        for metric, compared in system.compared.items():
            tables.append(comparison_table(_TITLES[metric], (system.name, rival), compared))
            if metric == "primesrl":
                tables.append(_compared_errors(system, rival))
            if len(systems) == 1 and metric in by_role:
                tables.append(_compared_roles(metric, system, rival))
    return tables


def _summary(systems: Sequence[System], ranks: Mapping[str, Mapping[str, int]]) -> ScoreTable:
    """All systems and scorers, as in Table 4 of Jindal et al. (2022)."""
    rows: list[Sequence[Cell]] = []
    for system in systems:
        for metric, outcome in system.outcomes.items():
            scores, group = outcome.scores(), RANKED_BY[metric]
            sense = scores.get(f"{_SENSE.get(metric)}.f1")
            values = [scores[f"{group}.{name}" if group else name] for name in _FRACTIONS]
            unit = group or "argument"
            rank = [ranks[metric][system.name]] if len(systems) > 1 else []
            rows.append((system.name, _TITLES[metric], sense, unit, *values, *rank))
    columns: tuple[str, ...] = ("system", "scorer", "sense F1#", "score", "precision#", "recall#", "F1#")
    if len(systems) > 1:
        columns = (*columns[:3], "ranked by", *columns[4:], "rank#")
    return ScoreTable("Systems", columns, rows)


def _scores(metric: str, systems: Sequence[System], *, without: Container[str]) -> ScoreTable:
    """One row per group of scores and per single score, without those already shown."""
    rows: list[Sequence[Cell]] = []
    drawn: list[Drawn] = []
    for system in systems:
        scores, around = system.outcomes[metric].scores(), system.intervals.get(metric, {})
        for name in dict.fromkeys(score.rpartition(".")[0] or score for score in scores):
            if name in without or (metric in _BARE and name in _FRACTIONS[:2]):
                continue
            group = "" if metric in _BARE and name == "f1" else f"{name}."
            alone = f"{group}f1" not in scores
            fractions = [None] * 3 if alone else [scores[f"{group}{fraction}"] for fraction in _FRACTIONS]
            rows.append((system.name, name if group else "argument", *fractions, scores[name] if alone else None))
            own = {"value": name} if alone else {fraction: f"{group}{fraction}" for fraction in _FRACTIONS}
            drawn.append({column: around[score] for column, score in own.items() if score in around})
    columns: tuple[str, ...] = ("system", "score", "precision#", "recall#", "F1#", "value#")
    if all(row[5] is None for row in rows):
        columns, rows = columns[:5], [row[:5] for row in rows]
    if any(drawn):
        columns, rows = _with_intervals(columns, rows, drawn)
    return ScoreTable(_TITLES[metric], columns, rows)


def _with_intervals(
    columns: tuple[str, ...], rows: list[Sequence[Cell]], drawn: Sequence[Drawn]
) -> tuple[tuple[str, ...], list[Sequence[Cell]]]:
    """Adds a column of intervals after every column that has intervals."""
    for name in (*_FRACTIONS, "value"):
        title = "F1#" if name == "f1" else f"{name}#"
        if title not in columns:
            continue
        place = columns.index(title) + 1
        columns = (*columns[:place], "95% interval#", *columns[place:])
        shown = [shown_interval(one.get(name), 3) for one in drawn]
        rows = [(*row[:place], interval, *row[place:]) for row, interval in zip(rows, shown, strict=True)]
    return columns, rows


def _errors(system: System) -> ScoreTable:
    tallies = system.outcomes["primesrl"].tallies
    columns = ["error"]
    rows: list[list[Cell]] = [[_words(kind)] for kind in tallies["argument"]]
    for group, title in _ERROR_GROUPS.items():
        columns += [f"{title}#", *["95% interval#"] * bool(system.error_intervals)]
        for row, (kind, count) in zip(rows, tallies[group].items(), strict=True):
            row.append(count)
            if system.error_intervals:
                row.append(shown_interval(system.error_intervals[f"{group}.{kind}"], 0))
    return ScoreTable(f"Errors of {system.name} by PriMeSRL", tuple(columns), rows)


def _compared_errors(system: System, rival: str) -> ScoreTable:
    kinds = system.outcomes["primesrl"].tallies["argument"]
    compared = {_words(kind): system.error_compared[f"argument.{kind}"] for kind in kinds}
    return comparison_table("Errors by PriMeSRL", (system.name, rival), compared, counts=True)


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _roles(metric: str, system: System) -> ScoreTable:
    roles = system.outcomes[metric].tables["roles"]
    together = {"all": sum(roles.values(), Counts(0, 0, 0)), **roles}
    rows: list[Sequence[Cell]] = [
        (role, counts.tp, counts.fp, counts.fn, counts.precision, counts.recall, counts.f1)
        for role, counts in together.items()
    ]
    columns: tuple[str, ...] = ("role", "correct#", "excess#", "missed#", "precision#", "recall#", "F1#")
    if metric in system.table_intervals:
        drawn = system.table_intervals[metric]["roles"].values()
        of_all = {name: system.intervals[metric][_ALL_ROLES[metric] + name] for name in _FRACTIONS}
        columns, rows = _with_intervals(columns, rows, [of_all, *drawn])
    return ScoreTable(f"{_TITLES[metric]}, by role: {system.name}", columns, rows)


def _compared_roles(metric: str, system: System, rival: str) -> ScoreTable:
    compared = {f"all {name}": system.compared[metric][_ALL_ROLES[metric] + name] for name in _FRACTIONS}
    compared |= {
        f"{role} {name}": comparison
        for role, scores in system.table_compared.get(metric, {}).get("roles", {}).items()
        for name, comparison in scores.items()
    }
    return comparison_table(f"{_TITLES[metric]}, by role", (system.name, rival), compared)


def _confusion(system: System) -> ScoreTable:
    """One row per gold role, with the predicted roles."""
    counts = system.outcomes["conll05"].confusion
    roles = sorted({role for pair in counts for role in pair})
    rows: list[Sequence[Cell]] = [[role, *(counts.get((role, other), 0) for other in roles)] for role in roles]
    title = f"Confusion of roles on equal spans: gold in rows, {system.name} in columns"
    return ScoreTable(title, ("gold", *(f"{role}#" for role in roles)), rows)


def _worst(name: str, sentences: Sequence[Mapping[str, Any]]) -> ScoreTable:
    rows: list[Sequence[Cell]] = []
    for sentence in sentences:
        errors = [_in_words(error) for error in sentence["errors"]]
        more = [f"and {len(errors) - _MOST_ERRORS} more"] if len(errors) > _MOST_ERRORS else []
        facts = [sentence[name] for name in ("sentence", "line", "wrong", "text")]
        rows.append((*facts, "; ".join([*errors[:_MOST_ERRORS], *more])))
    return ScoreTable(f"Worst sentences of {name}", ("sentence#", "line#", "FP + FN#", "text", "errors"), rows)


def _in_words(error: Mapping[str, Any]) -> str:
    sides = [side for side in (error["gold"], error["system"]) if side]
    return f"{_words(error['kind'])}: {' → '.join(sides)}"
