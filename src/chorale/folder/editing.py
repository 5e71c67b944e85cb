"""Changes the task options of one stage in study.toml; comments, order and everything else are preserved."""

import tomllib
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import tomlkit
from tomlkit.container import Container
from tomlkit.items import AbstractTable, Array, Item

from chorale.files.toml_lines import Statement, statements
from chorale.folder.checking.report import SETTINGS_FILE
from chorale.model import UserError

Origins = Mapping[str, Sequence[int | None]]
"""For every list of tables, the previous index of each table; None for a new table."""
_LONG_LINE = 100


def with_options(text: str, stage: int, options: Mapping[str, Any], origins: Origins) -> str:
    """The text of a study file with changed options in the stage with this number.

    Tables of a list are rewritten one by one: unchanged ones keep their comments, wherever they move.
    """
    if "\r\n" in text:
        return with_options(text.replace("\r\n", "\n"), stage, options, origins).replace("\n", "\r\n")
    wanted = tomllib.loads(text)
    before = wanted["stage"][stage].pop("options", {})
    # A list without tables has no header.
    options = {name: value for name, value in options.items() if value != []}
    if options:
        wanted["stage"][stage]["options"] = options
    for name in {**before, **options}:
        value, old = options.get(name), before.get(name)
        as_it_was = list(range(len(old))) if isinstance(old, list) else []
        if value == old and list(origins.get(name, ())) in ([], as_it_was):
            continue
        blocks = _blocks(text, stage, name)
        if blocks or (_is_tables(value) and old is None):
            text = _with_tables(text, stage, name, value or [], origins.get(name, ()), blocks)
        else:
            text = _with_value(text, stage, name, value)
    written = tomllib.loads(text)
    if not options:
        # Without options, an empty table may remain.
        written["stage"][stage].pop("options", None)
    if written != wanted:
        raise UserError(
            f"{SETTINGS_FILE} is written in a way that cannot be edited here without changing other settings. Nothing "
            "was changed. Write each part of the form as a separate table, such as [[stage.options.fields]], or edit "
            "the file by hand."
        )
    return text


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


class _TableLines(NamedTuple):
    """A table of a list, with the comment right above it and the tables within it."""

    start: int
    end: int


def _blocks(text: str, stage: int, name: str) -> list[_TableLines]:
    """The tables of a list in a stage's options, if each has its own header."""
    path = ("stage", "options", name)
    headers = [each for each in _headers(text, stage) if each.names[:3] != path or len(each.names) == 3]
    ends = [*(_above(text, each.start) for each in headers[1:]), _stage_end(text, stage)]
    blocks: list[_TableLines] = []
    for header, end in zip(headers, ends, strict=True):
        if header.opener == "[[" and header.names == path:
            # A comment above the first table applies to all of them and is not moved.
            blocks.append(_TableLines(_above(text, header.start) if blocks else header.start, end))
    return blocks


def _headers(text: str, stage: int) -> list[Statement]:
    """The table headers of a stage."""
    within, seen = [], -1
    for header in statements(text):
        if header.opener and header.names == ("stage",):
            seen += 1
        if header.opener and seen == stage and header.names[0] == "stage":
            within.append(header)
    if not within:
        raise UserError(f"{SETTINGS_FILE} does not write its stages as [[stage]]. Edit it by hand.")
    return within


def _stage_end(text: str, stage: int) -> int:
    """The end of a stage: above the comment of the next header."""
    last = _headers(text, stage)[-1].start
    after = next((each.start for each in statements(text) if each.opener and each.start > last), None)
    return len(text) if after is None else _above(text, after)


def _above(text: str, start: int) -> int:
    """The start of the comment right above a header, or of the header if there is none."""
    while start > 0:
        previous = text.rfind("\n", 0, start - 1) + 1
        if not text[previous:start].lstrip().startswith("#"):
            break
        start = previous
    return start


