"""How QA-SRL and PropBank agree (He et al. 2015, section 3.4; Roit et al. 2020, Table 5).

PropBank is the reference. Recall: of a predicate's arguments, how many does some answer hold; precision: of the
questions asked about it, how many have an answer that holds an argument. Both are averaged over predicates, and F1 is
the harmonic mean of the two averages. Core arguments are A0 to A5, core questions those with who and what; the rest are
adjuncts.

An answer holds an argument if it contains its head, or, by spans, if the two overlap with an IOU of at least 0.5. In
CoNLL-2009 the head of “in the park” is “in”, which QA-SRL asks for and does not answer with: there an answer with the
object of the preposition will do.
References to arguments (R-A0), modals and negation are no arguments here: QA-SRL has no answers for them. The parts of
a discontinuous argument (C-A1) are one argument, held if any part is.
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
"""By the head, for which the object of a preposition may stand; by nothing but the head; by the span."""
_CORE = re.compile(r"A[0-5]")
_NO_ARGUMENTS = frozenset({"AM-MOD", "AM-NEG"})


class PropBankPart(NamedTuple):
    """A piece of an argument: the token it hangs from, and the tokens it covers."""

    head: int
    span: Span
    objects: tuple[int, ...] = ()
    """Of a preposition: the tokens that stand for it in an answer."""


@dataclass(frozen=True, slots=True)
class PropBankArgument:
    label: str
    parts: tuple[PropBankPart, ...]

    @property
    def core(self) -> bool:
        return bool(_CORE.fullmatch(self.label))


def arguments_of(labelled: list[tuple[str, PropBankPart]]) -> list[PropBankArgument]:
    """Labelled pieces as whole arguments, without what QA-SRL has no answers for."""
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
    """Per verb that both have, for all, core and adjuncts: the precision, whether there is one, and so for recall."""
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
    """By verb, every question (and whether it is core) with its answers."""
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
