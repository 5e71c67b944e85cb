"""QA-SRL files: the gold standard's CSV, parsers' CSV, the QA-SRL Bank's JSON lines, sentences."""

from collections.abc import Mapping
from pathlib import Path

from chorale.files.rows import is_table
from chorale.kits.qasrl.files.bank import JUDGES, VALID, Bank, JudgedQuestion, read_bank
from chorale.kits.qasrl.files.sentences import Tokens, joined, read_sentences
from chorale.kits.qasrl.files.table import Integers, Qa, QuestionAnswers, Rows, Span, SpanColumns, Verb, VerbQuestion
from chorale.kits.qasrl.files.tabular import read_table

__all__ = [
    "JUDGES",
    "VALID",
    "Bank",
    "Integers",
    "JudgedQuestion",
    "Qa",
    "QuestionAnswers",
    "Rows",
    "Span",
    "SpanColumns",
    "Tokens",
    "Verb",
    "VerbQuestion",
    "joined",
    "read_bank",
    "read_qasrl",
    "read_sentences",
    "read_table",
]


def read_qasrl(
    path: Path,
    sentences: Mapping[str, tuple[str, ...]] | None = None,
    *,
    by: str | None = None,
    valid: int = VALID,
    people_only: bool = True,
    may_leave_sentence: bool = False,
) -> QuestionAnswers:
    """Reads a file in any of the formats, detected from its name and columns.

    `by` separates annotators: by this column of a table, or by judge in the Bank. `valid` and `people_only` apply to
    the Bank, `may_leave_sentence` (see `read_table`) to tables.
    """
    if is_table(path):
        return read_table(path, sentences, by=by, may_leave_sentence=may_leave_sentence)
    return read_bank(path).answers(valid=valid, people_only=people_only, by_judge=by is not None)
