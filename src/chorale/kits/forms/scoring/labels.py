"""Scores labels against an expert's: tables, intervals, and a comparison with another system."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from chorale.kits.forms.metrics.labels import (
    RATES,
    SHARES,
    Confusions,
    Fractions,
    fraction_interval,
    label_statistics,
    mean_rate_intervals,
    mean_rates,
    metric_of_label,
)
from chorale.metrics import Interval, Metric, Statistics
from chorale.metrics.reading.labels import doubtful_names
from chorale.metrics.reading.truth_files import Truth
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, jsonable, shown_interval
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.model.problems import did_you_mean

_POSITIVE = frozenset({"yes", "true", "1", "positive", "y"})
_NEGATIVE = frozenset({"no", "false", "0", "negative", "n"})
_MOST_SHOWN = 50
"""Maximum number of labels in a table on the terminal. `--json` has all."""

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class LabelPair:
    """Labels of the expert and the system for common items."""

    items: tuple[str, ...]
    labels: tuple[str, ...]
    gold: tuple[int, ...]
    """Indices into the labels, one per item."""
    system: tuple[int, ...]
    only_gold: int
    only_system: int

    @property
    def table(self) -> Confusions:
        counts = np.zeros((len(self.labels), len(self.labels)))
        np.add.at(counts, (np.asarray(self.gold), np.asarray(self.system)), 1)
        return Confusions(self.labels, counts)

    def statistics(self, positive: str | None) -> tuple[Statistics, Metric]:
        place = None if positive is None else self.labels.index(positive)
        return label_statistics(self.items, self.gold, self.system, len(self.labels), place)


def pair_of(system: Truth, gold: Truth, more: Truth | None = None) -> LabelPair:
    """The common items, by name. `more` adds labels that only another system uses."""
    items = sorted(system.labels.keys() & gold.labels.keys())
    sides = [[next(iter(side.labels[item])) for item in items] for side in (gold, system)]
    others = [] if more is None else [next(iter(more.labels[item])) for item in items if item in more.labels]
    labels = tuple(sorted({*sides[0], *sides[1], *others}))
    place = {label: number for number, label in enumerate(labels)}
    coded = [tuple(place[label] for label in side) for side in sides]
    return LabelPair(
        tuple(items), labels, coded[0], coded[1], len(gold.labels) - len(items), len(system.labels) - len(items)
    )


def positive_label(labels: tuple[str, ...], asked: str | None) -> str | None:
    """The requested positive label; by default, the “yes” of two labels such as yes and no, otherwise None."""
    if asked is not None:
        if asked not in labels:
            shown = ", ".join(labels[:_MOST_SHOWN])
            raise UserError(
                f"--positive {asked}: no item has this label. Labels: {shown}.{did_you_mean(asked, labels)}"
            )
        return asked
    said = {label.lower(): label for label in labels}
    yes, no = said.keys() & _POSITIVE, said.keys() & _NEGATIVE
    return said[next(iter(yes))] if len(labels) == len(said) == 2 and len(yes) == len(no) == 1 else None


def overall(table: Confusions, positive: str | None) -> dict[str, float | None]:
    """Accuracy, F1, agreement and κ; the rates of the positive label, or their means over labels."""
    values: dict[str, float | None] = {
        "accuracy": table.agreement,
        "macro_f1": table.macro_f1,
        "agreement": table.agreement,
        "kappa": table.kappa,
    }
    if positive is None:
        return {**values, **mean_rates(table)}
    fractions = Fractions.of(table, positive).values()
    return {**values, **{name: fractions[name] for name in (*RATES, *SHARES)}}


def overall_intervals(pair: LabelPair, positive: str | None, resampling: Resampling) -> dict[str, Interval]:
    table = pair.table
    if resampling.clusters is not None:
        drawn = resampling.intervals(*pair.statistics(positive))
        return {name: drawn[name] for name, value in overall(table, positive).items() if value is not None}
    draws = resampling.resamples, resampling.seed
    same = fraction_interval(float(np.trace(table.counts)), table.items)
    intervals = {"accuracy": same, "macro_f1": table.macro_f1_interval(*draws), "agreement": same}
    if table.kappa is not None:
        intervals["kappa"] = table.kappa_interval(*draws)
    if positive is None:
        return {**intervals, **mean_rate_intervals(table, *draws)}
    around = Fractions.of(table, positive).intervals()
    return {**intervals, **{name: around[name] for name in (*RATES, *SHARES) if name in around}}


def per_label(pair: LabelPair, resampling: Resampling) -> dict[str, dict[str, Any]]:
    """Counts, fractions and κ against all other labels for each label, with intervals if requested."""
    table = pair.table
    statistics, _ = pair.statistics(None)
    hits, gold, system = np.diagonal(table.counts), table.counts.sum(axis=1), table.counts.sum(axis=0)
    by_label = {}
    for place, label in enumerate(table.labels):
        # With two labels, each is the complement of the other, so the overall κ applies to both.
        alone = table if len(table.labels) == 2 else table.of_label(label)
        fractions = Fractions.of(table, label)
        counts = {"gold": int(gold[place]), "system": int(system[place]), "both": int(hits[place])}
        values: dict[str, Any] = {**counts, **fractions.values(), "kappa": alone.kappa}
        if resampling.ci and resampling.clusters is not None:
            drawn = resampling.intervals(statistics, metric_of_label(place))
            values["ci"] = jsonable({name: one for name, one in drawn.items() if values[name] is not None})
        elif resampling.ci:
            around = fractions.intervals()
            if alone.kappa is not None:
                around["kappa"] = alone.kappa_interval(resampling.resamples, resampling.seed)
            values["ci"] = jsonable(around)
        by_label[label] = values
    return by_label


def overall_table(title: str, values: Mapping[str, float | None], around: Mapping[str, Interval]) -> ScoreTable:
    rows: list[tuple[Cell, ...]] = [
        (_shown(name), "undefined" if value is None else value, shown_interval(around.get(name)))
        for name, value in values.items()
    ]
    columns = ("score", "value#", "95% interval#")
    return ScoreTable(title, columns if around else columns[:2], rows if around else [row[:2] for row in rows])


def label_tables(table: Confusions, by_label: Mapping[str, Mapping[str, Any]]) -> list[ScoreTable]:
    """Tables of the most frequent gold labels with F1 and error rates, and of confusions."""
    often = sorted(by_label, key=lambda label: (-by_label[label]["gold"], label))[:_MOST_SHOWN]
    shown = "" if len(often) == len(by_label) else f": the {len(often)} most frequent of {len(by_label)}"
    tables = [
        _per_label_table(f"{title}{shown}", {label: by_label[label] for label in often}, names)
        for title, names in (
            ("Per label", ("precision", "recall", "f1")),
            ("Errors per label", ("false_positive_rate", "false_negative_rate", "kappa")),
        )
    ]
    places = np.argwhere(table.counts > 0)
    confused = sorted(
        (
            (table.labels[one], table.labels[other], int(table.counts[one, other]))
            for one, other in places
            if one != other
        ),
        key=lambda row: (-row[2], row),
    )
    if confused:
        tables.append(ScoreTable("Disagreements", ("gold", "system", "items#"), confused[:_MOST_SHOWN]))
    return tables


def _per_label_table(title: str, by_label: Mapping[str, Mapping[str, Any]], names: tuple[str, ...]) -> ScoreTable:
    with_intervals = any("ci" in one for one in by_label.values())
    columns = ["label", "gold#", "system#", "both#"]
    for name in names:
        columns += [f"{_shown(name)}#", *(["95% interval#"] if with_intervals else [])]
    rows = [_label_row(label, values, names, with_intervals=with_intervals) for label, values in by_label.items()]
    return ScoreTable(title, tuple(columns), rows)


def _label_row(label: str, values: Mapping[str, Any], names: tuple[str, ...], *, with_intervals: bool) -> list[Cell]:
    row: list[Cell] = [label, values["gold"], values["system"], values["both"]]
    for name in names:
        row.append("undefined" if values[name] is None else values[name])
        if with_intervals:
            around = values["ci"].get(name)
            row.append(shown_interval(None if around is None else Interval(*around)))
    return row


def _shown(name: str) -> str:
    return name.replace("_", " ").replace("f1", "F1")


def notes_on(pair: LabelPair, positive: str | None, kappa: float | None) -> list[str]:
    notes = []
    for count, has in ((pair.only_gold, "the gold file"), (pair.only_system, "the system's file")):
        if count:
            notes.append(f"{plural(count, 'item is', 'items are')} only in {has} and left out.")
    if positive is not None:
        notes.append(
            f"False positives and false negatives refer to the label {positive!r}. Use --positive to choose another."
        )
    else:
        notes.append(
            "Overall false-positive and false-negative rates are means over labels. Use --positive to select one label."
        )
    if kappa is None:
        notes.append("kappa is undefined, because both files have the same single label for all items.")
    notes += _unknown_labels(pair)
    counts = Counter(pair.labels[place] for place in (*pair.gold, *pair.system))
    return [*notes, *doubtful_names(sorted(counts), lambda: counts)]


def _unknown_labels(pair: LabelPair) -> list[str]:
    """A note on labels that only the system uses: they may be misspelt, and each counts in the means over labels."""
    known = {pair.labels[place] for place in pair.gold}
    counts = Counter(pair.labels[place] for place in pair.system if pair.labels[place] not in known)
    if not counts:
        return []
    named = [f"{label!r} ({plural(count, 'item', 'items')})" for label, count in counts.most_common(_MOST_NAMED)]
    more = f" and {len(counts) - len(named):,} more" if len(counts) > len(named) else ""
    labels = "1 label occurs" if len(counts) == 1 else f"{len(counts):,} labels occur"
    meant = did_you_mean(counts.most_common(1)[0][0], sorted(known)) if len(counts) == 1 else ""
    return [f"{labels} only in the system's file, with F1 0 in macro F1: {', '.join(named)}{more}.{meant}"]


def _different_items(first: set[str], second: set[str]) -> str:
    sides = ((first - second, "the first system's file"), (second - first, "the --against file"))
    missing = [
        f"{plural(len(only), 'gold item is', 'gold items are')} only in {file}: "
        f"{', '.join(sorted(only)[:_MOST_NAMED])}{' and others' if len(only) > _MOST_NAMED else ''}."
        for only, file in sides
        if only
    ]
    return f"The two systems have different items. {' '.join(missing)} Use files with the same items."


def extended_by(
    scored: Score, resampling: Resampling, pairs: tuple[LabelPair, LabelPair], positive: str | None
) -> Score:
    """Adds a comparison with another system on the same items."""
    if pairs[0].items != pairs[1].items:
        raise UserError(_different_items(*(set(pair.items) for pair in pairs)))
    (first, metric), (second, _) = (pair.statistics(positive) for pair in pairs)
    compared = resampling.compare(first, second, metric)
    # One test under two names counts once among the tests that p-values are adjusted for.
    compared["agreement"] = compared["accuracy"]
    if positive is None and len({*pairs[0].labels, *pairs[1].labels}) == 2:
        # A false positive of one label is a false negative of the other, so their means over both labels are equal.
        compared["false_negative_rate"] = compared["false_positive_rate"]
    return scored.extended({"against": jsonable(compared)}, tests=compared)
