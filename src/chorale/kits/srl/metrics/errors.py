"""Error types, as defined by PriMeSRL-Eval."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from chorale.kits.srl.files import Sentence, SrlPredicate, tokens_under
from chorale.kits.srl.metrics.wholes import NUMBERED, CoreRoles, Mode, Whole, wholes
from chorale.metrics import FloatArray, Metric

CORRECT = "correct"
MISSING = "missing"
SPURIOUS = "spurious"
OTHER_SPAN = "same_label_different_span"
OTHER_LABEL = "same_span_different_label"
OTHER_EXTENT = "same_head_different_span"
"""The head is correct, but the two trees give it different tokens."""
OTHER_HEAD = "same_span_different_head"
KINDS = (CORRECT, MISSING, SPURIOUS, OTHER_SPAN, OTHER_LABEL, OTHER_EXTENT, OTHER_HEAD)


def _error_counts(sums: FloatArray) -> dict[str, FloatArray]:
    core, context = sums[..., : len(KINDS)], sums[..., len(KINDS) :]
    return {
        f"{group}.{kind}": counts[..., place]
        for group, counts in (("argument", core + context), ("core", core), ("context", context))
        for place, kind in enumerate(KINDS)
    }


ERROR_COUNTS = Metric(_error_counts)
"""Counts of each error type among core and then context arguments, from one row per sentence."""


class Mistake(NamedTuple):
    """An error in one argument: missing, spurious or wrong."""

    kind: str
    gold: Whole | None
    system: Whole | None


class Finding(NamedTuple):
    """An error in a sentence, described in words."""

    kind: str
    predicate: int
    """Token of the predicate, counted from 0."""
    gold: str
    system: str


def mistakes(
    gold: Sequence[Whole], system: Sequence[Whole], same_tokens: Callable[[Whole, Whole], bool] | None = None
) -> list[Mistake]:
    """Pairs the arguments that do not match, in PriMeSRL-Eval's order of priority. Each argument is in one error only.

    `same_tokens` decides whether two arguments have the same tokens although their heads differ.
    """
    ways: list[tuple[str, Callable[[Whole, Whole], bool]]] = [
        (OTHER_LABEL, lambda whole, other: whole.extent == other.extent),
        (OTHER_SPAN, lambda whole, other: whole.value == other.value),
    ]
    if same_tokens is not None:
        ways.insert(0, (OTHER_HEAD, lambda whole, other: whole.value == other.value and same_tokens(whole, other)))
    listed: list[Mistake] = []
    ours, theirs = list(gold), list(system)
    for kind, alike in ways:
        for whole in tuple(ours):
            index = next((index for index, other in enumerate(theirs) if alike(whole, other)), None)
            if index is not None:
                ours.remove(whole)
                listed.append(Mistake(kind, whole, theirs.pop(index)))
    listed += [Mistake(MISSING, whole, None) for whole in ours]
    return listed + [Mistake(SPURIOUS, None, whole) for whole in theirs]


def same_tokens_in(theirs: Sentence, ours: Sentence) -> Callable[[Whole, Whole], bool]:
    """Whether a gold and a system argument, given by their heads, have the same tokens in their own trees."""

    def same(whole: Whole, other: Whole) -> bool:
        return tokens_under(_positions(whole.place), ours.heads) == tokens_under(_positions(other.place), theirs.heads)

    return same


def findings(theirs: Sentence, ours: Sentence, mode: Mode, core: CoreRoles = NUMBERED) -> Iterator[Finding]:
    """Describes all errors of a sentence under PriMeSRL's rules in words."""
    by_position = {each.position: each for each in theirs.predicates}
    gold_positions = {each.position for each in ours.predicates}
    for predicate in ours.predicates:
        other = by_position.get(predicate.position)
        if other is None:
            yield Finding("missing_predicate", predicate.position, predicate.sense, "")
        elif other.sense != predicate.sense:
            yield Finding("wrong_sense", predicate.position, predicate.sense, other.sense)
        yield from _in_proposition(theirs, other, ours, predicate, mode, core)
    for other in theirs.predicates:
        if other.position not in gold_positions:
            yield Finding("spurious_predicate", other.position, "", other.sense)
            for whole in wholes(theirs, other, mode):
                yield Finding(SPURIOUS, other.position, "", _shown(whole, theirs))


def _in_proposition(
    theirs: Sentence,
    other: SrlPredicate | None,
    ours: Sentence,
    predicate: SrlPredicate,
    mode: Mode,
    core_roles: CoreRoles,
) -> Iterator[Finding]:
    expected = wholes(ours, predicate, mode)
    returned = [] if other is None else wholes(theirs, other, mode)
    same_sense = other is not None and other.sense == predicate.sense
    for core in (True, False):
        gold = [whole for whole in expected if core_roles.has(whole.label) == core]
        system = [whole for whole in returned if core_roles.has(whole.label) == core]
        if core and not same_sense:
            wrong = [*(Mistake(MISSING, one, None) for one in gold), *(Mistake(SPURIOUS, None, one) for one in system)]
        else:
            common = set(gold) & set(system)
            wrong = mistakes([one for one in gold if one not in common], [one for one in system if one not in common])
        for kind, missed, spurious in wrong:
            shown = ("" if side is None else _shown(side, text) for side, text in ((missed, ours), (spurious, theirs)))
            yield Finding(kind, predicate.position, *shown)


def _positions(bits: int) -> tuple[int, ...]:
    return tuple(index for index in range(bits.bit_length()) if bits >> index & 1)


def _shown(whole: Whole, sentence: Sentence) -> str:
    """`A1 “a car”`, or token numbers if the file has no words."""
    places = _positions(whole.place)
    words = " ".join(sentence.forms[place] for place in places) if sentence.forms else ""
    where = f"“{words}”" if words else "token " + ",".join(str(place + 1) for place in places)
    return f"{whole.label} {where}"
