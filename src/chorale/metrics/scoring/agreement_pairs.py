"""Pairs of workers for the command line: coefficients, intervals, and a comparison with another file."""

from collections.abc import Mapping, Sequence
from typing import Any

from chorale.metrics import Comparison, Interval
from chorale.metrics.agreement import PairEvidence, RaterPair
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval

COEFFICIENTS = ("percent", "kappa", "pi")
Names = tuple[str, str]


def drawn_pairs(evidence: Sequence[PairEvidence], resampling: Resampling) -> dict[Names, dict[str, Interval]]:
    """Intervals over the common items of two workers."""
    intervals = {}
    for number, pair in enumerate(evidence, 1):
        intervals[pair.first, pair.second] = resampling.tally_intervals(pair.tally, pair.metric)
        if resampling.progress:
            resampling.progress(number, len(evidence))
    return intervals


def pairs_json(pairs: Sequence[RaterPair], drawn: Mapping[Names, Mapping[str, Interval]]) -> list[dict[str, Any]]:
    """An undefined coefficient has no interval."""
    listed = []
    for pair in pairs:
        json: dict[str, Any] = pair.as_dict()
        if around := drawn.get((pair.first, pair.second)):
            json["ci"] = {name: around[name].as_list() for name in COEFFICIENTS if json[name] is not None}
        listed.append(json)
    return listed


def most_common(pairs: Sequence[RaterPair], most: int) -> list[RaterPair]:
    """The pairs with the most common items."""
    return sorted(pairs, key=lambda pair: (-pair.common, pair.first, pair.second))[:most]


def pairs_table(title: str, shown: Sequence[RaterPair], drawn: Mapping[Names, Mapping[str, Interval]]) -> ScoreTable:
    columns = ["worker", "other worker", "items#"]
    for name in COEFFICIENTS:
        columns += [f"{name}#", *(["95% interval#"] if drawn else [])]
    rows: list[list[Cell]] = []
    for pair in shown:
        around = drawn.get((pair.first, pair.second))
        rows.append([pair.first, pair.second, pair.common])
        for name, value in zip(COEFFICIENTS, (pair.percent, pair.kappa, pair.pi), strict=True):
            rows[-1].append(value)
            if drawn:
                rows[-1].append(shown_interval(None if around is None or value is None else around[name], 3))
    return ScoreTable(title, tuple(columns), rows)


def compared_pairs(evidence: Sequence[PairEvidence], resampling: Resampling) -> dict[Names, dict[str, Comparison]]:
    return {(one.first, one.second): resampling.tally_compare(one.tally, one.metric) for one in evidence}


def compared_json(
    evidence: Sequence[PairEvidence], compared: Mapping[Names, Mapping[str, Comparison]]
) -> list[dict[str, Any]]:
    return [
        {"workers": [pair.first, pair.second], "common": pair.items, **jsonable(compared[pair.first, pair.second])}
        for pair in evidence
    ]


def compared_pairs_table(
    title: str, files: tuple[str, str], compared: Mapping[Names, Mapping[str, Comparison]]
) -> ScoreTable:
    rows = {
        f"{first} and {second}, {name}": comparison
        for (first, second), scores in compared.items()
        for name, comparison in scores.items()
    }
    return comparison_table(title, files, rows)
