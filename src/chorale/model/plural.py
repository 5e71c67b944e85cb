"""Counts with the singular or plural of a noun."""


def plural(count: int, one: str, several: str) -> str:
    """A count with the matching singular or plural.

    >>> plural(1, "row is", "rows are"), plural(1200, "row is", "rows are")
    ('1 row is', '1,200 rows are')
    """
    return f"{count:,} {one if count == 1 else several}"
