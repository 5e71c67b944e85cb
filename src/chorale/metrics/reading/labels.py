"""Cleans labels: surrounding blanks, values that mean no label, and different spellings.

An empty cell is a missing label. `NA` and similar values may be missing labels or valid ones: they count as labels
unless listed in `missing`, and a note reports them with counts.
"""

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np
import polars as pl

from chorale.files.judgment_columns import JSON_LISTS, split_labels, text_of
from chorale.files.judgment_layout import field_of
from chorale.metrics.judgments import NOTHING, Judgments
from chorale.model.plural import plural

_LIKE_MISSING = frozenset(
    {
        *("na", "n/a", "n.a.", "n.a", "#n/a", "#na", "<na>", "nan", "-nan", "nat", "null", "nil", "none", "(none)"),
        *("missing", "undefined", "no answer", "not available", "-", "--", "?", "."),
    }
)
"""Common values for no label, in lower case."""
_LONGEST = max(map(len, _LIKE_MISSING))
_MOST_COMPARED = 10_000
"""Number of distinct labels above which they are texts or measurements, not options."""
_MOST_SHOWN = 5


class TidyLabels(NamedTuple):
    """Labels or sets of options, with notes on changes."""

    labels: pl.Series
    notes: tuple[str, ...] = ()


def missing_values(values: Iterable[object] | str) -> tuple[str, ...]:
    """The values that mean no label: one or several."""
    listed = [values] if isinstance(values, str) else values
    return tuple(dict.fromkeys(text_of(value).strip() for value in listed))


def tidy_labels(labels: pl.Series, sep: str | None, empty: str | None, missing: Sequence[str]) -> TidyLabels:
    """Strips labels, splits them at a separator, and removes missing values.

    A missing value is like an empty cell: it has no label, or the label `empty`. An empty list is an answer, unless
    `empty` names it. A cell that should be a JSON list but is not raises ValueError with the cell.
    """
    notes = []
    occurrences = dict.fromkeys(missing, 0)
    if not isinstance(labels.dtype, pl.List):
        bare = labels.str.strip_chars()
        blanks = int((labels.str.len_bytes() != bare.str.len_bytes()).sum())
        if blanks:
            notes.append(f"{plural(blanks, 'label', 'labels')} had leading or trailing blanks, which were removed.")
        if missing:
            bare = bare.set(_is_missing(bare, occurrences), None)
        labels = bare if sep is None else split_labels(bare, sep)
        is_list = sep == JSON_LISTS
    else:
        is_list = True
    # An empty list means that nothing was marked; an empty cell means that nothing was asked.
    nothing = labels.list.len() == 0 if is_list and empty is None else None
    if missing:
        if isinstance(labels.dtype, pl.List):
            _is_missing(labels.explode(), occurrences)
            labels = labels.list.eval(pl.element().filter(~pl.element().is_in(missing)))
        shown = ", ".join(f"{value!r} ({count:,})" for value, count in occurrences.items())
        notes.append(f"Read as missing: {shown}.")
    if nothing is not None:
        named = pl.when(nothing.fill_null(False)).then(pl.lit([NOTHING])).otherwise(labels)
        return TidyLabels(pl.select(label=named).to_series(), tuple(notes))
    unasked_too = not (sep == JSON_LISTS and empty == NOTHING)
    return TidyLabels(_filled(labels, empty, unasked_too=unasked_too), tuple(notes))


def _is_missing(options: pl.Series, occurrences: dict[str, int]) -> pl.Series:
    """Whether each option is a missing value. Their counts are added to `occurrences`."""
    missing = options.is_in(list(occurrences)).fill_null(False)
    for value, count in options.filter(missing).value_counts().iter_rows():
        occurrences[value] += count
    return missing


def _filled(labels: pl.Series, empty: str | None, *, unasked_too: bool) -> pl.Series:
    """Labels or sets, with a name for empty ones if given."""
    if empty is None:
        return labels
    if not isinstance(labels.dtype, pl.List):
        return labels.fill_null("").replace("", empty)
    labels = labels.alias("label")
    is_empty = pl.col("label").list.len() == 0
    named = pl.when(is_empty | pl.col("label").is_null() if unasked_too else is_empty).then(pl.lit([empty]))
    return labels.to_frame("label").select(label=named.otherwise(pl.col("label"))).to_series()


def has_free_text(labels: pl.Series, fields: pl.Series, column: str) -> bool:
    """Whether a label is free text, by the column that names the fields with free text in its row."""
    given = fields.filter(labels.is_not_null()).unique().drop_nulls().cast(pl.String)
    return any(field_of(column) in names.split() for names in given)


def doubtful_labels(judgments: Judgments) -> tuple[str, ...]:
    """A note on labels that may mean no label, or may be the same as another label; empty if there are none."""
    return doubtful_names(judgments.options, lambda: _counts(judgments))


def doubtful_names(names: Collection[str], counted: Callable[[], Mapping[str, int]]) -> tuple[str, ...]:
    """The note of `doubtful_labels`, from the labels and their counts."""
    gaps = [name for name in names if len(name) <= _LONGEST and name.casefold() in _LIKE_MISSING]
    twins = _spelt_alike(names) if len(names) <= _MOST_COMPARED else []
    if not gaps and not twins:
        return ()
    counts = counted()
    parts = []
    if gaps:
        shown = ", ".join(f"{name!r} ({counts[name]:,})" for name in gaps)
        fix = "add " + " ".join(f"--missing {name!r}" for name in gaps)
        parts.append(
            f"{shown}: {'counts as a label' if len(gaps) == 1 else 'count as labels'}. "
            f"To leave {'it' if len(gaps) == 1 else 'them'} out, {fix}."
        )
    if twins:
        groups = [" and ".join(f"{name!r} ({counts[name]:,})" for name in group) for group in twins[:_MOST_SHOWN]]
        more = f"; and {len(twins) - _MOST_SHOWN:,} more" if len(twins) > _MOST_SHOWN else ""
        parts.append(
            f"Treated as different labels, except in numerical comparisons: {'; '.join(groups)}{more}. If they mean "
            "the same, use the same spelling."
        )
    return (" ".join(parts),)


def _counts(judgments: Judgments) -> dict[str, int]:
    """Number of judgments per option."""
    used = np.bincount(judgments.labels, minlength=len(judgments.label_names))
    if judgments.sets is None:
        return dict(zip(judgments.options, used.tolist(), strict=True))
    counts = np.zeros(len(judgments.options), dtype=np.int64)
    for chosen, times in zip(judgments.sets, used.tolist(), strict=True):
        counts[list(set(chosen))] += times
    return dict(zip(judgments.options, counts.tolist(), strict=True))


def _spelt_alike(names: Iterable[str]) -> list[list[str]]:
    """Groups of names that differ only in case, blanks, invisible characters, or number format.

    >>> _spelt_alike(["1", "1.0", "No", "no", "yes"])
    [['1', '1.0'], ['No', 'no']]
    """
    groups: dict[str | float, list[str]] = {}
    for name in names:
        groups.setdefault(_plainly(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _plainly(name: str) -> str | float:
    if name[:1] in "0123456789+-.":
        try:
            number = float(name)
        except ValueError:
            number = float("nan")
        if isfinite(number):
            return number
    if name.isascii():
        return " ".join(name.casefold().split())
    visible = "".join(each for each in unicodedata.normalize("NFKC", name) if unicodedata.category(each) != "Cf")
    return " ".join(visible.casefold().split())
