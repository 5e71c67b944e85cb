"""Senseval-3 (Litkowski 2004): frame elements of a given target, scored by name and overlap.

Every element the system returns is attempted. It is correct if the gold has an element of that name for the same
target and the two overlap; each gold element can be matched only once. Precision is the number of correct elements
divided by the number attempted, and recall is the same number divided by the number of gold elements. The score
`attempted` is the number attempted divided by the number of gold elements (it may exceed 1). Overlap is the fraction of
the gold element's characters that the answer covers, averaged over correct answers; 1 if the spans are equal.
"""

from collections.abc import Sequence

import numpy as np

from chorale.kits.srl.files import Sentence
from chorale.kits.srl.metrics.names import Names
from chorale.kits.srl.metrics.outcome import MetricOutcome, fractions, sentence_pairs, statistics_of, whole_alone
from chorale.kits.srl.metrics.wholes import Whole, wholes
from chorale.metrics import FloatArray, Metric, ratio

COLUMNS = ("correct", "attempted", "gold", "overlap")


def senseval3(system: Sequence[Sentence], gold: Sequence[Sentence]) -> MetricOutcome:
    """Scores frame elements with partial overlap, in characters if the files have words and otherwise in tokens."""
    rows = []
    names = Names()
    for theirs, ours in sentence_pairs(system, gold):
        expected = {each.position: wholes(ours, each, "span") for each in ours.predicates}
        correct, overlap, attempted = 0, 0.0, 0
        for predicate in theirs.predicates:
            returned = wholes(theirs, predicate, "span")
            attempted += len(returned)
            names.returned.extend([whole.label for whole in returned])
            for label, share in _matched(expected.get(predicate.position, []), returned, ours):
                correct += 1
                overlap += share
                names.right.append(label)
        for each in expected.values():
            names.wanted.extend([whole.label for whole in each])
        rows.append((correct, attempted, sum(map(len, expected.values())), overlap))
        names.close_sentence()
    statistics = statistics_of(rows)
    wrong = (statistics.rows[:, 1] + statistics.rows[:, 2] - 2 * statistics.rows[:, 0]).astype(np.int64)
    return MetricOutcome("senseval3", COLUMNS, statistics, Metric(_formula, wholes=_wholes), wrong, {"roles": names})


def _matched(expected: list[Whole], returned: list[Whole], sentence: Sentence) -> list[tuple[str, float]]:
    """Names of the matched elements, with their overlap. Pairs with the largest overlap are matched first."""
    pairs = [
        (-_characters(element.place & other.place, sentence) / _characters(element.place, sentence), number, answer)
        for number, element in enumerate(expected)
        for answer, other in enumerate(returned)
        if element.label == other.label and element.place & other.place
    ]
    taken: set[int] = set()
    answered: set[int] = set()
    matched = []
    for share, number, answer in sorted(pairs):
        if number in taken or answer in answered:
            continue
        taken.add(number)
        answered.add(answer)
        exact = expected[number].place == returned[answer].place
        matched.append((expected[number].label, 1.0 if exact else -share))
    return matched


def _characters(bits: int, sentence: Sentence) -> int:
    """Length in characters, with spaces between adjacent tokens; the number of tokens if there are no words."""
    if not sentence.forms:
        return bits.bit_count()
    letters = sum(len(form) for index, form in enumerate(sentence.forms) if bits >> index & 1)
    return letters + (bits & bits >> 1).bit_count()


def _wholes(sums: FloatArray) -> dict[str, FloatArray]:
    """Denominators of the scores. `attempted` can exceed 1, so it is not a fraction."""
    correct, attempted, gold = sums[..., 0], sums[..., 1], sums[..., 2]
    return {**fractions("", correct, attempted, gold, whole_alone), "overlap": correct}


def _formula(sums: FloatArray) -> dict[str, FloatArray]:
    correct, attempted, gold = sums[..., 0], sums[..., 1], sums[..., 2]
    return {
        **fractions("", correct, attempted, gold),
        "overlap": ratio(sums[..., 3], correct),
        "attempted": ratio(attempted, gold),
    }
