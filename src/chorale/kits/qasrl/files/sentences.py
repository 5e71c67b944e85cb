"""The sentences that answers point into."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from chorale.files.rows import read_rows
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS
from chorale.files.tables import unescape_cell
from chorale.kits.qasrl.files.tokens import plain, same_tokens, tokens_in
from chorale.model import Problem, UserError

Tokens = tuple[str, ...]


def read_sentences(path: Path) -> dict[str, Tokens]:
    """Reads tokens by sentence ID from a CSV or JSONL file with `qasrl_id` and `tokens` (or `sentence`).

    Tokens are separated by spaces or given as a list.
    """
    problems: list[Problem] = []
    sentences: dict[str, Tokens] = {}
    for row in read_rows(path, shown_as=str(path), problems=problems):
        column = "tokens" if "tokens" in row.values else "sentence"
        missing = [name for name in ("qasrl_id", column) if name not in row.values]
        if missing:
            problems += [
                Problem(str(path), row.line, f"has no column {name}", nearest(name, row.values)) for name in missing
            ]
            break
        given, text = (_meant(row.values[name]) for name in ("qasrl_id", column))
        tokens = tuple(map(str, text)) if isinstance(text, list) else tokens_in(str(text))
        if not tokens:
            problems.append(
                Problem(str(path), row.line, "has a sentence without tokens", "Fill in the tokens.", str(given))
            )
        elif sentences.setdefault(str(given), tokens) != tokens:
            fix = "Keep the sentence that the answers refer to."
            message = "has a different sentence than an earlier row with the same ID"
            problems.append(Problem(str(path), row.line, message, fix, shortened(text)))
        if len(problems) >= MOST_PROBLEMS:
            break
    if not sentences and not problems:
        problems.append(Problem(str(path), None, "has no rows", "Check the file name."))
    if problems:
        raise UserError(f"{path} can't be used", problems)
    return sentences


def _meant(cell: Any) -> Any:
    """Removes the apostrophe that keeps spreadsheets from interpreting a cell as a formula."""
    return unescape_cell(cell) if isinstance(cell, str) else cell


def nearest(name: str, columns: Iterable[str]) -> str:
    """Advice for a missing column: rename a similar column, or add it."""
    there = {column.strip().lower().replace(" ", "_"): column for column in columns}
    close = get_close_matches(name, there, n=1, cutoff=0.6)
    if close:
        return f"If “{there[close[0]]}” is the missing column, rename it. Otherwise, add the column."
    return "Add the column, or check the file name."


def joined(sources: Iterable[tuple[str, Mapping[str, Tokens]]]) -> dict[str, Tokens]:
    """Merges the sentences of several files. Raises an error if two files have different tokens for an ID."""
    together: dict[str, Tokens] = {}
    came_from: dict[str, str] = {}
    problems = []
    for name, sentences in sources:
        for given, tokens in sentences.items():
            other = together.setdefault(given, tokens)
            if same_tokens(other, tokens):
                came_from.setdefault(given, name)
                continue
            message = f"has a different text for sentence {given} than {came_from[given]}: {_difference(tokens, other)}"
            problems.append(Problem(name, None, message, "Use files with the same texts, split into the same tokens."))
    if problems:
        problems.sort(key=str)
        raise UserError("The files have different sentences", problems[:MOST_PROBLEMS])
    return together


def _difference(tokens: Tokens, other: Tokens) -> str:
    for number, (here, there) in enumerate(zip(tokens, other, strict=False)):
        if plain(here) != plain(there):
            return f"token {number} is {shortened(here)} here and {shortened(there)} there"
    return f"{len(tokens)} tokens here and {len(other)} there"
