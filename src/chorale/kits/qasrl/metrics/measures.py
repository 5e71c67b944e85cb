"""UA, LA and role: how much of a gold annotation a system, or a person, found (Roit et al. 2020, section 3.2)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chorale.kits.qasrl.files import Integers, QuestionAnswers, Verb
from chorale.kits.qasrl.metrics.matching import Edges, VerbSpans, distinct, distinct_spans, find_edges, linked, match
from chorale.kits.qasrl.metrics.question_sets import ComparedQuestions, QuestionRule, Side, compare_questions
from chorale.metrics import Counts, FloatArray, Metric, Statistics, f1_of, ratio
from chorale.metrics.counts import wholes_of_counts
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

MEASURES = ("ua", "la", "role")
Average = Literal["micro", "macro"]
Link = Literal["iou", "any"]


@dataclass(frozen=True, slots=True)
class Rules:
    """The choices that change the numbers. The defaults are the paper's."""

    iou: float = 0.5
    """From which overlap on two spans may be the same argument."""
    redundant: bool = True
    """Whether the system may repeat itself: further spans of a found argument are ignored, and spurious spans that
    overlap count once (the paper's appendix)."""
    link: Link = "iou"
    """Which spurious spans overlap: by the same IOU, or by any token."""
    modality: bool = True
    """Whether questions must agree in modality. The authors' script leaves it out."""
    extra_verbs: bool = False
    """Whether verbs that only the system has count, all their arguments as spurious."""
    questions: QuestionRule = "assigned"
    """How the questions of an argument are compared: see `question_sets`."""


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """What was matched with what. Verbs are numbers into `verbs`, spans into each side's distinct spans."""

    rules: Rules
    verbs: tuple[Verb, ...]
    system: Side
    gold: Side
    pairs: Edges
    questions: ComparedQuestions
    """The questions of every pair."""
    ignored: NDArray[np.bool_]
    """System spans that repeat an argument: close to a gold span, and not chosen."""
    spurious: Integers
    """For system spans that are wrong, the number of the first span they hang together with; -1 for the others."""
    extra_verbs: int
    """Verbs that only the system has, whether they count or not."""

    def __repr__(self) -> str:
        pairs = plural(len(self.pairs.gold), "pair", "pairs")
        return brief_repr("Alignment", plural(len(self.verbs), "verb", "verbs"), pairs)


def align(system: QuestionAnswers, gold: QuestionAnswers, rules: Rules | None = None) -> Alignment:
    """Match the arguments of every verb."""
    rules = rules or Rules()
    wanted = gold.verbs_with_rows()
    extra = system.verbs_with_rows() - wanted
    verbs = tuple(sorted(wanted | extra if rules.extra_verbs else wanted))
    number = {verb: place for place, verb in enumerate(verbs)}
    left, right = _side(system, number), _side(gold, number)
    edges = find_edges(left.spans, right.spans, rules.iou)
    pairs = edges.taken(match(edges, len(left.spans), len(right.spans)))
    matched = np.zeros(len(left.spans), dtype=bool)
    matched[pairs.system] = True
    ignored = np.zeros(len(left.spans), dtype=bool)
    if rules.redundant:
        ignored[edges.system] = True
        ignored &= ~matched
    return Alignment(
        rules=rules,
        verbs=verbs,
        system=left,
        gold=right,
        pairs=pairs,
        questions=compare_questions(left, right, pairs, rules.questions, modality=rules.modality),
        ignored=ignored,
        spurious=_spurious(left.spans, ~matched & ~ignored, rules),
        extra_verbs=len(extra),
    )


def _side(table: QuestionAnswers, number: dict[Verb, int]) -> Side:
    places = np.array([number.get(verb, -1) for verb in table.verbs], dtype=np.int64)
    row_verb = places[table.rows.verb] if len(places) else table.rows.verb
    kept = row_verb[table.answers.row] >= 0
    answer_row = table.answers.row[kept]
    spans, answer_span = distinct_spans(row_verb[answer_row], table.answers.start[kept], table.answers.end[kept])
    return Side(table, spans, answer_span, answer_row, row_verb)


def _spurious(spans: VerbSpans, wrong: NDArray[np.bool_], rules: Rules) -> Integers:
    spurious = np.full(len(spans), -1, dtype=np.int64)
    places = np.flatnonzero(wrong)
    if rules.redundant:
        spurious[places] = places[linked(spans.taken(wrong), rules.iou if rules.link == "iou" else 0.0)]
    else:
        spurious[places] = places
    return spurious


# From an alignment to scores


