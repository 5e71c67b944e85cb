"""Lists of e-mail addresses: one per line, or in a column of a CSV file."""

import csv
import re
from io import StringIO
from pathlib import Path

from chorale.files.source import MOST_PROBLEMS, read_source
from chorale.model import Problem, UserError

COLUMNS = ("email", "e-mail", "address", "mail")
LONGEST = 254
_PART = r"[^@\s\",;:<>()\[\]\\]+"
_ADDRESS = re.compile(rf"{_PART}@[^@\s\",;:<>()\[\]\\.]+(\.[^@\s\",;:<>()\[\]\\.]+)+")


def is_address(text: str) -> bool:
    """Whether a text looks like an e-mail address."""
    return bool(_ADDRESS.fullmatch(text)) and len(text) <= LONGEST and text.isprintable()


def read_addresses(path: Path) -> list[str]:
    """The addresses in a file, each once, in lower case and in their original order."""
    rows = csv.reader(StringIO(read_source(path).text))
    column, header = 0, True
    problems: list[Problem] = []
    addresses: dict[str, None] = {}
    try:
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if header:
                header = False
                named = [index for index, cell in enumerate(row) if cell.strip().lower() in COLUMNS]
                if named:
                    column = named[0]
                    continue
            cell = row[column].strip() if column < len(row) else ""
            if is_address(cell):
                addresses[cell.lower()] = None
            elif len(problems) < MOST_PROBLEMS:
                fix = "Write one address like name@example.org per line, or name the column `email`."
                problems.append(Problem(str(path), rows.line_num, "no valid e-mail address", fix, repr(cell[:80])))
    except csv.Error as error:
        problems.append(Problem(str(path), rows.line_num, f"is not CSV: {error}", "Write one address per line."))
    if problems:
        raise UserError(f"{path} can't be used", problems)
    if not addresses:
        raise UserError(f"{path} has no addresses. Write one per line.")
    return list(addresses)
