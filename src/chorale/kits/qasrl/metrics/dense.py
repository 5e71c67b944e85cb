"""Measures of FitzGerald et al. (2018) on the densely annotated part of the QA-SRL Bank.

The gold is not a single annotation but the judgments of six judges per question, so a prediction is correct if enough
judges support it.

- Span detection: a predicted span is correct if it matches any answer to any valid question of the verb; a valid
  question is found if a predicted span, not used for another question, matches one of its answers (maximum matching).
- Question validity: the fraction of judged predicted questions that are valid.
- Joint: the fraction of predicted answers to judged questions where the question is valid and the answer matches a
  judge's answer to it.

Span detection follows the metric in the authors' parser code. The other two are defined here, because only judged
questions can be looked up. They are not the paper's human evaluation.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from chorale.kits.qasrl.files import VALID, Bank, JudgedQuestion, QuestionAnswers, Span
from chorale.kits.qasrl.metrics.assignment import SpanEdge, best_matching
from chorale.kits.qasrl.metrics.matching import iou
from chorale.metrics import FloatArray, Metric, Statistics, f1_of, ratio

COLUMNS = (
    "right_spans", "spans", "found_questions", "questions", "valid", "judged", "asked", "right_pairs", "judged_pairs",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DenseRules:
    valid: int = VALID
    """Number of judges, out of six, who must call a question valid."""
    iou: float = 0.5
    """Minimum overlap for a match; 1 for exact spans."""
    people_only: bool = True
    """Whether span precision and recall use only questions written by people. Validity uses all questions."""


def dense_statistics(system: QuestionAnswers, bank: Bank, rules: DenseRules) -> Statistics:
    """The counts of `COLUMNS` for every verb of the Bank with a valid question or a prediction."""
    answers = _spans_by_question(system)
    items, rows = [], []
    for verb in sorted(bank.questions):
        row = _verb(answers.get(verb, {}), bank.questions[verb], rules)
        if any(row):
            items.append(str(verb))
            rows.append(row)
    return Statistics(tuple(items), np.array(rows, dtype=np.float64).reshape(-1, len(COLUMNS)))


def _formula(sums: FloatArray) -> dict[str, FloatArray | float]:
    column = {name: sums[..., place] for place, name in enumerate(COLUMNS)}
    precision = ratio(column["right_spans"], column["spans"])
    recall = ratio(column["found_questions"], column["questions"])
    return {
        "span_precision": precision,
        "span_recall": recall,
        "span_f1": f1_of(precision, recall),
        "question_validity": ratio(column["valid"], column["judged"]),
        "questions_judged": ratio(column["judged"], column["asked"]),
        "joint_accuracy": ratio(column["right_pairs"], column["judged_pairs"]),
    }


DENSE_METRIC = Metric(_formula)
"""Precision, recall and F1 of spans; fraction of valid questions; fraction of correct question-answer pairs."""


def _spans_by_question(system: QuestionAnswers) -> dict[tuple[str, int], dict[str, set[Span]]]:
    """Spans by verb and lower-case question."""
    spans: dict[tuple[str, int], dict[str, set[Span]]] = {}
    for verb, question, span in system.answered():
        spans.setdefault(verb, {}).setdefault(question.text.lower(), set()).add(span)
    return spans


def _verb(asked: dict[str, set[Span]], judged: Iterable[JudgedQuestion], rules: DenseRules) -> tuple[int, ...]:
    by_text = {one.question.text.lower(): one for one in judged}
    valid = {text: one for text, one in by_text.items() if one.is_valid(rules.valid)}
    roles = [one.spans for one in valid.values() if one.spans and (one.by_people or not rules.people_only)]
    spans = sorted({span for answers in asked.values() for span in answers})
    edges = [
        SpanEdge(role, place, 1, 1)
        for role, answers in enumerate(roles)
        for place, span in enumerate(spans)
        if _fits(span, answers, rules.iou)
    ]
    in_bank = [text for text in asked if text in by_text]
    pairs = [(text, span) for text in in_bank for span in asked[text]]
    right = [text in valid and _fits(span, valid[text].spans, rules.iou) for text, span in pairs]
    return (
        len({edge.system for edge in edges}),
        len(spans),
        len(best_matching(edges)),
        len(roles),
        sum(text in valid for text in in_bank),
        len(in_bank),
        len(asked),
        sum(right),
        len(pairs),
    )


def _fits(span: Span, answers: Iterable[Span], threshold: float) -> bool:
    return any(iou(span, answer) >= threshold for answer in answers)
