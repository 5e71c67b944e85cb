"""Questions and answers about verbs in memory: the table that all QA-SRL measures use.

Names are sorted, and rows are numbers into them: nothing computed from a `QuestionAnswers` depends on the order of the
rows of the file it came from.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

Integers = NDArray[np.int64]
Span = tuple[int, int]
"""First token, and the token after the last."""
MARK_ONLY = -1
"""The question of a row which records that an annotator found nothing to ask about the verb."""


class Verb(NamedTuple):
    """Position of a verb that QA-SRL asks about."""

    sentence: str
    token: int

    def __str__(self) -> str:
        return f"{self.sentence}:{self.token}"


class VerbQuestion(NamedTuple):
    """A question with its template slots. An empty slot is an empty string."""

    text: str
    wh: str
    aux: str = ""
    subj: str = ""
    obj: str = ""
    prep: str = ""
    obj2: str = ""
    negated: bool = False
    passive: bool = False

    @classmethod
    def of(cls, text: str, slots: Mapping[str, str], *, negated: bool, passive: bool) -> Self:
        """Builds a question from slots in files: any case, `_` for an empty slot. Other names are ignored."""
        kept = {name: slots.get(name, "").lower() for name in ("wh", "aux", "subj", "obj", "prep", "obj2")}
        filled = {name: "" if value == "_" else value for name, value in kept.items()}
        return cls(text, **filled, negated=negated, passive=passive)


class Qa(NamedTuple):
    """A question with its answers by one annotator or system."""

    question: VerbQuestion
    spans: tuple[Span, ...]
    worker: str = ""


class Rows(NamedTuple):
    """Questions about verbs, as arrays of verb, question and worker numbers."""

    verb: Integers
    question: Integers
    worker: Integers


class SpanColumns(NamedTuple):
    """Answer spans, as arrays of row numbers, first tokens, and tokens after the last."""

    row: Integers
    start: Integers
    end: Integers


@dataclass(frozen=True, slots=True, eq=False)
class QuestionAnswers:
    """The content of a file."""

    name: str
    """Name of the file in messages."""
    digest: str
    verbs: tuple[Verb, ...]
    words: tuple[str, ...]
    """The word of each verb, if the file has it."""
    questions: tuple[VerbQuestion, ...]
    workers: tuple[str, ...]
    rows: Rows
    answers: SpanColumns
    sentences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tokens of the sentences, if the file has them."""
    teams: Mapping[tuple[Verb, str], frozenset[str]] = field(default_factory=dict)
    """Contributors to a consolidated annotation, by verb and consolidator: the consolidator and the writers."""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        verbs: "Mapping[Verb, Sequence[Qa]] | Mapping[tuple[str, int], Sequence[Qa]]",
        *,
        name: str = "questions and answers",
        nothing: Collection[tuple[Verb, str]] = (),
    ) -> Self:
        """Builds the table from plain lists, one per verb. An empty list means that nothing is asked about the verb.

        `nothing`: verbs with a worker who found nothing to ask, even if other workers asked questions.
        """
        of_verb = {Verb(*verb): qas for verb, qas in verbs.items()}
        keys = tuple(sorted(of_verb))
        listed = [(number, qa) for number, key in enumerate(keys) for qa in of_verb[key]]
        for _, qa in listed:
            for start, end in qa.spans:
                if not 0 <= start < end:
                    raise ValueError(
                        f"{(start, end)} is not a span: the start must be at least 0 and the end greater than the start"
                    )
        questions = tuple(sorted({qa.question for _, qa in listed}))
        workers = tuple(sorted({qa.worker for _, qa in listed} | {worker for _, worker in nothing} | {""}))
        of_question = {question: code for code, question in enumerate(questions)}
        of_worker = {worker: code for code, worker in enumerate(workers)}
        rows = [(verb, of_question[qa.question], of_worker[qa.worker]) for verb, qa in listed]
        silent = {verb for verb, _ in nothing}
        marked = sorted({*nothing, *((key, "") for key in keys if not of_verb[key] and key not in silent)})
        of_key = {key: number for number, key in enumerate(keys)}
        rows += [(of_key[verb], MARK_ONLY, of_worker[worker]) for verb, worker in marked]
        spans = [(row, *span) for row, (_, qa) in enumerate(listed) for span in qa.spans]
        words = ("",) * len(keys)
        return cls(name, "", keys, words, questions, workers, Rows(*_columns(rows)), SpanColumns(*_columns(spans)))

    def __repr__(self) -> str:
        verbs, rows = plural(len(self.verbs), "verb", "verbs"), plural(len(self.rows.verb), "row", "rows")
        answers = plural(len(self.answers.row), "answer", "answers")
        return brief_repr("QuestionAnswers", self.name, verbs, rows, answers)

    def answered(self) -> Iterator[tuple[Verb, VerbQuestion, Span]]:
        """Every answer with its question and verb."""
        rows = self.answers.row
        columns = (self.rows.verb[rows], self.rows.question[rows], self.answers.start, self.answers.end)
        for verb, question, start, end in zip(*(column.tolist() for column in columns), strict=True):
            yield self.verbs[verb], self.questions[question], (start, end)

    def verbs_with_rows(self) -> set[Verb]:
        """The verbs annotated in this table, which may be part of a larger table."""
        return {self.verbs[code] for code in np.flatnonzero(np.bincount(self.rows.verb))}

    def by_worker(self) -> dict[Verb, dict[str, list[Qa]]]:
        """Plain lists of questions and answers per verb and worker, in row order."""
        spans: dict[int, list[Span]] = {}
        for row, start, end in zip(*(column.tolist() for column in self.answers), strict=True):
            spans.setdefault(row, []).append((start, end))
        annotations: dict[Verb, dict[str, list[Qa]]] = {verb: {} for verb in self.verbs}
        for number, (verb, question, code) in enumerate(zip(*(part.tolist() for part in self.rows), strict=True)):
            worker = self.workers[code]
            of_worker = annotations[self.verbs[verb]].setdefault(worker, [])
            if question != MARK_ONLY:
                of_worker.append(Qa(self.questions[question], tuple(spans.get(number, ())), worker))
        return annotations

    def of_worker(self, worker: str) -> Self:
        """The rows of one worker."""
        return self.taken(self.rows.worker == self.workers.index(worker))

    def of_verbs(self, verbs: Collection[Verb]) -> Self:
        """The rows of these verbs, with a note on the number of other verbs."""
        keeps = np.array([verb in verbs for verb in self.verbs], dtype=np.bool_)
        gone = len(self.verbs_with_rows() - set(verbs))
        note = f"{plural(gone, 'verb was', 'verbs were')} left out: not in all files (--shared-verbs)."
        kept = self.taken(keeps[self.rows.verb])
        return replace(kept, notes=(*self.notes, note)) if gone else kept

    def taken(self, kept: NDArray[np.bool_]) -> Self:
        """A table with only these rows. Names are kept, even if they are no longer used."""
        rows, (row, start, end) = self.rows, self.answers
        stays = kept[row]
        return replace(
            self,
            rows=Rows(rows.verb[kept], rows.question[kept], rows.worker[kept]),
            answers=SpanColumns((np.cumsum(kept) - 1)[row[stays]], start[stays], end[stays]),
        )


def _columns(rows: Sequence[Sequence[int]]) -> tuple[Integers, Integers, Integers]:
    """Converts rows of three integers to one array per column."""
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()
