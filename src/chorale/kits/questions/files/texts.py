"""Source texts for passages: plain text, JSONL, or folders such as the Open American National Corpus.

A folder is searched for .txt files. Files in a genre folder of that corpus have its genre. The genre of all others is
the name of their subfolder. A JSONL row has `text` (or `passage`), and optionally `id` and `genre`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chorale.files.rows import is_table, read_rows, suffix_of
from chorale.files.shortening import shortened
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
"""The ten genres that can be read without special knowledge, by their folder names in the corpus."""
_OBJECTS = {".jsonl", ".ndjson"}


@dataclass(frozen=True, slots=True)
class SourceText:
    id: str
    text: str
    genre: str
    source: str
    """The file it comes from."""
    unreadable: Problem | None = None
    """Reason why its file has no readable text; `text` is then empty."""


def read_texts(paths: Sequence[Path]) -> Iterator[SourceText]:
    """Reads every text of the files and folders, in a fixed order. Raises a `UserError` that lists all problems."""
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for path in paths:
        for text in _texts(path, problems):
            if text.id in seen:
                message = f"repeats the ID of a text in {seen[text.id]}"
                problems.append(Problem(text.source, None, message, "Give every text a unique ID.", text.id))
            seen[text.id] = text.source
            if not problems:
                yield text
        if len(problems) >= MOST_PROBLEMS:
            break
    if not problems and not seen:
        names = ", ".join(str(path) for path in paths)
        problems.append(Problem(names, None, "has no texts", "Use .txt or .jsonl files, or a folder of .txt files."))
    if problems:
        raise UserError("The texts can't be used", problems[:MOST_PROBLEMS])


def other_files(paths: Sequence[Path]) -> int:
    """The number of files in folders that are not read as texts."""
    inside = (file for path in paths if path.is_dir() for file in path.rglob("*"))
    return sum(not file.is_dir() and not _is_read(file) for file in inside)


def _is_read(file: Path) -> bool:
    """Links are not read: they could lead outside the folder."""
    return file.suffix == ".txt" and file.is_file() and not file.is_symlink()


def _texts(path: Path, problems: list[Problem]) -> Iterator[SourceText]:
    if path.is_dir():
        for file in sorted(path.rglob("*.txt")):
            if _is_read(file):
                name = file.relative_to(path).as_posix()
                yield _file(file, name, _genre(file.relative_to(path)))
    elif suffix_of(path) in _OBJECTS:
        for number, row in enumerate(read_rows(path, shown_as=path.name, problems=problems), 1):
            text = _row(path, number, row.values, row.line, problems)
            if text is not None:
                yield text
    elif is_table(path):
        message, fix = "is a table, not text", "Use a .txt or .jsonl file, or a folder of .txt files."
        problems.append(Problem(path.name, None, message, fix, path.suffix))
    else:
        yield SourceText(path.stem, read_source(path).text, "", path.name)


def _file(file: Path, name: str, genre: str) -> SourceText:
    """A file in a folder. If it is empty or unreadable, it is left out later, with the reason.

    One bad file must not make a whole corpus unusable. A bad file that the user names directly is an error instead.
    """
    try:
        return SourceText(name, read_source(file, may_be_empty=True).text, genre, name)
    except UserError as error:
        return SourceText(name, "", genre, name, replace(error.problems[0], file=name))


def _row(path: Path, number: int, values: dict[str, Any], line: int, problems: list[Problem]) -> SourceText | None:
    text = values.get("text", values.get("passage"))
    if not isinstance(text, str) or not text.strip():
        shown = "nothing" if text is None else shortened(text)
        problems.append(Problem(path.name, line, "has no text", 'Write "text": "…".', shown))
        return None
    name, genre = values.get("id", f"{path.stem}-{number}"), values.get("genre") or ""
    if not isinstance(name, str | int) or isinstance(name, bool) or not isinstance(genre, str):
        shown = shortened(genre if isinstance(name, str | int) else name)
        problems.append(Problem(path.name, line, "has an ID or genre that is not text", "Write it in quotes.", shown))
        return None
    return SourceText(str(name), text, genre, path.name)


def _genre(path: Path) -> str:
    parts = [part.casefold() for part in path.parts[:-1]]
    known = next((OANC_GENRES[part] for part in reversed(parts) if part in OANC_GENRES), None)
    return known or (parts[-1] if parts else "")
