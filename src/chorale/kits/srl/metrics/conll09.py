"""CoNLL-2009 and 2008: arguments as dependencies, as eval09.pl counts them (Hajič et al. 2009, Surdeanu et al. 2008).

Every argument is a dependency from its head to the predicate, labelled with the role. Every predicate is a dependency
to a virtual root, labelled with the number of its sense only: `sell.01` for `buy.01` is correct. A wrong sense does not
affect arguments. A proposition is correct if its sense and all its arguments are correct.

2008 adds syntax: the labelled attachment score, and the mean of syntax and semantics as the overall score.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

import numpy as np

from chorale.kits.srl.files import Sentence, SrlArgument, SrlPredicate
from chorale.kits.srl.metrics.names import Names
from chorale.kits.srl.metrics.outcome import (
    MetricOutcome,
    Of,
    fractions,
    fractions_metric,
    sentence_pairs,
    statistics_of,
    whole_alone,
)
from chorale.metrics import FloatArray, Metric, f1_of, ratio

COLUMNS = (
    "gold_predicates", "system_predicates", "predicates", "senses", "propositions",
    "gold_arguments", "system_arguments", "arguments_unlabeled", "arguments", "exact", "sentences",
    "tokens", "labeled_attachments", "attachments", "dependency_labels", "exact_syntax", "exact_overall",
)  # fmt: skip


def conll09(system: Sequence[Sentence], gold: Sequence[Sentence]) -> MetricOutcome:
    """Scores semantic dependencies."""
    return _scored("conll09", system, gold)


def conll08(system: Sequence[Sentence], gold: Sequence[Sentence]) -> MetricOutcome:
    """Scores semantic dependencies, syntactic dependencies, and both together."""
    if not all(sentence.heads for sentences in (system, gold) for sentence in sentences):
        raise ValueError("the CoNLL-2008 score requires syntax for every sentence")
    return _scored("conll08", system, gold)


def _scored(name: str, system: Sequence[Sentence], gold: Sequence[Sentence]) -> MetricOutcome:
    roles, tagged, predicates = (Names() for _ in range(3))
    senses = Names(returned=predicates.returned, wanted=predicates.wanted)
    rows = []
    for theirs, ours in sentence_pairs(system, gold):
        semantics = _semantics(theirs, ours, roles, tagged, senses, predicates)
        syntax = _syntax(theirs, ours)
        rows.append((*semantics, *syntax, int(semantics[-2] == 1 and syntax[-1] == 1)))
        for names in (roles, tagged, senses, predicates):
            names.close_sentence()
    statistics = statistics_of(rows)
    sums = statistics.rows
    wrong = (sums[:, 0] + sums[:, 1] + sums[:, 5] + sums[:, 6] - 2 * (sums[:, 3] + sums[:, 8])).astype(np.int64)
    tables = {"roles": roles, "tags_and_roles": tagged, "tags": senses, "tags_unlabeled": predicates}
    by = Metric(_formula_2008, wholes=_wholes_2008) if name == "conll08" else fractions_metric(_formula)
    return MetricOutcome(name, COLUMNS, statistics, by, wrong, tables)


def _semantics(
    theirs: Sentence, ours: Sentence, roles: Names, tagged: Names, senses: Names, predicates: Names
) -> tuple[int, ...]:
    if theirs.predicates == ours.predicates and theirs.xpos == ours.xpos:
        return _equal_semantics(ours, roles, tagged, senses, predicates)
    by_position = {each.position: each for each in theirs.predicates}
    right_predicates = right_senses = propositions = wanted = unlabeled = labeled = 0
    for predicate in ours.predicates:
        tag = _tag(ours, predicate)
        expected = predicate.arguments
        wanted += len(expected)
        predicates.wanted.append(tag)
        labels = [label for label, _, _ in expected]
        with_tag = [f"{tag} + {label}" for label in labels]
        roles.wanted.extend(labels)
        tagged.wanted.extend(with_tag)
        other = by_position.get(predicate.position)
        if other is None:
            continue
        right_predicates += 1
        predicates.right.append(tag)
        theirs_too = other.arguments
        if expected == theirs_too:
            unlabeled += len(labels)
        else:
            labels = [argument[0] for argument in expected if argument in theirs_too]
            with_tag = [f"{tag} + {label}" for label in labels]
            unlabeled += _in_common(expected, theirs_too)
        roles.right.extend(labels)
        tagged.right.extend(with_tag)
        labeled += len(labels)
        if sense_number(predicate.sense) == sense_number(other.sense):
            right_senses += 1
            senses.right.append(tag)
            propositions += len(labels) == len(expected) == len(theirs_too)
    returned = _returned(theirs, roles, tagged, predicates)
    exact = labeled == wanted == returned and right_senses == len(ours.predicates) == len(theirs.predicates)
    return (
        len(ours.predicates), len(theirs.predicates), right_predicates, right_senses, propositions,
        wanted, returned, unlabeled, labeled, int(exact), 1,
    )  # fmt: skip


def _equal_semantics(
    sentence: Sentence, roles: Names, tagged: Names, senses: Names, predicates: Names
) -> tuple[int, ...]:
    """The counts of `_semantics` for a sentence where system and gold are identical, a frequent case."""
    tags = [_tag(sentence, predicate) for predicate in sentence.predicates]
    labels = [[label for label, _, _ in predicate.arguments] for predicate in sentence.predicates]
    with_tag = [f"{tag} + {label}" for tag, inside in zip(tags, labels, strict=True) for label in inside]
    for names, counted in ((roles, list(chain.from_iterable(labels))), (tagged, with_tag), (predicates, tags)):
        names.right.extend(counted)
        names.returned.extend(counted)
        names.wanted.extend(counted)
    senses.right.extend(tags)
    arguments = len(with_tag)
    return (*(len(tags),) * 5, *(arguments,) * 4, 1, 1)


def _returned(theirs: Sentence, roles: Names, tagged: Names, predicates: Names) -> int:
    """Records the arguments that the system returned, and returns their number."""
    returned = 0
    for predicate in theirs.predicates:
        tag = _tag(theirs, predicate)
        labels = [label for label, _, _ in predicate.arguments]
        returned += len(labels)
        predicates.returned.append(tag)
        roles.returned.extend(labels)
        tagged.returned.extend([f"{tag} + {label}" for label in labels])
    return returned


def _tag(sentence: Sentence, predicate: SrlPredicate) -> str:
    return sentence.xpos[predicate.position] if sentence.xpos else "_"


def _in_common(expected: tuple[SrlArgument, ...], returned: tuple[SrlArgument, ...]) -> int:
    """Number of tokens that are arguments in both, with any role. A token with two roles may count twice."""
    ones, others = [argument.first for argument in expected], [argument.first for argument in returned]
    if ones == others:
        return len(ones)
    return (Counter(ones) & Counter(others)).total()


@lru_cache(maxsize=65536)
def sense_number(sense: str) -> str:
    """The part of a sense that eval09.pl compares: after its only dot, without leading zeros.

    A sense without a dot, or with several, is compared as a whole.

    >>> [sense_number(sense) for sense in ("buy.01", "sell.1", "Commerce_buy", "a.b.02")]
    ['1', '1', 'Commerce_buy', 'a.b.02']
    """
    lemma, dot, number = sense.partition(".")
    if not (lemma and dot and number) or "." in number:
        number = sense
    return (number.lstrip("0") or "0") if number.isascii() and number.isdigit() else number


def _syntax(theirs: Sentence, ours: Sentence) -> tuple[int, int, int, int, int]:
    """Number of tokens; numbers with correct head and label, correct head, correct label; 1 if all are correct."""
    if not theirs.heads or not ours.heads:
        return 0, 0, 0, 0, 0
    if theirs.heads == ours.heads and theirs.deprels == ours.deprels:
        return ours.length, ours.length, ours.length, ours.length, 1
    heads = [one == other for one, other in zip(theirs.heads, ours.heads, strict=True)]
    labels = [one == other for one, other in zip(theirs.deprels, ours.deprels, strict=True)]
    both = sum(one and other for one, other in zip(heads, labels, strict=True))
    return ours.length, both, sum(heads), sum(labels), int(both == ours.length)


def _formula(sums: FloatArray, of: Of = ratio) -> dict[str, FloatArray]:
    column = {name: sums[..., index] for index, name in enumerate(COLUMNS)}
    system, gold = column["system_predicates"], column["gold_predicates"]
    returned, wanted = column["system_arguments"], column["gold_arguments"]
    labeled, unlabeled = column["senses"] + column["arguments"], column["predicates"] + column["arguments_unlabeled"]
    return {
        **fractions("labeled", labeled, system + returned, gold + wanted, of),
        **fractions("unlabeled", unlabeled, system + returned, gold + wanted, of),
        **fractions("proposition", column["propositions"], system, gold, of),
        **fractions("predicate_id", column["predicates"], system, gold, of),
        **fractions("sense", column["senses"], system, gold, of),
        **fractions("argument", column["arguments"], returned, wanted, of),
        "exact_match": of(column["exact"], column["sentences"]),
    }


def _wholes_2008(sums: FloatArray) -> dict[str, FloatArray]:
    """Denominators of the scores, except of means of two scores."""
    column = {name: sums[..., index] for index, name in enumerate(COLUMNS)}
    of_tokens = dict.fromkeys(("las", "uas", "label_accuracy"), column["tokens"])
    of_sentences = dict.fromkeys(("exact_syntax", "exact_overall"), column["sentences"])
    return {**_formula(sums, whole_alone), **of_tokens, **of_sentences}


def _formula_2008(sums: FloatArray) -> dict[str, FloatArray]:
    column = {name: sums[..., index] for index, name in enumerate(COLUMNS)}
    semantics = _formula(sums)
    tokens = column["tokens"]
    las, uas = ratio(column["labeled_attachments"], tokens), ratio(column["attachments"], tokens)
    precision, recall = (las + semantics["labeled.precision"]) / 2, (las + semantics["labeled.recall"]) / 2
    bare, back = (uas + semantics["unlabeled.precision"]) / 2, (uas + semantics["unlabeled.recall"]) / 2
    attached, right = column["labeled_attachments"], column["senses"] + column["arguments"]
    right_unlabeled = column["predicates"] + column["arguments_unlabeled"]
    returned = tokens + column["system_predicates"] + column["system_arguments"]
    wanted = tokens + column["gold_predicates"] + column["gold_arguments"]
    return {
        "las": las,
        "uas": uas,
        "label_accuracy": ratio(column["dependency_labels"], tokens),
        "macro.precision": precision,
        "macro.recall": recall,
        "macro.f1": f1_of(precision, recall),
        "macro_unlabeled.precision": bare,
        "macro_unlabeled.recall": back,
        "macro_unlabeled.f1": f1_of(bare, back),
        **fractions("micro", attached + right, returned, wanted),
        **fractions("micro_unlabeled", column["attachments"] + right_unlabeled, returned, wanted),
        **semantics,
        "exact_syntax": ratio(column["exact_syntax"], column["sentences"]),
        "exact_overall": ratio(column["exact_overall"], column["sentences"]),
        # Semantic score relative to the syntactic score.
        "labeled_to_las": ratio(semantics["labeled.f1"], las),
    }
