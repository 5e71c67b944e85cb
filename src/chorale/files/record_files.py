"""Files of JSON records: one list of them, or one on each line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chorale.files.rows import DEEPEST_NESTING, not_json, shortened, suffix_of
from chorale.files.source import MOST_PROBLEMS, Source
from chorale.model import Problem


def records_in(source: Source, path: Path, problems: list[Problem]) -> Iterator[tuple[int | None, str, Any]]:
    """Every record, with its line and how a message names it. What can't be read is added to the problems."""
    if suffix_of(path) in (".jsonl", ".ndjson"):
        for number, line in enumerate(source.text.split("\n"), 1):
            if line.strip():
                for value in _parsed(line, source.name, number, problems):
                    yield number, "the record", value
            if len(problems) >= MOST_PROBLEMS:
                return
        return
    for records in _parsed(source.text, source.name, 1, problems):
        if isinstance(records, list):
            for number, value in enumerate(records, 1):
                yield None, f"record {number:,}", value
        else:
            message, fix = "is not a list of records", "Write [ … ] around them."
            problems.append(Problem(source.name, 1, message, fix, shortened(records)))


def _parsed(text: str, name: str, first_line: int, problems: list[Problem]) -> Iterator[Any]:
    """What the text says; nothing if it is no JSON."""
    try:
        yield json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        near = shortened(text[max(0, error.pos - 20) : error.pos + 20])
        problems.append(Problem(name, line, not_json(error), "Correct it.", near))
    except (ValueError, RecursionError):
        message = f"can't be read as JSON: overlong numbers or more than {DEEPEST_NESTING} levels"
        problems.append(Problem(name, first_line, message, "Remove overlong numbers and deep nesting."))
