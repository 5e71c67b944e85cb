"""Training data of the parser: the questions of the QA-SRL Bank with the answers of each judge."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from chorale.kits.qasrl.files import Bank, JudgedQuestion, QuestionAnswers, Verb
from chorale.kits.qasrl.grammar import NotAQuestion, Slots, parse
from chorale.kits.qasrl.parser.encoding import Codes
from chorale.metrics import FloatArray
from chorale.text.inflections import KEYS, VerbForms
from chorale.text.predicates import forms_of

SAME = 0.5
"""Minimum IOU of two spans that are the same argument, as in the paper's measure."""
THOROUGH = "thoroughly annotated"
"""Feature of verbs with six judges per question. For other verbs, many possible questions are missing."""
_THOROUGH_JUDGES = 6
CONSOLIDATED = "consolidated"
"""Feature of verbs of a gold standard, where the questions of several writers were consolidated."""


class AskedQuestion(NamedTuple):
    slots: Slots
    valid: float
    """Fraction of judges who call it valid."""
    marked: tuple[tuple[tuple[int, int], ...], ...]
    """The spans marked by each of those judges."""


@dataclass(frozen=True, slots=True)
class VerbExample:
    verb: int
    asked: tuple[AskedQuestion, ...]
    about: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SentenceExample:
    name: str
    tokens: tuple[str, ...]
    verbs: tuple[VerbExample, ...]


class SpanTargets(NamedTuple):
    """Training targets for each candidate span of a verb."""

    argument: FloatArray
    """Fraction of judges who marked it, with an IOU of at least 0.5."""
    exact: FloatArray
    """Mean IOU with the spans they marked."""
    asked: list[tuple[int, int, float]]
    """Span, question and weight of all questions about argument spans."""


def examples_of(bank: Bank) -> Iterator[SentenceExample]:
    """The sentences of the Bank with the questions that the grammar accepts, sorted by name."""
    of_sentence: dict[str, list[VerbExample]] = {}
    for verb in sorted(bank.questions):
        if verb in bank.forms and set(KEYS) <= bank.forms[verb].keys():
            of_sentence.setdefault(verb.sentence, []).append(_example(bank, verb))
    for name, verbs in of_sentence.items():
        yield SentenceExample(name, bank.sentences[name], tuple(verbs))


def gold_examples(table: QuestionAnswers, sentences: Mapping[str, Sequence[str]]) -> Iterator[SentenceExample]:
    """The sentences of a gold standard, sorted by name; each verb's questions count as judged by one person."""
    of_sentence: dict[str, list[VerbExample]] = {}
    for verb, of_worker in sorted(table.by_worker().items()):
        forms = forms_of(sentences[verb.sentence][verb.token])
        asked = []
        for question, spans, _ in chain.from_iterable(of_worker.values()):
            parsed = parse(question.text, forms)
            if spans and not isinstance(parsed, NotAQuestion):
                asked.append(AskedQuestion(parsed.slots, 1.0, (spans,)))
        about = from_source(verb.sentence.partition(":")[0]), THOROUGH, CONSOLIDATED
        of_sentence.setdefault(verb.sentence, []).append(VerbExample(verb.token, tuple(asked), about))
    for name, verbs in of_sentence.items():
        yield SentenceExample(name, tuple(sentences[name]), tuple(verbs))


def is_gold(example: SentenceExample) -> bool:
    """Whether a gold standard has the sentence."""
    return any(CONSOLIDATED in verb.about for verb in example.verbs)


def _example(bank: Bank, verb: Verb) -> VerbExample:
    forms = VerbForms.from_bank(bank.forms[verb])
    judged = bank.questions[verb]
    asked = [question for one in judged if (question := _asked(one, forms)) is not None]
    thorough = any(len(one.judgments) >= _THOROUGH_JUDGES for one in judged)
    source = from_source(verb.sentence.partition(":")[0])
    return VerbExample(verb.token, tuple(asked), (source, THOROUGH) if thorough else (source,))


def from_source(collection: str) -> str:
    """Feature for the collection of the text. The first part of the sentence ID names the collection."""
    return f"from {collection}"


def _asked(judged: JudgedQuestion, forms: VerbForms) -> AskedQuestion | None:
    parsed = parse(judged.question.text, forms)
    valid = [judgment for judgment in judged.judgments if judgment.valid and judgment.spans]
    if isinstance(parsed, NotAQuestion) or 2 * len(valid) <= len(judged.judgments):
        return None
    return AskedQuestion(parsed.slots, len(valid) / len(judged.judgments), tuple(one.spans for one in valid))


def targets_of(spans: Codes, asked: Sequence[AskedQuestion]) -> SpanTargets:
    """Training targets for a verb's candidate spans, given as starts and ends."""
    argument, exact = np.zeros(len(spans)), np.zeros(len(spans))
    questions: list[tuple[int, int, float]] = []
    start, end = spans[:, :1], spans[:, 1:2]
    for number, question in enumerate(asked):
        near, same = np.zeros(len(spans)), np.zeros(len(spans))
        for judged in question.marked:
            first, after = np.array(judged).T
            joint = np.clip(np.minimum(end, after) - np.maximum(start, first), 0, None)
            best = (joint / (end - start + after - first - joint)).max(axis=1)
            near += best
            same += best >= SAME
        weight = question.valid / len(question.marked)
        argument, exact = np.maximum(argument, same * weight), np.maximum(exact, near * weight)
        hit = np.flatnonzero(same)
        questions += zip(hit.tolist(), [number] * len(hit), (same[hit] * weight).tolist(), strict=True)
    return SpanTargets(argument, exact, questions)
