"""CoNLL-2012 (OntoNotes): words, lemmas and senses of predicates, and one column of bracketed spans per predicate."""

from collections.abc import Iterator

from chorale.files.blocks import EMPTY, ProblemReport, blocks, table_of
from chorale.kits.srl.files.model import Sentence, SrlPredicate
from chorale.kits.srl.files.props import bracketed
from chorale.model.plural import plural

_WORD, _TAG, _LEMMA, _SENSE, _FIXED = 3, 4, 6, 7, 11
COLUMNS = (
    "document, part, word number, word, part of speech, parse, lemma, frameset, word sense, speaker, named entities, "
    "one column per predicate, coreference"
)


def read_conll12(text: str, report: ProblemReport) -> Iterator[Sentence]:
    for block in blocks(text, comments=True):
        table = table_of([line.split() for line in block.lines], block.numbers, report)
        if table is None:
            continue
        if len(table) <= _FIXED:
            there = plural(len(table), "column", "columns")
            report(block.numbers[0], f"has only {there}", f"Expected columns: {COLUMNS}.")
            continue
        predicates = [
            predicate
            for column in table[_FIXED:-1]
            if (predicate := _predicate(column, table, block.numbers, report)) is not None
        ]
        yield Sentence(
            line=block.numbers[0],
            length=len(block.lines),
            predicates=tuple(sorted(predicates, key=lambda predicate: predicate.position)),
            forms=table[_WORD],
            xpos=table[_TAG],
        )


def _predicate(
    column: tuple[str, ...], table: list[tuple[str, ...]], numbers: list[int], report: ProblemReport
) -> SrlPredicate | None:
    """Predicates of the columns, found by their V. Not every row with a lemma has a column."""
    position = next((index for index, cell in enumerate(column) if "(V*" in cell), None)
    if position is None:
        report(numbers[0], "has a column of arguments without (V*)", "Mark the predicate of every column with (V*).")
        return None
    lemma, sense = table[_LEMMA][position], table[_SENSE][position]
    if lemma in EMPTY:
        report(numbers[position], "is a predicate but has no lemma", "Write its lemma in column 7.", column[position])
        return None
    full = lemma if sense in EMPTY else f"{lemma}.{sense}"
    return SrlPredicate(position, lemma, full, bracketed(column, numbers, report))
