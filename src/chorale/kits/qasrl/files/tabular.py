"""Reads QA-SRL tables: the CSV of the gold standard, and similar output of parsers.

Valid files are read with Polars. If anything is wrong, the file is read again row by row, which is slower but reports
each error with its line.
"""

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from chorale.files.rows import read_rows, suffix_of
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS, read_source, refused
from chorale.files.tables import unescape_cell
from chorale.kits.qasrl.files.cells import INDEX, RANGES, SEPARATOR, TRUTH, flaws
from chorale.kits.qasrl.files.numbering import numbered
from chorale.kits.qasrl.files.sentences import nearest
from chorale.kits.qasrl.files.table import QuestionAnswers
from chorale.kits.qasrl.files.tokens import relocated, tokens_in
from chorale.model import Problem, UserError

ANOTHER_NAME = {"target_idx": "verb_idx", "noun": "verb", "predicate_idx": "verb_idx", "predicate": "verb"}
"""Column names in files about nouns (QANom)."""
_NEEDED = ("qasrl_id", "verb_idx", "question", "answer_range", "wh", "aux", "subj", "obj", "is_negated", "is_passive")
_KEPT = (*_NEEDED, "prep", "obj2", "verb", "verb_form", "verb_prefix", "worker_id", "source_worker_ids", "is_redundant",
         "sentence", "tokens", "answer", "verb_slot_inflection")  # fmt: skip


def read_table(
    path: Path,
    sentences: Mapping[str, tuple[str, ...]] | None = None,
    *,
    by: str | None = None,
    may_leave_sentence: bool = False,
) -> QuestionAnswers:
    """Reads questions and answers from a CSV or TSV file.

    `by` names the column that identifies annotators; default: `worker_id` if it exists. Answers must be inside the
    known sentences, unless `may_leave_sentence` is set: then they are kept, with a note.
    """
    sentences = sentences or {}
    source = read_source(path)
    parsed = _parsed(source.text, "\t" if suffix_of(path) == ".tsv" else ",")
    frame = None if parsed is None else _by_their_text(_named(parsed, str(path), by))
    outside: list[Problem] = []
    if frame is None or not _is_sound(frame) or not _fits(frame, sentences):
        frame = _by_their_text(_row_by_row(path, sentences, by, outside if may_leave_sentence else None))
    notes = [
        f"Answers outside their sentences, scored as given: {len(outside):,} (first: {first.value} in line "
        f"{first.line}). {first.fix}"
        for first in outside[:1]
    ]
    return numbered(frame, str(path), source.digest, notes)


# Reading


def _parsed(text: str, delimiter: str) -> pl.DataFrame | None:
    """All cells as text, or None if the file is not a simple table."""
    try:
        frame = pl.read_csv(io.BytesIO(text.encode()), separator=delimiter, infer_schema=False)
    except (pl.exceptions.PolarsError, ValueError):
        return None
    except BaseException as error:
        # Polars reports internal errors with a panic, which is not an Exception.
        if type(error).__name__ != "PanicException":
            raise
        return None
    odd_names = any("_duplicated_" in name or not name.strip() for name in frame.columns)
    if "\r" in text or odd_names or ";" in frame.columns[0]:
        return None
    filled = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    short_rows_possible = frame.width > 0 and filled[:, -1].null_count() > 0
    if short_rows_possible and _separators(text, delimiter) != (frame.width - 1) * (len(filled) + 1):
        return None
    return filled


def _separators(text: str, delimiter: str) -> int:
    """Counts separators outside quotes, because Polars silently pads rows that are too short."""
    raw = np.frombuffer(text.encode(), dtype=np.uint8)
    outside = (np.cumsum(raw == ord('"'), dtype=np.int32) & 1) == 0
    return int(np.count_nonzero((raw == ord(delimiter)) & outside))


def _lacking(missing: list[str], name: str, columns: list[str]) -> list[Problem]:
    """Reports each missing column, or all at once if most are missing: the file is then of another kind."""
    if len(missing) <= len(_NEEDED) // 2:
        return [Problem(name, 1, f"has no column {column}", nearest(column, columns)) for column in missing]
    there = f"columns {', '.join(map(shortened, columns))}"
    fix = "Expected a CSV file with the columns of the QA-SRL gold standard. Check the file name."
    return [Problem(name, 1, f"is missing the columns {', '.join(missing)}", fix, there)]


def _named(frame: pl.DataFrame, name: str, by: str | None) -> pl.DataFrame:
    """The required columns under the names of the gold standard, with stripped cells. Missing columns are empty."""
    names = {column: column.strip() for column in frame.columns}
    for other, ours in ANOTHER_NAME.items():
        if ours not in names.values():
            names = {column: ours if stripped == other else stripped for column, stripped in names.items()}
    missing = [column for column in (*_NEEDED, *([by] if by else ())) if column not in names.values()]
    if missing:
        raise UserError(f"{name} can't be used", _lacking(missing, name, frame.columns))
    there = frame.rename(names)
    if by:
        there = there.with_columns(worker_id=by)
    cells = there.select(
        pl.col(column).fill_null("").str.strip_chars() if column in there.columns else pl.lit("").alias(column)
        for column in _KEPT
    )
    return cells.with_columns(_meant(column) for column in cells if column.str.starts_with("'").any())


