"""The minimum time to read and answer an item, estimated from its words, options, pictures and fields.

Reading speed is that of silent reading of English non-fiction, 238 words a minute: Brysbaert (2019), "How many words do
we read per minute? A review and meta-analysis of reading rate", Journal of Memory and Language 109, 104047. Typing
speed is the mean of 168,000 people: Dhakal et al. (2018), "Observations on typing from 136 million keystrokes", CHI.
The other numbers are deliberately low guesses: the estimate should detect pay that is certainly too low.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from chorale.contract.fields import FieldKind
from chorale.contract.task import Task
from chorale.model import Payload
from chorale.text.scripts import length_in_words

WORDS_PER_MINUTE = 238
WORDS_TYPED_PER_MINUTE = 52
OPTION_SECONDS = 0.5
"""Seconds to consider one of an item's options."""
PICTURE_SECONDS = 3.0
ANSWER_SECONDS = 1.0
"""Seconds to answer with a click and submit."""
FIELD_SECONDS: Mapping[FieldKind, float] = {
    FieldKind.LABEL: 1.5,
    FieldKind.LABELS: 2.0,
    FieldKind.RATING: 1.5,
    FieldKind.NUMBER: 2.0,
    FieldKind.RANKING: 3.0,
    FieldKind.SPANS: 3.0,
    FieldKind.RELATIONS: 5.0,
    FieldKind.REGIONS: 5.0,
    FieldKind.DATE: 2.0,
    FieldKind.TEXT: 5.0,
    FieldKind.OTHER: 3.0,
}
TOO_FAST = 0.25
"""Answers in less than this share of the estimate were hardly read: nobody reads 950 words a minute."""
_PICTURE = re.compile(r"^(data:image/|\S+\.(png|jpe?g|gif|webp|svg)(\?\S*)?$)", re.IGNORECASE)


def reading_seconds(text: str) -> float:
    """The time to read a text, in seconds.

    >>> round(reading_seconds("one two three four"), 2)
    1.01
    """
    return length_in_words(text) * 60 / WORDS_PER_MINUTE


def estimated_seconds(task: Task, payload: Payload) -> float:
    """The minimum time for an item: defined by the task, or estimated from its view and the parts of an answer."""
    if task.form.seconds is not None:
        return task.form.seconds(payload)
    fields = sum(FIELD_SECONDS[field.kind] for field in task.shape.fields)
    return shown_seconds(task.form.read(task.form.shown(payload))) + ANSWER_SECONDS + fields


def shown_seconds(value: Any) -> float:
    """The time to read all texts, pictures and options in a nested value, in seconds.

    >>> round(shown_seconds({"text": "one two three four", "picture": "a.png"}), 2)
    4.01
    """
    shown = _shown(value)
    return shown.words * 60 / WORDS_PER_MINUTE + shown.pictures * PICTURE_SECONDS + shown.options * OPTION_SECONDS


def writing_seconds(task: Task, parts: float) -> float:
    """The time to write an answer with this number of parts, if the task defines the words per part."""
    return parts * task.form.written_words * 60 / WORDS_TYPED_PER_MINUTE


def shown_words(task: Task, payload: Payload) -> int:
    """The number of words that an item shows."""
    return math.ceil(_shown(task.form.read(task.form.shown(payload))).words)


class _ShownCounts(NamedTuple):
    words: float = 0
    pictures: int = 0
    options: int = 0


def _shown(value: Any) -> _ShownCounts:
    match value:
        case str():
            return _ShownCounts(pictures=1) if _PICTURE.match(value) else _ShownCounts(words=length_in_words(value))
        case Mapping():
            return _together(value.values())
        case Sequence():
            # Dicts in a list are options to choose from; strings are words or lines of one text.
            options = sum(isinstance(inner, Mapping) for inner in value)
            return _together([_ShownCounts(options=options), *value])
    return _ShownCounts()


def _together(values: Iterable[Any]) -> _ShownCounts:
    each = [value if isinstance(value, _ShownCounts) else _shown(value) for value in values]
    return _ShownCounts(*map(sum, zip(*each, strict=True))) if each else _ShownCounts()
