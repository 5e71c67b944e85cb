"""Extractions (argument, predicate, argument) of programs such as ReVerb, validated and converted to Parquet.

Files may be larger than memory: they are read in blocks, and valid rows are written as numbered Parquet files with the
columns `arg1`, `predicate`, `arg2` and `count`. Invalid lines are counted and reported with their number.
"""

import gzip
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from chorale.files.rows import LONGEST_LINE, read_rows, suffix_of
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS, read_source, refused, refusing_unreadable
from chorale.files.tables import replacing
from chorale.model import Problem, UserError
from chorale.model.plural import plural

LONGEST_CELL = 1000
"""Maximum length of an argument or predicate in characters."""
_PARTS = ("arg1", "predicate", "arg2", "count")
_NAMES = {
    "arg1": ("arg1", "argument1", "subject", "x", "arg1 normalized", "arg1_norm"),
    "predicate": ("predicate", "rel", "relation", "p", "rel normalized", "rel_norm"),
    "arg2": ("arg2", "argument2", "object", "y", "arg2 normalized", "arg2_norm"),
    "count": ("count", "frequency", "freq", "n"),
}
_REVERB_WIDTH = 18
_REVERB = (15, 16, 17)
"""ReVerb writes 18 cells per line without a header. The last three are the normalised argument, relation and argument.
"""
_PLAIN_WIDTHS = {3: (0, 1, 2), 4: (0, 1, 2, 3)}
_BLOCK = 32 * 2**20
_ROWS = 200_000
_TEXT = {".tsv", ".txt", ".tab", ".out", ""}
_ROW_FORMATS = {".csv", ".jsonl", ".ndjson"}
_COUNT = r"^0*[1-9][0-9]{0,9}(\.0*)?$"
"""A positive whole number, also as a decimal such as 3.0. At most ten digits, so that sums stay exact."""
_MARK = r"(?i)@r@$"
_BREAKING = r"[\t\n\v\f\r\x1c-\x1e\x{85}\x{2028}\x{2029}]+"
_FLAWS = {
    "width": (
        "has a different number of cells than the first line",
        "Write as many cells as in the first line, separated by tabs.",
    ),
    "empty": ("has an empty argument or predicate", "Write both arguments and the predicate."),
    "count": (
        "has a count that is not a whole number from 1 to 9,999,999,999",
        "Write a whole number from 1 to 9,999,999,999, or remove the column.",
    ),
    "mark": (
        "has a predicate that ends in @R@, which marks swapped arguments in rules",
        "Remove @R@.",
    ),
    "long": ("has a cell that is too long", f"Write at most {LONGEST_CELL:,} characters."),
    "unknown": ("has a number that is not in the file of names", "Add it to the file of names."),
    "NUL": ("contains a NUL character", "Remove it, or save the file as UTF-8."),
    "not UTF-8": ("is not UTF-8 text", "Save the file as UTF-8."),
}
"""Errors of lines, and their fixes."""


@dataclass(frozen=True, slots=True)
class ReadExtractions:
    """Statistics of a file after reading."""

    rows: int
    malformed: int
    problems: tuple[Problem, ...]
    """Problems of the first malformed lines."""


@dataclass(frozen=True, slots=True)
class _ColumnPlan:
    width: int
    """Number of cells per line."""
    places: tuple[int, ...]
    """Columns of the first argument, the predicate, the second argument and, optionally, the count."""
    has_header: bool


@dataclass(slots=True)
class _Flaws:
    """Counts all problems and keeps the first ones."""

    path: Path
    strict: bool
    problems: list[Problem] = field(default_factory=list)
    count: int = 0

    def append(self, problem: Problem) -> None:
        self.count += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)

    def add(self, line: int, kind: str, value: str | bytes | None) -> None:
        self.append(Problem(str(self.path), line, *_FLAWS[kind], None if value is None else shortened(value)))

    def check(self) -> None:
        if self.strict and self.problems:
            raise UserError(f"{self.path} can't be used with --strict", self.problems)


