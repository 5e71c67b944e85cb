"""Intervals and comparisons of the tables by role, by part of speech, by frame."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from chorale.kits.srl.metrics import MetricOutcome, Names
from chorale.metrics import Comparison, Interval, counts_metric
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import jsonable

_OfName = TypeVar("_OfName", Mapping[str, Interval], Mapping[str, Comparison])
ByName = Mapping[str, Mapping[str, _OfName]]
"""Table, name, score."""
_METRIC = counts_metric()


def drawn_tables(
    outcomes: Mapping[str, MetricOutcome], resampling: Resampling
) -> dict[str, ByName[Mapping[str, Interval]]]:
    """Of every metric, an interval for each fraction in its tables."""

    def drawn(names: Names, _metric: str, _table: str) -> dict[str, Mapping[str, Interval]]:
        return {name: resampling.tally_intervals(tally, _METRIC) for name, tally in names.tallies().items()}

    return _of_tables(outcomes, resampling, drawn)


def compared_tables(
    outcomes: Mapping[str, MetricOutcome], rival: Mapping[str, MetricOutcome], resampling: Resampling
) -> dict[str, ByName[Mapping[str, Comparison]]]:
    def compared(names: Names, metric: str, table: str) -> dict[str, Mapping[str, Comparison]]:
        both = names.tallies_beside(rival[metric].names[table])
        return {name: resampling.tally_compare(tally, _METRIC) for name, tally in both.items()}

    return _of_tables(outcomes, resampling, compared)


def _of_tables(
    outcomes: Mapping[str, MetricOutcome], resampling: Resampling, find: Callable[[Names, str, str], dict[str, _OfName]]
) -> dict[str, ByName[_OfName]]:
    by_metric: dict[str, dict[str, Mapping[str, _OfName]]] = {}
    tables = sum(len(outcome.names) for outcome in outcomes.values())
    for metric, outcome in outcomes.items():
        # The two count semantics alike, whichever comes first.
        twin = {"conll08": "conll09", "conll09": "conll08"}.get(metric)
        if twin in by_metric:
            by_metric[metric] = by_metric[twin]
            continue
        by_metric[metric] = {}
        for table, names in outcome.names.items():
            by_metric[metric][table] = find(names, metric, table)
            if resampling.progress:
                resampling.progress(sum(map(len, by_metric.values())), tables)
    return {**by_metric}


def tables_json(by_table: ByName[Mapping[str, Comparison]]) -> dict[str, Any]:
    return {table: {name: jsonable(scores) for name, scores in names.items()} for table, names in by_table.items()}
