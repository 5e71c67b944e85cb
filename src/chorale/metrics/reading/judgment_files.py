"""Reads judgments from tables of task, worker and label, and from batch files of Mechanical Turk and Appen.

Valid files are read with Polars. If anything is wrong, the file is read again row by row, so that messages can include
the line.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from chorale.files.fast_tables import fast_table, header_of
from chorale.files.judgment_columns import (
    JSON_LISTS,
    are_rankings,
    as_text,
    label_column,
    span_text,
    text_of,
    written_labels,
)
from chorale.files.judgment_layout import JudgmentLayout, layout_of
from chorale.files.rows import Row, read_rows
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS, digest_of, read_bytes, refused
from chorale.metrics.judgments import Judgments, Repeats
from chorale.metrics.reading.labels import TidyLabels, doubtful_labels, has_free_text, tidy_labels
from chorale.model import Problem, UserError
from chorale.model.plural import plural

_PARQUET = ".parquet"
_JSON = ".json"
_TEXT = "text"
"""The kind of fields with free text."""
_SINGLE = ("label", "rating", "number", "date", _TEXT)
"""Kinds of fields with a single value per judgment. In tables with one row per value, they have a single row."""
_JOINED = "|"
"""Separator of the options in one cell of a batch file."""
_MOST_SPLIT = 10_000
"""Number of distinct labels above which they are texts, not options."""
_UNANSWERED = "{}"
"""Mechanical Turk's value for a question without an answer."""


class JudgmentFile(NamedTuple):
    judgments: Judgments
    digest: str
    """Digest of the file, for signatures."""


def read_judgments(
    path: Path,
    *,
    task: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    trust: str | None = None,
    sep: str | None = None,
    empty: str | None = None,
    missing: Sequence[str] = (),
    repeats: Repeats = "last",
    keep_rejected: bool = False,
    counted: bool = False,
) -> JudgmentFile:
    """Reads judgments from CSV, TSV, JSONL (optionally .gz) or Parquet.

    `task`, `worker`, `label` and `trust` name the columns; by default, `task`, `worker` and `label` are used, then the
    columns of a batch file. `sep` splits labels into options (`json`: cells are JSON lists). A judgment without a label
    is left out or, with `empty`, gets that label; the values of `missing` count as empty cells. Rejected and tainted
    work of a batch file is left out unless `keep_rejected`. An option that occurs twice in a label counts once, unless
    options are `counted`.
    """
    if sep == "":
        raise UserError("--sep must not be empty. Set a separator, or omit --sep.")
    if path.suffix.lower() == _JSON:
        fix = "Use the `crowdkit` export of the study, or a .jsonl, .csv, .tsv or .parquet file"
        raise refused(path, None, "is a JSON document (e.g. Label Studio tasks), not a table", fix)
    raw = read_bytes(path)
    if not raw.strip():
        raise refused(path, None, "is empty", "Check the file name")
    names = header_of(path, raw)
    rows = None
    if names is None:
        if path.suffix.lower() == _PARQUET:
            raise refused(path, None, "is not a valid Parquet file", "Write it again")
        rows = _sound_rows(path)
        names = list(dict.fromkeys(name for row in rows for name in row.values))
    layout = layout_of(path, names, task=task, worker=worker, label=label, trust=trust)
    table = None if rows is not None else fast_table(path, raw, names, layout.columns)
    frame = None if table is None else _frame_of(path, table, layout)
    if frame is None or _is_doubtful(frame):
        frame = _careful_frame(path, rows, layout)
    frame, notes = _without_refused(frame, layout, keep=keep_rejected)
    free_text = _is_free_text(path, frame, layout)
    frame = _of_boxes(path, frame, layout, separator_in(sep))
    labels, remarks = _labels(path, frame["label"], layout, separator_in(sep), empty, missing)
    frame = frame.with_columns(label=labels)
    judgments = Judgments.from_frame(frame, repeats=repeats, counted=counted)
    if not len(judgments):
        why = "; ".join((*notes, *remarks, *judgments.notes)).rstrip(".")
        problem = f"has no judgments with a label{f' ({why})' if why else ''}"
        raise refused(path, None, problem, "Check the selected columns")
    notes = (*notes, *remarks, *judgments.notes, *doubtful_labels(judgments), *_joined_options(judgments))
    return JudgmentFile(replace(judgments, notes=notes, free_text=free_text), digest_of(raw))


def _joined_options(judgments: Judgments) -> tuple[str, ...]:
    """A note on single labels that seem to list several options, because the same few options recur in them."""
    names = judgments.options
    joined = [name for name in names if _JOINED in name]
    if judgments.sets is not None or not joined or len(names) > _MOST_SPLIT:
        return ()
    if len({option.strip() for name in names for option in name.split(_JOINED)}) >= len(names):
        return ()
    contain = plural(len(joined), "label contains", "labels contain")
    return (f"{contain} {_JOINED!r}, such as {shortened(joined[0])}. If it separates options, add --sep '{_JOINED}'.",)


