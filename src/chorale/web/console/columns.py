"""Which columns of a large table are hidden. The choice is kept in a cookie, so it needs no scripts and no account."""

from typing import Annotated, Literal

from fastapi import Query, Response
from fastapi.responses import RedirectResponse

from chorale.web.console.frame import MOST_COLUMNS, NO_NUL, Console

YEAR_SECONDS = 365 * 86400

Table = Literal["items", "workers", "payments", "balances"]
"""Each table has the name of its page, except `balances`: the table of payments without a column for Prolific."""
Column = Annotated[int, Query(ge=1, le=MOST_COLUMNS)]


def add_column_routes(shown: Console) -> None:
    @shown.to_see.get("/columns/{name}")
    async def choose(
        name: Table,
        count: Column,
        show: Annotated[list[int], Query(max_length=MOST_COLUMNS)] = [],  # noqa: B006 - FastAPI copies it
        query: Annotated[str, Query(max_length=2000, pattern=NO_NUL)] = "",
    ) -> Response:
        page = "payments" if name == "balances" else name
        back = RedirectResponse(f"/console/{page}" + (f"?{query}" if query else ""), 303)
        hidden = ".".join(str(number) for number in range(2, count + 1) if number not in show)
        if hidden:
            shown.site.set_cookie(back, f"columns-{name}", hidden, YEAR_SECONDS)
        else:
            shown.site.delete_cookie(back, f"columns-{name}")
        return back
