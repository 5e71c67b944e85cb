"""Errors about invalid values in answers, with the value that was found."""

from typing import Any

from chorale.files.shortening import shortened
from chorale.model.plain_words import InvalidValueError

_LONGEST = 100


def invalid(problem: str, value: Any, fix: str | None = None) -> InvalidValueError:
    """The error of a field that refuses a value. The value may be anything, so it is shortened and escaped.

    >>> invalid("is not a number", "x" * 500).invalid_part
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'"
    """
    shown = "null" if value is None else shortened(value)
    return InvalidValueError(problem, shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…", fix)
