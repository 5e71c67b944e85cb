"""Pages that are files of their own, and what tables and texts are on them."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from chorale import __version__
from chorale.present.scoring import Cell, ScoreTable, shown_number


def html_text(text: str) -> str:
    """Text from anywhere, as HTML: nothing in it is markup, and half a surrogate pair can be written."""
    return escape(text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}"))


def html_table(table: ScoreTable) -> str:
    """A table in a part of its own, which can be moved sideways where the screen is narrow."""
    kinds = ["number" if name.endswith("#") else "text" for name in table.columns]

    def cells(texts: Iterable[str], tag: str) -> str:
        return "".join(f'<{tag} class="{kind}">{text}</{tag}>' for kind, text in zip(kinds, texts, strict=True))

    def told(row: Sequence[Cell]) -> Iterator[str]:
        for kind, value in zip(kinds, row, strict=True):
            text = _cell(value, table.digits)
            yield _with_interval(text) if kind == "number" else html_text(text)

    head = cells([html_text(name.removesuffix("#").strip()) for name in table.columns], "th")
    body = "".join(f"<tr>{cells(told(row), 'td')}</tr>" for row in table.rows)
    inside = f"<caption>{html_text(table.title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="wide" tabindex="0"><table>{inside}</table></div>'


def _with_interval(value: str) -> str:
    """A number; what stands in brackets beside it is kept together, on a line of its own where there is little room."""
    number, bracket, interval = html_text(value).partition(" (")
    return f'{number} <span class="interval">({interval}</span>' if bracket else number


def _cell(value: Cell, digits: int) -> str:
    if isinstance(value, float):
        return shown_number(value, digits)
    if isinstance(value, int) and not isinstance(value, bool):
        return shown_number(value, 0)
    return "" if value is None else str(value)


def html_page(title: str, style: str, body: str) -> str:
    """One HTML file with everything in it: no scripts, nothing to load. The body is HTML already."""
    return _PAGE.format(title=html_text(title), style=style, body=body, version=html_text(__version__))


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
<footer>Made by chorale {version}.</footer>
</body>
</html>
"""
