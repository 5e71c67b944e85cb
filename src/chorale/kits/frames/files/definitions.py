"""Custom definitions and examples of frames, for readers who do not know frames."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorale.files.rows import is_table
from chorale.files.shortening import shortened
from chorale.kits.frames.files.reading import RowReading, text_of
from chorale.kits.frames.framenet import Frame, FrameNet
from chorale.kits.frames.framenet.markup import marked_example, readable

_LIST_ITEM = re.compile(r"<(?:p|li)\b[^>]*>(.*?)</(?:p|li)>", re.DOTALL | re.IGNORECASE)
_MARKED_SPAN = re.compile(r"<span id='phrase_example'>(.*?)</span>", re.DOTALL)
"""Markup of the word in examples of the published definitions."""
_NEEDED = ("frame", "definition")
_NUMBER = re.compile(r"^\s*\(?\d+\)\s*")


@dataclass(frozen=True, slots=True)
class Definitions:
    """Custom definitions of frames."""

    frames: Mapping[str, Frame]
    """Definitions by frame name, in FrameNet's spelling."""
    unknown: tuple[str, ...]
    """Names that FrameNet does not have."""


def read_definitions(path: Path, framenet: FrameNet) -> Definitions:
    """Reads a .csv, .tsv or .jsonl file with the columns `frame`, `definition` and optionally `example`.

    An example marks its word as `<mark>word</mark>`. Several examples are in `<p>…</p>` each, or in a list (.jsonl).
    Other markup is removed.
    """
    reading = RowReading()
    frames: dict[str, Frame] = {}
    lines: dict[str, int] = {}
    unknown: list[str] = []
    for row in reading.rows(path):
        missing = [column for column in _NEEDED if column not in row.values]
        if missing and is_table(path):
            fix = f'Rename the column to "{missing[0]}", or add it.'
            reading.report(path, 1, f'has no column named "{missing[0]}"', fix, ", ".join(row.values))
            break
        name = text_of(row.values.get("frame"))
        definition, _ = readable(text_of(row.values.get("definition")))
        if not name or not definition:
            fix = "Give every row a frame and a definition."
            reading.report(path, row.line, "has no frame or no definition", fix, shortened(row.values))
            continue
        known = framenet.known(name)
        if known is None:
            unknown.append(name)
        elif lines.setdefault(known, row.line) != row.line:
            message = f"repeats the frame of line {lines[known]}"
            reading.report(path, row.line, message, "Keep one row for every frame.", name)
        else:
            examples = tuple(
                found for raw in raw_examples(row.values.get("example")) if (found := marked_example(raw)).text
            )
            frames[known] = Frame(known, definition, examples, own_words=True)
    reading.check(f"{path} can't be used")
    return Definitions(frames, tuple(unknown))


def raw_examples(cell: Any) -> Iterator[str]:
    """The examples in a cell, with the word in each marked as `<mark>`."""
    for text in cell if isinstance(cell, list) else [cell]:
        raw = _MARKED_SPAN.sub(r"<mark>\1</mark>", text_of(text))
        for each in _LIST_ITEM.findall(raw) or [raw]:
            yield _NUMBER.sub("", each)
