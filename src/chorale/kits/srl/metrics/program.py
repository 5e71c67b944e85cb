"""PriMeSRL as its authors' program counts it, where that differs from the paper.

PriMeSRL-Eval labels every pair of a gold and a system argument of a proposition. It keeps all pairs with the best label
of an argument, so an argument may count more than once. References depend on the first piece of the argument they refer
to. Roles with neither a digit nor `AM` are left out.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from chorale.kits.srl.files import Sentence, SrlPredicate, subtrees
from chorale.kits.srl.metrics.errors import (
    CORRECT,
    KINDS,
    MISSING,
    OTHER_EXTENT,
    OTHER_HEAD,
    OTHER_LABEL,
    OTHER_SPAN,
    SPURIOUS,
)
from chorale.kits.srl.metrics.names import Names
from chorale.kits.srl.metrics.outcome import MetricOutcome, sentence_pairs
from chorale.kits.srl.metrics.primesrl import COLUMNS, outcome_of

Pieces = tuple[tuple[int, int], ...]
"""First and last token of each piece, in the order in which the program joins them."""
_PRIORITY = (CORRECT, OTHER_HEAD, OTHER_LABEL, OTHER_EXTENT, OTHER_SPAN)
_RIGHT = (CORRECT, OTHER_EXTENT)


class ProgramArgument(NamedTuple):
    """An argument with the fields that the program compares."""

    role: str
    """Label in the file, without `C-`."""
    value: str
    """Label that the program compares: for a reference, it includes the label it refers to."""
    heads: Pieces
    span: Pieces

    @property
    def is_core(self) -> bool:
        return any(character.isdigit() for character in self.value)

    @property
    def is_context(self) -> bool:
        return "AM" in self.value


class ArgumentPair(NamedTuple):
    """A gold argument paired with a system argument, or one of them alone."""

    kind: str
    gold: ProgramArgument | None
    system: ProgramArgument | None


def primesrl_program(system: Sequence[Sentence], gold: Sequence[Sentence]) -> MetricOutcome:
    """Scores predicates, senses and the heads of arguments as PriMeSRL-Eval does. Every sentence must have syntax."""
    rows, errors = [], []
    names = Names()
    for theirs, ours in sentence_pairs(system, gold):
        expected = {each.position: (each.sense, program_arguments(ours, each)) for each in ours.predicates}
        returned = {each.position: (each.sense, program_arguments(theirs, each)) for each in theirs.predicates}
        row, kinds = [0] * len(COLUMNS), [0] * (2 * len(KINDS))
        row[0], row[1], row[2] = len(expected.keys() & returned.keys()), len(returned), len(expected)
        for position in {**expected, **returned}:
            wanted_sense, wanted = expected.get(position, ("", []))
            sense, answers = returned.get(position, ("", []))
            row[3] += wanted_sense == sense
            _count(_of_group(wanted, answers, core=True, comparable=wanted_sense == sense), row, 4, kinds, 0, names)
            _count(_of_group(wanted, answers, core=False, comparable=True), row, 7, kinds, len(KINDS), names)
        rows.append(row)
        errors.append(kinds)
        names.close_sentence()
    return outcome_of(rows, errors, names)


def _of_group(
    gold: Sequence[ProgramArgument], system: Sequence[ProgramArgument], *, core: bool, comparable: bool
) -> list[ArgumentPair]:
    """Pairs of core or of context arguments. Arguments under different senses are not paired."""
    ours, theirs = ([one for one in side if (one.is_core if core else one.is_context)] for side in (gold, system))
    return pairs(ours, theirs) if comparable else [*pairs(ours, []), *pairs([], theirs)]


def _count(
    matched: Sequence[ArgumentPair], row: list[int], column: int, kinds: list[int], start: int, names: Names
) -> None:
    for kind, whole, other in matched:
        kinds[start + KINDS.index(kind)] += 1
        row[column] += kind in _RIGHT
        row[column + 1] += other is not None
        row[column + 2] += whole is not None
        if kind in _RIGHT and whole is not None:
            names.right.append(whole.role)
        if other is not None:
            names.returned.append(other.role)
        if whole is not None:
            names.wanted.append(whole.role)


def program_arguments(sentence: Sentence, predicate: SrlPredicate) -> list[ProgramArgument]:
    """The arguments of a proposition. References first absorb their antecedents, then continuations are joined."""
    arguments = [
        ProgramArgument(label, label, ((head, head),), (_span(sentence, predicate.position, head),))
        for label, head, _ in predicate.arguments
    ]
    labels = [argument.role for argument in arguments]
    arguments = [
        _referring(argument, index, labels, arguments) if argument.role[:1] == "R" else argument
        for index, argument in enumerate(arguments)
    ]
    return _joined(arguments)


def pairs(gold: Sequence[ProgramArgument], system: Sequence[ProgramArgument]) -> list[ArgumentPair]:
    """All pairs that the program keeps, and the unpaired arguments."""
    labelled = [
        (kind, ours, theirs)
        for ours, whole in enumerate(gold)
        for theirs, other in enumerate(system)
        if (kind := _kind(whole, other)) is not None
    ]
    kept: list[ArgumentPair] = []
    ours_paired: set[int] = set()
    theirs_paired: set[int] = set()
    for label in _PRIORITY:
        chosen = [
            (ours, theirs)
            for kind, ours, theirs in labelled
            if kind == label and ours not in ours_paired and theirs not in theirs_paired
        ]
        # All pairs with the same label are kept at once, so an argument counts in each of them.
        ours_paired.update(ours for ours, _ in chosen)
        theirs_paired.update(theirs for _, theirs in chosen)
        kept += [ArgumentPair(label, gold[ours], system[theirs]) for ours, theirs in chosen]
    kept += [ArgumentPair(MISSING, whole, None) for index, whole in enumerate(gold) if index not in ours_paired]
    return kept + [
        ArgumentPair(SPURIOUS, None, other) for index, other in enumerate(system) if index not in theirs_paired
    ]


def _kind(gold: ProgramArgument, system: ProgramArgument) -> str | None:
    same_value = gold.value == system.value
    if _covers(gold.span) == _covers(system.span):
        if not same_value:
            return OTHER_LABEL
        return CORRECT if _covers(gold.heads) == _covers(system.heads) else OTHER_HEAD
    if not same_value:
        return None
    return OTHER_EXTENT if _covers(gold.heads) == _covers(system.heads) else OTHER_SPAN


def _covers(pieces: Pieces) -> tuple[int, int, Pieces]:
    return min(first for first, _ in pieces), max(last for _, last in pieces), pieces


def _referring(
    argument: ProgramArgument, index: int, labels: list[str], arguments: list[ProgramArgument]
) -> ProgramArgument:
    """Joins a reference with the first argument it refers to. Their order becomes part of the label."""
    referred = argument.role.partition("-")[2]
    if referred not in labels:
        return argument._replace(value=f"{argument.value}_")
    place = labels.index(referred)
    main = arguments[place]
    if place > index:
        value, heads, span = main.role + argument.role, main.heads + argument.heads, main.span + argument.span
    else:
        value, heads, span = argument.role + main.role, argument.heads + main.heads, argument.span + main.span
    return argument._replace(value=value, heads=heads, span=span)


def _joined(arguments: Iterable[ProgramArgument]) -> list[ProgramArgument]:
    """Joins every `C-X` with the first `X`, in any position. Without an `X`, the first `C-X` takes its place."""
    joined = list(arguments)
    values = [argument.value for argument in joined]
    gone: set[int] = set()
    for index, argument in enumerate(joined):
        if argument.value[:1] != "C":
            continue
        main = argument.value.partition("-")[2]
        if main in values:
            place = values.index(main)
            whole = joined[place]
            joined[place] = whole._replace(
                heads=_merged(whole.heads, argument.heads), span=_merged(whole.span, argument.span)
            )
            gone.add(index)
        else:
            values[index] = argument.value[2:]
            joined[index] = argument._replace(role=argument.role[2:], value=values[index])
    return [argument for index, argument in enumerate(joined) if index not in gone]


def _merged(pieces: Pieces, other: Pieces) -> Pieces:
    """Pieces ordered by start; a piece between two merged pieces comes last."""
    starts = [min(first for first, _ in each) for each in (pieces, other)]
    return pieces + other if starts[0] <= starts[1] else other + pieces


def _span(sentence: Sentence, predicate: int, head: int) -> tuple[int, int]:
    """The adjacent tokens below the head, without those of the predicate and without most prepositions."""
    masks = subtrees(sentence.heads)
    under = masks[head] if head == predicate else masks[head] & ~_below(masks, predicate, head)
    first = last = head
    while first and under >> (first - 1) & 1:
        first -= 1
    while under >> (last + 1) & 1:
        last += 1
    deprels = sentence.deprels
    of_predicate = (sentence.heads[head] - 1) % sentence.length == predicate
    with_case = deprels[head].startswith("obl") and of_predicate
    kept = [token for token in range(first, last + 1) if token == head or with_case or deprels[token] != "case"]
    kept = _without_commas(kept, lambda token: deprels[token] in ("punct", "P"), sentence.lemmas)
    return min([*kept, head]), max([*kept, head])


def _below(masks: tuple[int, ...], predicate: int, head: int) -> int:
    """The predicate and the tokens below it, if the predicate is below the head."""
    return masks[predicate] if masks[head] >> predicate & 1 else 0


def _without_commas(tokens: list[int], is_mark: Callable[[int], bool], lemmas: Sequence[str]) -> list[int]:
    """Removes a final comma, and leading punctuation if a second comma precedes it."""
    if is_mark(tokens[-1]) and lemmas[tokens[-1]] == ",":
        tokens = tokens[:-1]
    if tokens and is_mark(tokens[0]) and lemmas[tokens[-1]] == ",":
        tokens = tokens[1:]
    return tokens
