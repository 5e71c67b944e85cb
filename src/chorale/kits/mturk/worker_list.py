"""A worker file from Mechanical Turk's requester site, with the corresponding people in this study."""

from dataclasses import dataclass
from pathlib import Path

from chorale.files.rows import Row, read_rows
from chorale.files.shortening import shortened
from chorale.model import Problem, UserError

OLD_ID = ("Worker ID", "WorkerId", "worker_id")
PERSON = "person"
_BLOCK = ("UPDATE-BlockStatus", "UPDATE BlockStatus", "CURRENT BlockStatus")
_CURRENT, _UPDATE = "CURRENT-", "UPDATE-"
MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class ListedWorker:
    line: int
    old_id: str
    person: str
    """Person in this study, in any format of `chorale mturk map-workers`; empty if unknown."""
    blocked: bool
    values: dict[str, int]
    """Qualification scores by type name."""


def read_worker_list(path: Path) -> list[ListedWorker]:
    """Reads the file downloaded from *Manage Workers*, with an added column `person`."""
    if not path.is_file():
        raise UserError(f"{path} does not exist. Check the name of the worker file.")
    problems: list[Problem] = []
    rows = list(read_rows(path, shown_as=str(path), problems=problems))
    listed = [_listed(row, str(path), problems) for row in rows]
    if rows:
        columns = list(rows[0].values)
        for names, why in (
            (OLD_ID, "the worker's ID on Mechanical Turk"),
            ((PERSON,), "the person in this study, such as a participant ID"),
        ):
            if not set(names) & set(columns):
                fix = f"Add a column with {why}. Columns found: {', '.join(columns[:10])}."
                problems.insert(0, Problem(str(path), 1, f'no column named "{names[0]}"', fix))
    elif not problems:
        problems.append(Problem(str(path), None, "has no rows", "Check the name of the worker file."))
    people: dict[str, str] = {}
    for worker in listed:
        if people.setdefault(worker.old_id, worker.person) != worker.person:
            fix = "Keep one row per worker."
            problems.append(
                Problem(
                    str(path),
                    worker.line,
                    "names a different person than an earlier row for the same worker",
                    fix,
                    worker.old_id,
                )
            )
    if problems:
        raise UserError(f"{path} can't be used as a list of workers", problems[:MOST_PROBLEMS])
    return listed


def _listed(row: Row, path: str, problems: list[Problem]) -> ListedWorker:
    cells = {name: str(value or "").strip() for name, value in row.values.items()}
    values = {}
    names = [name.removeprefix(_CURRENT) for name in cells if name.startswith(_CURRENT) and name not in _BLOCK]
    for name in names:
        column = f"{_UPDATE}{name}" if cells.get(f"{_UPDATE}{name}") else f"{_CURRENT}{name}"
        cell = cells[column]
        if cell and cell.lower() != "revoke":
            try:
                values[name] = int(float(cell))
            except (ValueError, OverflowError):
                fix = f'Write a whole number in "{column}", or leave it empty.'
                problems.append(Problem(path, row.line, "has a score that is not a number", fix, shortened(cell)))
    status = next((cells[name] for name in _BLOCK if cells.get(name)), "").lower()
    old_id = next((cells[name] for name in OLD_ID if cells.get(name)), "")
    return ListedWorker(row.line, old_id, cells.get(PERSON, ""), status in ("block", "blocked"), values)
