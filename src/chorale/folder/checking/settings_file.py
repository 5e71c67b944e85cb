"""Reads the study file: decodes it and parses its TOML to JSON values."""

import math
import re
import tomllib
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from chorale.files.shortening import shortened
from chorale.files.toml_lines import TomlPath
from chorale.folder.checking.named_files import decoded
from chorale.folder.checking.report import SETTINGS_FILE, CheckReport
from chorale.present.shell import argument

_DEEPEST = 20
_TABLES = (".csv", ".tsv", ".jsonl")
_FEW_NAMES = 5
_MOST_BROKEN_LINES = 50
_LONG_QUOTES = ('"""', "'''")
_HEADING = re.compile(r"\s*(\[+)\s*([A-Za-z0-9_.-]+)\s*\]*\s*(?:#.*)?$")
"""A line that looks like a table header with missing or extra brackets."""
_TWICE = "Cannot overwrite a value"
"""tomllib's message for a duplicate key, which it does not name."""
_OCCURS_TWICE = "occurs twice"
_NO_VALUE = "invalid value"
_LINE_ENDS_IN_QUOTES = ("illegal character '\\n'", "found invalid character '\\n'")
_FILE_ENDS_IN_QUOTES = "unterminated string"
"""tomllib's messages for a missing closing quote."""


def read_settings(report: CheckReport) -> dict[str, Any] | None:
    """The study file as JSON values; None if nothing in it can be checked."""
    try:
        raw = (report.root / report.file).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        if report.root.exists():
            report.add(report.file, None, f"not found in {report.root}", which_folder(report.root))
        else:
            report.add(str(report.root), None, "no such folder", which_folder(report.root))
        return None
    except OSError as error:
        report.add(report.file, None, f"can't be read: {error.strerror}", "Make the file readable.")
        return None
    text = decoded(raw, report.file, report)
    return None if text is None else settings_in(text, report)


def which_folder(path: Path) -> str:
    """What to do about a path that is not a study's folder, depending on its content."""
    if path.is_file():
        if path.name == SETTINGS_FILE:
            return f"Name the folder: {path.parent}"
        if path.suffix in _TABLES:
            return f"To make a study from this table: `chorale new my-study --from {argument(path)}`."
    if studies := _names_in(path, f"*/{SETTINGS_FILE}"):
        return f"Studies in this folder: {', '.join(str(Path(name).parent) for name in studies)}."
    tables = [name for ending in _TABLES for name in _names_in(path, f"*{ending}")]
    own = f"--from {path / tables[0]}" if tables else "--from texts.csv"
    return (
        f"Name a study's folder, or make one with `chorale new my-study`: from your own table (`{own}`), from a "
        "template (`--template NAME`), or from a Mechanical Turk layout and batch file (`--html FILE --csv FILE`)."
    )


def _names_in(folder: Path, pattern: str) -> list[str]:
    try:
        return sorted(str(found.relative_to(folder)) for found in folder.glob(pattern))[:_FEW_NAMES]
    except OSError:
        return []


def settings_in(text: str, report: CheckReport) -> dict[str, Any] | None:
    """Parse the text of a settings file to JSON values.

    A line that is not TOML is reported and skipped, so that it does not hide other problems.
    """
    report.text = text
    for _ in range(_MOST_BROKEN_LINES):
        try:
            settings = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            broken = _report_broken_line(error, text, report)
            repaired = _without_line(text, broken, report)
            if repaired is None:
                return None
            text = repaired
        except (ValueError, RecursionError):
            report.add(report.file, None, "can't be read as TOML", "Remove overlong numbers and deep nesting.")
            return None
        else:
            if text != report.text and not settings.get("stage"):
                return None  # too little is left to check
            return {name: _usable(value, (name,), report) for name, value in settings.items()}
    return None


def _report_broken_line(error: tomllib.TOMLDecodeError, text: str, report: CheckReport) -> int:
    """Report a line that is not TOML; returns its number."""
    message, line = _without_position(str(error), text)
    fix = "Correct the line; see https://toml.io."
    if (opened := _line_of_open_quote(message, line, text)) is not None:
        message, line = "a quote opens on this line and is probably not closed", opened
        fix = "Add the quote at the end of the text. Put a text of several lines between triple quotes."
    elif message.endswith(_OCCURS_TWICE):
        fix = "Remove one of them."
    elif message == _NO_VALUE:
        fix = "Put text in quotes. Write numbers, true and false without quotes."
    report.add(report.file, line, f"is not TOML: {message}", fix)
    return line


def _without_line(text: str, number: int, report: CheckReport) -> str | None:
    """The text without a broken line, or with the table header that was probably meant; None if nothing changes."""
    lines = text.splitlines()
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    if any(quotes in line for quotes in _LONG_QUOTES):
        return None  # the following lines may be part of a string
    heading = _HEADING.match(line)
    if heading is not None:
        brackets = min(len(heading[1]), 2)
        lines[number - 1] = f"{'[' * brackets}{heading[2].strip()}{']' * brackets}"
    else:
        key = line.partition("=")[0].strip() if "=" in line else ""
        report.lost_keys |= {part.strip(" \"'") for part in key.split(".")[-1:] if part}
        lines[number - 1] = ""
    changed = "\n".join(lines) + "\n"
    return None if changed.strip() == text.strip() else changed


def _without_position(message: str, text: str) -> tuple[str, int]:
    """A message of tomllib and its line, which older versions of Python have only in the message."""
    match = re.search(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$", message)
    line = int(match[1]) if match and match[1] else text.rstrip().count("\n") + 1
    message = message[: match.start()] if match else message
    if message == _TWICE:
        key = text.splitlines()[line - 1].partition("=")[0].strip()
        return f"`{shortened(key)[1:-1]}` {_OCCURS_TWICE}", line
    return message[:1].lower() + message[1:], line


def _line_of_open_quote(message: str, line: int, text: str) -> int | None:
    """The line where an unclosed quote begins; None for other errors."""
    if message in _LINE_ENDS_IN_QUOTES:
        return line
    # The closing quote is missing, so the last quote is the opening one.
    quote = {'expected "\'"': "'", "expected \"'''\"": "'''"}.get(message)
    if message == _FILE_ENDS_IN_QUOTES:
        quote = '"""' if text.endswith("\n") else '"'
    return None if quote is None else text.count("\n", 0, text.rfind(quote)) + 1


def _usable(value: Any, path: TomlPath, report: CheckReport) -> Any:
    """The value as JSON, or a placeholder for a value that TOML allows but a study can't use."""
    match value:
        case dict() | list() if len(path) > _DEEPEST:
            report.setting(path, "is nested too deeply", "Remove some of the brackets.")
            return None
        case dict():
            return {name: _usable(inner, (*path, name), report) for name, inner in value.items()}
        case list():
            return [_usable(inner, (*path, number), report) for number, inner in enumerate(value)]
        case str() if "\0" in value:
            report.setting(path, "contains a NUL character", "Remove it.", value)
            return value.replace("\0", "?")
        case int() if not -(2**63) <= value < 2**63:
            report.setting(path, "is too large a number", "Write a smaller one.")
            return 1
        case float() if not math.isfinite(value):
            report.setting(path, "is not a finite number", "Write a number.", value)
            return 1
        case datetime() | date() | time():
            report.setting(path, "is a date or time", "Put it in quotes.", str(value))
            return str(value)
    return value
