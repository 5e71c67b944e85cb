"""How long an item takes at least to read and answer, by what is shown: words, options, pictures, fields.

Reading speed is that of silent reading of English non-fiction, 238 words a minute: Brysbaert (2019), "How many words do
we read per minute? A review and meta-analysis of reading rate", Journal of Memory and Language 109, 104047. The other
numbers are careful guesses, on the low side: an estimate is to catch pay that cannot be enough.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from chorale.contract.task import FieldKind, Task
from chorale.model import Payload

WORDS_PER_MINUTE = 238
OPTION_SECONDS = 0.5
"""To weigh one of several options that the item lists."""
PICTURE_SECONDS = 3.0
ANSWER_SECONDS = 1.0
"""To answer and submit, where the answer is a click."""
FIELD_SECONDS: Mapping[FieldKind, float] = {
    FieldKind.LABEL: 1.5,
    FieldKind.LABELS: 2.0,
    FieldKind.RATING: 1.5,
    FieldKind.TEXT: 5.0,
    FieldKind.OTHER: 3.0,
}
TOO_FAST = 0.25
"""Answers in less than this share of the estimate were hardly read: nobody reads 950 words a minute."""
_PICTURE = re.compile(r"^(data:image/|\S+\.(png|jpe?g|gif|webp|svg)(\?\S*)?$)", re.IGNORECASE)


def reading_seconds(text: str) -> float:
    """How long a text takes to read.

    >>> round(reading_seconds("one two three four"), 2)
    1.01
    """
    return len(text.split()) * 60 / WORDS_PER_MINUTE


def estimated_seconds(task: Task, payload: Payload) -> float:
    """How long an item takes at least: what the task says, or else by what its view shows and its answer holds."""
    if task.form.seconds is not None:
        return task.form.seconds(payload)
    fields = sum(FIELD_SECONDS[field.kind] for field in task.shape.fields)
    return _shown_seconds(task.form.view(payload)) + ANSWER_SECONDS + fields


def _shown_seconds(value: Any) -> float:
    match value:
        case str():
            return PICTURE_SECONDS if _PICTURE.match(value) else reading_seconds(value)
        case Mapping():
            return sum(map(_shown_seconds, value.values()))
        case Sequence():
            # Tables in a list are options to choose from; texts are words or lines of one thing.
            options = sum(OPTION_SECONDS for inner in value if isinstance(inner, Mapping))
            return options + sum(map(_shown_seconds, value))
    return 0.0