def file_digest(path: Path) -> str:
    """The SHA-256 of a file of any size."""
    with refusing_unreadable(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_names(path: Path) -> dict[str, str]:
    """Reads names by number from lines `name TAB number`. A first line with only a count is skipped."""
    names: dict[str, str] = {}
    for number, line in enumerate(read_source(path).text.split("\n"), 1):
        name, tab, key = line.rpartition("\t")
        if tab and key.strip().isdigit():
            names[key.strip()] = name.strip()
        elif line.strip() and number > 1:
            raise refused(path, number, "is not a name and a number", "Separate them with a tab", shortened(line))
    return names


Names = tuple[Mapping[str, str], Mapping[str, str]]


def names_of(arguments: Path | None, predicates: Path | None) -> Names | None:
    """Names of numbered arguments and predicates, from two files or from none."""
    if arguments is None and predicates is None:
        return None
    if arguments is None or predicates is None:
        raise UserError("--argument-names and --predicate-names require each other. Use both or neither.")
    return read_names(arguments), read_names(predicates)


def extraction_tables(
    path: Path, *, columns: str | None = None, names: Names | None = None, strict: bool = False
) -> tuple[Iterator[pl.DataFrame], Callable[[], ReadExtractions]]:
    """Yields the valid rows of a file in blocks and finally its statistics.

    `names`: the names of numbered arguments and predicates, for files with numbers.
    """
    flaws = _Flaws(path, strict)
    rows = 0
    suffix = suffix_of(path)
    if suffix == ".parquet":
        blocks = _parquet_blocks(path, columns)
    elif suffix in _ROW_FORMATS:
        blocks = _row_blocks(path, columns, flaws)
    elif suffix in _TEXT:
        blocks = _text_blocks(path, columns, flaws, counted=names is not None)
    else:
        fix = "Use a .tsv, .txt, .csv, .jsonl or .parquet file"
        raise refused(path, None, "has an unsupported format", fix, path.suffix)

    def tables() -> Iterator[pl.DataFrame]:
        nonlocal rows
        for block in blocks:
            sound = _sound(_named(block, names), flaws)
            flaws.check()
            rows += sound.height
            yield sound
        if not rows:
            missing = Problem(str(path), None, "has no extractions", "Check the file name.")
            raise UserError(f"{path} can't be used", flaws.problems or [missing])

    return tables(), lambda: ReadExtractions(
        rows, flaws.count, tuple(sorted(flaws.problems, key=lambda each: each.line or 0))
    )


def write_extractions(
    path: Path, folder: Path, *, columns: str | None = None, names: Names | None = None, strict: bool = False
) -> ReadExtractions:
    """Writes the valid rows of a file as Parquet files to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tables, outcome = extraction_tables(path, columns=columns, names=names, strict=strict)
    for number, table in enumerate(tables):
        with replacing(folder / f"{number:06}.parquet") as draft:
            table.write_parquet(draft, compression="lz4")
    return outcome()


# Blocks: tables of `line` and the parts as text, or null where a line is not an extraction, with the reason in `flaw`


def _parquet_blocks(path: Path, columns: str | None) -> Iterator[pl.DataFrame]:
    try:
        names = list(pl.read_parquet_schema(path))
        plan = _planned_columns(path, 1, names, columns, header=True)
        parts = dict(zip(_PARTS, (names[place] for place in plan.places), strict=False))
        frame = pl.scan_parquet(path).select(
            pl.col(column).cast(pl.String).alias(part) for part, column in parts.items()
        )
        start = 0
        while (block := frame.slice(start, _ROWS * 5).collect()).height:
            yield _with_flaws(block.with_row_index("line", offset=start + 1))
            start += block.height
    except FileNotFoundError:
        raise refused(path, None, "does not exist", "Create the file or correct its name") from None
    except pl.exceptions.PolarsError as error:
        raise refused(path, None, "is not a valid Parquet file", "Write it again", shortened(str(error))) from None


def _row_blocks(path: Path, columns: str | None, flaws: _Flaws) -> Iterator[pl.DataFrame]:
    problems: Any = flaws
    rows = read_rows(path, shown_as=str(path), problems=problems)
    plan, names = None, list[str]()
    while batch := list(islice(rows, _ROWS)):
        if plan is None:
            names = list(batch[0].values)
            plan = _planned_columns(path, 1, names, columns, header=True)
        parts = dict(zip(_PARTS, (names[place] for place in plan.places), strict=False))
        cells = {part: [_text(row.values.get(name)) for row in batch] for part, name in parts.items()}
        texts = pl.DataFrame(
            {"line": [row.line for row in batch], **cells}, schema_overrides=dict.fromkeys(cells, pl.String)
        )
        yield _with_flaws(texts)


def _text(value: Any) -> str | None:
    """A cell as text, including numbers. Lists, objects and Booleans are not valid cells."""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None


def _text_blocks(path: Path, columns: str | None, flaws: _Flaws, *, counted: bool) -> Iterator[pl.DataFrame]:
    plan: _ColumnPlan | None = None
    line = 1
    for raw in _raw_blocks(path):
        lines = pl.DataFrame({"text": _lines(raw, line, flaws)}).with_row_index("line", offset=line)
        line += lines.height
        lines = lines.with_columns(pl.col("text").str.strip_chars_end("\r")).filter(pl.col("text").str.contains(r"\S"))
        if plan is None and lines.height:
            first = lines.row(0)
            if counted and first[1].strip().isdigit():
                lines = lines.slice(1)
                first = lines.row(0) if lines.height else first
            plan = _planned_columns(path, first[0], first[1].split("\t"), columns, header=False)
            lines = lines.slice(1) if plan.has_header else lines
        if plan is not None:
            yield _cells(lines, plan)


def _raw_blocks(path: Path) -> Iterator[bytes]:
    """Whole lines, in blocks of several megabytes."""
    with refusing_unreadable(path), gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        kept = b""
        while block := file.read(_BLOCK):
            head, newline, rest = (kept + block).rpartition(b"\n")
            if not newline and len(rest) > LONGEST_LINE:
                raise refused(
                    path, None, f"has a line of more than {LONGEST_LINE:,} bytes", "Check that it is a text file"
                )
            if newline:
                yield head
            kept = rest
        if kept:
            yield kept


def _lines(raw: bytes, first: int, flaws: _Flaws) -> pl.Series:
    """The lines of a block. Lines that are not text are reported and returned as empty."""
    if first == 1:
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        text = raw.decode()
        if "\0" not in text:
            return pl.Series([text]).str.split("\n").explode(empty_as_null=False)
    except UnicodeDecodeError:
        pass
    lines = []
    for number, line in enumerate(raw.split(b"\n"), first):
        try:
            lines.append(line.decode() if b"\0" not in line else "")
            if b"\0" in line:
                flaws.add(number, "NUL", None)
        except UnicodeDecodeError as error:
            lines.append("")
            flaws.add(number, "not UTF-8", line[error.start : error.end])
    return pl.Series(lines, dtype=pl.String)


def _cells(lines: pl.DataFrame, plan: _ColumnPlan) -> pl.DataFrame:
    wide = pl.col("text").str.count_matches("\t", literal=True) == plan.width - 1
    parts = pl.col("text").str.split_exact("\t", plan.width - 1).struct
    cells = {part: parts.field(f"field_{place}") for part, place in zip(_PARTS, plan.places, strict=False)}
    table = lines.with_columns(**cells, flaw=pl.when(~wide).then(pl.lit("width")))
    return _with_flaws(table)


def _with_flaws(table: pl.DataFrame) -> pl.DataFrame:
    """Adds a count, strips cells, and sets `flaw` to the first error of a row."""
    if "count" not in table.columns:
        table = table.with_columns(count=pl.lit("1"))
    texts = ("arg1", "predicate", "arg2")
    table = table.with_columns(
        *(pl.col(name).str.replace_all("\0", "").str.replace_all(_BREAKING, " ").str.strip_chars() for name in texts),
        pl.col("count").str.strip_chars(),
    )
    flaw = pl.col("flaw") if "flaw" in table.columns else pl.lit(None, dtype=pl.String)
    empty = pl.any_horizontal(pl.col(name).is_null() | (pl.col(name) == "") for name in texts)
    long = pl.any_horizontal(pl.col(name).str.len_chars() > LONGEST_CELL for name in texts)
    marked = pl.col("predicate").str.contains(_MARK).fill_null(value=False)
    counted = pl.col("count").str.contains(_COUNT).fill_null(value=False)
    flaws = (("empty", empty), ("long", long), ("mark", marked), ("count", ~counted))
    why = pl.coalesce(pl.when(found).then(pl.lit(kind)) for kind, found in flaws)
    return table.with_columns(flaw=flaw.fill_null(why))


def _named(block: pl.DataFrame, names: Names | None) -> pl.DataFrame:
    if names is None:
        return block
    arguments, predicates = names
    renamed = block.with_columns(
        pl.col(part).replace_strict(dict(known), default=None, return_dtype=pl.String)
        for part, known in (("arg1", arguments), ("predicate", predicates), ("arg2", arguments))
    )
    unknown = pl.any_horizontal(pl.col(part).is_null() for part in ("arg1", "predicate", "arg2"))
    return renamed.with_columns(flaw=pl.col("flaw").fill_null(pl.when(unknown).then(pl.lit("unknown"))))


def _sound(block: pl.DataFrame, flaws: _Flaws) -> pl.DataFrame:
    wrong = block.filter(pl.col("flaw").is_not_null())
    shown = pl.col("text") if "text" in block.columns else pl.concat_str(_PARTS, separator=", ", ignore_nulls=True)
    for line, kind, value in wrong.select("line", "flaw", shown.alias("shown")).head(MOST_PROBLEMS).iter_rows():
        flaws.add(line, kind, value)
    flaws.count += max(0, wrong.height - MOST_PROBLEMS)
    count = pl.col("count").str.replace(r"\..*", "").cast(pl.Int64)
    return block.filter(pl.col("flaw").is_null()).select("arg1", "predicate", "arg2", count)


# Columns of the two arguments, the predicate and the count


def _planned_columns(path: Path, line: int, cells: Sequence[str], asked: str | None, *, header: bool) -> _ColumnPlan:
    """Determines the columns from the first line of a file and from --columns: positions from 1, or names.

    `header`: whether the first line must be a header, as in CSV.
    """
    names = [cell.strip().lower() for cell in cells]
    if asked is not None:
        wanted = [part.strip() for part in asked.split(",")]
        if len(wanted) not in {3, 4}:
            raise UserError(f"--columns takes three or four columns, separated by commas (found {asked!r}).")
        if all(re.fullmatch(r"[1-9]\d{0,3}", part) for part in wanted):
            places = [int(part) - 1 for part in wanted]
            if max(places) >= len(names):
                problem = f"has {plural(len(names), 'column', 'columns')}, fewer than --columns requires"
                raise refused(path, line, problem, "Correct --columns", asked)
            return _ColumnPlan(len(names), tuple(places), header or _places_by_name(names) is not None)
        if missing := [part for part in wanted if part.lower() not in names]:
            problem = f"has no column {missing[0]!r}"
            raise refused(path, line, problem, "Correct --columns", shortened(", ".join(names)))
        return _ColumnPlan(len(names), tuple(names.index(part.lower()) for part in wanted), has_header=True)
    if (places_by_name := _places_by_name(names)) is not None:
        return _ColumnPlan(len(names), places_by_name, has_header=True)
    if not header and len(names) in _PLAIN_WIDTHS:
        return _ColumnPlan(len(names), _PLAIN_WIDTHS[len(names)], has_header=False)
    if not header and len(names) == _REVERB_WIDTH:
        return _ColumnPlan(len(names), _REVERB, has_header=False)
    fix = "Name the columns arg1, predicate and arg2, or set them with --columns"
    raise refused(path, line, "has no header with the columns of an extraction", fix, shortened(", ".join(names)))


def _places_by_name(names: Sequence[str]) -> tuple[int, ...] | None:
    """Positions of the columns by name. Normalised columns take precedence."""
    places: list[int] = []
    for part in _PARTS:
        matches = [names.index(name) for name in reversed(_NAMES[part]) if name in names]
        if matches:
            places.append(matches[0])
        elif part != "count":
            return None
    return tuple(places)
