"""Counts in words: of one thing or of several."""


def plural(count: int, one: str, several: str) -> str:
    """A count with the words that go with it.

    >>> plural(1, "row is", "rows are"), plural(1200, "row is", "rows are")
    ('1 row is', '1,200 rows are')
    """
    return f"{count:,} {one if count == 1 else several}"
