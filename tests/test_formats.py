"""Readers and writers: what goes out comes back, and no file can raise."""

import csv
import io
import json
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chorale.files import json_lists
from chorale.files.json_text import DEEPEST_NESTING
from chorale.files.rows import LONGEST_LINE, Row, is_table, read_rows
from chorale.files.shortening import shortened
from chorale.files.tables import escape_cell, unescape_cell, write_csv, write_jsonl, write_parquet
from chorale.files.toml_lines import TomlPath, line_of
from chorale.model import Problem
from examples import examples


def read(path: Path) -> tuple[list[Row], list[Problem]]:
    problems: list[Problem] = []
    rows = list(read_rows(path, shown_as="shown", problems=problems))
    assert all(problem.file == "shown" and problem.message and problem.fix for problem in problems)
    assert all(str(problem).isprintable() for problem in problems)
    return rows, problems


def read_text(folder: Path, name: str, content: str | bytes) -> tuple[list[Row], list[Problem]]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path)


# Sound files


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [b"", b"\n"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.NDJSON"])
def test_jsonl_is_read_with_its_lines(tmp_path: Path, bom: bytes, newline: bytes, last: bytes, name: str) -> None:
    content = bom + newline.join([b'{"id": "\xc3\xa9"}', b"", b'{"id": 2, "x": [1.5, null]}']) + last
    rows, problems = read_text(tmp_path, name, content)
    assert rows == [Row(1, {"id": "é"}), Row(3, {"id": 2, "x": [1.5, None]})]
    assert problems == []


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", b","), ("a.tsv", b"\t"), ("a.CSV", b",")])
def test_csv_lines_are_those_of_the_file(tmp_path: Path, bom: bytes, name: str, delimiter: bytes) -> None:
    content = bom + b'id, text\n1,"one\ntwo"\n\n007,"say ""hi"""\n'.replace(b",", delimiter)
    rows, problems = read_text(tmp_path, name, content)
    assert rows == [Row(2, {"id": "1", "text": "one\ntwo"}), Row(5, {"id": "007", "text": 'say "hi"'})]
    assert problems == []


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    assert read_text(tmp_path, "a.csv", "id,text\n") == ([], [])


def test_rows_are_streamed(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1}\n{"id": \n')
    problems: list[Problem] = []
    rows = read_rows(path, shown_as="a.jsonl", problems=problems)
    assert next(rows) == Row(1, {"id": 1})
    assert problems == []
    assert list(rows) == []
    assert len(problems) == 1


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_hundred_thousand_rows_take_little_time(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"many.{suffix}"
    rows = ({"id": str(number), "text": "the museum buy the statue" * 3} for number in range(100_000))
    if suffix == "jsonl":
        write_jsonl(rows, path)
    else:
        write_csv(["id", "text"], rows, path)
    start = time.process_time()
    problems: list[Problem] = []
    assert sum(1 for _ in read_rows(path, shown_as="many", problems=problems)) == 100_000
    assert time.process_time() - start < 5
    assert problems == []


# Unsound files: (file name, content, lines of the sound rows, [(line, part of the message, part of the value)])

GOOD = '{"id": 1}\n'
Found = tuple[int | None, str, str | None]
UNSOUND: dict[str, tuple[str, str | bytes, list[int], list[Found]]] = {
    "malformed": ("a.jsonl", GOOD + "{'id': 2}\n" + GOOD, [1, 3], [(2, "is not JSON", "'id'")]),
    "no brace": ("a.jsonl", GOOD + '{"id": 2\n' + GOOD, [1, 3], [(2, "delimiter at column 9", '{"id": 2')]),
    "unclosed": ("a.jsonl", GOOD + '{"id": "x', [1], [(2, "is truncated", "x")]),
    "trailing": ("a.jsonl", GOOD + '{"id": 2} x\n' + GOOD, [1, 3], [(2, "extra data at column 11", "x")]),
    "list": ("a.jsonl", "[1, 2]\n" + GOOD, [2], [(1, "is not an object", "[1, 2]")]),
    "null": ("a.jsonl", "null\n" + GOOD, [2], [(1, "is not an object", "None")]),
    "duplicate": ("a.jsonl", '{"a": 1, "b": 2, "b": 3}\n' + GOOD, [2], [(1, "has a duplicate key", "b")]),
    "inner duplicate": ("a.jsonl", '{"x": {"b": 2, "b": 3}}\n' + GOOD, [2], [(1, "has a duplicate key", "b")]),
    "NaN": ("a.jsonl", '{"a": NaN}\n' + GOOD, [2], [(1, "not finite", "NaN")]),
    "Infinity": ("a.jsonl", '{"a": [-Infinity]}\n' + GOOD, [2], [(1, "not finite", "-Infinity")]),
    "huge float": ("a.jsonl", '{"a": 1e999}\n' + GOOD, [2], [(1, "not finite", "1e999")]),
    "huge integer": ("a.jsonl", '{"a": ' + "1" * 5000 + "}\n" + GOOD, [2], [(1, "can't be read", "111")]),
    "nested": ("a.jsonl", '{"a": ' + "[" * 60 + "]" * 60 + "}\n" + GOOD, [2], [(1, "too deeply", None)]),
    "very nested": ("a.jsonl", '{"a": ' + "[" * 99999 + "]" * 99999 + "}\n" + GOOD, [2], [(1, "", None)]),
    "escaped NUL": ("a.jsonl", '{"a": "x\\u0000"}\n' + GOOD, [2], [(1, "NUL", r"x\x00")]),
    "raw NUL": ("a.jsonl", b'{"a": "x\0"}\n{"a": 1}\n', [2], [(1, "NUL", None)]),
    "surrogate": ("a.jsonl", '{"a": [{"\\ud800": 1}]}\n' + GOOD, [2], [(1, "surrogate", r"\ud800")]),
    "bytes": ("a.jsonl", b'{"a": 1}\n{"a": "\xff"}\n{"a": 3}\n', [1, 3], [(2, "UTF-8", r"\xff")]),
    "encoded surrogate": ("a.jsonl", b'{"a": "\xed\xa0\x80"}\n{"a": 1}\n', [2], [(1, "UTF-8", None)]),
    "cut off": ("a.jsonl", GOOD + '{"id": "tw', [1], [(2, "is truncated", '"tw')]),
    "cut off in a character": ("a.jsonl", b'{"id": 1}\n{"id": "\xc3', [1], [(2, "UTF-8", None)]),
    "long": ("a.jsonl", GOOD + f'{{"a": "{"x" * LONGEST_LINE}"}}\n' + GOOD, [1, 3], [(2, "longer", None)]),
    "very long": ("a.jsonl", "x" * (3 * LONGEST_LINE), [], [(1, "longer", None)]),
    "empty": ("a.jsonl", "", [], [(None, "is empty", None)]),
    "blank": ("a.jsonl", "\n  \n", [], [(None, "is empty", None)]),
    "UTF-16": ("a.jsonl", GOOD.encode("utf-16"), [], [(1, "UTF-16", None)]),
    "several": ("a.jsonl", "x\n" + GOOD + "[]\n{\n", [2], [(1, "", None), (3, "", None), (4, "", None)]),
    "list, other values": ("a.json", '[{"a": 1},\n3.5, [],\n{}]', [1, 3], [(2, "object", "3.5"), (2, "", "[]")]),
    "list, duplicate": ("a.json", '[{"a": 1, "a": {"b": "}"}},\n{"a": 2}]', [2], [(1, "has a duplicate key", "a")]),
    "list, NaN": ("a.json", '[{"a": NaN},\n{"a": 2}]', [2], [(1, "not finite", "NaN")]),
    "list, NUL": ("a.json", '[{"a": "\\u0000"},\n{"a": 2}]', [2], [(1, "NUL", None)]),
    "list, nested": ("a.json", '[{"a": ' + "[" * 60 + "]" * 60 + "},\n" + GOOD + "]", [2], [(1, "too deeply", None)]),
    "list, very nested": ("a.json", "[" * 99999, [], [(1, "can't be read", None)]),
    "list, huge integer": ("a.json", "[\n1" + "1" * 5000 + "]", [], [(2, "can't be read", None)]),
    "list, no comma": ("a.json", '[\n{"a": 1}\n{"a": 2}]', [2], [(3, "expected a comma or ]", '{"a": 2')]),
    "list, comma at the end": ("a.json", '[{"a": 1},\n]', [1], [(2, "expected an object", None)]),
    "list, only a comma": ("a.json", "[,]", [], [(1, "expected an object", None)]),
    "list, quotes": ("a.json", "[{\n'a': 1}]", [], [(2, "property name enclosed in double quotes", "'a'")]),
    "list, text after it": ("a.json", '[{"a": 1}]\n{"a": 2}', [1], [(2, "after the end of the list", '{"a": 2}')]),
    "list, cut off": ("a.json", '[{"a": 1},\n{"a": "x', [1], [(2, "is truncated", None)]),
    "list, cut off between": ("a.json", '[{"a": 1},', [1], [(1, "is truncated", None)]),
    "list, cut off at its end": ("a.json", '[{"a": 1}', [1], [(1, "is truncated", None)]),
    "list, cut off in a character": ("a.json", b'[{"a": 1},\n{"a": "\xc3', [1], [(2, "UTF-8", None)]),
    "list, bytes": ("a.json", b'[{"a": 1},\n{"a": "\n\xff"}]', [], [(3, "UTF-8", r"\xff")]),
    "list, early error": (
        "a.json",
        '[{"a": 1,},' + ",".join(['{"b": "' + "x" * 50 + '"}'] * 30_000) + "]",
        [],
        [(1, "is not JSON: expecting property name", '{"a": 1,}')],
    ),
    "list, long number": ("a.json", "[1." + "1" * 3 * LONGEST_LINE + "]", [], [(1, "longer", None)]),
    "objects, first is long": ("a.json", f'{{"a": "{"x" * 100_000}"}}\n' + GOOD, [1, 2], []),
    "object, only one long": ("a.json", f'{{"a": "{"x" * 100_000}"}}', [], [(None, "is one object, not a list", None)]),
    "objects, first is invalid": ("a.json", '{"a": 1,}\n' + GOOD, [2], [(1, "is not JSON", None)]),
    "list, long": ("a.json", f'[{{"a": 1}},\n{{"a": "{"x" * 3 * LONGEST_LINE}"}}]', [1], [(2, "longer", None)]),
    "list, empty": ("a.json", "[ ]", [], [(None, "is empty", None)]),
    "json, empty": ("a.json", " \n", [], [(None, "is empty", None)]),
    "json, columns": ("a.json", '{"id": {"0": 1}}', [], [(None, "is one object, not a list", None)]),
    "json, one object": ("a.json", '{\n "a": 1\n}\n', [], [(None, "is one object, not a list", None)]),
    "json, a text": ("a.json", '"a"', [], [(None, "is not a list of objects", '"a"')]),
    "csv empty": ("a.csv", "", [], [(None, "is empty", None)]),
    "csv blank": ("a.csv", "\n\r\n", [], [(None, "is empty", None)]),
    "csv many cells": ("a.csv", "a,b\n1,2,3\n4,5\n", [3], [(2, "2 cells of the header", "3 cells")]),
    "csv few cells": ("a.csv", "a,b\n1\n4,5\n", [3], [(2, "2 cells of the header", "1 cell")]),
    "csv few after quoted": ("a.csv", 'a,b\n"x\n\ny",2\n1\n', [2], [(5, "2 cells", "1 cell")]),
    "csv cut off": ("a.csv", "a,b\n1,2\n4", [2], [(3, "is truncated", "1 cell")]),
    "csv no name": (
        "a.csv",
        "a,,\n1,2,3\n1\n",
        [],
        [(1, "2 columns, the first of them column 2", None), (3, "", None)],
    ),
    "csv same name": ("a.csv", "a,b, a\n1,2,3\n", [], [(1, "duplicate column name", "a")]),
    "csv semicolons": ("a.csv", "a;b\n1;2\n1;2;3\n", [2], [(3, "2 cells of the header", "3 cells")]),
    "csv declared": ("a.csv", "\ufeffsep=;\r\na;b\r\n1;2\r\n1;2;3\r\n", [3], [(4, "2 cells of the header", "3 cells")]),
    "csv only declared": ("a.csv", "sep=;\n", [], [(None, "is empty", None)]),
    "csv open quote": ("a.csv", 'a,b\n1,2\n3,"4\n5,6\n', [2], [(3, "never closed", None)]),
    "csv late quote": ("a.csv", 'a,b\n"1"x,2\n3,4\n', [3], [(2, "after a closing quote", None)]),
    "csv bad header": ("a.csv", '"a"x,b\n1,2\n', [], [(1, "after a closing quote", None)]),
    "csv carriage returns": ("a.csv", "a,b\r1,2\r3,4\r", [], [(1, "carriage return", None)]),
    "csv long cell": ("a.csv", 'a,b\n1,2\n3,"' + "x\n" * 99999 + '",\n', [2], [(3, "characters", None)]),
    "csv bytes": ("a.csv", b'a,b\n"\xff\n",2\n3,4\n', [4], [(2, "UTF-8", r"\xff")]),
    "csv header bytes": ("a.csv", b"a,\xff\n1,2\n3\n", [], [(1, "UTF-8", r"\xff"), (3, "", None)]),
    "csv NUL": ("a.csv", b"a,b\n\0,2\n3,4\n", [3], [(2, "NUL", None)]),
    "csv long line": ("a.csv", "a,b\n" + "x" * (LONGEST_LINE + 1) + "\n3,4\n", [3], [(2, "longer", None)]),
    "csv only a long line": ("a.csv", "x" * (LONGEST_LINE + 1), [], [(1, "longer", None)]),
    "suffix": ("a.xlsx", "id\n1\n", [], [(None, "format", ".xlsx")]),
    "no suffix": ("items", "id\n1\n", [], [(None, "format", "no suffix")]),
}


@pytest.mark.parametrize("case", UNSOUND)
def test_mistakes_are_told_and_reading_goes_on(tmp_path: Path, case: str) -> None:
    name, content, sound, expected = UNSOUND[case]
    rows, problems = read_text(tmp_path, name, content)
    assert [row.line for row in rows] == sound
    assert [problem.line for problem in problems] == [line for line, _, _ in expected], problems
    for problem, (_, message, value) in zip(problems, expected, strict=True):
        assert message in problem.message
        if value is not None:
            assert value in str(problem.value)


def test_files_that_are_no_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name, message in [("missing.csv", "does not exist"), ("folder.csv", "is a folder")]:
        rows, [problem] = read(tmp_path / name)
        assert rows == []
        assert message in problem.message
    (tmp_path / "file").touch()
    rows, [problem] = read(tmp_path / "file" / "a.csv")
    assert "can't be read" in problem.message


@given(content=st.binary(), name=st.sampled_from(["a.json", "a.jsonl", "a.csv", "a.tsv"]))
@example(content=b'"', name="a.csv")
@example(content=b"\r", name="a.csv")
@example(content=b"\xff\xfe", name="a.csv")
def test_no_bytes_raise(tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str) -> None:
    read_text(tmp_path_factory.getbasetemp(), name, content)


@given(
    content=st.text(st.sampled_from('{}[]",:\\u0d8 \n\r\t;abc=1e9-\0é'), max_size=60),
    name=st.sampled_from(["b.json", "b.jsonl", "b.csv"]),
)
def test_no_text_raises(tmp_path_factory: pytest.TempPathFactory, content: str, name: str) -> None:
    read_text(tmp_path_factory.getbasetemp(), name, content)
    if name == "b.json":
        read_text(tmp_path_factory.getbasetemp(), name, f"[{content}")


_JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "é", '"']), inner),
    max_leaves=6,
)


