"""Refusals by middleware, which has no study and no templates: a small page for browsers, JSON for programs."""

from collections.abc import Mapping
from html import escape

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, Response

_PAGE = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>{title}</h1><p>{message}</p></main></body>
</html>
"""
_TITLES = {400: "Invalid request", 403: "Not possible", 413: "Request too large", 429: "Too many requests"}


def bare_refusal(
    headers: Headers, status: int, code: str, message: str, more: Mapping[str, str] | None = None
) -> Response:
    """The response to a request with these headers; `more` are headers of the response."""
    if "text/html" in headers.get("accept", ""):
        page = _PAGE.format(title=escape(_TITLES[status]), message=escape(message))
        return HTMLResponse(page, status, more)
    return JSONResponse({"error": {"code": code, "message": message}}, status, more)
