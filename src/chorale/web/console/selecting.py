"""Bulk actions on rows of a table: the selected rows, and the confirmation page."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Form, Request, Response
from fastapi.responses import RedirectResponse

from chorale.engine.running import Study
from chorale.files.tables import TableRow, write_csv
from chorale.model import UserError
from chorale.store import Tx, events
from chorale.web.console.frame import NO_NUL, Console

MOST_SELECTED = 25
"""Number of rows on a page of a table, and the maximum number of selected rows."""
_OF_NOTICES = ("done", "n", "part")

ListQuery = Annotated[str, Form(max_length=2000, pattern=NO_NUL)]
"""The filters and the order of the table, to return to them."""
Selected = Annotated[
    list[Annotated[str, Form(min_length=1, max_length=400, pattern=NO_NUL)]] | None, Form(max_length=MOST_SELECTED)
]


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The content of the confirmation page of a bulk action."""

    title: str
    """The question, without its question mark."""
    consequence: str
    button: str
    action: str
    """The path that the confirmed form is sent to."""
    path: str
    """The page of the table, to return to."""
    chosen: list[str]
    asks: str = "reason"
    """The input that the page asks for: only a reason, or also a message, a bonus or a qualification; or a question."""
    left_out: str = ""
    is_danger: bool = False
    stage: str = ""


def selected(chosen: list[str] | None, kind: str) -> list[str]:
    """The selected values, without duplicates and sorted, so that two owners lock the same rows in the same order."""
    if not chosen:
        raise UserError(f"Select at least one {kind}.")
    return sorted(set(chosen))


def confirmation_page(
    console: Console, request: Request, confirmation: Confirmation, query: str, code: int = 200, **context: Any
) -> Response:
    shown = {"confirmation": confirmation, "list_query": query, "under": confirmation.path, "typed": {}}
    return console.page(request, "selected", code, **{**shown, **context})


def back_to_table(path: str, query: str, done: str, n: int) -> Response:
    """Redirect to the table with its earlier filters and order."""
    kept = [(name, value) for name, value in parse_qsl(query) if name not in _OF_NOTICES]
    return RedirectResponse(f"{path}?{urlencode([*kept, ('done', done), ('n', n)])}", 303)


def table_file(name: str, columns: list[str], rows: Iterable[TableRow]) -> Response:
    """Rows of a table as a CSV file to download."""
    written = StringIO(newline="")
    write_csv(columns, rows, written)
    # Characters that a header cannot have are left out of the name.
    safe = re.sub(r"[^A-Za-z0-9._-]", "-", name)
    return Response(
        written.getvalue(),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{safe}.csv"'},
    )


def note_download(tx: Tx, study: Study, rows_name: str, rows: int, by: str) -> None:
    """Log a download of selected rows. The file contains only values that the page shows."""
    events.record(tx, study.clock(), "exported", {"by": by, "format": rows_name, "rows": rows})
