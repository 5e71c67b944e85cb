"""Compares the questions about matched arguments: which ask for the same role, and which of the system's are extra.

An argument may answer several questions. Three rules compare the two sets of questions:

- assigned: each question is paired with at most one equivalent question of the other side, and every extra question
  of the system is an error. Asking every possible question does not pay off.
- any: one equivalent pair is enough, and extra questions are not penalised.
- authors: only one question of each set is compared, as in the gold standard's own script. That script takes the
  first element of a Python set, which varies between runs; here a digest of question and span decides.

Questions that are equal under STRICT-MATCH count as one question, although their tense or preposition may differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chorale.kits.qasrl.files import Integers, QuestionAnswers
from chorale.kits.qasrl.metrics.matching import Edges, VerbSpans, distinct, match
from chorale.kits.qasrl.metrics.questions import label_of

QuestionRule = Literal["assigned", "any", "authors"]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of the two annotations, restricted to the scored verbs."""

    table: QuestionAnswers
    spans: VerbSpans
    answer_span: Integers
    """The number of the distinct span of every kept answer."""
    answer_row: Integers
    """The row of every kept answer."""
    row_verb: Integers
    """For every row of the table, the number of its verb among the scored verbs, or -1."""

    @property
    def answer_question(self) -> Integers:
        """The number of the question of every kept answer."""
        return self.table.rows.question[self.answer_row]


@dataclass(frozen=True, slots=True, eq=False)
class ComparedQuestions:
    """The comparison of questions for every matched pair of arguments."""

    equivalent: NDArray[np.bool_]
    """For every pair, whether the questions ask for the same role."""
    extra: Integers
    """For every pair, the number of the system's questions that count as errors."""
    left_over: Integers
    """The verb of every system question that has no partner among the gold questions about the same arguments.
    Empty unless the rule is `assigned`."""
    picked: Integers | None = None
    """For every distinct gold span, the question that the authors' rule compares; None with other rules."""
    undecided: int = 0
    """Number of pairs whose equivalence in the authors' script depends on the questions it happens to take."""


def compare_questions(
    system: Side, gold: Side, pairs: Edges, rule: QuestionRule, *, modality: bool
) -> ComparedQuestions:
    """Compares the questions of all matched pairs."""
    codes: dict[object, int] = {}
    labels = [
        np.array(
            [codes.setdefault(label_of(each, modality=modality), len(codes)) for each in side.table.questions], int
        )
        for side in (system, gold)
    ]
    width, count = max(1, len(codes)), len(pairs.system)
    asked = [
        _asked_about(side, spans, label, width)
        for side, spans, label in zip((system, gold), (pairs.system, pairs.gold), labels, strict=True)
    ]
    of_system, of_gold = (np.bincount(key // width, minlength=count) for key in asked)
    common = np.bincount(np.intersect1d(asked[0], asked[1], assume_unique=True) // width, minlength=count)
    equivalent = common > 0
    if rule == "assigned":
        extra = of_system - common
        return ComparedQuestions(equivalent, extra, _left_over(asked, extra, gold.spans.verb[pairs.gold], width))
    none = np.zeros(0, dtype=np.int64)
    if rule == "any":
        return ComparedQuestions(equivalent, (~equivalent).astype(np.int64), none)
    ours, theirs = (_picked(side) for side in (system, gold))
    same = labels[0][ours[pairs.system]] == labels[1][theirs[pairs.gold]] if count else equivalent
    undecided = int(np.count_nonzero(equivalent & (of_system * of_gold > 1)))
    return ComparedQuestions(same, (~same).astype(np.int64), none, theirs, undecided)


def _asked_about(side: Side, spans: Integers, label: Integers, width: int) -> Integers:
    """Distinct combinations of pair and label, encoded as pair times width plus label, sorted."""
    pair_of = np.full(len(side.spans), -1, dtype=np.int64)
    pair_of[spans] = np.arange(len(spans))
    pair = pair_of[side.answer_span]
    kept = pair >= 0
    return distinct(pair[kept] * width + label[side.answer_question[kept]]) if len(label) else np.zeros(0, np.int64)


def _left_over(asked: Sequence[Integers], extra: Integers, verb_of_pair: Integers, width: int) -> Integers:
    """The verbs of system questions without a partner in a maximum matching.

    Two questions of a verb may be partners if they are about the same argument, whatever their wording. For a verb
    without extra questions, each question is the partner of its equivalent.
    """
    doubtful = np.bincount(verb_of_pair[extra > 0], minlength=verb_of_pair.max(initial=-1) + 1) > 0
    in_doubt = doubtful[verb_of_pair]
    (pair, label), (their_pair, their_label) = (np.divmod(keys[in_doubt[keys // width]], width) for keys in asked)
    first = np.searchsorted(their_pair, pair, "left")
    times = np.searchsorted(their_pair, pair, "right") - first
    left = np.repeat(np.arange(len(pair)), times)
    right = np.arange(len(left)) - np.repeat(np.cumsum(times) - times, times) + np.repeat(first, times)
    verb = verb_of_pair[pair[left]] * width
    questions, ours = np.unique(verb + label[left], return_inverse=True)
    partners, theirs = np.unique(verb + their_label[right], return_inverse=True)
    ours, theirs = np.divmod(distinct(ours * max(1, len(partners)) + theirs), max(1, len(partners)))
    ones = np.ones(len(ours), dtype=np.int64)
    edges = Edges(ours, theirs, ones, ones)
    alone = np.ones(len(questions), dtype=bool)
    alone[ours[match(edges, len(questions), len(partners))]] = False
    return questions[alone] // width


def _picked(side: Side) -> Integers:
    """Selects one question for every distinct span, independent of row order and of the other side."""
    digests = [blake2b(question.text.encode(), digest_size=8).digest() for question in side.table.questions]
    texts = np.frombuffer(b"".join(digests), dtype=np.uint64)
    if not len(texts):
        return np.zeros(0, dtype=np.int64)
    span, question = side.answer_span, side.answer_question
    place = (side.spans.start * 1_000_003 + side.spans.end).astype(np.uint64)
    # Multiplying by an odd number and folding the high half down spreads the spans over all orders of the questions.
    mixed = (texts[question] ^ place[span]) * np.uint64(0x9E3779B97F4A7C15)
    order = np.lexsort((mixed ^ (mixed >> np.uint64(32)), span))
    ordered = span[order]
    return question[order[np.r_[True, ordered[1:] != ordered[:-1]]]] if len(order) else order