def line_of_label(
    path: Path,
    option: str,
    *,
    task: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    sep: str | None = None,
) -> int | None:
    """Line of the first row with this label, or with this option in its set. Parquet files have no lines."""
    if path.suffix.lower() == _PARQUET:
        return None
    rows = _sound_rows(path)
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    column = layout_of(path, names, task=task, worker=worker, label=label).label
    for row in rows:
        (given,) = label_column([row.values.get(column)], separator_in(sep)).to_list()
        if given == option or (isinstance(given, list) and option in given):
            return row.line
    return None


def _frame_of(path: Path, table: pl.DataFrame, layout: JudgmentLayout) -> pl.DataFrame:
    """The columns of the table, renamed to the roles of judgments."""
    try:
        columns = {role: as_text(table[name]) for role, name in layout.roles.items() if role not in ("label", "trust")}
        columns |= {name: as_text(table[name]) for name in layout.boxes}
        columns["label"] = written_labels(table[layout.label])
        if layout.trust is not None:
            columns["trust"] = table[layout.trust].cast(pl.Float64, strict=False)
    except (pl.exceptions.PolarsError, ValueError):
        kinds = ", ".join(f"{name}: {kind}" for name, kind in table.schema.items())
        fix = "Use columns of texts, numbers or lists of texts"
        raise refused(path, None, "has values of an unsupported type", fix, kinds) from None
    return pl.DataFrame(columns)


def _is_doubtful(frame: pl.DataFrame) -> bool:
    if frame.is_empty() or any(frame[name].null_count() or (frame[name] == "").any() for name in ("task", "worker")):
        return True
    if "trust" not in frame.columns:
        return False
    trust = frame["trust"].fill_null(math.nan)
    return not (trust.is_finite() & (trust >= 0)).all()


def separator_in(text: str | None) -> str | None:
    """A separator as it is typed: `\\n` and `\\t` are a line break and a tab."""
    return None if text is None else text.replace("\\n", "\n").replace("\\t", "\t")


# Slow reader with line numbers


def _sound_rows(path: Path) -> list[Row]:
    problems: list[Problem] = []
    rows = []
    for row in read_rows(path, shown_as=str(path), problems=problems):
        rows.append(row)
        if len(problems) >= MOST_PROBLEMS:
            break
    if not problems and not rows:
        problems.append(Problem(str(path), None, "has no rows", "Check the file name."))
    if problems:
        raise UserError(f"{path} can't be used", problems[:MOST_PROBLEMS])
    return rows


def _careful_frame(path: Path, rows: list[Row] | None, layout: JudgmentLayout) -> pl.DataFrame:
    if path.suffix.lower() == _PARQUET:
        raise _unusable_parquet(path, layout)
    rows = _sound_rows(path) if rows is None else rows
    problems: list[Problem] = []
    used = {**layout.roles, **{name: name for name in layout.boxes}}
    columns: dict[str, list[Any]] = {role: [] for role in used}
    for row in rows:
        for role, name in used.items():
            columns[role].append(_value(path, row, role, name, problems))
    if problems:
        raise UserError(f"{path} can't be used", problems[:MOST_PROBLEMS])
    types = {"trust": pl.Float64}
    lists = any(isinstance(label, list) for label in columns["label"])
    if lists:
        columns["label"] = [[one] if isinstance(one, str) else one for one in columns["label"]]
        types["label"] = pl.List(pl.String)  # type: ignore[assignment]
    return pl.DataFrame({name: pl.Series(values, dtype=types.get(name, pl.String)) for name, values in columns.items()})


def _value(path: Path, row: Row, role: str, name: str, problems: list[Problem]) -> Any:
    """Converts a value for judgments. Invalid values are added to the problems."""
    value = row.values.get(name)

    def refuse(message: str, fix: str) -> None:
        if len(problems) < MOST_PROBLEMS:
            problems.append(Problem(str(path), row.line, message, fix, None if value is None else shortened(value)))

    if role == "trust":
        number = _number(value)
        if number is None or number < 0:
            refuse(f"has no number of at least 0 in {name}", "Correct the worker's trust, or remove the row.")
        return number
    if role in {"task", "worker"} and value in (None, ""):
        refuse(f"has no {name}", f"Fill in the {role}, or remove the row.")
    if isinstance(value, dict) or (isinstance(value, list) and role != "label"):
        own = "Use the `crowdkit` export of the study, and select a field with --label."
        refuse(f"has an object in {name}", own if role == "label" else "Write a text or a number.")
        return None
    if isinstance(value, list):
        options = [span_text(one) if isinstance(one, dict | list) else one for one in value]
        if any(one is None for one in options):
            refuse(f"has a list with unsupported values in {name}", "Write a list of texts.")
            return None
        return [text_of(one) for one in options]
    return None if value is None else text_of(value)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _unusable_parquet(path: Path, layout: JudgmentLayout) -> UserError:
    try:
        table = pl.read_parquet(path, columns=layout.columns)
    except (pl.exceptions.PolarsError, OSError, ValueError):
        return refused(path, None, "is not a valid Parquet file", "Write it again")
    if table.is_empty():
        return refused(path, None, "has no rows", "Check the file name")
    for role, name in (("task", layout.task), ("worker", layout.worker)):
        gaps = table[name].is_null()
        if gaps.any():
            return refused(path, None, f"has no {name} in row {(gaps.arg_max() or 0) + 1}", f"Fill in the {role}")
    return refused(path, None, "has a trust that is not a number of at least 0", "Correct it", layout.trust)


