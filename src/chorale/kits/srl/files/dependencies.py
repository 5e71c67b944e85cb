"""CoNLL-2009, and CoNLL-U with columns for semantic roles: formats that mark the heads of arguments."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from chorale.files.blocks import EMPTY, Block, ProblemReport, blocks, check_numbering, heads_of, table_of
from chorale.kits.srl.files.model import PREDICATE_ITSELF, Sentence, SrlArgument, SrlPredicate, canonical, lemma_of
from chorale.model.plural import plural


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """Positions of the columns, from 0. The argument columns follow the fixed columns."""

    fixed: int
    sense: int
    flag: int | None
    """The column that marks predicates with Y, or None."""
    lemma: int
    upos: int
    xpos: int
    feats: int
    head: int
    deprel: int
    columns: str
    """The names of the columns, for messages."""
    without_roles: int | None = None
    """Number of columns of a sentence without predicates."""


CONLL09 = ColumnLayout(
    fixed=14, sense=13, flag=12, lemma=2, upos=4, xpos=5, feats=6, head=8, deprel=10,
    columns="ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL FILLPRED PRED APRED…",
)  # fmt: skip
CONLLU = ColumnLayout(
    fixed=10, sense=9, flag=8, lemma=2, upos=3, xpos=4, feats=5, head=6, deprel=7,
    columns="ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL ISPRED PREDSENSE ARGS…",
)  # fmt: skip
CONLLU_UP = ColumnLayout(
    fixed=11, sense=10, flag=None, lemma=2, upos=3, xpos=4, feats=5, head=6, deprel=7,
    columns="the ten columns of CoNLL-U, then PREDSENSE ARGS…", without_roles=10,
)  # fmt: skip
CONLLU_LONG = ColumnLayout(
    fixed=12, sense=11, flag=10, lemma=2, upos=3, xpos=4, feats=5, head=6, deprel=7,
    columns="the ten columns of CoNLL-U, then ISPRED PREDSENSE ARGS…", without_roles=10,
)  # fmt: skip
_SAMPLE = 50
"""Number of sentences used to detect the columns of a CoNLL-U file."""


def read_conll09(text: str, report: ProblemReport) -> Iterator[Sentence]:
    read = (_sentence(block, CONLL09, report) for block in blocks(text, comments=True))
    return filter(None, read)


def read_conllu(text: str, report: ProblemReport) -> Iterator[Sentence]:
    layout = conllu_layout(text)
    read = (_sentence(without_ranges(block), layout, report) for block in blocks(text, comments=True))
    return filter(None, read)


def conllu_layout(text: str) -> ColumnLayout:
    """The layout that fits most of the first sentences with roles."""
    split = ([line.split("\t") for line in without_ranges(block).lines] for block in blocks(text, comments=True))
    sample = list(islice((rows for rows in split if len(rows[0]) > CONLLU.fixed), _SAMPLE))
    return max((CONLLU, CONLLU_UP, CONLLU_LONG), key=lambda layout: sum(_fits(rows, layout) for rows in sample))


def _fits(rows: list[list[str]], layout: ColumnLayout) -> bool:
    if any(len(row) < layout.fixed for row in rows):
        return False
    if layout.flag is not None and any((row[layout.flag] == "Y") != (row[layout.sense] != "_") for row in rows):
        return False
    predicates = sum(row[layout.sense] != "_" for row in rows)
    return predicates > 0 and len(rows[0]) == layout.fixed + predicates


def without_ranges(block: Block) -> Block:
    """Removes multiword tokens (1-2) and empty nodes (1.1) of CoNLL-U, which have no roles."""
    kept = [index for index, line in enumerate(block.lines) if line.partition("\t")[0].isdigit()]
    if len(kept) == len(block.lines) or not kept:
        return block
    return Block([block.lines[index] for index in kept], [block.numbers[index] for index in kept])


def _sentence(block: Block, layout: ColumnLayout, report: ProblemReport) -> Sentence | None:
    numbers = block.numbers
    table = table_of([line.rstrip().split("\t") for line in block.lines], numbers, report)
    if table is None:
        return None
    if len(table) == layout.without_roles:
        table += [("_",) * len(numbers)] * (layout.fixed - len(table))
    if len(table) < layout.fixed:
        report(
            numbers[0],
            f"has only {plural(len(table), 'column', 'columns')}",
            f"Expected columns, separated by tabs: {layout.columns}.",
        )
        return None
    if not check_numbering(table[0], numbers, report):
        return None
    positions = _positions(table, layout, numbers, report)
    if positions is None or not _enough_columns(table, layout, len(positions), numbers, report):
        return None
    senses = table[layout.sense]
    predicates = tuple(
        SrlPredicate(position, lemma_of(senses[position]), senses[position], _arguments(column))
        for position, column in zip(positions, table[layout.fixed :], strict=False)
    )
    return Sentence(
        line=numbers[0],
        length=len(numbers),
        predicates=predicates,
        forms=table[1],
        lemmas=table[layout.lemma],
        upos=table[layout.upos],
        xpos=table[layout.xpos],
        feats=table[layout.feats],
        heads=heads_of(table[layout.head], numbers, report),
        deprels=table[layout.deprel],
    )


def _positions(
    table: list[tuple[str, ...]], layout: ColumnLayout, numbers: list[int], report: ProblemReport
) -> list[int] | None:
    """Positions of the predicates. A token must have both a sense and a predicate mark, or neither."""
    senses = table[layout.sense]
    positions = [index for index, sense in enumerate(senses) if sense not in EMPTY]
    # FILLPRED of CoNLL-2009 marks predicates that systems had to fill in, not those they did.
    if layout.flag is None or layout is CONLL09:
        return positions
    marked = [index for index, flag in enumerate(table[layout.flag]) if flag == "Y"]
    if marked == positions:
        return positions
    index = min(set(marked) ^ set(positions))
    if index in marked:
        report(numbers[index], "is marked as a predicate but has no sense", "Fill in PREDSENSE, or write _ in ISPRED.")
    else:
        message, fix = "has a sense but is not marked as a predicate", "Write Y in ISPRED, or _ in PREDSENSE."
        report(numbers[index], message, fix, senses[index])
    return None


def _enough_columns(
    table: list[tuple[str, ...]], layout: ColumnLayout, predicates: int, numbers: list[int], report: ProblemReport
) -> bool:
    given = len(table) - layout.fixed
    if given < predicates:
        fix = f"Add one column per predicate after the {layout.fixed} fixed columns."
        there, columns = plural(predicates, "predicate", "predicates"), plural(given, "column", "columns")
        report(numbers[0], f"begins a sentence with {there} but {columns} of arguments", fix)
        return False
    for column in table[layout.fixed + predicates :]:
        for index, cell in enumerate(column):
            if cell not in EMPTY:
                there = plural(predicates, "predicate", "predicates")
                message = f"has an argument in an extra column: the sentence has only {there}"
                report(numbers[index], message, "Remove the column or mark its predicate.", cell)
                return False
    return True


def _arguments(column: tuple[str, ...]) -> tuple[SrlArgument, ...]:
    arguments = []
    for index, cell in enumerate(column):
        if cell in EMPTY:
            continue
        labels = [cell] if "|" not in cell else sorted(set(map(canonical, filter(None, cell.split("|")))))
        names = map(canonical, labels)
        arguments += [SrlArgument(name, index, index) for name in names if name not in PREDICATE_ITSELF]
    return tuple(arguments)
