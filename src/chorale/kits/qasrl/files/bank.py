"""The QA-SRL Bank's JSON lines: one sentence per line, with every judgment of every question.

A question was written by a person (`turk-…`) or by a model (`model-…`), and judged by three people, or by six in the
dense part: each decides whether it is valid and, if so, marks the answers (FitzGerald et al. 2018).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from chorale.files.json_text import UNSTORABLE_ESCAPE
from chorale.files.rows import read_rows
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS, Source, read_source
from chorale.kits.qasrl.files.table import Qa, QuestionAnswers, Span, Verb, VerbQuestion
from chorale.model import Problem, UserError
from chorale.model.plural import plural

JUDGES = 6
"""Number of judges per question in the dense part."""
VALID = 5
"""Number of judges, out of six, who must call a question valid."""


class BankJudgment(NamedTuple):
    judge: str
    valid: bool
    spans: tuple[Span, ...]


class JudgedQuestion(NamedTuple):
    question: VerbQuestion
    by_people: bool
    """Whether a person wrote the question, not a model."""
    judgments: tuple[BankJudgment, ...]
    sources: tuple[str, ...] = ()
    """Author of the question."""

    def is_valid(self, threshold: int = VALID) -> bool:
        """Whether at least `threshold` of six judges, or that fraction of any other number, call the question valid."""
        valid = sum(judgment.valid for judgment in self.judgments)
        return bool(self.judgments) and valid * JUDGES >= threshold * len(self.judgments)

    @property
    def spans(self) -> tuple[Span, ...]:
        """All answers that any judge marked."""
        return tuple(sorted({span for judgment in self.judgments for span in judgment.spans}))


@dataclass(frozen=True, slots=True)
class Bank:
    name: str
    digest: str
    sentences: Mapping[str, tuple[str, ...]]
    questions: Mapping[Verb, tuple[JudgedQuestion, ...]]
    forms: Mapping[Verb, Mapping[str, str]] = field(default_factory=dict)
    """Inflected forms of the verbs, if the file has them."""

    def answers(self, *, valid: int = VALID, people_only: bool = True, by_judge: bool = False) -> QuestionAnswers:
        """The valid questions with the answers of all judges together; with `by_judge`, with each judge's answers.

        Questions by models are left out by default: they are not part of the dense set in Roit et al. (2020), footnote
        4.
        """
        listed: dict[Verb, list[Qa]] = {}
        for verb, judged in self.questions.items():
            kept = [one for one in judged if one.is_valid(valid) and (one.by_people or not people_only)]
            if by_judge:
                qas = [Qa(one.question, given.spans, given.judge) for one in kept for given in one.judgments]
            else:
                qas = [Qa(one.question, one.spans) for one in kept]
            listed[verb] = [qa for qa in qas if qa.spans]
        table = QuestionAnswers.of(listed, name=self.name)
        words = tuple(self.sentences[verb.sentence][verb.token] for verb in table.verbs)
        return replace(table, digest=self.digest, words=words, sentences=self.sentences)


def read_bank(path: Path) -> Bank:
    """Reads a `.jsonl` or `.jsonl.gz` file of the Bank."""
    source = read_source(path)
    try:
        if not UNSTORABLE_ESCAPE.search(source.text):
            return _bank(source, _quickly(source.text), [])
    except (ValueError, RecursionError):
        pass  # At least one line is not JSON.
    # The slower reader reports the line and the cause.
    problems: list[Problem] = []
    rows = read_rows(path, shown_as=source.name, problems=problems)
    return _bank(source, ((row.line, row.values) for row in rows), problems)


def _quickly(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.isspace():
            yield number, json.loads(line)


def _bank(source: Source, lines: Iterable[tuple[int, Any]], problems: list[Problem]) -> Bank:
    """Builds the Bank from lines. `problems` may grow while the lines are read."""
    sentences: dict[str, tuple[str, ...]] = {}
    questions: dict[Verb, tuple[JudgedQuestion, ...]] = {}
    forms: dict[Verb, Mapping[str, str]] = {}
    for line, values in lines:
        try:
            given, tokens, judged, inflected = _sentence(values)
            if given in sentences:
                raise _ShapeError("repeats the sentence of an earlier line", "Remove one of the two lines.", given)
            sentences[given] = tokens
            questions |= judged
            forms |= inflected
        except _ShapeError as error:
            problems.append(Problem(source.name, line, error.message, error.fix, error.value))
        if len(problems) >= MOST_PROBLEMS:
            break
    if problems:
        raise UserError(f"{source.name} can't be used", problems[:MOST_PROBLEMS])
    return Bank(source.name, source.digest, sentences, questions, forms)


class _ShapeError(ValueError):
    def __init__(self, message: str, fix: str, value: Any) -> None:
        super().__init__(message)
        self.message, self.fix = message, fix
        self.value = value if isinstance(value, str) else shortened(value)


def _get(values: Any, key: str, kind: type) -> Any:
    if not isinstance(values, dict) or not isinstance(values.get(key), kind):
        given = values.get(key, "nothing") if isinstance(values, dict) else values
        raise _ShapeError(
            f"has no valid {key} in the format of the QA-SRL Bank", "Use a file in the Bank's format.", given
        )
    return values[key]


def _sentence(
    values: dict[str, Any],
) -> tuple[str, tuple[str, ...], dict[Verb, tuple[JudgedQuestion, ...]], dict[Verb, Mapping[str, str]]]:
    given = _get(values, "sentenceId", str)
    tokens = tuple(map(str, _get(values, "sentenceTokens", list)))
    questions: dict[Verb, tuple[JudgedQuestion, ...]] = {}
    forms: dict[Verb, Mapping[str, str]] = {}
    for entry in _get(values, "verbEntries", dict).values():
        verb = Verb(given, _get(entry, "verbIndex", int))
        if not 0 <= verb.token < len(tokens):
            length = f"The sentence has {plural(len(tokens), 'token', 'tokens')}."
            raise _ShapeError("has a verb outside the sentence", length, verb.token)
        if verb in questions:
            raise _ShapeError("has the same verb twice", "Remove one of the two entries.", verb.token)
        questions[verb] = tuple(_questions(entry, len(tokens)))
        inflected = entry.get("verbInflectedForms")
        if isinstance(inflected, dict):
            forms[verb] = {str(name): str(form) for name, form in inflected.items()}
    return given, tokens, questions, forms


def _questions(entry: dict[str, Any], length: int) -> Iterator[JudgedQuestion]:
    for label in _get(entry, "questionLabels", dict).values():
        slots = {name: str(text) for name, text in _get(label, "questionSlots", dict).items()}
        question = VerbQuestion.of(
            _get(label, "questionString", str),
            slots,
            negated=_get(label, "isNegated", bool),
            passive=_get(label, "isPassive", bool),
        )
        sources = _get(label, "questionSources", list)
        judgments = [_judgment(one, length) for one in _get(label, "answerJudgments", list)]
        by_people = any(str(source).startswith("turk-") for source in sources)
        yield JudgedQuestion(question, by_people, tuple(sorted(judgments)), tuple(sorted(map(str, sources))))


def _judgment(values: Any, length: int) -> BankJudgment:
    judge, valid = _get(values, "sourceId", str), _get(values, "isValid", bool)
    spans = set()
    # Judges who call a question invalid mark no answers.
    for span in _get(values, "spans", list) if values.get("spans") is not None else ():
        match span:
            case [int(start), int(end)] if 0 <= start < end <= length:
                spans.add((start, end))
            case _:
                has = f"The sentence has {plural(length, 'token', 'tokens')}."
                raise _ShapeError("has an answer outside the sentence", has, span)
    return BankJudgment(judge, valid, tuple(sorted(spans)))
