"""Values of any type, shortened for messages."""

import reprlib
from typing import Any


def shortened(value: Any) -> str:
    """A value of any type, shortened for a message."""
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return _BRIEF.repr(value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        return "a very long number"


_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 80
_BRIEF.maxlevel = 3
