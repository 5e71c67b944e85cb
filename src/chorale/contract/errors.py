"""The errors for rows and answers that a task's `Shape` does not allow."""

from collections.abc import Sequence
from typing import Any

from chorale.model.plain_words import PlainWords


class ItemError(Exception):
    """An item row is invalid for the task: one message per field."""

    def __init__(self, messages: Sequence[tuple[str, str, Any]]) -> None:
        super().__init__("; ".join(f"{field}: {message}" for field, message, _ in messages))
        self.messages = tuple(messages)


_INVALID = "is invalid: "
"""The start of a task's message if the message then names the invalid part of the answer."""


class AnswerError(Exception):
    """An answer is invalid for the task; the message is for the worker."""

    def __init__(self, words: PlainWords) -> None:
        self.words = words
        # Shortened only if it has the prefix: a shortened `Wording` is plain text, which is not translated.
        named = words.demand.startswith(_INVALID)
        self.problem = words.demand.removeprefix(_INVALID) if named else words.demand
        super().__init__(f"Invalid answer: {self.problem}")
