"""Pairwise comparisons from a file or from what a program has: a dataframe, a dict of columns, a list of dicts."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from chorale.files.source import refused
from chorale.metrics.aggregation.pairwise import Comparisons
from chorale.metrics.reading.named_columns import named_columns

ROLES = ("worker", "left", "right", "label")


class ReadComparisons(NamedTuple):
    comparisons: Comparisons
    digest: str
    source: str
    """What the signature calls it: a file, or data handed over by a program."""


def comparisons_in(data: Any, columns: Mapping[str, str | None]) -> ReadComparisons:
    """Who preferred which of two items. `columns` names those that are not called as their role, one of `ROLES`."""
    names = {role: columns.get(role) or role for role in ROLES}
    texts, name, digest, source = named_columns(data, names)
    try:
        comparisons = Comparisons.of(*(texts[names[role]] for role in ROLES))
    except ValueError as error:
        fix = "Correct the row: the label must be the left or the right item"
        raise refused(name, None, "has comparisons that can't be used", fix, str(error)) from None
    if not len(comparisons):
        raise refused(name, None, "has no comparisons", "Check that the right file was named")
    return ReadComparisons(comparisons, digest, source)
