"""Imports Mechanical Turk batches in the layout of the frame corpus as stages of a frame study."""

from collections.abc import Mapping, Sequence
from typing import Any

from chorale.exchange.batch_kinds import BatchKind
from chorale.kits.frames.files.definitions import raw_examples
from chorale.kits.frames.framenet import Frame
from chorale.kits.frames.framenet.markup import marked_example, readable
from chorale.kits.frames.preparing import shown_frame
from chorale.kits.frames.task.items import NONE, in_words
from chorale.model import Answer

_NOT_ANY = "none of the above."
_EXAMPLES = 3
_TICKED = "|"
"""Separator that the platform writes between selected options."""
_BETWEEN = "','"
"""Separator between the definitions and between the examples of a list."""


def frame_name(text: str) -> str:
    """A frame name in the format of items.

    >>> frame_name(" f:Cause to be included")
    'Cause_to_be_included'
    """
    plain = text.strip().removeprefix("f:").strip()
    return NONE if plain.casefold() == _NOT_ANY else plain.replace(" ", "_")


def item_of(cells: Mapping[str, str]) -> dict[str, Any]:
    """A sentence with its word and candidates, from the columns of the corpus's input."""
    sentence, word = cells.get("sentence", "").strip(), cells.get("word_phrase", "").strip()
    names = list(dict.fromkeys(name for part in cells.get("frames", "").split(",") if (name := frame_name(part))))
    for column, value in (("sentence", sentence), ("word_phrase", word), ("frames", names)):
        if not value:
            raise ValueError(f"has no value in Input.{column}")
    word = _as_written(word, sentence)
    if not word:
        raise ValueError("has a word that is not in its sentence, in Input.word_phrase")
    if any(_TICKED in name or "\n" in name for name in names):
        raise ValueError("has frames that are not separated by commas in Input.frames")
    definitions, examples = (_listed(cells.get(column, ""), len(names)) for column in ("frame_def", "frame_ex"))
    shown = [
        _shown(name, definition, example)
        for name, definition, example in zip(names, definitions, examples, strict=True)
    ]
    start = _start(sentence, word, cells)
    kept = {name: text for name, text in cells.items() if name in ("vid", "lemma")}
    return {"sentence": sentence, "word": word, "start": start, "candidates": shown, **kept}


def _as_written(word: str, sentence: str) -> str:
    """The word as the sentence spells it, which may be capitalised; empty if the sentence does not contain it."""
    if word in sentence:
        return word
    start = sentence.lower().find(word.lower())
    spelt = sentence[start : start + len(word)]
    return spelt if start >= 0 and spelt.lower() == word.lower() else ""


def _listed(cell: str, wanted: int) -> Sequence[str]:
    """The parts of a quoted list; empty if their number does not match the frames."""
    parts = cell.strip()[1:-1].split(_BETWEEN)
    return parts if len(parts) == wanted else [""] * wanted


def _shown(name: str, definition: str, example: str) -> dict[str, Any]:
    text, _ = readable(definition)
    examples = tuple(found for raw in raw_examples(example) if (found := marked_example(raw)).text)
    return shown_frame(Frame(name, text or f"{in_words(name)}.", examples, own_words=True), _EXAMPLES)


def _start(sentence: str, word: str, cells: Mapping[str, str]) -> int:
    """Start of the word: by character (`beg`), by word number (`b`), or at its first occurrence."""
    by_character, by_word = (_number(cells.get(column, "")) for column in ("beg", "b"))
    if by_character is not None and sentence.startswith(word, by_character):
        return by_character
    if by_word is not None:
        place = sum(len(each) + 1 for each in sentence.split(" ")[:by_word])
        if (start := sentence.find(word, place)) >= 0:
            return start
    return sentence.index(word)


def _number(text: str) -> int | None:
    plain = text.strip().removesuffix(".0")
    return int(plain) if plain.isdecimal() else None


def answer_of(given: Mapping[str, Any]) -> Answer:
    """The selected frames. If a worker selected both frames and “None of the above.”, the frames count."""
    ticked = given.get("FrameType", ())
    parts = ticked.split(_TICKED) if isinstance(ticked, str) else ticked
    names = {name for part in parts if (name := frame_name(part))}
    frames = sorted(names - {NONE}) or [NONE]
    meaning = given.get("WhyNone")
    return {"frames": frames, "meaning": str(meaning)[:500]} if meaning else frames


FRAME_BATCH = BatchKind(
    task="frames",
    settings="release_confidence = 0",
    options='explain = "optional"',
    item_columns=frozenset({"sentence", "word_phrase", "frames"}),
    answer_column="FrameType",
    item=item_of,
    answer=answer_of,
)
