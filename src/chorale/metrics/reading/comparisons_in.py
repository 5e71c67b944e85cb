"""Reads pairwise comparisons from a file, a dataframe, a dict of columns or a list of dicts."""

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
    """Name in the signature: a file, or data from a program."""


def comparisons_in(data: Any, columns: Mapping[str, str | None]) -> ReadComparisons:
    """Reads comparisons. `columns` maps roles (`ROLES`) to columns with other names."""
    names = {role: columns.get(role) or role for role in ROLES}
    texts, name, digest, source = named_columns(data, names)
    try:
        comparisons = Comparisons.of(*(texts[names[role]] for role in ROLES))
    except ValueError as error:
        fix = "Correct the row: it needs a worker, two different items, and one of these items as the label"
        raise refused(name, None, "has invalid comparisons", fix, str(error)) from None
    if not len(comparisons):
        raise refused(name, None, "has no comparisons", "Check the file name")
    return ReadComparisons(comparisons, digest, source)
