"""A word in a sentence, and the frames it may evoke."""

import re
from random import Random
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from chorale.contract.exporting import Seeds
from chorale.contract.reading_time import ANSWER_SECONDS, OPTION_SECONDS, reading_seconds
from chorale.model import Payload

NONE = "none"
"""The answer that no candidate fits."""
MOST_CANDIDATES = 60
LONG_LIST = 8
"""Lists with more candidates than this are collapsed at first. `frames.js` uses the same number."""
_FOLDED_WORDS = 20
"""Number of words of a definition on the two lines that a collapsed list shows."""

_Text = Annotated[str, Field(min_length=1, max_length=4000, pattern=r"\S")]


class ShownFrame(BaseModel):
    """A frame as workers see it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    frame: str = Field(min_length=1, max_length=120, pattern=r"\S")
    definition: _Text
    example: str = Field(default="", max_length=4000)
    example_word: tuple[int, int] | None = None
    """Start and end in characters of the example, end exclusive."""
    more_examples: list[tuple[Annotated[str, Field(max_length=4000)], int, int]] = Field(default=[], max_length=9)
    """Examples, each with start and end of the marked word in characters. Start and end are equal if no word is marked.
    """

    @model_serializer(mode="wrap")
    def _as_it_was_given(self, serialized: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omits an empty list, so that rows of older studies without several examples stay unchanged."""
        row: dict[str, Any] = serialized(self)
        if not self.more_examples:
            del row["more_examples"]
        return row

    @field_validator("frame")
    @classmethod
    def _is_no_answer_of_its_own(cls, value: str) -> str:
        if value.strip().casefold() == NONE:
            raise ValueError("is reserved for “no frame”. Remove it: every list contains it automatically.")
        return value.strip()

    @model_validator(mode="after")
    def _inside_its_example(self) -> "ShownFrame":
        if self.example_word is not None:
            start, end = self.example_word
            if not 0 <= start < end <= len(self.example):
                raise ValueError(
                    f"has an `example_word` from {start} to {end}, outside its example. Count characters from 0."
                )
        for text, start, end in self.more_examples:
            if not 0 <= start <= end <= len(text):
                raise ValueError(f"has a word from {start} to {end}, outside an example. Count characters from 0.")
        return self


class FrameItem(BaseModel):
    """A row of the items file."""

    model_config = ConfigDict(extra="allow", frozen=True)

    sentence: _Text
    start: int | None = Field(default=None, ge=0)
    """Start of the word in characters of the sentence. Required if the word occurs more than once."""
    word: str = Field(min_length=1, max_length=200, pattern=r"\S")
    lemma: str = ""
    in_framenet: bool | None = None
    """Whether FrameNet has the lemma as a lexical unit, if known."""
    candidates: list[ShownFrame] = Field(min_length=1, max_length=MOST_CANDIDATES)

    @field_validator("word")
    @classmethod
    def _is_there(cls, word: str, info: ValidationInfo) -> str:
        sentence, start = info.data.get("sentence"), info.data.get("start")
        if sentence is None or "start" not in info.data:
            return word  # That is a separate error.
        if start is not None:
            if sentence[start : start + len(word)] != word:
                raise ValueError(f"does not match the sentence at character {start}. Correct `start`, or remove it.")
            return word
        places = _places(sentence, word)
        if not places:
            raise ValueError("is not in its sentence. Spell the word as in the sentence.")
        if len(places) > 1:
            raise ValueError(
                f"occurs {len(places)} times. Set `start` to the number of characters before the intended occurrence "
                f"({', '.join(map(str, places[:10]))})."
            )
        return word

    @field_validator("candidates")
    @classmethod
    def _each_once(cls, value: list[ShownFrame]) -> list[ShownFrame]:
        names = [candidate.frame for candidate in value]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"has the frame {twice!r} twice. Remove one of them.")
        return value


def seconds(item: Payload) -> float:
    """Minimum time for an item, based on the text that the page shows at first. Long lists are collapsed."""
    candidates = item["candidates"]
    texts = [item["sentence"]]
    for candidate in candidates:
        texts.append(candidate["frame"].replace("_", " "))
        if len(candidates) > LONG_LIST:
            texts += candidate["definition"].split()[:_FOLDED_WORDS]
        else:
            texts += [
                candidate["definition"],
                candidate.get("example", ""),
                *(text for text, _, _ in candidate.get("more_examples", ())),
            ]
    return reading_seconds(" ".join(texts)) + len(candidates) * OPTION_SECONDS + ANSWER_SECONDS


def _places(sentence: str, word: str) -> list[int]:
    """Positions of the word as a separate word; otherwise all positions."""
    whole = [found.start() for found in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", sentence)]
    return whole or [found.start() for found in re.finditer(re.escape(word), sentence)]


def frames_of(payload: Payload) -> list[str]:
    return [candidate["frame"] for candidate in payload["candidates"]]


def shown(payload: Payload) -> dict[str, Any]:
    """The data that workers see, without the source of candidates."""
    start = payload.get("start")
    return {
        "sentence": payload["sentence"],
        "word": payload["word"],
        "start": _places(payload["sentence"], payload["word"])[0] if start is None else start,
        "candidates": [dict(candidate) for candidate in payload["candidates"]],
        **({"left_out": left_out} if isinstance(left_out := payload.get("left_out"), int) and left_out > 0 else {}),
    }


def arrange(payload: Payload, seeds: Seeds) -> dict[str, Any]:
    """The candidates in a random order per worker."""
    order = sorted(frames_of(payload))
    Random(seeds.item).shuffle(order)
    return {"frames": order}


def caption(payload: Payload) -> str:
    return f"“{payload['word']}” in: {payload['sentence']}"


def in_words(frame: str) -> str:
    """A frame's name as workers read it.

    >>> in_words("Cause_harm")
    'Cause harm'
    """
    return "None of these" if frame == NONE else frame.replace("_", " ")
