"""Stored values: how answers, payloads and evidence become text, and texts become values again."""

import json
import re
import sys
from functools import lru_cache
from typing import Any

from chorale.model.frozen import FrozenDict, frozen

MOST_ANSWERS, SHORT_ANSWER = 4_000, 200
"""How many answers are remembered, and up to how many characters."""

# After an even number of backslashes: after an odd one, it is the text of a backslash and "u0000".
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def storage_problem(value: object) -> str | None:
    """Why a value can't be stored in every database we support; None if it can.

    Text of PostgreSQL has no NUL characters. As JSON they would pass, and fail once an item's key is made of an answer.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError):
        return "is nested too deeply, or has numbers or characters that can't be stored"
    return "has NUL characters, which can't be stored" if _NUL.search(text) else None


def storable(text: str) -> str:
    """A text with what no database stores replaced: for what others wrote and is kept as it came."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


_CANONICAL = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"))


def as_text(payload: object) -> str:
    """JSON with sorted keys: equal payloads are equal texts."""
    return _CANONICAL.encode(payload)


as_ordered_text = json.JSONEncoder(ensure_ascii=False).encode
"""JSON with keys in the order they have, for values whose texts are never compared."""


_DECODER = json.JSONDecoder()


def from_text(text: str) -> Any:
    """A stored value. Half the work of `json.loads`, which looks for white space around it."""
    return _DECODER.raw_decode(text)[0]


def frozen_from_text(text: str) -> Any:
    """A stored value that nobody can change: for what is handed to tasks, and kept beside that."""
    return frozen(_DECODER.raw_decode(text)[0])


def _with_shared_names(pairs: list[tuple[str, Any]]) -> FrozenDict:
    return FrozenDict((sys.intern(name), frozen(value)) for name, value in pairs)


_SHARING = json.JSONDecoder(object_pairs_hook=_with_shared_names)


def kept_from_text(text: str) -> Any:
    """`frozen_from_text` for those who hold many values at once: the names of fields are in memory once."""
    return frozen(_SHARING.raw_decode(text)[0])


_remembered = lru_cache(maxsize=MOST_ANSWERS)(frozen_from_text)


class _Latest:
    """The long answer that was last read: while it is settled, it is asked for again and again."""

    answer_and_text: tuple[Any, str] = object(), ""


def answer_from_text(text: str) -> Any:
    """`frozen_from_text` of an answer. Of short ones there are few, and many give them, so they are remembered."""
    if len(text) <= SHORT_ANSWER:
        return _remembered(text)
    latest, its_text = _Latest.answer_and_text
    if text == its_text:
        return latest
    answer = frozen_from_text(text)
    _Latest.answer_and_text = answer, text
    return answer


def answer_as_text(answer: Any) -> str:
    """`as_text` of an answer that may be as it was read."""
    latest, its_text = _Latest.answer_and_text
    return its_text if answer is latest else as_text(answer)
