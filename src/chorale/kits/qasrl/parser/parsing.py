"""Applies a trained parser to sentences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chorale.kits.qasrl.files import Span
from chorale.kits.qasrl.grammar import Slots, render
from chorale.kits.qasrl.parser.batching import Vocabularies, batch_of
from chorale.kits.qasrl.parser.encoding import Codes, encode
from chorale.kits.qasrl.parser.examples import CONSOLIDATED, THOROUGH, from_source
from chorale.kits.qasrl.parser.inventory import ChosenQuestion, QuestionInventory
from chorale.metrics import FloatArray
from chorale.text.predicates import Predicate
from chorale.text.tagger import AnalysedSentence

if TYPE_CHECKING:
    from chorale.kits.qasrl.parser.network import ParserNetwork

THRESHOLD = 0.25
"""Minimum probability of an argument. Selected from a few values on the dev part of the gold standard."""
ABOUT = (from_source("Wiki1k"), THOROUGH, CONSOLIDATED)
"""Features assumed for every verb: news or an encyclopedia, and complete annotation."""
_AT_ONCE = 64


class SentenceToParse(NamedTuple):
    name: str
    analysed: AnalysedSentence
    verbs: tuple[Predicate, ...]


class ParsedQuestion(NamedTuple):
    """A question with its answers, likeliest first."""

    slots: Slots
    text: str
    spans: tuple[Span, ...]
    probabilities: tuple[float, ...]
    """Probability that each span is an argument of the verb."""
    right: float
    """The probability that one of the spans is an argument that the question asks for."""


class ParsedVerb(NamedTuple):
    sentence: str
    tokens: tuple[str, ...]
    verb: Predicate
    questions: tuple[ParsedQuestion, ...]


@dataclass(frozen=True, slots=True, eq=False)
class QasrlParser:
    network: "ParserNetwork"
    vocabularies: Vocabularies
    inventory: QuestionInventory
    signature: str
    """Training settings, seed and data."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Training statistics: data, sizes, losses."""

    def parse(
        self, sentences: Iterable[SentenceToParse], threshold: float = THRESHOLD, question_threshold: float = 0.0
    ) -> Iterator[ParsedVerb]:
        """Parses every verb of every sentence, in order. Only a few sentences are in memory at a time.

        `threshold` is the minimum probability of an answer, `question_threshold` of an answer with its question.
        """
        waiting = iter(sentences)
        while part := list(islice(waiting, _AT_ONCE)):
            yield from self._parse(part, threshold, question_threshold)

    def _parse(
        self, part: Sequence[SentenceToParse], threshold: float, question_threshold: float
    ) -> Iterator[ParsedVerb]:
        import torch  # noqa: PLC0415 - heavy, and already loaded if there is a network

        asked = [one for one in part if one.verbs]
        if not asked:
            return
        encoded = [encode(*one.analysed, [verb.index for verb in one.verbs], [ABOUT] * len(one.verbs)) for one in asked]
        self.network.eval()
        with torch.no_grad():
            z = self.network(batch_of(encoded, self.vocabularies))
            scores = torch.sigmoid(self.network.scores(z)).double().numpy()
            spans = np.concatenate([one.spans[:, :2] for one in encoded])
            edges = np.cumsum([0, *(count for one in encoded for count in one.span_counts)]).tolist()
            chosen = [low + best_spans(spans[low:high], scores[low:high], threshold) for low, high in pairwise(edges)]
            logits = [some.double().numpy() for some in self.network.questions(z[np.concatenate(chosen)])]
            written = self.inventory.choose(*logits)
        verbs = [(one, verb) for one in asked for verb in one.verbs]
        first = 0
        for (sentence, verb), rows in zip(verbs, chosen, strict=True):
            questions = [
                (written[first + place], spans[row], scores[row, 0]) for place, row in enumerate(rows.tolist())
            ]
            first += len(rows)
            tokens = tuple(token.text for token in sentence.analysed.tokens)
            yield ParsedVerb(sentence.name, tokens, verb, _merged(questions, verb, question_threshold))


def best_spans(spans: Codes, scores: FloatArray, threshold: float) -> Codes:
    """The spans above a probability, best first, without spans that overlap a better one.

    >>> best_spans(np.array([[0, 2], [1, 2], [3, 4]]), np.array([[0.9, 0.5], [0.8, 0.9], [0.1, 0.9]]), 0.2)
    array([1])
    """
    likely = np.flatnonzero(scores[:, 0] >= threshold)
    order = likely[np.argsort(-scores[likely].prod(axis=1), kind="stable")]
    free = np.ones(int(spans[:, 1].max(initial=0)), dtype=bool)
    kept = []
    for place in order.tolist():
        start, end = spans[place].tolist()
        if free[start:end].all():
            free[start:end] = False
            kept.append(place)
    return np.array(kept, dtype=np.int64)


def _merged(
    chosen_answers: Iterable[tuple[ChosenQuestion | None, Codes, float]], verb: Predicate, least: float
) -> tuple[ParsedQuestion, ...]:
    """One question per role. Questions for the same role are merged and take the wording of the likeliest.

    Answers whose joint probability with the question is below `least` are left out.
    """
    of_role: dict[str, list[tuple[Slots, Span, float, float]]] = {}
    for chosen, (start, end), probability in sorted(chosen_answers, key=lambda one: -one[2]):
        if chosen is not None and probability * chosen.probability >= least:
            answer = chosen.slots, (int(start), int(end)), float(probability), float(probability) * chosen.probability
            of_role.setdefault(chosen.slots.key(), []).append(answer)
    return tuple(
        ParsedQuestion(
            answers[0][0],
            render(answers[0][0], verb.forms),
            tuple(span for _, span, _, _ in answers),
            tuple(probability for _, _, probability, _ in answers),
            1 - prod(1 - right for *_, right in answers),
        )
        for answers in of_role.values()
    )