def _with_tables(
    text: str,
    stage: int,
    name: str,
    tables: Sequence[Mapping[str, Any]],
    origins: Sequence[int | None],
    blocks: Sequence[_TableLines],
) -> str:
    """The text with these tables as a list, each with its own header."""
    known = [text[block.start : block.end] for block in blocks]
    places = list(origins) or [number if number < len(known) else None for number in range(len(tables))]
    written = []
    for table, place in zip(tables, places, strict=True):
        source = None if place is None or not 0 <= place < len(known) else known[place]
        written.append(_new_table(name, table) if source is None else _changed_table(source, name, table))
    body = "\n\n".join(each.strip("\n") for each in written)
    if not blocks:
        at = _stage_end(text, stage)
        return _joined(text[:at], body, text[at:])
    for block in reversed(blocks[1:]):
        text = text[: block.start] + text[block.end :]
    first = blocks[0]
    return _joined(text[: first.start], body, text[first.end :], above=False)


def _joined(before: str, body: str, after: str, *, above: bool = True) -> str:
    """Join parts of a file with blank lines, except after a comment that belongs to the next part."""
    head = before.rstrip("\n") + "\n\n" if above and before.strip() else before
    rest = after.lstrip("\n")
    end = after[: len(after) - len(rest)] or "\n"
    return head + body + ("\n" + (end if len(end) > 1 else "\n") if body and rest else "\n" if body else "") + rest


def _new_table(name: str, table: Mapping[str, Any]) -> str:
    lines = tomlkit.document()
    for key, value in table.items():
        lines.append(key, _item(value))
    return f"[[stage.options.{name}]]\n{tomlkit.dumps(lines)}"


def _changed_table(source: str, name: str, table: Mapping[str, Any]) -> str:
    """The text of a table with changed values rewritten."""
    document: Any = tomlkit.parse(source)
    _update(document["stage"]["options"][name][0], table)
    return tomlkit.dumps(document)


def _with_value(text: str, stage: int, name: str, value: Any) -> str:
    """The text with an option that is not a list of tables with headers."""
    headers = [each for each in _headers(text, stage) if each.names[:2] == ("stage", "options")]
    if value is not None and "options" not in tomllib.loads(text)["stage"][stage]:
        headers = []
    elif not headers or any(len(each.names) == 2 for each in headers) or value is None:
        document: Any = tomlkit.parse(text)
        options = document["stage"][stage]["options"]
        kept = {key: _plain(each) for key, each in options.items() if key != name}
        _update(options, kept if value is None else {**kept, name: value})
        return tomlkit.dumps(document)
    line = tomlkit.document()
    line.append(name, _item(value))
    at = _above(text, headers[0].start) if headers else _stage_end(text, stage)
    return _joined(text[:at], f"[stage.options]\n{tomlkit.dumps(line)}".strip("\n"), text[at:])


def _update(table: AbstractTable | Container, wanted: Mapping[str, Any]) -> None:
    """Update a table to the new values, and change nothing else in it."""
    for key in [key for key in table if key not in wanted]:
        table.remove(key)
    for key, value in wanted.items():
        old = table.get(key)
        if old is not None and _plain(old) == value and type(_plain(old)) is type(value):
            continue
        if isinstance(old, AbstractTable) and isinstance(value, Mapping):
            _update(old, value)
        elif isinstance(old, Array) and isinstance(value, list) and value:
            _update_array(old, value)
        else:
            table[key] = _item(value)


def _update_array(array: Array, wanted: Sequence[Any]) -> None:
    """Change single entries, so that comments on the others are preserved."""
    now = [_plain(each) for each in array]
    changes = SequenceMatcher(None, [repr(each) for each in now], [repr(each) for each in wanted]).get_opcodes()
    for kind, start, end, to_start, to_end in reversed(changes):
        if kind == "equal":
            continue
        shared = min(end - start, to_end - to_start)
        for offset in range(end - start - 1, shared - 1, -1):
            array.pop(start + offset)
        for offset in range(shared):
            array[start + offset] = _item(wanted[to_start + offset])
        for offset in range(shared, to_end - to_start):
            array.insert(start + offset, _item(wanted[to_start + offset]))


def _plain(value: Any) -> Any:
    return value.unwrap() if hasattr(value, "unwrap") else value


def _item(value: Any) -> Item:
    """A value in the file's style: inline tables, and long lists with one entry per line."""
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, inner in value.items():
            table.append(key, _item(inner))
        return table
    if isinstance(value, list):
        array = tomlkit.array()
        for each in value:
            array.append(_item(each))
        return array.multiline(len(array.as_string()) > _LONG_LINE)
    plain: Item = tomlkit.item(value)
    return plain