@given(
    objects=st.lists(st.dictionaries(st.sampled_from(["id", "text", ","]), _JSON_VALUES), min_size=1, max_size=8),
    indent=st.sampled_from([None, 0, 2]),
    escaped=st.booleans(),
    at_once=st.integers(1, 60),
)
def test_a_list_of_objects_is_read_wherever_the_file_is_divided(
    tmp_path_factory: pytest.TempPathFactory,
    objects: list[dict[str, Any]],
    indent: int | None,
    escaped: bool,
    at_once: int,
) -> None:
    content = json.dumps(objects, indent=indent, ensure_ascii=escaped)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_lists, "_AT_ONCE", at_once)
        rows, problems = read_text(tmp_path_factory.getbasetemp(), "list.json", content)
    assert not problems
    assert [row.values for row in rows] == objects
    begins = content.split("\n")
    assert all("{" in begins[row.line - 1] for row in rows)


def test_a_json_file_may_have_one_object_per_line(tmp_path: Path) -> None:
    rows, problems = read_text(tmp_path, "a.json", GOOD * 3 + "[]\n")
    assert [row.line for row in rows] == [1, 2, 3]
    assert [problem.line for problem in problems] == [4]


@pytest.mark.parametrize(
    ("value", "shown"),
    [("a\0b", r"'a\x00b'"), ("\ud800", r"'\ud800'"), (True, "true"), (1.5, "1.5")],
)
def test_values_are_shown_on_one_short_line(value: Any, shown: str) -> None:
    assert shortened(value) == shown


