"""CoNLL-2005: arguments as spans, as srl-eval.pl counts them (Carreras and Màrquez 2005).

An argument is correct if its label and all its words are. A `C-X` continues the last `X` before it, and the two are one
discontinuous argument; without an earlier `X`, it counts as `X`. If the system lacks a proposition, or has another verb
for it, all its gold arguments count as missed. Propositions that only the system has are ignored.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from chorale.kits.srl.files import Sentence, SrlArgument
from chorale.kits.srl.metrics.names import Names
from chorale.kits.srl.metrics.outcome import (
    MetricOutcome,
    Of,
    fractions,
    fractions_metric,
    sentence_pairs,
    statistics_of,
)
from chorale.metrics import FloatArray

NONE = "-NONE-"
COLUMNS = ("correct", "excess", "missed", "propositions", "perfect")
Span = tuple[int, ...]
"""First and last token of each piece, in order."""


def conll05(system: Sequence[Sentence], gold: Sequence[Sentence]) -> MetricOutcome:
    """Scores spans. Both lists have the same sentences in the same order, and arguments are spans, not heads."""
    rows = []
    roles = Names()
    confused: list[tuple[str, str]] = []
    for theirs, ours in sentence_pairs(system, gold):
        by_position = {each.position: each for each in theirs.predicates}
        correct = excess = missed = perfect = 0
        for predicate in ours.predicates:
            expected = joined(predicate.arguments)
            other = by_position.get(predicate.position)
            # With a different verb it is a different proposition, so its arguments are ignored.
            if other is None or other.lemma != predicate.lemma:
                returned = []
            else:
                returned = expected if other.arguments == predicate.arguments else joined(other.arguments)
            common = expected if expected == returned else [argument for argument in returned if argument in expected]
            correct += len(common)
            excess += len(returned) - len(common)
            missed += len(expected) - len(common)
            perfect += len(common) == len(returned) == len(expected)
            roles.right.extend([label for label, _ in common])
            roles.returned.extend([label for label, _ in returned])
            roles.wanted.extend([label for label, _ in expected])
            _confuse(confused, expected, returned)
        rows.append((correct, excess, missed, len(ours.predicates), perfect))
        roles.close_sentence()
    statistics = statistics_of(rows)
    wrong = statistics.rows[:, 1:3].sum(axis=1).astype(np.int64)
    return MetricOutcome(
        "conll05",
        COLUMNS,
        statistics,
        fractions_metric(_formula),
        wrong,
        {"roles": roles},
        confusion=dict(Counter(confused)),
    )


def joined(arguments: Sequence[SrlArgument]) -> list[tuple[str, Span]]:
    """Complete arguments, each with the bounds of all its pieces."""
    whole: list[tuple[str, Span]] = []
    latest: dict[str, int] = {}
    for label, first, last in arguments:
        name = label[2:] if label[:2] == "C-" else label
        if name is not label and name in latest:
            place = latest[name]
            whole[place] = (name, (*whole[place][1], first, last))
        else:
            latest[name] = len(whole)
            whole.append((name, (first, last)))
    return whole


def _confuse(
    confused: list[tuple[str, str]], expected: list[tuple[str, Span]], returned: list[tuple[str, Span]]
) -> None:
    """Adds the roles of a proposition to the confusion counts, span by span."""
    if expected == returned:
        confused.extend([(label, label) for label, _ in expected])
        return
    roles = {span: label for label, span in expected}
    confused.extend([(roles.pop(span, NONE), label) for label, span in returned])
    confused.extend([(label, NONE) for label in roles.values()])


def _formula(sums: FloatArray, of: Of) -> dict[str, FloatArray]:
    correct, excess, missed = sums[..., 0], sums[..., 1], sums[..., 2]
    return {
        **fractions("", correct, correct + excess, correct + missed, of),
        "perfect": of(sums[..., 4], sums[..., 3]),
    }