# Labels


def _is_free_text(path: Path, frame: pl.DataFrame, layout: JudgmentLayout) -> bool:
    """Whether labels are free text, by the columns of Chorale's own tables. Labels of several fields are refused."""
    if layout.field is not None:
        fields = frame["field"].drop_nulls().unique().sort().to_list()
        if len(fields) > 1:
            fix = "Use the `crowdkit` export of the study, or keep only the rows of one field"
            raise refused(path, None, "has values of several fields", fix, ", ".join(map(shortened, fields)))
        single = frame.select("task", "worker").is_unique().all() and frame["kind"].is_in(_SINGLE).all()
        if not single:
            fix = "Use the `crowdkit` export of the study, and add --sep json"
            raise refused(path, None, "has a row for every value, not for every judgment", fix, ", ".join(fields))
        return bool((frame["kind"] == _TEXT).any())
    return layout.free_text is not None and has_free_text(frame["label"], frame["free_text"], layout.label)


def _of_boxes(path: Path, frame: pl.DataFrame, layout: JudgmentLayout, sep: str | None) -> pl.DataFrame:
    """The chosen options as lists, from a column for each option. An answer that chooses none is an empty list."""
    if not layout.boxes:
        return frame
    if sep is None:
        fix = f"Add --sep '{_JOINED}' to read them as sets"
        raise refused(path, None, f"has several options in each cell of {layout.label}", fix)
    options = [name.removeprefix(f"{layout.label}.") for name in layout.boxes]
    ticked = [
        pl.when(pl.col(name) == "true").then(pl.lit(option)) for name, option in zip(layout.boxes, options, strict=True)
    ]
    asked = pl.any_horizontal(pl.col(name).is_in(["true", "false"]) for name in layout.boxes)
    chosen = pl.when(asked).then(pl.concat_list(ticked).list.drop_nulls())
    return frame.with_columns(label=chosen).drop(layout.boxes)


def _without_refused(
    frame: pl.DataFrame, layout: JudgmentLayout, *, keep: bool
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    if "refusal" not in frame.columns:
        return frame, ()
    is_refused = frame["refusal"].str.to_lowercase().is_in(sorted(layout.refused)).fill_null(False)
    frame, gone = frame.drop("refusal"), int(is_refused.sum())
    if not gone:
        return frame, ()
    shown = f"{layout.refusal} is {' or '.join(sorted(layout.refused))}"
    if keep:
        return frame, (f"{plural(gone, 'judgment', 'judgments')} kept although {shown}.",)
    return frame.filter(~is_refused), (f"{plural(gone, 'judgment', 'judgments')} left out: {shown}.",)


def _labels(
    path: Path, labels: pl.Series, layout: JudgmentLayout, sep: str | None, empty: str | None, missing: Sequence[str]
) -> TidyLabels:
    if layout.refusal == "AssignmentStatus" and not isinstance(labels.dtype, pl.List):
        labels = labels.replace(_UNANSWERED, "")
    try:
        if (sep == JSON_LISTS or isinstance(labels.dtype, pl.List)) and are_rankings(labels):
            raise _rankings(path, layout)
        return tidy_labels(labels, sep, empty, missing)
    except ValueError as error:
        raise _not_lists(path, layout, str(error)) from None


def _rankings(path: Path, layout: JudgmentLayout) -> UserError:
    """Read as sets, all rankings would be equal."""
    fix = "For rankings, use the agreement and the labels of `chorale report`, or name another column with --label"
    return refused(path, None, f"has lists in {layout.label} that differ only in their order", fix)


def _not_lists(path: Path, layout: JudgmentLayout, cell: str) -> UserError:
    fix = f"Correct it, or use a --sep other than {JSON_LISTS}"
    line = None
    if path.suffix.lower() != _PARQUET:
        rows: Sequence[Row] = _sound_rows(path)
        line = next((row.line for row in rows if str(row.values.get(layout.label)).strip() == cell.strip()), None)
    return refused(path, line, f"has a cell in {layout.label} that is not a JSON list", fix, shortened(cell))
