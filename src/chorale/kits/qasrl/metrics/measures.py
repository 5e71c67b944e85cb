"""UA, LA and role: scores of a system or an annotator against a gold annotation (Roit et al. 2020, section 3.2)."""

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
    """Options that change the scores. The defaults follow the paper."""

    iou: float = 0.5
    """Minimum overlap of two spans that may be the same argument."""
    redundant: bool = True
    """Whether redundant spans are allowed: additional spans of a matched argument are ignored, and overlapping spurious
    spans count once (appendix of the paper).
    """
    link: Link = "iou"
    """When spurious spans count as overlapping: with the same minimum IOU, or with any common token."""
    modality: bool = True
    """Whether questions must agree in modality. The authors' script ignores it."""
    extra_verbs: bool = False
    """Whether to count verbs that only the system has. All their arguments are spurious."""
    questions: QuestionRule = "assigned"
    """How the questions of an argument are compared: see `question_sets`."""


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The matched arguments. Verbs are indices into `verbs`, spans into the distinct spans of each side."""

    rules: Rules
    verbs: tuple[Verb, ...]
    system: Side
    gold: Side
    pairs: Edges
    questions: ComparedQuestions
    """The questions of every pair."""
    ignored: NDArray[np.bool_]
    """Redundant system spans: they overlap a gold span enough but are not matched."""
    spurious: Integers
    """For spurious system spans, the first span of their overlapping group; -1 for the others."""
    extra_verbs: int
    """Number of verbs that only the system has, whether or not they are counted."""

    def __repr__(self) -> str:
        pairs = plural(len(self.pairs.gold), "pair", "pairs")
        return brief_repr("Alignment", plural(len(self.verbs), "verb", "verbs"), pairs)


def align(system: QuestionAnswers, gold: QuestionAnswers, rules: Rules | None = None) -> Alignment:
    """Matches the arguments of every verb."""
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
    """Nine counts per verb: true positives, false positives and false negatives of UA, LA and role."""
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
    """Numbers of matched, spurious and missed questions per verb. Extra questions about a matched argument are
    spurious.
    """
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
    """Number of distinct questions with a marked answer, and of all distinct questions, per verb."""
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

    Micro: from the sums of the counts over all verbs. Macro: the mean precision of verbs with system answers, the mean
    recall of verbs with gold answers, and their harmonic mean.
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
    """Denominators of the fractions of `_micro`."""
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
