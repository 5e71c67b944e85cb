"""The colours of pictures: each has a class, which a page can restyle, and a default value.

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
"""Opacity of the bars by series: the first three can be distinguished in greyscale."""
DASHES = ("", "7 4", "2 4", "10 3 2 3", "14 5", "4 2")
"""Dash patterns of the lines by series, to be distinct without colour."""


def tone(name: str) -> str:
    """The attributes that set the colour of an element and its children."""
    return f'class="pic-{name}" color="{LIGHT[name]}"'


def series_tone(number: int) -> str:
    """The colour of a series, counted from 0; colours repeat after the last."""
    return tone(str(number % SERIES + 1))


_DARK_RULES = "\n".join(f"  .pic-{name} {{ color: {colour}; }}" for name, colour in DARK.items())
PAGE_STYLE = f"@media screen and (prefers-color-scheme: dark) {{\n{_DARK_RULES}\n}}"
"""Styles for pages that follow the reader's choice of light or dark; printed pictures are light."""
