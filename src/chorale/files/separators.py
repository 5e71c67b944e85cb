"""What separates the columns of a CSV file."""

import csv
import io
import re
from itertools import islice

LOOKED_AT = 1 << 16
"""Number of bytes at the beginning of a file in which its separator is looked for."""
_ROWS = 20
_CANDIDATES = ",;\t"
_DECLARED = re.compile(r"\ufeff?\"?sep=(.)\"?[\r\n]*", re.IGNORECASE)
"""The line before the header that sets the separator for Excel."""


def declared_separator(line: str) -> str | None:
    """The separator that Excel's line `sep=;` declares; None for any other line."""
    match = _DECLARED.fullmatch(line)
    return match[1] if match else None


def separator_of(head: str) -> str:
    """The separator of a CSV file, by its beginning: a comma, a semicolon or a tab.

    It is the separator with which the largest share of the first rows has as many cells as the header; of several such
    separators, the one with the most columns. Separators inside quotes do not count. Excel writes semicolons where a
    comma is the decimal separator.

    >>> separator_of("id;text, or title, if any;label\\n1;Yes, of course;a\\n2;No;b\\n")
    ';'
    """
    return max(_CANDIDATES, key=lambda separator: _fit(head, separator))


def _fit(head: str, separator: str) -> tuple[float, int]:
    """The fraction of rows with the header's number of cells, and this number."""
    try:
        rows = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
        header, *others = islice((len(cells) for cells in rows if cells), _ROWS + 1)
    except (ValueError, csv.Error):
        return -1.0, 0
    if header == 1:
        return -1.0, 0
    return sum(cells == header for cells in others) / len(others) if others else 0.0, header
