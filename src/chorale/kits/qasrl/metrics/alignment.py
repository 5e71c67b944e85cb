"""A readable alignment: matched, missed and spurious arguments with their words.

The rows serve system developers as a table and workers in training as feedback.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from chorale.kits.qasrl.files import Qa, QuestionAnswers, Span, Verb
from chorale.kits.qasrl.metrics.matching import VerbSpans
from chorale.kits.qasrl.metrics.measures import Alignment, Rules, align
from chorale.kits.qasrl.metrics.question_sets import Side

Status = Literal["matched", "missed", "spurious", "redundant"]


class AlignedArgument(NamedTuple):
    """One argument of a verb. Fields of a side that lacks it are None or empty."""

    verb: Verb
    word: str
    status: Status
    """In both; only in the gold; only in the system; or an additional system span of a matched argument."""
    same_role: bool | None
    """For a matched argument: whether the questions are equivalent under STRICT-MATCH."""
    extra_questions: int
    """For a matched argument: number of the system's questions that count as errors."""
    iou: float | None
    gold_span: Span | None
    gold_text: str
    gold_questions: tuple[str, ...]
    system_span: Span | None
    system_text: str
    system_questions: tuple[str, ...]
    counted_with: Span | None
    """For a spurious argument: the first argument that overlaps it and counts as one error with it."""


def align_verb(
    system: Sequence[Qa], gold: Sequence[Qa], tokens: Sequence[str] = (), rules: Rules | None = None
) -> list[AlignedArgument]:
    """Compares two annotations of a verb argument by argument, in sentence order."""
    verb = ("sentence", 0)
    alignment = align(QuestionAnswers.of({verb: system}), QuestionAnswers.of({verb: gold}), rules)
    return [row._replace(word="") for row in aligned_arguments(alignment, {"sentence": tuple(tokens)})]


def aligned_arguments(
    alignment: Alignment, sentences: Mapping[str, Sequence[str]] | None = None
) -> Iterator[AlignedArgument]:
    """All arguments of all verbs, ordered by verb and position, gold before system."""
    system, gold = (_SpanTexts(side, sentences or {}) for side in (alignment.system, alignment.gold))
    rows = [
        _row(alignment, gold, in_gold, system, in_system, "matched")._replace(
            same_role=same, extra_questions=extra, iou=iou
        )
        for in_gold, in_system, same, extra, iou in zip(
            alignment.pairs.gold.tolist(),
            alignment.pairs.system.tolist(),
            alignment.questions.equivalent.tolist(),
            alignment.questions.extra.tolist(),
            alignment.pairs.iou.tolist(),
            strict=True,
        )
    ]
    missed = set(range(len(gold.spans))) - set(alignment.pairs.gold.tolist())
    rows += [_row(alignment, gold, in_gold, system, None, "missed") for in_gold in missed]
    for in_system in set(range(len(system.spans))) - set(alignment.pairs.system.tolist()):
        if alignment.ignored[in_system]:
            rows.append(_row(alignment, gold, None, system, in_system, "redundant"))
        else:
            row = _row(alignment, gold, None, system, in_system, "spurious")
            rows.append(row._replace(counted_with=system.span(int(alignment.spurious[in_system]))))
    return iter(sorted(rows, key=_in_order))


def _in_order(row: AlignedArgument) -> tuple[Verb, Span, bool, str]:
    return row.verb, row.gold_span or row.system_span or (0, 0), row.gold_span is None, row.status


class _SpanTexts:
    """The spans of one side with their words and questions."""

    def __init__(self, side: Side, sentences: Mapping[str, Sequence[str]]) -> None:
        self.spans: VerbSpans = side.spans
        self._sentences = sentences
        self._questions: dict[int, set[str]] = defaultdict(set)
        texts = [question.text for question in side.table.questions]
        asked = side.table.rows.question[side.answer_row]
        for span, question in zip(side.answer_span.tolist(), asked.tolist(), strict=True):
            self._questions[span].add(texts[question])
        self.words = dict(zip(side.table.verbs, side.table.words, strict=True))

    def span(self, number: int) -> Span:
        return int(self.spans.start[number]), int(self.spans.end[number])

    def argument(self, number: int | None, verb: Verb) -> tuple[Span | None, str, tuple[str, ...]]:
        """The span of an argument, its words and its questions."""
        if number is None:
            return None, "", ()
        start, end = self.span(number)
        words = " ".join(self._sentences.get(verb.sentence, ())[start:end])
        return (start, end), words, tuple(sorted(self._questions[number]))


def _row(
    alignment: Alignment,
    gold: _SpanTexts,
    in_gold: int | None,
    system: _SpanTexts,
    in_system: int | None,
    status: Status,
) -> AlignedArgument:
    of_verb = gold.spans.verb[in_gold] if in_gold is not None else system.spans.verb[in_system]
    verb = alignment.verbs[int(of_verb)]
    word = gold.words.get(verb, "") or system.words.get(verb, "")
    sides = (*gold.argument(in_gold, verb), *system.argument(in_system, verb))
    return AlignedArgument(verb, word, status, None, 0, None, *sides, None)
