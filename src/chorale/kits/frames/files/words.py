"""Words in sentences whose frames are to be named: nobody need have judged them, so no scores are asked for.

`frame_sentences` reads what a crowd made of them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorale.files.rows import read_rows, shortened
from chorale.files.source import MOST_PROBLEMS, refused
from chorale.model import Problem, UserError

_COLUMNS = {"id": ("sent_id", "sentence_id", "unit", "id"), "text": ("sentence", "text"), "word": ("word",)}


@dataclass(frozen=True, slots=True)
class FrameWord:
    """A word in a sentence."""

    id: str
    text: str
    word: str
    """As it stands in the text, but perhaps in other letters."""

    @property
    def span(self) -> tuple[int, int]:
        """Where the word first stands, in characters; the end is not included."""
        place = _place(self.text, self.word)
        if place is None:
            raise ValueError(f"{self.word!r} does not stand in the sentence {self.id}")
        return place


def read_frame_words(paths: Sequence[Path]) -> list[FrameWord]:
    """One word for each sentence, sorted by id, from .csv, .tsv or .jsonl files with the columns `sent_id`, `sentence`
    and `word`. Rows of the same sentence, one per frame, say the same word."""
    problems: list[Problem] = []
    words: dict[str, FrameWord] = {}
    for path in paths:
        for row in read_rows(path, shown_as=str(path), problems=problems):
            values = {name: _text(row.values, columns) for name, columns in _COLUMNS.items()}
            if not all(values.values()):
                lacking = next(_COLUMNS[name][0] for name, value in values.items() if not value)
                fix = "The file needs the columns sent_id, sentence and word, filled in."
                problems.append(Problem(str(path), row.line, f"has nothing under {lacking!r}", fix, None))
            else:
                _add(FrameWord(values["id"], values["text"], values["word"]), str(path), row.line, words, problems)
            if len(problems) >= MOST_PROBLEMS:
                break
    if problems:
        raise UserError("The sentences can't be used", problems)
    if not words:
        raise refused(paths[0], None, "has no sentences", "Check that the right file was named")
    return [words[name] for name in sorted(words)]


def _text(values: dict[str, Any], columns: Sequence[str]) -> str:
    value = next((values[name] for name in columns if name in values), "")
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _add(word: FrameWord, file: str, line: int, words: dict[str, FrameWord], problems: list[Problem]) -> None:
    known = words.get(word.id)
    if known == word:
        return
    if known is not None:
        fix = "Give every sentence and word an id of its own."
        problems.append(Problem(file, line, "has an id with another sentence or word", fix, shortened(word.id)))
    elif _place(word.text, word.word) is None:
        fix = "Write the word as it stands in the sentence."
        problems.append(Problem(file, line, "has a word that is not in its sentence", fix, shortened(word.word)))
    else:
        words[word.id] = word


def _place(text: str, word: str) -> tuple[int, int] | None:
    for pattern in (rf"(?<!\w){re.escape(word)}(?!\w)", re.escape(word)):
        match = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)
        if match:
            return match.span()
    return None