def test_large_values_are_shown_in_part() -> None:
    assert shortened(16**5000) == "a very long number"
    assert len(shortened("x" * 10_000)) < 100
    assert len(shortened([["x" * 1000] * 1000] * 1000)) < 5000


def test_tables_are_known_by_their_suffix() -> None:
    assert [is_table(Path(name)) for name in ("a.csv", "a.TSV", "a.jsonl")] == [True, True, False]


# Writing

texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=5
)


@given(rows=st.lists(st.dictionaries(texts, values, max_size=3), min_size=1, max_size=3))
def test_jsonl_comes_back(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    path = tmp_path_factory.getbasetemp() / "round.jsonl"
    write_jsonl(rows, path)
    found, problems = read(path)
    assert problems == []
    assert [row.values for row in found] == rows


@given(rows=st.lists(st.tuples(texts, texts)), delimiter=st.sampled_from([",", "\t"]))
@example(rows=[("\r", "=1\n"), ("'=1", "-1"), ("", "")], delimiter=",")
def test_csv_comes_back(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], delimiter: str) -> None:
    path = tmp_path_factory.getbasetemp() / ("round.csv" if delimiter == "," else "round.tsv")
    written = [{"one": one, "two": two} for one, two in rows]
    write_csv(["one", "two"], written, path, delimiter=delimiter)
    found, problems = read(path)
    assert problems == []
    assert [{name: unescape_cell(cell) for name, cell in row.values.items()} for row in found] == written
    assert not any(is_formula(cell) for row in found for cell in row.values.values())


