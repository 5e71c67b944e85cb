"""How a model gets the same questions as people, and how its answer is parsed.

A prompt contains only what workers see: every function here gets the view of an item, never the item.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Shown = Mapping[str, Any]
"""What a worker sees of an item: `Form.view`."""


class UnreadableError(ValueError):
    """A model's output is not a valid answer; the message explains why, for the model."""


@dataclass(frozen=True)
class Prompting:
    """How prompts for models are made, and how the models' answers are parsed."""

    ask: str = ""
    """Instructions in Markdown about the form's questions and answers, for details that the page explains but the
    guidelines may not.
    """
    show: Callable[[Shown], Any] | None = None
    """Takes a view. Returns the JSON values that the model reads. Default: the view."""
    schema: Mapping[str, Any] | Callable[[Shown], Mapping[str, Any]] | None = None
    """The JSON schema of a model's answer, or a function that takes a view and returns the schema.

    Default: the schema of `Shape.answer_type`.
    """
    read: Callable[[Shown, Any], Any] | None = None
    """Takes a view and a model's answer. Returns the answer as the form submits it; raises `UnreadableError` if it is
    invalid.

    Default: unchanged.
    """
    write: Callable[[Shown, Any], Any] | None = None
    """Takes a view and a stored answer. Returns the answer as a model gives it, for examples. Default: unchanged."""
    arranged: Callable[[Mapping[str, Any]], str] | None = None
    """Takes the order that `Form.arrange` returns. Returns this order in words, for the prompt of an item.

    Default: options are in the order of the form.
    """


PLAIN_PROMPTING = Prompting()


class TrainingExample(NamedTuple):
    """An item of a training round, as workers see it after answering."""

    view: Shown
    answer: Any
    explanation: str


class QuotedTokens(NamedTuple):
    """Words of a text: the number of their first token, and of the token after their last."""

    start: int
    end: int


QUOTE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "The exact words of the text, whole words only."},
        "nth": {
            "type": "integer",
            "minimum": 1,
            "description": "Which occurrence of these words, counted from 1; only where they occur several times.",
        },
    },
    "required": ["text"],
    "additionalProperties": False,
}
"""The schema with which a model marks words: by quoting them."""


def find_quote(pieces: Sequence[str], quote: Any) -> QuotedTokens:
    """The tokens of a quote; UnreadableError if the text does not contain it, or contains it several times.

    `pieces` are token, gap, token, gap and so on.

    >>> find_quote(["Snow", " ", "fell", "", "."], {"text": "fell"})
    QuotedTokens(start=1, end=2)
    """
    text, nth = (quote, None) if isinstance(quote, str) else _parts_of(quote)
    words = text.split()
    if not words:
        raise UnreadableError("has an empty quote. Quote at least one word of the text.")
    whole = "".join(pieces)
    starts, ends, place = {}, {}, 0
    for number, token in enumerate(pieces[::2]):
        starts[place] = number
        ends[place + len(token)] = number + 1
        place += len(token) + len(pieces[2 * number + 1] if 2 * number + 1 < len(pieces) else "")
    pattern = r"\s*".join(map(re.escape, words))
    for flags in (0, re.IGNORECASE):
        # Searched at every position: a match inside a word must not hide a later match.
        matches = [match for match in re.finditer(f"(?=({pattern}))", whole, flags) if match[1]]
        places = [
            QuotedTokens(starts[match.start(1)], ends[match.end(1)])
            for match in matches
            if match.start(1) in starts and match.end(1) in ends
        ]
        if places or matches:
            break
    return _only_one(text, places, bool(matches), nth)


def _only_one(text: str, places: Sequence[QuotedTokens], within_words: bool, nth: int | None) -> QuotedTokens:
    if not places:
        why = (
            "begins or ends within a word. Quote whole words." if within_words else "is not in the text. Quote exactly."
        )
        raise UnreadableError(f"the quote {_short(text)} {why}")
    if nth is not None:
        if not 1 <= nth <= len(places):
            raise UnreadableError(f"the quote {_short(text)} occurs {len(places)} times, but `nth` is {nth}.")
        return places[nth - 1]
    if len(places) > 1:
        raise UnreadableError(
            f"the quote {_short(text)} occurs {len(places)} times. Choose one with `nth`, counted from 1, or quote "
            "more words."
        )
    return places[0]


def _parts_of(quote: Any) -> tuple[str, int | None]:
    if not isinstance(quote, Mapping) or not isinstance(quote.get("text"), str):
        raise UnreadableError("has a quote that is not text. Write the words of the text in `text`.")
    nth = quote.get("nth")
    if nth is not None and (isinstance(nth, bool) or not isinstance(nth, int)):
        raise UnreadableError("has an `nth` that is not a whole number.")
    return quote["text"], nth


def as_quote(pieces: Sequence[str], start: int, end: int) -> dict[str, Any]:
    """Tokens as a model's quote, with `nth` if the words occur several times.

    >>> as_quote(["no", " ", "and", " ", "no", ""], 2, 3)
    {'text': 'no', 'nth': 2}
    """
    text = "".join(pieces[2 * start : 2 * end - 1])
    try:
        if find_quote(pieces, text) == (start, end):
            return {"text": text}
    except UnreadableError:
        pass
    nth = 1
    while find_quote(pieces, {"text": text, "nth": nth}) != (start, end):
        nth += 1
    return {"text": text, "nth": nth}


def _short(text: str) -> str:
    return f"“{text if len(text) <= 80 else text[:77] + '…'}”"


def json_in(text: str) -> Any:
    """The first JSON object in a text, possibly surrounded by other words; UnreadableError if there is none."""
    start = text.find("{")
    if start < 0:
        raise UnreadableError("is not JSON. Answer with one JSON object and nothing else.")
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        raise UnreadableError("is not complete, valid JSON. Answer with one JSON object and nothing else.") from None
    return value
