"""PriMeSRL (Jindal et al. 2022): core roles score only under the correct sense.

1. A sense is correct only if it matches completely: `sell.01` for `buy.01` is wrong.
2. A core argument is correct only if the sense of its predicate is correct; context arguments do not depend on it.
3. `X` with its `C-X` parts is one argument. It is correct if the set of all its heads (or tokens) is correct,
   whichever part is called `X`.
4. `R-X` is correct only if its `X` is; `X` never depends on `R-X`.

All arguments of a predicate that the system lacks are missing; those of a predicate that the gold lacks are spurious.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from chorale.kits.srl.files import Sentence, SrlPredicate
from chorale.kits.srl.metrics.errors import CORRECT, KINDS, MISSING, OTHER_EXTENT, SPURIOUS, mistakes, same_tokens_in
from chorale.kits.srl.metrics.names import Names
from chorale.kits.srl.metrics.outcome import (
    MetricOutcome,
    Of,
    fractions,
    fractions_metric,
    sentence_pairs,
    statistics_of,
)
from chorale.kits.srl.metrics.wholes import NUMBERED, CoreRoles, Mode, Whole, whole_labels, wholes
from chorale.metrics import FloatArray

COLUMNS = (
    "predicates", "system_predicates", "gold_predicates", "senses",
    "core", "system_core", "gold_core", "context", "system_context", "gold_context",
)  # fmt: skip
_Proposition = tuple[str, list[Whole], list[Whole]]
"""Sense, core arguments, context arguments."""
_NOTHING: _Proposition = ("", [], [])
_PLACE = {kind: place for place, kind in enumerate(KINDS)}


def primesrl(
    system: Sequence[Sentence], gold: Sequence[Sentence], *, mode: Mode = "head", core: CoreRoles = NUMBERED
) -> MetricOutcome:
    """Scores predicates, senses and arguments. `span` compares sets of tokens, which are the tokens below the head in
    files that mark heads. `core` are the roles that depend on the sense.
    """
    rows, errors = [], []
    names = Names()
    is_core = cache(core.has)
    for theirs, ours in sentence_pairs(system, gold):
        same_heads = theirs.heads == ours.heads
        differing_trees = None if same_heads or mode == "span" or not (theirs.heads and ours.heads) else (theirs, ours)
        row, kinds = [0] * len(COLUMNS), [0] * (2 * len(KINDS))
        wanted = {each.position: each for each in ours.predicates}
        given = {each.position: each for each in theirs.predicates}
        row[1], row[2] = len(given), len(wanted)
        equal: list[str] = []
        for position, predicate in wanted.items():
            other = given.pop(position, None)
            if other is not None:
                row[0] += 1
                row[3] += other.sense == predicate.sense
                # A good system agrees with the gold on most propositions.
                if same_heads and other == predicate:
                    equal += whole_labels(ours, predicate, mode)
                    continue
            proposition = _proposition(ours, predicate, mode, is_core)
            returned = _NOTHING if other is None else _proposition(theirs, other, mode, is_core)
            _compare(proposition, returned, row, names, kinds, differing_trees)
        for other in given.values():
            _compare(_NOTHING, _proposition(theirs, other, mode, is_core), row, names, kinds, None)
        if equal:
            _add_equal(equal, is_core, row, names, kinds)
        rows.append(row)
        errors.append(kinds)
        names.close_sentence()
    return outcome_of(rows, errors, names)


def outcome_of(rows: Sequence[Sequence[int]], errors: Sequence[Sequence[int]], names: Names) -> MetricOutcome:
    """Builds the result from the counts and error types of each sentence."""
    statistics = statistics_of(rows)
    sums = statistics.rows
    wrong = (sums[:, 1] + sums[:, 2] - 2 * sums[:, 3] + sums[:, 5] + sums[:, 6] - 2 * sums[:, 4]).astype(np.int64)
    wrong += (sums[:, 8] + sums[:, 9] - 2 * sums[:, 7]).astype(np.int64)
    counted = statistics_of(errors)
    return MetricOutcome("primesrl", COLUMNS, statistics, fractions_metric(_formula), wrong, {"roles": names}, counted)


def _proposition(
    sentence: Sentence, predicate: SrlPredicate, mode: Mode, is_core: Callable[[str], bool]
) -> _Proposition:
    core: list[Whole] = []
    context: list[Whole] = []
    for whole in wholes(sentence, predicate, mode):
        (core if is_core(whole.label) else context).append(whole)
    return predicate.sense, core, context


def _add_equal(
    labels: list[str], is_core: Callable[[str], bool], row: list[int], names: Names, kinds: list[int]
) -> None:
    """Counts the arguments of propositions where system and gold are identical."""
    core = sum(map(is_core, labels))
    for count, column, start in ((core, 4, 0), (len(labels) - core, 7, len(KINDS))):
        row[column] += count
        row[column + 1] += count
        row[column + 2] += count
        kinds[start + _PLACE[CORRECT]] += count
    names.right.extend(labels)
    names.returned.extend(labels)
    names.wanted.extend(labels)


def _compare(
    proposition: _Proposition,
    other: _Proposition,
    row: list[int],
    names: Names,
    kinds: list[int],
    differing_trees: tuple[Sentence, Sentence] | None,
) -> None:
    """Adds a pair of gold and system propositions to the counts."""
    for expected, returned, column, start in (
        (proposition[1], other[1], 4, 0),
        (proposition[2], other[2], 7, len(KINDS)),
    ):
        if not expected and not returned:
            continue
        row[column + 1] += len(returned)
        row[column + 2] += len(expected)
        names.returned.extend([whole[0] for whole in returned])
        names.wanted.extend([whole[0] for whole in expected])
        if column == 4 and proposition[0] != other[0]:
            kinds[_PLACE[MISSING]] += len(expected)
            kinds[_PLACE[SPURIOUS]] += len(returned)
            continue
        common = expected if expected == returned else [whole for whole in expected if whole in returned]
        row[column] += len(common)
        names.right.extend([whole[0] for whole in common])
        kinds[start + _PLACE[CORRECT]] += len(common)
        alike = None if differing_trees is None else same_tokens_in(*differing_trees)
        if alike is not None:
            moved = sum(not alike(whole, whole) for whole in common)
            kinds[start + _PLACE[CORRECT]] -= moved
            kinds[start + _PLACE[OTHER_EXTENT]] += moved
        if len(common) < max(len(expected), len(returned)):
            ours, theirs = ([whole for whole in side if whole not in common] for side in (expected, returned))
            for mistake in mistakes(ours, theirs, alike):
                kinds[start + _PLACE[mistake.kind]] += 1


def _formula(sums: FloatArray, of: Of) -> dict[str, FloatArray]:
    column = {name: sums[..., index] for index, name in enumerate(COLUMNS)}
    system, gold = column["system_predicates"], column["gold_predicates"]
    right, returned, wanted = (column[f"{side}core"] + column[f"{side}context"] for side in ("", "system_", "gold_"))
    return {
        **fractions("predicate_id", column["predicates"], system, gold, of),
        **fractions("sense", column["senses"], system, gold, of),
        **fractions("argument", right, returned, wanted, of),
        **fractions("core", column["core"], column["system_core"], column["gold_core"], of),
        **fractions("context", column["context"], column["system_context"], column["gold_context"], of),
    }
