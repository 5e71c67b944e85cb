"""Words in sentences whose frames are to be predicted. No annotations are needed; `frame_sentences` reads those."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS, refused
from chorale.kits.frames.files.reading import RowReading, text_of

_COLUMNS = (("sent_id", "sentence_id", "unit", "id"), ("sentence", "text"), ("word",))


@dataclass(frozen=True, slots=True)
class FrameWord:
    """A word in a sentence."""

    id: str
    text: str
    word: str
    """The word as in the text, except for case."""

    @property
    def span(self) -> tuple[int, int]:
        """Position of the word's first occurrence, in characters, end exclusive."""
        place = _place(self.text, self.word)
        if place is None:
            raise ValueError(f"{self.word!r} does not occur in the sentence {self.id}")
        return place


def read_frame_words(paths: Sequence[Path]) -> list[FrameWord]:
    """Reads one word per sentence, sorted by ID, from .csv, .tsv or .jsonl files with the columns `sent_id`, `sentence`
    and `word`. All rows of a sentence (one per frame) have the same word.
    """
    reading = RowReading()
    words: dict[str, FrameWord] = {}
    for path in paths:
        for row in reading.rows(path):
            values = [
                text_of(next((row.values[name] for name in names if name in row.values), "")) for names in _COLUMNS
            ]
            if not all(values):
                fix = "Fill in the columns sent_id, sentence and word in every row."
                reading.report(path, row.line, f"has no value for {_COLUMNS[values.index('')][0]!r}", fix)
            else:
                _add(FrameWord(*values), path, row.line, words, reading)
            if len(reading.problems) >= MOST_PROBLEMS:
                break
    reading.check("The sentences can't be used")
    if not words:
        raise refused(paths[0], None, "has no sentences", "Check the file name")
    return [words[name] for name in sorted(words)]


def _add(word: FrameWord, path: Path, line: int, words: dict[str, FrameWord], reading: RowReading) -> None:
    known = words.get(word.id)
    if known == word:
        return
    if known is not None:
        fix = "Give every pair of sentence and word a unique ID."
        reading.report(
            path, line, "has a different sentence or word than an earlier row with the same ID", fix, shortened(word.id)
        )
    elif _place(word.text, word.word) is None:
        fix = "Spell the word as in the sentence."
        reading.report(path, line, "has a word that is not in its sentence", fix, shortened(word.word))
    else:
        words[word.id] = word


def _place(text: str, word: str) -> tuple[int, int] | None:
    for pattern in (rf"(?<!\w){re.escape(word)}(?!\w)", re.escape(word)):
        match = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)
        if match:
            return match.span()
    return None
