"""CoNLL-U Plus with the columns of Universal PropBank 2.0: predicates with lists of heads and of spans."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from chorale.files.blocks import EMPTY, Block, ProblemReport, blocks, check_numbering, heads_of, table_of
from chorale.kits.srl.files.dependencies import without_ranges
from chorale.kits.srl.files.model import PREDICATE_ITSELF, Sentence, SrlArgument, SrlPredicate, canonical, lemma_of

GLOBAL_COLUMNS = "# global.columns ="
_PREDICATE = ("UP:PRED", "UP:PREDS")
_HEADS, _SPANS = "UP:ARGHEADS", "UP:ARGSPANS"
_Table = Mapping[str, tuple[str, ...]]


def read_conllup(text: str, report: ProblemReport) -> Iterator[Sentence]:
    """Reads arguments as heads."""
    return _read(text, report, _HEADS)


def read_conllup_spans(text: str, report: ProblemReport) -> Iterator[Sentence]:
    """Reads arguments as spans."""
    return _read(text, report, _SPANS)


def _read(text: str, report: ProblemReport, arguments: str) -> Iterator[Sentence]:
    first, _, _ = text.partition("\n")
    names = first.removeprefix(GLOBAL_COLUMNS).split() if first.startswith(GLOBAL_COLUMNS) else []
    sense = next((name for name in _PREDICATE if name in names), None)
    if "ID" not in names or sense is None or arguments not in names:
        fix = f"Start the file with {GLOBAL_COLUMNS} ID … UP:PRED UP:ARGHEADS UP:ARGSPANS."
        report(1, f"does not name the columns ID, UP:PRED and {arguments}", fix, first)
        return
    for block in map(without_ranges, blocks(text, comments=True)):
        sentence = _sentence(block, names, sense, arguments, report)
        if sentence is not None:
            yield sentence


def _sentence(block: Block, names: list[str], sense: str, arguments: str, report: ProblemReport) -> Sentence | None:
    numbers = block.numbers
    columns = table_of([line.rstrip().split("\t") for line in block.lines], numbers, report)
    if columns is None:
        return None
    if len(columns) != len(names):
        message = f"has {len(columns)} columns, but the first line of the file names {len(names)}"
        report(numbers[0], message, "Give every token one value per column named in the first line.")
        return None
    table: _Table = dict(zip(names, columns, strict=True))
    if not check_numbering(table["ID"], numbers, report):
        return None
    predicates = tuple(
        SrlPredicate(index, lemma_of(label), label, _arguments(table[arguments][index], len(numbers), problem))
        for index, label in enumerate(table[sense])
        if label not in EMPTY
        for problem in [partial(report, numbers[index])]
    )
    # With a tree, single-token spans would be interpreted as heads.
    with_tree = "HEAD" in table and arguments == _HEADS
    return Sentence(
        line=numbers[0],
        length=len(numbers),
        predicates=predicates,
        forms=table.get("FORM", ()),
        lemmas=table.get("LEMMA", ()),
        upos=table.get("UPOS", ()),
        xpos=table.get("XPOS", ()),
        feats=table.get("FEATS", ()),
        heads=heads_of(table["HEAD"], numbers, report) if with_tree else (),
        deprels=table.get("DEPREL", ()),
    )


def _arguments(cell: str, length: int, problem: Callable[[str, str, str], None]) -> tuple[SrlArgument, ...]:
    """`A0:1|A1:3`, or `A0:1-1|A1:3-5`."""
    arguments: set[SrlArgument] = set()
    for part in cell.split("|") if cell not in EMPTY else ():
        label, _, place = part.rpartition(":")
        first, _, last = place.partition("-")
        bounds = [int(each) for each in (first, last or first) if each.isascii() and each.isdigit() and len(each) < 10]
        if not label or len(bounds) < 2 or not 1 <= bounds[0] <= bounds[1] <= length:
            fix = f"Write LABEL:TOKEN or LABEL:FIRST-LAST, with tokens from 1 to {length}, separated by |."
            problem("has an invalid argument", fix, part)
            return ()
        name = canonical(label)
        if name not in PREDICATE_ITSELF:
            arguments.add(SrlArgument(name, bounds[0] - 1, bounds[1] - 1))
    return tuple(sorted(arguments, key=lambda argument: (argument.first, -argument.last, argument.label)))
