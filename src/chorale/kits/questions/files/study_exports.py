"""Reads a study's exports of grades, responses and the ledger for analyses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from chorale.files.rows import Row, read_rows
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS
from chorale.model import Problem, UserError

_Read = TypeVar("_Read")
_GRADES_NEED = ("task", "worker", "label", "criterion")


@dataclass(frozen=True, slots=True)
class Worked:
    """A response, with the fields that costs need."""

    response: str
    stage: str
    task: str
    worker: str
    arm: str | None
    item: str
    questions: int
    seconds: float


@dataclass(frozen=True, slots=True)
class PaidAmount:
    """A line of the ledger."""

    worker: str
    stage: str
    kind: str
    amount: int


def read_grades(paths: Sequence[Path]) -> list[dict[str, str]]:
    """Reads the rows of `mcq-grades` exports."""
    return [row for path in paths for row in read_parsed(path, "grades", lambda row: _grade(row.values))]


def read_worked(path: Path) -> list[Worked]:
    """Reads the responses of an export `jsonl`."""
    return read_parsed(path, "responses", lambda row: worked_of(row.values))


def read_paid(path: Path) -> list[PaidAmount]:
    """Reads the lines of an export `ledger`."""
    return read_parsed(path, "payments", lambda row: paid_of(row.values))


class RowError(Exception):
    """An invalid row: the error and the fix."""

    def __init__(self, message: str, fix: str, value: str | None) -> None:
        super().__init__(message)
        self.problem = message, fix, value


def read_parsed(path: Path, content: str, parse: Callable[[Row], _Read]) -> list[_Read]:
    """Parses the rows of a table. Collects every `RowError` of `parse` in a `UserError`."""
    problems: list[Problem] = []
    rows = []
    for row in read_rows(path, shown_as=path.name, problems=problems):
        try:
            rows.append(parse(row))
        except RowError as wrong:
            problems.append(Problem(path.name, row.line, *wrong.problem))
        if len(problems) >= MOST_PROBLEMS:
            break
    if not problems and not rows:
        problems.append(Problem(path.name, None, f"has no {content}", "Check the file name."))
    if problems:
        raise UserError(f"{path.name} can't be used", problems[:MOST_PROBLEMS])
    return rows


def _text(values: dict[str, Any], name: str, export: str) -> str:
    value = values.get(name)
    if not isinstance(value, str) or not value:
        shown = None if value is None else shortened(value)
        raise RowError(f"has no {name}", f"Use a file written by `chorale export --format {export}`.", shown)
    return value


def _whole(values: dict[str, Any], name: str, export: str) -> int:
    value = values.get(name)
    try:
        return int(value if isinstance(value, int) else str(value))
    except ValueError:
        fix = f"Write a whole number, as in the output of `chorale export --format {export}`."
        shown = shortened("nothing" if value is None else value)
        raise RowError(f"has a {name} that is not a whole number", fix, shown) from None


def _grade(values: dict[str, Any]) -> dict[str, str]:
    for name in _GRADES_NEED:
        _text({name: str(values.get(name) or "")}, name, "mcq-grades")
    _whole(values, "label", "mcq-grades")
    return {name: str(value) for name, value in values.items() if value not in (None, "")}


def worked_of(values: dict[str, Any]) -> Worked:
    """Parses a row of the export `jsonl`."""
    answer, arm = values.get("answer"), values.get("arm")
    return Worked(
        response=str(_whole(values, "response", "jsonl")),
        stage=_text(values, "stage", "jsonl"),
        task=_text(values, "task", "jsonl"),
        worker=_text(values, "worker", "jsonl"),
        arm=arm if isinstance(arm, str) and arm else None,
        item=_text(values, "item", "jsonl"),
        questions=sum(name.startswith("question_") for name in answer) if isinstance(answer, dict) else 0,
        seconds=_whole(values, "duration_ms", "jsonl") / 1000,
    )


def paid_of(values: dict[str, Any]) -> PaidAmount:
    """Parses a row of the export `ledger`."""
    return PaidAmount(
        worker=str(values.get("worker") or ""),
        stage=str(values.get("stage") or ""),
        kind=_text(values, "kind", "ledger"),
        amount=_whole(values, "amount", "ledger"),
    )