def statistics(alignment: Alignment) -> Statistics:
    """Per verb, nine counts: true positives, false positives and false negatives of UA, LA and role."""
    verbs = len(alignment.verbs)
    system, gold, pairs = alignment.system, alignment.gold, alignment.pairs
    pair_verb = gold.spans.verb[pairs.gold]
    matched = np.bincount(pair_verb, minlength=verbs)
    labelled = np.bincount(pair_verb[alignment.questions.equivalent], minlength=verbs)
    mislabelled = np.bincount(pair_verb, weights=alignment.questions.extra, minlength=verbs)
    wanted = np.bincount(gold.spans.verb, minlength=verbs)
    first_of_its_kind = alignment.spurious == np.arange(len(alignment.spurious))
    wrong = np.bincount(system.spans.verb[first_of_its_kind], minlength=verbs)
    arguments = [matched, wrong, wanted - matched]
    rows = [*arguments, labelled, wrong + mislabelled, wanted - labelled, *_roles(alignment)]
    return Statistics(tuple(map(str, alignment.verbs)), np.column_stack(rows).astype(np.float64))


def _roles(alignment: Alignment) -> tuple[Integers, Integers, Integers]:
    """Questions found; questions about nothing in the gold, and those beyond what the gold asks; questions missed."""
    verbs, pairs, gold = len(alignment.verbs), alignment.pairs, alignment.gold
    of_gold = np.zeros(len(gold.spans), dtype=bool)
    of_gold[pairs.gold] = True
    is_found = of_gold[gold.answer_span]
    if alignment.questions.picked is not None:
        is_found &= alignment.questions.picked[gold.answer_span] == gold.answer_question
    of_system = alignment.ignored.copy()
    of_system[pairs.system] = True
    matched, _ = _asked(gold, is_found, verbs)
    supported, asked = _asked(alignment.system, of_system[alignment.system.answer_span], verbs)
    extra = np.bincount(alignment.questions.left_over, minlength=verbs)
    counted = (gold.row_verb >= 0) & (gold.table.rows.question >= 0)
    return matched, asked - supported + extra, np.bincount(gold.row_verb[counted], minlength=verbs) - matched


def _asked(side: Side, marked: NDArray[np.bool_], verbs: int) -> tuple[Integers, Integers]:
    """Per verb, how many different questions have a marked answer, and how many there are."""
    texts: dict[str, int] = {}
    text = np.array([texts.setdefault(question.text, len(texts)) for question in side.table.questions], dtype=np.int64)
    if not len(text):
        return np.zeros(verbs, dtype=np.int64), np.zeros(verbs, dtype=np.int64)
    key = side.row_verb[side.answer_row] * len(texts) + text[side.table.rows.question[side.answer_row]]
    answered, asked = (distinct(keys) // len(texts) for keys in (key[marked], key))
    return np.bincount(answered, minlength=verbs), np.bincount(asked, minlength=verbs)


def counts(statistics: Statistics) -> dict[str, Counts]:
    """The sums over all verbs."""
    return counts_of(statistics.rows.sum(axis=0))


def counts_of(sums: FloatArray) -> dict[str, Counts]:
    whole = [round(value) for value in sums.tolist()]
    return {name: Counts(*whole[3 * place : 3 * place + 3]) for place, name in enumerate(MEASURES)}


def metric(average: Average = "micro") -> Metric:
    """`ua_precision`, `ua_recall`, `ua_f1` and so on.

    Micro: from the sums of the counts over all verbs. Macro: the mean of the verbs' precisions, over verbs where the
    system said anything, the mean of their recalls, over verbs where the gold has anything, and their harmonic mean.
    """
    return Metric(_micro, wholes=_wholes) if average == "micro" else Metric(_macro, additive=False)


def _micro(sums: FloatArray) -> dict[str, FloatArray | float]:
    scores: dict[str, FloatArray | float] = {}
    for place, name in enumerate(MEASURES):
        tp, fp, fn = (sums[..., 3 * place + column] for column in range(3))
        scores[f"{name}_precision"] = ratio(tp, tp + fp)
        scores[f"{name}_recall"] = ratio(tp, tp + fn)
        scores[f"{name}_f1"] = ratio(2 * tp, 2 * tp + fp + fn)
    return scores


def _wholes(sums: FloatArray) -> dict[str, FloatArray | float]:
    """What the fractions of `_micro` are of."""
    wholes: dict[str, FloatArray | float] = {}
    for place, name in enumerate(MEASURES):
        of_measure = wholes_of_counts(sums[..., 3 * place : 3 * place + 3])
        wholes |= {f"{name}_{score}": whole for score, whole in of_measure.items()}
    return wholes


def _macro(rows: FloatArray) -> dict[str, FloatArray | float]:
    scores: dict[str, FloatArray | float] = {}
    for place, name in enumerate(MEASURES):
        tp, fp, fn = (rows[:, 3 * place + column] for column in range(3))
        precision = _mean(ratio(tp, tp + fp), tp + fp > 0)
        recall = _mean(ratio(tp, tp + fn), tp + fn > 0)
        scores[f"{name}_precision"], scores[f"{name}_recall"] = precision, recall
        scores[f"{name}_f1"] = float(f1_of(np.asarray(precision), np.asarray(recall)))
    return scores


def _mean(values: FloatArray, defined: NDArray[np.bool_]) -> float:
    return float(values[defined].mean()) if defined.any() else 0.0
