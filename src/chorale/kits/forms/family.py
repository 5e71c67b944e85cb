"""The labels family of metrics: reads two files of labels and computes scores, for the command line and for Python."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from chorale.files.judgment_columns import text_of
from chorale.kits.forms.metrics.labels import Confusions
from chorale.kits.forms.scoring.labels import (
    extended_by,
    label_tables,
    notes_on,
    overall,
    overall_intervals,
    overall_table,
    pair_of,
    per_label,
    positive_label,
)
from chorale.metrics.clusters import Clusters
from chorale.metrics.family import Family, Measured, path_of
from chorale.metrics.options import Against, Cluster, File, Resamples, Seed
from chorale.metrics.reading.cluster_columns import table_columns, values_of_items
from chorale.metrics.reading.judgments_options import MissingValues
from chorale.metrics.reading.truth_files import Truth, read_truth
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import comparison_table
from chorale.metrics.signatures import Setting, signature
from chorale.model import UserError
from chorale.registry.options import Argument, Option

_ITEMS = ("item", "task")
"""Usual names of the item column."""
_OPTIONS = ("--item", "--label")
_GOLD_OPTIONS = ("--gold-item", "--gold-label")
SystemFile = Annotated[File, Argument(metavar="SYSTEM", help="Labels to score: a table with item and label.")]
GoldFile = Annotated[File, Argument(metavar="GOLD", help="Gold labels: a table with item and label.")]
ItemColumn = Annotated[str | None, Option(metavar="COLUMN", help="Column of items. Default: item or task.")]
LabelColumn = Annotated[str | None, Option(metavar="COLUMN", help="Column of labels. Default: label.")]
GoldItemColumn = Annotated[
    str | None, Option(metavar="COLUMN", help="Column of items in the gold file. Default: the same as --item.")
]
GoldLabelColumn = Annotated[
    str | None, Option(metavar="COLUMN", help="Column of labels in the gold file. Default: the same as --label.")
]
LabelIntervals = Annotated[
    bool,
    Option(help="Compute 95% intervals: Wilson for fractions, posterior for κ and means, bootstrap with --cluster."),
]
Positive = Annotated[
    str | None,
    Option(
        metavar="LABEL",
        help="Positive label, for false positives and negatives. Default: yes, if the labels are yes and no.",
    ),
]


def score(
    system: SystemFile,
    gold: GoldFile,
    *,
    item: ItemColumn = None,
    label: LabelColumn = None,
    gold_item: GoldItemColumn = None,
    gold_label: GoldLabelColumn = None,
    positive: Positive = None,
    missing: MissingValues = (),
    ci: LabelIntervals = True,
    cluster: Cluster = (),
    against: Against = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
) -> Score:
    """Labels against gold labels of the same items: accuracy, F1, agreement, κ, false positives and negatives."""
    resampling = checked_resampling(ci, resamples, seed)
    paths = {"system": path_of(system), "gold": path_of(gold)}
    paths |= {} if against is None else {"against": path_of(against)}
    columns = {"gold": (gold_item or item, gold_label or label, _GOLD_OPTIONS)}
    read_ = {
        role: _read(path, *columns.get(role, (item, label, _OPTIONS)), missing=missing) for role, path in paths.items()
    }
    pair = pair_of(read_["system"], read_["gold"], read_.get("against"))
    if not pair.items:
        both = f"{paths['system']} and {paths['gold']}"
        raise UserError(f"{both} have no items in common. Check that both files are about the same items.")
    items = {paths["gold"]: gold_item or item, paths["system"]: item}
    resampling = replace(resampling, clusters=_clusters(items, cluster))
    table, chosen = pair.table, positive_label(pair.labels, positive)
    values, by_label = overall(table, chosen), per_label(pair, resampling)
    around = overall_intervals(pair, chosen, resampling) if ci else {}
    json: dict[str, Any] = {
        "items": table.items,
        "only_gold": pair.only_gold,
        "only_system": pair.only_system,
        "positive": chosen,
        **values,
        "labels": by_label,
        "confusion": _confusion(table),
    }
    json |= {"ci": {name: one.as_list() for name, one in around.items()}} if ci else {}
    settings: dict[str, Setting] = {"item": item, "label": label, "gold_item": gold_item, "gold_label": gold_label}
    settings |= {"positive": chosen, "missing": tuple(missing) or None}
    settings |= resampling.settings(compared=against is not None)
    title = f"{paths['system'].name} against {paths['gold'].name}: {table.items:,} items"
    scored = Score(
        json,
        [overall_table(title, values, around), *label_tables(table, by_label)],
        signature("labels", settings, {role: one.digest for role, one in read_.items()}),
        notes_on(pair, chosen, values["kappa"]) + resampling.notes(pair.items, compared=against is not None),
        values=values,
        intervals=around,
    )
    if against is None:
        return scored
    scored = extended_by(scored, resampling, (pair, pair_of(read_["against"], read_["gold"], read_["system"])), chosen)
    names = (paths["system"].name, paths["against"].name)
    return scored.extended({}, [comparison_table("Compared", names, scored.tests)])


def _confusion(table: Confusions) -> dict[str, dict[str, int]]:
    return {
        name: {other: int(count) for other, count in zip(table.labels, row, strict=True) if count}
        for name, row in zip(table.labels, table.counts, strict=True)
    }


def _clusters(items: Mapping[Path, str | None], cluster: Sequence[str]) -> Clusters | None:
    """Clusters of items, from columns of either file; `items` has the item column of each."""
    named = Clusters.named(cluster)
    if not named:
        return None
    by_file = [table_columns([path], named, partial(_item_of, column)) for path, column in items.items()]
    columns = {
        name: values_of_items((pair for columns in by_file for pair in columns.get(name, {}).items()), name)
        for name in named
        if any(name in columns for columns in by_file)
    }
    return Clusters.chosen(named, columns)


def _item_of(column: str | None, row: Mapping[str, Any]) -> str | None:
    names = _ITEMS if column is None else (column,)
    value = next((row[name] for name in names if row.get(name) not in (None, "")), None)
    return None if value is None else text_of(value)


def read(path: File, *, item: str | None = None, label: str | None = None, missing: Sequence[str] = ()) -> Truth:
    """One label per item, without items whose label is one of the `missing` values."""
    return _read(path_of(path), item, label, _OPTIONS, missing=missing)


def _read(
    path: Path, item: str | None, label: str | None, options: tuple[str, str], *, missing: Sequence[str]
) -> Truth:
    return read_truth(path, task=item, label=label, usual=_ITEMS, options=options, missing=missing)


def measure(system: Truth, gold: Truth, *, positive: str | None = None) -> Measured:
    """One row per common item, with the scores over all common items."""
    pair = pair_of(system, gold)
    return pair.statistics(positive_label(pair.labels, positive))


FAMILY = Family(
    "labels",
    "Labels against gold labels: accuracy, F1, agreement, κ, false positives and false negatives.",
    read,
    measure,
    score,
    example_ending=".csv",
    example=("item,label\na,yes\nb,no\nc,yes\n", "item,label\na,yes\nb,no\nc,no\n"),
)
