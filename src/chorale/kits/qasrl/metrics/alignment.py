"""An alignment as people read it: what was found, what was missed, what is wrong, with the words.

The same rows serve a system's developer as a table and a worker in training as feedback.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from chorale.kits.qasrl.files import Qa, QuestionAnswers, Span, Verb
from chorale.kits.qasrl.metrics.matching import VerbSpans
from chorale.kits.qasrl.metrics.measures import Alignment, Rules, Side, align

Status = Literal["matched", "missed", "spurious", "redundant"]


class AlignedArgument(NamedTuple):
    """One argument of a verb. What a side does not have is None, empty, or an empty text."""

    verb: Verb
    word: str
    status: Status
    """Found; only in the gold; only in the system; or the system's further span of an argument that is found."""
    same_role: bool | None
    """Of a matched argument: whether the questions are equivalent under STRICT-MATCH."""
    iou: float | None
    gold_span: Span | None
    gold_text: str
    gold_questions: tuple[str, ...]
    system_span: Span | None
    system_text: str
    system_questions: tuple[str, ...]
    counted_with: Span | None
    """Of a spurious argument: the first of those that overlap it and count as one error with it."""


def align_verb(
    system: Sequence[Qa], gold: Sequence[Qa], tokens: Sequence[str] = (), rules: Rules | None = None
) -> list[AlignedArgument]:
    """What one annotation of a verb found of another, argument by argument, in the order of the sentence."""
    verb = ("sentence", 0)
    alignment = align(QuestionAnswers.of({verb: system}), QuestionAnswers.of({verb: gold}), rules)
    return [row._replace(word="") for row in aligned_arguments(alignment, {"sentence": tuple(tokens)})]


def aligned_arguments(
    alignment: Alignment, sentences: Mapping[str, Sequence[str]] | None = None
) -> Iterator[AlignedArgument]:
    """All arguments of all verbs: by verb, then in the order of the sentence, the gold's before the system's."""
    sentences = sentences or {}
    system, gold = _Shown(alignment.system, sentences), _Shown(alignment.gold, sentences)
    rows: list[AlignedArgument] = []
    pairs, iou = alignment.pairs, alignment.pairs.iou
    for number in range(len(pairs.gold)):
        in_gold, in_system = int(pairs.gold[number]), int(pairs.system[number])
        same = bool(alignment.equivalent[number])
        rows.append(_row(alignment, gold, in_gold, system, in_system, "matched", same, float(iou[number])))
    matched_gold, matched_system = set(pairs.gold.tolist()), set(pairs.system.tolist())
    rows += [
        _row(alignment, gold, in_gold, system, None, "missed")
        for in_gold in range(len(gold.spans))
        if in_gold not in matched_gold
    ]
    for in_system in range(len(system.spans)):
        if in_system in matched_system:
            continue
        if alignment.ignored[in_system]:
            rows.append(_row(alignment, gold, None, system, in_system, "redundant"))
        else:
            row = _row(alignment, gold, None, system, in_system, "spurious")
            rows.append(row._replace(counted_with=system.span(int(alignment.spurious[in_system]))))
    return iter(sorted(rows, key=_in_order))


def _in_order(row: AlignedArgument) -> tuple[Verb, Span, bool, str]:
    return row.verb, row.gold_span or row.system_span or (0, 0), row.gold_span is None, row.status


class _Shown:
    """A side's spans with their words and questions."""

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

    def text(self, number: int, verb: Verb) -> str:
        start, end = self.span(number)
        return " ".join(self._sentences.get(verb.sentence, ())[start:end])

    def questions(self, number: int) -> tuple[str, ...]:
        return tuple(sorted(self._questions[number]))


def _row(
    alignment: Alignment,
    gold: _Shown,
    in_gold: int | None,
    system: _Shown,
    in_system: int | None,
    status: Status,
    same_role: bool | None = None,
    iou: float | None = None,
) -> AlignedArgument:
    of_verb = gold.spans.verb[in_gold] if in_gold is not None else system.spans.verb[in_system]
    verb = alignment.verbs[int(of_verb)]
    return AlignedArgument(
        verb=verb,
        word=gold.words.get(verb, "") or system.words.get(verb, ""),
        status=status,
        same_role=same_role,
        iou=iou,
        gold_span=None if in_gold is None else gold.span(in_gold),
        gold_text="" if in_gold is None else gold.text(in_gold, verb),
        gold_questions=() if in_gold is None else gold.questions(in_gold),
        system_span=None if in_system is None else system.span(in_system),
        system_text="" if in_system is None else system.text(in_system, verb),
        system_questions=() if in_system is None else system.questions(in_system),
        counted_with=None,
    )