def _meant(column: pl.Series) -> pl.Series:
    """Removes the apostrophe that keeps spreadsheets from interpreting a cell as a formula, as in our own exports."""
    return pl.Series(column.name, [unescape_cell(cell).strip() for cell in column], dtype=pl.String)


def _by_their_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Corrects answer positions in files that have both the sentence and the text of the answer."""
    has_text = (pl.col("answer") != "") & ((pl.col("tokens") != "") | (pl.col("sentence") != ""))
    if not frame.select(has_text.any()).item():
        return frame.with_columns(moved=pl.lit(False))
    ranges = [
        relocated(cells["answer_range"], cells["answer"], tokens_in(cells["tokens"] or cells["sentence"]))
        for cells in frame.select("answer_range", "answer", "tokens", "sentence").iter_rows(named=True)
    ]
    there = pl.Series("answer_range", ranges, dtype=pl.String)
    return frame.with_columns(there, moved=there != frame["answer_range"])


def _row_by_row(
    path: Path, sentences: Mapping[str, tuple[str, ...]], by: str | None, outside: list[Problem] | None
) -> pl.DataFrame:
    """All rows if they are valid; otherwise raises an error that lists each problem with its line.

    Answers outside their sentence are added to `outside`; without it, they are errors too.
    """
    name = str(path)
    problems: list[Problem] = []
    rows: list[dict[str, str]] = []
    texts: dict[str, str] = {}
    for row in read_rows(path, shown_as=name, problems=problems):
        if len(problems) >= MOST_PROBLEMS:
            break
        values = {column: unescape_cell(str(value)).strip() for column, value in row.values.items()}
        if not rows:
            _named(pl.DataFrame(schema=dict.fromkeys(values, pl.String)), name, by)
        cells = dict.fromkeys(_KEPT, "")
        cells |= {ANOTHER_NAME.get(column, column): value for column, value in values.items()} | values
        cells["worker_id"] = cells[by or "worker_id"]
        rows.append({column: cells[column] for column in _KEPT})
        text = cells["tokens"] or cells["sentence"]
        known = sentences.get(cells["qasrl_id"]) or tokens_in(text)
        if text:
            cells["answer_range"] = relocated(cells["answer_range"], cells["answer"], tokens_in(text))
        for flaw in flaws(cells, len(known) or None):
            (problems if outside is None or not flaw.outside else outside).append(Problem(name, row.line, *flaw[:3]))
        if tokens_in(texts.setdefault(cells["qasrl_id"], text)) != tokens_in(text):
            message = "has a different sentence than an earlier row with the same ID"
            fix = "Give every sentence a unique ID."
            problems.append(Problem(name, row.line, message, fix, shortened(text)))
    if problems:
        raise UserError(f"{name} can't be used", problems[:MOST_PROBLEMS])
    if not rows:
        raise refused(path, None, "has no rows", "Check the file name")
    return pl.DataFrame(rows, schema=dict.fromkeys(_KEPT, pl.String))


# Checking, all rows at once


def _is_sound(frame: pl.DataFrame) -> bool:
    """Whether `cells.flaws` would find no errors, without checks that need the sentences."""
    truth = ["", *TRUTH]
    asked, answered = pl.col("question") != "", pl.col("answer_range") != ""
    ends = pl.col("answer_range").str.split(SEPARATOR)
    forward = ends.list.eval(
        pl.element().str.extract("^([0-9]+):").cast(pl.Int64, strict=False)
        < pl.element().str.extract(":([0-9]+)$").cast(pl.Int64, strict=False)
    ).list.all()
    sound = frame.select(
        (pl.col("qasrl_id") != "").all(),
        pl.col("verb_idx").str.contains(INDEX).all(),
        pl.col("is_negated").str.to_lowercase().is_in(truth).all(),
        pl.col("is_passive").str.to_lowercase().is_in(truth).all(),
        (asked == answered).all().alias("both"),
        (~asked | (pl.col("wh") != "")).all(),
        (~answered | pl.col("answer_range").str.contains(RANGES)).all(),
        (~answered | forward).all().alias("forward"),
    )
    return all(sound.row(0))


def _fits(frame: pl.DataFrame, sentences: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether every verb and answer is inside its sentence, and every ID has one text."""
    texts = frame.select("qasrl_id", text=pl.when(pl.col("tokens") != "").then("tokens").otherwise("sentence")).unique()
    if texts["qasrl_id"].is_duplicated().any():
        return False
    lengths = {given: len(tokens_in(text)) for given, text in texts.iter_rows() if text}
    lengths |= {given: len(sentences[given]) for given in texts["qasrl_id"] if given in sentences}
    if not lengths:
        return True
    known = pl.DataFrame({"qasrl_id": list(lengths), "length": list(lengths.values())})
    furthest = pl.col("answer_range").str.split(SEPARATOR).list.eval(
        pl.element().str.extract(":([0-9]+)$").cast(pl.Int64)
    ).list.max()  # fmt: skip
    checked = frame.join(known, on="qasrl_id").select(
        (pl.col("verb_idx").cast(pl.Int64) < pl.col("length")).all(),
        (furthest.fill_null(0) <= pl.col("length")).all().alias("spans"),
    )
    return all(checked.row(0))
