"""The colours of pictures: each has a class, so that a page can set others, and a value for where no page does.

Series colours follow Okabe and Ito (2008), darkened to a contrast of at least 3 on white. Every class sets `color`
alone; shapes are painted in `currentColor`.
"""

from collections.abc import Mapping

SERIES = 6
LIGHT: Mapping[str, str] = {
    "ink": "#1d2430",
    "soft": "#566172",
    "grid": "#dde2e9",
    "axis": "#7f8a9a",
    "back": "#ffffff",
    "1": "#00446b",
    "2": "#d55e00",
    "3": "#00825f",
    "4": "#8a4f7d",
    "5": "#2f86c4",
    "6": "#8c6d00",
}
DARK: Mapping[str, str] = {
    "ink": "#e6e9ee",
    "soft": "#a9b3c1",
    "grid": "#333c49",
    "axis": "#8a94a4",
    "back": "#14181f",
    "1": "#8abdf0",
    "2": "#f2924e",
    "3": "#58c9a1",
    "4": "#d3a0c8",
    "5": "#57a7de",
    "6": "#d6bb4a",
}
FILLS = ("1", "0.85", "0.3", "0.7", "0.5", "0.2")
"""How opaque the bars of each series are: the first three differ in lightness enough for grey paper."""
DASHES = ("", "7 4", "2 4", "10 3 2 3", "14 5", "4 2")
"""How the lines of each series are broken, to be distinct without colour."""


def tone(name: str) -> str:
    """The attributes that give an element, and all in it, a colour."""
    return f'class="pic-{name}" color="{LIGHT[name]}"'


def series_tone(number: int) -> str:
    """The colour of a series, counted from 0; after the last colour, the first again."""
    return tone(str(number % SERIES + 1))


_DARK_RULES = "\n".join(f"  .pic-{name} {{ color: {colour}; }}" for name, colour in DARK.items())
PAGE_STYLE = f"@media screen and (prefers-color-scheme: dark) {{\n{_DARK_RULES}\n}}"
"""For pages that follow the reader's choice of light or dark; on paper, pictures are light."""
