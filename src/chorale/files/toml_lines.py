"""TOML as text: the line numbers of settings, which tomllib does not report, and TOML strings."""

import json
import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

TomlPath = tuple[str | int, ...]

_KEY = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
_STATEMENT = re.compile(rf"[ \t]*(?P<opener>\[\[?)?[ \t]*(?P<key>{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*)[ \t]*[\]=]")
_TOKEN = re.compile(
    r'''
      """ (?: [^"\\] | \\. | "(?!"") )* "{3,5}
    | \'\'\' .*? \'{3,5}
    | "(?: [^"\\\n] | \\. )*"
    | '[^'\n]*'
    | \#[^\n]*
    | [\[\]{}\n]
    ''',
    re.VERBOSE | re.DOTALL,
)
_DEEPER = {"[": 1, "{": 1, "]": -1, "}": -1}


class Statement(NamedTuple):
    """A table header, or a `key =` at the left margin of a table."""

    start: int
    """Its first character's offset."""
    line: int
    opener: str | None
    """`[` or `[[` of a header."""
    names: tuple[str, ...]


def as_toml(text: str) -> str:
    """A text as a TOML string: like a JSON string, except for one character that TOML requires to be escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def line_of(text: str, path: TomlPath) -> int | None:
    """The line of the setting at `path`, or of the nearest table or key around it."""
    lines = _lines(text)
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


@lru_cache(maxsize=8)
def _lines(text: str) -> dict[TomlPath, int]:
    """The line of every key and table. Inline tables have the line of their key."""
    lines: dict[TomlPath, int] = {}
    lengths: dict[TomlPath, int] = {}
    table: TomlPath = ()
    for _, line, opener, names in statements(text):
        path: TomlPath = () if opener else table
        for number, name in enumerate(names, 1):
            path = (*path, name)
            lines.setdefault(path, line)
            if opener == "[[" and number == len(names):
                lengths[path] = lengths.get(path, 0) + 1
            if path in lengths:
                path = (*path, lengths[path] - 1)
                lines.setdefault(path, line)
        if opener:
            table = path
    return lines


def statements(text: str) -> Iterator[Statement]:
    """Every table header and every `key =` at the left margin of a table."""
    position, line = 0, 1
    while position < len(text):
        start = position
        statement = _STATEMENT.match(text, start)
        if statement:
            position = statement.end()
            yield Statement(start, line, statement["opener"], tuple(_names(statement["key"])))
        position = _end_of_value(text, position, opener=bool(statement and statement["opener"]))
        line += text.count("\n", start, position)


def _names(dotted: str) -> list[str]:
    """The parts of a dotted key, unquoted by tomllib."""
    try:
        rest: Any = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return [dotted]
    names = []
    while isinstance(rest, dict):
        [(name, rest)] = rest.items()
        names.append(name)
    return names


def _end_of_value(text: str, position: int, *, opener: bool) -> int:
    """The start of the next statement: brackets and strings may run over many lines."""
    depth = 0
    for token in _TOKEN.finditer(text, position):
        if token[0] == "\n" and (opener or depth <= 0):
            return token.end()
        depth += _DEEPER.get(token[0], 0)
    return len(text)
