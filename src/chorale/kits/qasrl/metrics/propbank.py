"""Agreement of QA-SRL with PropBank (He et al. 2015, section 3.4; Roit et al. 2020, Table 5).

PropBank is the reference. Recall is the fraction of a predicate's arguments that some answer matches. Precision is the
fraction of its questions with an answer that matches an argument. Both are averaged over predicates, and F1 is the
harmonic mean of the averages. Core arguments are A0 to A5 and core questions those with who and what; all others are
adjuncts.

An answer matches an argument if it contains the argument's head or, by spans, if their IOU is at least 0.5. In
CoNLL-2009 the head of “in the park” is “in”, which is part of the question in QA-SRL, not of the answer. An answer with
the object of the preposition therefore also matches. References to arguments (R-A0), modals and negation are not
arguments here, because QA-SRL has no answers for them. The parts of a discontinuous argument (C-A1) are one argument,
which matches if any part does.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from chorale.kits.qasrl.files import QuestionAnswers, Span, Verb
from chorale.kits.qasrl.metrics.matching import iou
from chorale.metrics import FloatArray, Metric, Statistics, f1_of, ratio

KINDS = ("all", "core", "adjunct")
Holding = Literal["head", "head-itself", "span"]
"""By the head (or the object of a preposition), by the head itself, or by the span."""
_CORE = re.compile(r"A[0-5]")
_NO_ARGUMENTS = frozenset({"AM-MOD", "AM-NEG"})


class PropBankPart(NamedTuple):
    """A piece of an argument: its head token, and the tokens it covers."""

    head: int
    span: Span
    objects: tuple[int, ...] = ()
    """For a preposition: the tokens that replace it in an answer."""


@dataclass(frozen=True, slots=True)
class PropBankArgument:
    label: str
    parts: tuple[PropBankPart, ...]

    @property
    def core(self) -> bool:
        return bool(_CORE.fullmatch(self.label))


def arguments_of(labelled: list[tuple[str, PropBankPart]]) -> list[PropBankArgument]:
    """Joins labelled pieces to complete arguments, without those that QA-SRL has no answers for."""
    parts: dict[str, list[list[PropBankPart]]] = {}
    for label, part in labelled:
        name = label.removeprefix("C-")
        if name in _NO_ARGUMENTS or name.startswith("R-"):
            continue
        same = parts.setdefault(name, [])
        if label.startswith("C-") and same:
            same[-1].append(part)
        else:
            same.append([part])
    return [PropBankArgument(name, tuple(each)) for name, several in parts.items() for each in several]


def propbank_statistics(
    table: QuestionAnswers, propbank: Mapping[Verb, list[PropBankArgument]], holding: Holding = "head"
) -> Statistics:
    """Precision and recall for every verb in both datasets, and whether each is defined.

    They are computed for all arguments, for core arguments and for adjuncts.
    """
    asked = _asked(table)
    verbs = sorted(set(asked) & set(propbank))
    rows = [_verb(asked[verb], propbank[verb], holding) for verb in verbs]
    return Statistics(tuple(map(str, verbs)), np.array(rows, dtype=np.float64).reshape(-1, 4 * len(KINDS)))


def _formula(sums: FloatArray) -> dict[str, FloatArray | float]:
    scores: dict[str, FloatArray | float] = {}
    for place, kind in enumerate(KINDS):
        of_precision, with_precision, of_recall, with_recall = (sums[..., 4 * place + at] for at in range(4))
        precision, recall = ratio(of_precision, with_precision), ratio(of_recall, with_recall)
        scores[f"{kind}_precision"], scores[f"{kind}_recall"] = precision, recall
        scores[f"{kind}_f1"] = f1_of(precision, recall)
    return scores


PROPBANK_METRIC = Metric(_formula)
"""`all_precision`, `core_recall`, `adjunct_f1` and so on: means over predicates."""


def _asked(table: QuestionAnswers) -> dict[Verb, dict[tuple[str, bool], set[Span]]]:
    """All questions by verb, with whether each is core, and its answers."""
    asked: dict[Verb, dict[tuple[str, bool], set[Span]]] = {verb: {} for verb in table.verbs_with_rows()}
    for verb, question, span in table.answered():
        asked[verb].setdefault((question.text, question.wh.lower() in ("who", "what")), set()).add(span)
    return asked


def _verb(
    asked: Mapping[tuple[str, bool], set[Span]], arguments: list[PropBankArgument], holding: Holding
) -> list[float]:
    answers = {span for spans in asked.values() for span in spans}
    right = [
        (core, any(_holds(spans, argument, holding) for argument in arguments)) for (_, core), spans in asked.items()
    ]
    covered = [(argument.core, _holds(answers, argument, holding)) for argument in arguments]
    row: list[float] = []
    for kind in KINDS:
        for outcomes in (right, covered):
            kept = [is_so for core, is_so in outcomes if kind == "all" or core == (kind == "core")]
            row += [sum(kept) / len(kept), 1.0] if kept else [0.0, 0.0]
    return row


def _holds(answers: set[Span], argument: PropBankArgument, holding: Holding) -> bool:
    if holding != "span":
        heads = [head for part in argument.parts for head in (part.head, *part.objects)]
        return any(start <= head < end for head in heads for start, end in answers)
    return any(iou(span, part.span) >= 0.5 for part in argument.parts for span in answers)
