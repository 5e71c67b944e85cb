"""Stored values: converting answers, payloads and evidence to text and back."""

import json
import re
import sys
from functools import lru_cache
from typing import Any

from chorale.model.frozen import FrozenDict, frozen

MOST_ANSWERS, SHORT_ANSWER = 4_000, 200
"""Size of the cache of answers, and the maximum length of a cached answer."""

# After an even number of backslashes: after an odd number, it is a literal backslash and "u0000".
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def storage_problem(value: object) -> str | None:
    """Why a value can't be stored in every database we support; None if it can.

    PostgreSQL text can't contain NUL characters. JSON could, but would fail when an item's key is made from an answer.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError):
        return "is nested too deeply, or has numbers or characters that can't be stored"
    return "has NUL characters, which can't be stored" if _NUL.search(text) else None


def storable(text: str) -> str:
    """A text in which characters that databases can't store are replaced; for external text that is stored unchanged
    otherwise.
    """
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


_CANONICAL = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"))


def as_text(payload: object) -> str:
    """JSON with sorted keys, so that equal payloads are equal texts."""
    return _CANONICAL.encode(payload)


as_ordered_text = json.JSONEncoder(ensure_ascii=False).encode
"""JSON with unsorted keys, for values whose texts are never compared."""


_DECODER = json.JSONDecoder()


def from_text(text: str) -> Any:
    """Parse a stored value, twice as fast as `json.loads`, which also skips white space."""
    return _DECODER.raw_decode(text)[0]


def frozen_from_text(text: str) -> Any:
    """Parse a stored value as frozen, for values that are passed to tasks and also kept."""
    return frozen(_DECODER.raw_decode(text)[0])


def _with_shared_names(pairs: list[tuple[str, Any]]) -> FrozenDict:
    return FrozenDict((sys.intern(name), frozen(value)) for name, value in pairs)


_SHARING = json.JSONDecoder(object_pairs_hook=_with_shared_names)


def kept_from_text(text: str) -> Any:
    """Like `frozen_from_text`, with shared strings for field names, for many values in memory."""
    return frozen(_SHARING.raw_decode(text)[0])


_remembered = lru_cache(maxsize=MOST_ANSWERS)(frozen_from_text)


class _Latest:
    """A cache of the latest long answer, which is parsed repeatedly while it is settled."""

    answer_and_text: tuple[Any, str] = object(), ""


def answer_from_text(text: str) -> Any:
    """Like `frozen_from_text`, with a cache for short answers, which are frequent."""
    if len(text) <= SHORT_ANSWER:
        return _remembered(text)
    latest, its_text = _Latest.answer_and_text
    if text == its_text:
        return latest
    answer = frozen_from_text(text)
    _Latest.answer_and_text = answer, text
    return answer


def answer_as_text(answer: Any) -> str:
    """`as_text` of an answer, cached if it was just read."""
    latest, its_text = _Latest.answer_and_text
    return its_text if answer is latest else as_text(answer)
