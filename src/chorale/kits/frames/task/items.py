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
"""What somebody says who finds that no candidate fits."""
MOST_CANDIDATES = 60
LONG_LIST = 8
"""Lists of more candidates than this begin folded; `frames.js` has the same number."""
_FOLDED_WORDS = 20
"""How many words of a definition the two lines have that a folded list shows."""

_Text = Annotated[str, Field(min_length=1, max_length=4000, pattern=r"\S")]


class ShownFrame(BaseModel):
    """A frame as workers see it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    frame: str = Field(min_length=1, max_length=120, pattern=r"\S")
    definition: _Text
    example: str = Field(default="", max_length=4000)
    example_word: tuple[int, int] | None = None
    """From and to, in characters of the example, the end not included."""
    more_examples: list[tuple[Annotated[str, Field(max_length=4000)], int, int]] = Field(default=[], max_length=9)
    """Each with from and to in characters of its text, the same where no word is marked."""

    @model_serializer(mode="wrap")
    def _as_it_was_given(self, serialized: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without an empty list: rows of studies from before there were more examples stay what they were."""
        row: dict[str, Any] = serialized(self)
        if not self.more_examples:
            del row["more_examples"]
        return row

    @field_validator("frame")
    @classmethod
    def _is_no_answer_of_its_own(cls, value: str) -> str:
        if value.strip().casefold() == NONE:
            raise ValueError("is reserved for “no frame”. Leave it out: every list has it.")
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
    """Where the word begins, in characters of the sentence; needed if it is there more than once."""
    word: str = Field(min_length=1, max_length=200, pattern=r"\S")
    lemma: str = ""
    in_framenet: bool | None = None
    """Whether FrameNet has the lemma as a lexical unit, where that is known."""
    candidates: list[ShownFrame] = Field(min_length=1, max_length=MOST_CANDIDATES)

    @field_validator("word")
    @classmethod
    def _is_there(cls, word: str, info: ValidationInfo) -> str:
        sentence, start = info.data.get("sentence"), info.data.get("start")
        if sentence is None or "start" not in info.data:
            return word  # which is wrong by itself
        if start is not None:
            if sentence[start : start + len(word)] != word:
                raise ValueError(
                    f"is not what the sentence has after {start} characters. Correct `start`, or leave it out."
                )
            return word
        places = _places(sentence, word)
        if not places:
            raise ValueError("is not in its sentence. Write it as the sentence has it.")
        if len(places) > 1:
            raise ValueError(
                f"is there {len(places)} times. Say with `start` which one it is: the number of characters before it "
                f"({', '.join(map(str, places[:10]))})."
            )
        return word

    @field_validator("candidates")
    @classmethod
    def _each_once(cls, value: list[ShownFrame]) -> list[ShownFrame]:
        names = [candidate.frame for candidate in value]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"has the frame {twice!r} twice. Remove one of the two.")
        return value


def seconds(item: Payload) -> float:
    """How long an item takes at least: all that its page shows at first, which is less of a long list."""
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
    """Where the word stands by itself; if nowhere, where it stands at all."""
    whole = [found.start() for found in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", sentence)]
    return whole or [found.start() for found in re.finditer(re.escape(word), sentence)]


def frames_of(payload: Payload) -> list[str]:
    return [candidate["frame"] for candidate in payload["candidates"]]


def shown(payload: Payload) -> dict[str, Any]:
    """What a worker sees: nothing that tells where a candidate came from."""
    start = payload.get("start")
    return {
        "sentence": payload["sentence"],
        "word": payload["word"],
        "start": _places(payload["sentence"], payload["word"])[0] if start is None else start,
        "candidates": [dict(candidate) for candidate in payload["candidates"]],
        **({"left_out": left_out} if isinstance(left_out := payload.get("left_out"), int) and left_out > 0 else {}),
    }


def arrange(payload: Payload, seeds: Seeds) -> dict[str, Any]:
    """The candidates in an order of the worker's own."""
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