def is_formula(cell: str) -> bool:
    """What spreadsheets do, said another way than in the code under test."""
    if cell[:1] in {"\t", "\r", "\n"}:
        return True
    try:
        float(cell)
    except ValueError:
        return cell.lstrip()[:1] in set("=+-@＝＋－＠")
    return False


@pytest.mark.parametrize(
    "formula",
    ["=1+1", "+cmd", "-x", "@SUM(A1)", "  =1", "\t=1", "\tx", "\rx", "\nx", "-1+1", "--1", "=", "-", "＝1", "\xa0=1"],
)
def test_formulas_are_made_text(formula: str) -> None:
    assert escape_cell(formula) == f"'{formula}"
    assert unescape_cell(f"'{formula}") == formula


@pytest.mark.parametrize("text", ["", "x", "-1.5", "+3", "-.5", "-1e-7", "'", "'x", "'-1", "a=b", "1-2", "'tis", " x"])
def test_other_cells_stay_as_they_are(text: str) -> None:
    assert escape_cell(text) == text
    assert unescape_cell(text) == text


@given(texts | st.from_regex(r"\A'*\s*[-=+@']{0,3}[0-9.]*\Z"))
def test_cells_are_escaped_without_loss(text: str) -> None:
    assert unescape_cell(escape_cell(text)) == text


