"""Converts the cells of a valid QA-SRL table to numbers and names."""

import polars as pl

from chorale.kits.qasrl.files.cells import SEPARATOR, TRUTH, question_of
from chorale.kits.qasrl.files.table import MARK_ONLY, Integers, QuestionAnswers, Rows, SpanColumns, Verb
from chorale.kits.qasrl.files.tokens import tokens_in
from chorale.model.plural import plural

_QUESTION = ("question", "wh", "aux", "subj", "obj", "prep", "obj2", "is_negated", "is_passive", "verb_form",
             "verb_prefix", "verb_slot_inflection")  # fmt: skip


def numbered(frame: pl.DataFrame, name: str, digest: str, remarks: list[str]) -> QuestionAnswers:
    kept, notes = _without_repeats(frame)
    verbs = kept.group_by("qasrl_id", pl.col("verb_idx").cast(pl.Int64)).agg(pl.col("verb").min())
    verbs = verbs.sort("qasrl_id", "verb_idx").with_row_index("verb_code")
    workers = kept.select("worker_id").unique().sort("worker_id").with_row_index("worker_code")
    raw = kept.select(_QUESTION).unique()
    of_raw = [question_of(cells) if cells["question"] else None for cells in raw.iter_rows(named=True)]
    questions = tuple(sorted({question for question in of_raw if question is not None}))
    number = {question: code for code, question in enumerate(questions)}
    raw = raw.with_columns(
        question_code=pl.Series([MARK_ONLY if each is None else number[each] for each in of_raw], dtype=pl.Int64)
    )
    rows = (
        kept.with_columns(pl.col("verb_idx").cast(pl.Int64))
        .with_row_index("row")
        .join(verbs.select("qasrl_id", "verb_idx", "verb_code"), on=["qasrl_id", "verb_idx"], maintain_order="left")
        .join(workers, on="worker_id", maintain_order="left")
        .join(raw, on=_QUESTION, maintain_order="left")
    )
    spans = _spans(rows.select("row", "answer_range"))
    return QuestionAnswers(
        name,
        digest,
        tuple(Verb(*row) for row in verbs.select("qasrl_id", "verb_idx").iter_rows()),
        tuple(verbs["verb"].to_list()),
        questions,
        tuple(workers["worker_id"].to_list()),
        Rows(_numbers(rows["verb_code"]), _numbers(rows["question_code"]), _numbers(rows["worker_code"])),
        SpanColumns(_numbers(spans["row"]), _numbers(spans["start"]), _numbers(spans["end"])),
        sentences=_sentences(kept),
        teams=_teams(kept),
        notes=(*remarks, *notes, *_voice_notes(kept)),
    )


def _numbers(column: pl.Series) -> Integers:
    return column.cast(pl.Int64).to_numpy()


def _spans(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per answer. A span that occurs twice in a cell is one answer."""
    parts = rows.filter(pl.col("answer_range") != "").with_columns(pl.col("answer_range").str.split(SEPARATOR))
    bounds = pl.col("answer_range").str.split_exact(":", 1)
    listed = parts.explode("answer_range").select(
        "row",
        start=bounds.struct.field("field_0").cast(pl.Int64),
        end=bounds.struct.field("field_1").cast(pl.Int64),
    )
    return listed.unique().sort("row", "start", "end")


def _without_repeats(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Removes rows marked as redundant and duplicate rows."""
    notes = []
    moved = int(frame["moved"].sum())
    if moved:
        notes.append(
            f"{plural(moved, 'row has', 'rows have')} answer positions that do not match the answer text. The text is "
            "used."
        )
    kept = frame.filter(
        ~pl.col("is_redundant").str.to_lowercase().is_in([word for word, is_so in TRUTH.items() if is_so])
    )
    if len(kept) < len(frame):
        marked = plural(len(frame) - len(kept), "row left out: it is", "rows left out: they are")
        notes.append(f"{marked} marked is_redundant.")
    same = pl.col("answer_range").str.split(SEPARATOR).list.unique().list.sort().list.join(SEPARATOR).alias("answers")
    # Several rows with “nothing to ask” for a verb count once.
    once = kept.with_columns(same).unique(["qasrl_id", "verb_idx", "worker_id", *_QUESTION, "answers"], keep="any")
    if len(once) < len(kept):
        repeated = plural(len(kept) - len(once), "row left out: it", "rows left out: each")
        notes.append(f"{repeated} repeats another row of its verb.")
    return once.sort(once.columns), notes


def _voice_notes(frame: pl.DataFrame) -> list[str]:
    open_voice = frame.filter((pl.col("question") != "") & (pl.col("is_passive") == "")).height
    if not open_voice:
        return []
    rows = plural(open_voice, "row has", "rows have")
    return [f"{rows} no is_passive: the voice is derived from the auxiliary and the verb form."]


def _sentences(frame: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    text = pl.when(pl.col("tokens") != "").then("tokens").otherwise("sentence").alias("text")
    listed = frame.select("qasrl_id", text).unique().filter(pl.col("text") != "")
    return {given: tokens_in(text) for given, text in listed.sort("qasrl_id").iter_rows()}


def _teams(frame: pl.DataFrame) -> dict[tuple[Verb, str], frozenset[str]]:
    listed = frame.select("qasrl_id", "verb_idx", "worker_id", "source_worker_ids").unique()
    teams: dict[tuple[Verb, str], frozenset[str]] = {}
    for sentence, index, worker, sources in listed.filter(pl.col("source_worker_ids") != "").iter_rows():
        key = Verb(sentence, int(index)), worker
        teams[key] = teams.get(key, frozenset()) | {worker, *sources.split(SEPARATOR)}
    return teams
