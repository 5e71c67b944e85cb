"""Intervals and comparisons of the tables by role, by part of speech, by frame."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from chorale.kits.srl.metrics import Names, Outcome
from chorale.metrics import Comparison, Interval, counts_metric
from chorale.metrics.drawing import Drawing

_Found = TypeVar("_Found", Mapping[str, Interval], Mapping[str, Comparison])
ByName = Mapping[str, Mapping[str, _Found]]
"""Table, name, score."""
_METRIC = counts_metric()


def drawn_tables(outcomes: Mapping[str, Outcome], drawing: Drawing) -> dict[str, ByName[Mapping[str, Interval]]]:
    """Of every metric, an interval for each fraction in its tables."""

    def drawn(names: Names, _metric: str, _table: str) -> dict[str, Mapping[str, Interval]]:
        return {name: drawing.tally_intervals(tally, _METRIC) for name, tally in names.tallies().items()}

    return _of_tables(outcomes, drawing, drawn)


def compared_tables(
    outcomes: Mapping[str, Outcome], rival: Mapping[str, Outcome], drawing: Drawing
) -> dict[str, ByName[Mapping[str, Comparison]]]:
    def compared(names: Names, metric: str, table: str) -> dict[str, Mapping[str, Comparison]]:
        both = names.tallies_beside(rival[metric].names[table])
        return {name: drawing.tally_compare(tally, _METRIC) for name, tally in both.items()}

    return _of_tables(outcomes, drawing, compared)


def _of_tables(
    outcomes: Mapping[str, Outcome], drawing: Drawing, find: Callable[[Names, str, str], dict[str, _Found]]
) -> dict[str, ByName[_Found]]:
    found: dict[str, ByName[_Found]] = {}
    tables = sum(len(outcome.names) for outcome in outcomes.values())
    done = 0
    for metric, outcome in outcomes.items():
        # The two count semantics alike, whichever comes first.
        twin = {"conll08": "conll09", "conll09": "conll08"}.get(metric)
        if twin in found:
            found[metric] = found[twin]
            continue
        of_metric: dict[str, Mapping[str, _Found]] = {}
        for table, names in outcome.names.items():
            of_metric[table] = find(names, metric, table)
            done += 1
            if drawing.progress:
                drawing.progress(done, tables)
        found[metric] = of_metric
    return found


def tables_json(found: ByName[Mapping[str, Comparison]]) -> dict[str, Any]:
    return {
        table: {name: {score: one.as_dict() for score, one in scores.items()} for name, scores in names.items()}
        for table, names in found.items()
    }
