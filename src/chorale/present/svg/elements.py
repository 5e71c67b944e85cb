"""Elements of pictures: escaped and fitted text, lines, and the SVG root."""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from unicodedata import combining, east_asian_width

from chorale.present.svg.colours import tone

WIDTH = 640
FONT = "system-ui, 'DejaVu Sans', 'Liberation Sans', Arial, sans-serif"
SIZE = 12
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
# Widths of DejaVu Sans in ems: it is the widest of the usual fonts, so other fonts need less room.
_WIDTHS = (
    ("ijlI|'", 0.29),
    (" .,:;!t()[]/fr-", 0.4),
    ('csxyvzk"*?_JLF–', 0.57),
    ("mwMWQO%@&+<>=~#…", 0.92),
)


def number_text(value: float) -> str:
    """A coordinate rounded to a tenth, in its shortest form."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def plain(text: str) -> str:
    """Text on one line, without characters that XML forbids."""
    return " ".join(_NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text).split())


def escaped(text: str) -> str:
    return escape(plain(text), quote=True)


@cache
def _letter_width(letter: str) -> float:
    if combining(letter):
        return 0.0
    if east_asian_width(letter) in ("W", "F"):
        return 1.0
    return next((width for letters, width in _WIDTHS if letter in letters), 0.7 if letter.isupper() else 0.635)


def text_width(text: str, size: float = SIZE) -> float:
    """The approximate width of a text, rather too large than too small."""
    return size * sum(map(_letter_width, text))


def fitted(text: str, room: float, size: float = SIZE) -> str:
    """Shorten a text to fit, with an ellipsis."""
    text = plain(text)
    if text_width(text, size) <= room:
        return text
    left = room - text_width("…", size)
    for place, letter in enumerate(text):
        left -= text_width(letter, size)
        if left < 0:
            return text[: max(1, place)].rstrip() + "…"
    return text


def wrapped(text: str, room: float, most: int, size: float = SIZE) -> tuple[str, ...]:
    """Wrap a text to at most `most` lines; the last is shortened if there is more."""
    lines: list[str] = []
    parts: list[str] = []
    for word in re.split(r"(?<= )", plain(text)):
        # Long names are broken after their hyphens.
        short = text_width(word.rstrip(), size) <= room
        parts += [word] if short else [part for part in re.split(r"(?<=[_/-])", word) if part]
    while parts and len(lines) < most - 1:
        line = parts.pop(0)
        while parts and text_width((line + parts[0]).rstrip(), size) <= room:
            line += parts.pop(0)
        lines.append(fitted(line, room, size))
    if parts:
        lines.append(fitted("".join(parts), room, size))
    return tuple(lines)


def text(x: float, y: float, words: str, anchor: str = "start", colour: str = "", *, more: str = "") -> str:
    """Text at a position. Shortened text has the complete text (`more`) as a tooltip."""
    painted = f" {tone(colour)}" if colour else ""
    tooltip = f"<title>{escaped(more)}</title>" if more and plain(more) != words else ""
    place = f'x="{number_text(x)}" y="{number_text(y)}" text-anchor="{anchor}"'
    return f"<text {place}{painted}>{escaped(words)}{tooltip}</text>"


def line(x1: float, y1: float, x2: float, y2: float, rest: str = "") -> str:
    ends = f'x1="{number_text(x1)}" y1="{number_text(y1)}" x2="{number_text(x2)}" y2="{number_text(y2)}"'
    return f"<line {ends}{' ' + rest if rest else ''}/>"


def rectangle(x: float, y: float, width: float, height: float, rest: str = "") -> str:
    corner = f'x="{number_text(x)}" y="{number_text(y)}"'
    size = f'width="{number_text(width)}" height="{number_text(height)}"'
    return f"<rect {corner} {size}{' ' + rest if rest else ''}/>"


def strokes(colour: str, parts: Sequence[str], width: float = 1) -> str:
    """Lines of one colour."""
    return f'<g {tone(colour)} stroke="currentColor" stroke-width="{number_text(width)}">{"".join(parts)}</g>'


def picture(title: str, width: float, height: float, parts: Sequence[str], description: str = "") -> str:
    """A complete picture. Screen readers read its title and description."""
    desc = f"<desc>{escaped(description)}</desc>" if description else ""
    size = f'viewBox="0 0 {number_text(width)} {number_text(height)}"'
    size += f' width="{number_text(width)}" height="{number_text(height)}"'
    font = f'font-family="{FONT}" font-size="{SIZE}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escaped(title)}" {tone("ink")} '
        f'fill="currentColor" {font}><title>{escaped(title)}</title>{desc}{"".join(parts)}</svg>'
    )


def standalone(svg: str) -> str:
    """A picture as a standalone file, on white."""
    opening, _, rest = svg.partition(">")
    paper = f'<rect width="100%" height="100%" {tone("back")}/>'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{opening}>{paper}{rest}\n'


def stacked(title: str, panels: Sequence[tuple[str, str]]) -> str:
    """Pictures below each other, each with a heading above it."""
    parts = []
    height, width = 0.0, float(WIDTH)
    for heading, svg in panels:
        size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
        wide, high = (float(size[1]), float(size[2])) if size else (float(WIDTH), 0.0)
        parts.append(f'<g font-weight="600">{text(12, height + 24, heading)}</g>')
        parts.append(svg.replace("<svg ", f'<svg y="{number_text(height + 34)}" ', 1))
        height += high + 44
        width = max(width, wide)
    return picture(title, width, height, parts)
