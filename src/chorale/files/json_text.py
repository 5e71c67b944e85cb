"""Strict parsing of JSON: rejects constructs that Python accepts but files must not contain."""

import json
import math
import re
from typing import Any

from chorale.files.shortening import shortened

DEEPEST_NESTING = 50
"""Maximum nesting of JSON values: far more than an item needs, far less than other programs' limits."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
UNSTORABLE_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
"""Escapes in JSON text that may produce NUL or a lone surrogate."""


class FlawError(ValueError):
    """A problem of a row, with a fix."""

    def __init__(self, message: str, fix: str, value: str | None = None) -> None:
        super().__init__(message)
        self.message, self.fix, self.value = message, fix, value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise FlawError("has a duplicate key", "Remove one of the two.", shortened(twice))
    return values


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise FlawError("has a number that is not finite", "Write a smaller number, or null.", shortened(text))
    return number


DECODER = json.JSONDecoder(object_pairs_hook=_without_duplicates, parse_float=_finite, parse_constant=_finite)
"""Raises FlawError for duplicate keys, NaN and infinity, which Python accepts."""


def parsed_json(text: str) -> Any:
    """Parse JSON text. Raises FlawError for duplicate keys, NaN and NUL, which Python accepts."""
    values = DECODER.decode(text)
    # Only an escape can produce characters that are not in the decoded line.
    if "\\u" in text or text.count("[") + text.count("{") > DEEPEST_NESTING:
        check_inside(values)
    return values


def not_json(error: json.JSONDecodeError) -> str:
    """The problem of invalid JSON, with its column."""
    return f"is not JSON: {error.msg.lower().removesuffix(' at')} at column {error.colno}"


def check_inside(values: Any) -> None:
    """FlawError for nesting too deep, and for texts that can't be stored or printed."""
    left = [(values, 1)]
    while left:
        value, depth = left.pop()
        if depth > DEEPEST_NESTING:
            raise FlawError("is nested too deeply", "Flatten the values.", f"{DEEPEST_NESTING} levels or more")
        if isinstance(value, dict):
            left += [(inner, depth + 1) for inner in (*value.keys(), *value.values())]
        elif isinstance(value, list):
            left += [(inner, depth + 1) for inner in value]
        elif isinstance(value, str) and _UNSTORABLE.search(value):
            raise FlawError("has a NUL character or half a surrogate pair in a text", "Remove it.", shortened(value))