def test_csv_cells_of_every_kind() -> None:
    file = io.StringIO()
    row = {"a": None, "b": True, "c": -1.5, "d": ["é", {"x": 1}], "e": "x,y", "unasked": 1}
    write_csv(["a", "b", "c", "d", "e", "=f"], iter([row]), file)
    assert list(csv.reader(file.getvalue().splitlines())) == [
        ["a", "b", "c", "d", "e", "'=f"],
        ["", "true", "-1.5", '["é", {"x": 1}]', "x,y", ""],
    ]


def test_jsonl_goes_to_open_files_too() -> None:
    file = io.StringIO()
    write_jsonl([{"a": "é\n"}], file)
    assert file.getvalue() == '{"a": "é\\n"}\n'


def test_parquet_has_typed_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows: list[dict[str, Any]] = [
        {"flag": True, "whole": 1, "number": 1, "mixed": True, "nested": [1, {"a": "é"}], "large": 2**70},
        {"flag": None, "whole": -(2**63), "number": 0.5, "mixed": 3, "nested": "=x", "large": 1},
    ]
    write_parquet(["flag", "whole", "number", "mixed", "nested", "large", "absent"], iter(rows), path)
    frame = polars.read_parquet(path)
    assert list(frame.schema.values()) == [polars.Boolean, polars.Int64, polars.Float64, *[polars.String] * 4]
    assert frame.rows() == [
        (True, 1, 1.0, "true", '[1, {"a": "é"}]', str(2**70), None),
        (None, -(2**63), 0.5, "3", "=x", "1", None),
    ]


def test_parquet_batches_agree_on_a_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.files.tables._BATCH", 2)
    path = tmp_path / "a.parquet"
    cells = [(None, 1), (None, 2), (1, 0.5), (2, None), (True, 3)]
    write_parquet(["a", "b"], ({"a": a, "b": b} for a, b in cells), path)
    assert polars.read_parquet(path).rows() == [(None, 1.0), (None, 2.0), ("1", 0.5), ("2", None), ("true", 3.0)]


