"""CoNLL-2005 props: a column of verbs, then one column of bracketed spans per verb."""

import re
from collections.abc import Iterator

from chorale.files.blocks import ProblemReport, blocks, table_of
from chorale.kits.srl.files.model import PREDICATE_ITSELF, Sentence, SrlArgument, SrlPredicate, canonical
from chorale.model.plural import plural

_TAG = re.compile(r"(?P<opened>(?:\([^*()\s]+)*)\*(?P<closed>(?:[^*()\s]*\))*)")
_NO_VERB = "-"


def read_conll05(text: str, report: ProblemReport) -> Iterator[Sentence]:
    for block in blocks(text, comments=False):
        table = table_of([line.split() for line in block.lines], block.numbers, report)
        if table is None:
            continue
        verbs = [(index, verb) for index, verb in enumerate(table[0]) if verb != _NO_VERB]
        if len(table) - 1 != len(verbs):
            columns_there = plural(len(table) - 1, "column", "columns")
            message = f"begins a sentence with {plural(len(verbs), 'verb', 'verbs')} but {columns_there} of arguments"
            report(
                block.numbers[0],
                message,
                'Write one column per verb, and "-" in the first column for tokens that are not verbs.',
            )
            continue
        columns = [bracketed(column, block.numbers, report) for column in table[1:]]
        predicates = tuple(
            SrlPredicate(index, verb, verb, arguments) for (index, verb), arguments in zip(verbs, columns, strict=True)
        )
        yield Sentence(line=block.numbers[0], length=len(block.lines), predicates=predicates)


def bracketed(column: tuple[str, ...], numbers: list[int], report: ProblemReport) -> tuple[SrlArgument, ...]:
    """The spans of a column, ordered by start. Reports invalid brackets."""
    arguments: list[SrlArgument] = []
    opened: list[tuple[str, int]] = []
    for index, tag in enumerate(column):
        if tag == "*":
            continue
        match = _TAG.fullmatch(tag)
        if match is None:
            report(numbers[index], "has an invalid bracket", "Write (LABEL*, * or *) without spaces.", tag)
            return ()
        opened += [(label, index) for label in match["opened"].split("(")[1:]]
        for closing in match["closed"].split(")")[:-1]:
            if not opened:
                report(
                    numbers[index],
                    "closes a bracket that was never opened",
                    "Open it earlier in the sentence, or remove it.",
                    tag,
                )
                return ()
            label, first = opened.pop()
            if closing not in ("", label):
                report(
                    numbers[index],
                    f"closes {closing}, but the open bracket is {label}",
                    "Close the bracket that was opened last.",
                    tag,
                )
                return ()
            arguments.append(SrlArgument(canonical(label), first, index))
    if opened:
        label, first = opened[-1]
        report(numbers[first], "opens a bracket that is never closed", "Close it in the same sentence.", f"({label}*")
        return ()
    arguments = [argument for argument in arguments if argument.label not in PREDICATE_ITSELF]
    if len(set(arguments)) < len(arguments):
        twice = next(argument for argument in arguments if arguments.count(argument) > 1)
        report(numbers[twice.first], "has the same argument twice", "Remove one of them.", f"({twice.label}*")
        return ()
    arguments.sort(key=lambda argument: (argument.first, -argument.last, argument.label))
    return tuple(arguments)
