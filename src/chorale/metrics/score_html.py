"""Result tables as HTML for pages and notebooks. Text from files is always escaped."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from chorale.metrics.score_table import Cell, ScoreTable, cell_text


def html_text(text: str) -> str:
    """Escapes any text as HTML, including lone surrogates."""
    return escape(text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}"))


def html_table(table: ScoreTable) -> str:
    """A table in its own container, which scrolls horizontally on narrow screens."""
    kinds = ["number" if name.endswith("#") else "text" for name in table.columns]

    def cells(row: Iterable[str], tag: str) -> str:
        return "".join(f'<{tag} class="{kind}">{text}</{tag}>' for kind, text in zip(kinds, row, strict=True))

    def texts(row: Sequence[Cell]) -> Iterator[str]:
        for kind, value in zip(kinds, row, strict=True):
            text = cell_text(value, table.digits)
            yield _with_interval(text) if kind == "number" else html_text(text)

    head = cells([html_text(name.removesuffix("#").strip()) for name in table.columns], "th")
    body = "".join(f"<tr>{cells(texts(row), 'td')}</tr>" for row in table.rows)
    inside = f"<caption>{html_text(table.title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="wide" tabindex="0"><table>{inside}</table></div>'


def _with_interval(value: str) -> str:
    """A number. An interval in brackets is kept together and wraps to its own line if needed."""
    number, bracket, interval = html_text(value).partition(" (")
    return f'{number} <span class="interval">({interval}</span>' if bracket else number


def html_result(tables: Iterable[ScoreTable], notes: Iterable[str], signature: str) -> str:
    """Notebook output of a result: tables, notes and signature."""
    listed = "".join(f"<li>{html_text(note)}</li>" for note in notes)
    return "".join(
        [
            *map(html_table, tables),
            f"<ul>{listed}</ul>" if listed else "",
            f"<p><code>{html_text(signature)}</code></p>" if signature else "",
        ]
    )