def test_parquet_without_rows(tmp_path: Path) -> None:
    write_parquet(["a"], [], tmp_path / "a.parquet")
    assert polars.read_parquet(tmp_path / "a.parquet").schema == {"a": polars.String}


def failing() -> Iterator[dict[str, Any]]:
    yield {"a": 1}
    raise RuntimeError("the database went away")


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text("before")
    with pytest.raises(RuntimeError):
        if suffix == "jsonl":
            write_jsonl(failing(), path)
        elif suffix == "csv":
            write_csv(["a"], failing(), path)
        else:
            write_parquet(["a"], failing(), path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_not_a_number_is_no_json(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        write_jsonl([{"a": float("nan")}], tmp_path / "a.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_polars_is_loaded_only_for_parquet() -> None:
    code = "import sys, chorale.files; sys.exit('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Lines of TOML settings

TOML = '''\
a.b = 1
# [x]
"q.r" = """
[no]
x = "]"
\\""" ["""""
lit = \'\'\'
[[stage]]\'\'\'
arr = [ # [[stage]] ' "
  1, "]",
  [2],
]
 [ study ] # ] """
title = 'x'
"we\\u0069rd \\" key" = "# no comment"
[[stage]]
name = "a"
pay = { per = 3, x = [1,
 2] }
[stage.gold]
file = "x"
[[stage.deep]]
k = 1
[[stage.deep]]
k = 2
[stage.deep.er]
k = 3
[[stage]]
name = "b"
gold . file = "y"
[stage.options]
[x.y.z]
k = 2020-01-01
last = 1'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("a",), 1),
        (("a", "b"), 1),
        (("q.r",), 3),
        (("lit",), 7),
        (("arr",), 9),
        (("arr", 1), 9),
        (("study",), 13),
        (("study", "title"), 14),
        (("study", 'weird " key'), 15),
        (("study", "absent"), 13),
        (("stage",), 16),
        (("stage", 0), 16),
        (("stage", 0, "name"), 17),
        (("stage", 0, "absent", "deeper"), 16),
        (("stage", 0, "pay", "per"), 18),
        (("stage", 0, "gold"), 20),
        (("stage", 0, "gold", "file"), 21),
        (("stage", 0, "gold", "absent"), 20),
        (("stage", 0, "deep", 0, "k"), 23),
        (("stage", 0, "deep", 1, "k"), 25),
        (("stage", 0, "deep", 1, "er", "k"), 27),
        (("stage", 1), 28),
        (("stage", 1, "gold", "file"), 30),
        (("stage", 1, "options", "absent"), 31),
        (("x", "y"), 32),
        (("x", "y", "z", "k"), 33),
        (("x", "y", "z", "last"), 34),
        (("no",), None),
        ((), None),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_line_of_a_setting(path: TomlPath, line: int | None, newline: str) -> None:
    text = TOML.replace("\n", newline)
    tomllib.loads(text)
    assert line_of(text, path) == line


keys = st.from_regex(r"\A[a-z]{1,3}\Z") | st.sampled_from(['"a b"', "'c.d'", '"\\""'])
noise = st.sampled_from(['"[x]"', "'''\na = 1\n[b]\n'''", '"""\n[[c]]\n\\""" "" """', "[\n1, # ]\n'['\n]", "{ a = 1 }"])


@given(st.lists(st.tuples(keys, noise), min_size=1, unique_by=lambda pair: pair[0]))
def test_every_key_is_found_at_its_own_line(pairs: list[tuple[str, str]]) -> None:
    lines = ["[table]"]
    expected: list[int] = []
    for key, value in pairs:
        expected.append(len("\n".join(lines).split("\n")) + 1)
        lines.append(f"{key} = {value} # [comment]")
    text = "\n".join(lines)
    table = tomllib.loads(text)["table"]
    assert [line_of(text, ("table", name)) for name in table] == expected


@given(st.text(st.sampled_from("[]{}\"'=.#\\\n ab1"), max_size=80))
@settings(max_examples=examples(30, 300))
def test_no_text_confuses_the_search_for_lines(text: str) -> None:
    line = line_of(text, ("a", 0, "b"))
    assert line is None or 1 <= line <= text.count("\n") + 1


def test_the_deepest_row_is_read(tmp_path: Path) -> None:
    depth = DEEPEST_NESTING - 2
    rows, problems = read_text(tmp_path, "a.jsonl", json.dumps({"a": json.loads("[" * depth + "]" * depth)}))
    assert len(rows) == 1
    assert problems == []
