"""Texts that passages are cut from: plain text, JSONL, or folders such as the Open American National Corpus.

A folder is searched for .txt files. Of the corpus' own folders the genre is known by their names; in any other it is
the folder a file lies in. A JSONL row has `text` (or `passage`), and may have `id` and `genre`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorale.files.rows import is_table, read_rows, shortened, suffix_of
from chorale.files.source import MOST_PROBLEMS, read_source
from chorale.model import Problem, UserError

OANC_GENRES = {
    "face-to-face": "face-to-face",
    "telephone": "telephone",
    "911report": "911",
    "travel_guides": "travel",
    "letters": "letters",
    "slate": "slate",
    "verbatim": "verbatim",
    "government": "government",
    "oup": "oup",
    "fiction": "fiction",
}
"""The ten genres that people can read without special knowledge, by the names of their folders in the corpus."""
_OBJECTS = {".jsonl", ".ndjson"}


@dataclass(frozen=True, slots=True)
class SourceText:
    id: str
    text: str
    genre: str
    source: str
    """The file it comes from."""


def read_texts(paths: Sequence[Path]) -> Iterator[SourceText]:
    """Every text of the files and folders, in a fixed order. What is wrong is a `UserError` that lists it."""
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for path in paths:
        for text in _texts(path, problems):
            if text.id in seen:
                message = f"has the id of a text in {seen[text.id]} again"
                problems.append(Problem(text.source, None, message, "Give every text a unique id.", text.id))
            seen[text.id] = text.source
            if not problems:
                yield text
        if len(problems) >= MOST_PROBLEMS:
            break
    if not problems and not seen:
        names = ", ".join(str(path) for path in paths)
        problems.append(Problem(names, None, "has no texts", "Name .txt or .jsonl files, or a folder with .txt files."))
    if problems:
        raise UserError("The texts can't be used", problems[:MOST_PROBLEMS])


def _texts(path: Path, problems: list[Problem]) -> Iterator[SourceText]:
    if path.is_dir():
        for file in sorted(path.rglob("*.txt")):
            # A link could lead anywhere; what is in the folder is meant.
            if file.is_file() and not file.is_symlink():
                name = file.relative_to(path).as_posix()
                yield SourceText(name, read_source(file).text, _genre(file.relative_to(path)), name)
    elif suffix_of(path) in _OBJECTS:
        for number, row in enumerate(read_rows(path, shown_as=path.name, problems=problems), 1):
            text = _row(path, number, row.values, row.line, problems)
            if text is not None:
                yield text
    elif is_table(path):
        message, fix = "is a table", "Name a .txt or .jsonl file, or a folder of .txt files."
        problems.append(Problem(path.name, None, message, fix, path.suffix))
    else:
        yield SourceText(path.stem, read_source(path).text, "", path.name)


def _row(path: Path, number: int, values: dict[str, Any], line: int, problems: list[Problem]) -> SourceText | None:
    text = values.get("text", values.get("passage"))
    if not isinstance(text, str) or not text.strip():
        shown = "nothing" if text is None else shortened(text)
        problems.append(Problem(path.name, line, "has no text", 'Write "text": "…".', shown))
        return None
    name, genre = values.get("id", f"{path.stem}-{number}"), values.get("genre") or ""
    if not isinstance(name, str | int) or isinstance(name, bool) or not isinstance(genre, str):
        shown = shortened(genre if isinstance(name, str | int) else name)
        problems.append(Problem(path.name, line, "has an id or genre that is not text", "Write it in quotes.", shown))
        return None
    return SourceText(str(name), text, genre, path.name)


def _genre(path: Path) -> str:
    parts = [part.casefold() for part in path.parts[:-1]]
    known = next((OANC_GENRES[part] for part in reversed(parts) if part in OANC_GENRES), None)
    return known or (parts[-1] if parts else "")
