"""Tables and text as Markdown. All text is escaped."""

from chorale.metrics.score_table import ScoreTable, cell_text

_CHARACTERS = str.maketrans(
    {**{character: f"\\{character}" for character in "\\`*_{}[]#|~$!"}, "&": "&amp;", "<": "&lt;", ">": "&gt;"}
)


def markdown_text(text: str) -> str:
    """Escape text for Markdown, on one line."""
    return "".join(character if character.isprintable() else " " for character in text).translate(_CHARACTERS)


def markdown_table(table: ScoreTable) -> str:
    """A table with its title above it, for GitHub and Pandoc."""
    names = [markdown_text(name.removesuffix("#")) for name in table.columns]
    rules = ["---:" if name.endswith("#") else "---" for name in table.columns]
    rows = [[_cell(cell_text(value, table.digits)) for value in row] for row in table.rows]
    lines = [f"| {' | '.join(cells)} |" for cells in (names, rules, *rows)]
    return f"**{markdown_text(table.title)}**\n\n" + "\n".join(lines)


def _cell(text: str) -> str:
    return "&emsp;" * ((len(text) - len(text.lstrip(" "))) // 2) + markdown_text(text.strip(" "))
