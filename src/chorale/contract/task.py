"""What a kind of work must be able to say of itself.

A task is a frozen description. Built-in tasks get nothing that one from another package can't have; the contract test
(`tests/test_tasks.py`) runs over all of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from chorale.metrics.aggregation import trust_weighted_share
from chorale.model import Answer, Judgment, NewItem, Payload, SourceItem
from chorale.model.plain_words import PlainWords, plain_words


class ItemError(Exception):
    """An item row does not have the shape of the task: one message a field."""

    def __init__(self, messages: Sequence[tuple[str, str, Any]]) -> None:
        super().__init__("; ".join(f"{field}: {message}" for field, message, _ in messages))
        self.messages = tuple(messages)


class AnswerError(Exception):
    """An answer does not have the shape of the task; the message is for the worker."""

    def __init__(self, words: PlainWords) -> None:
        super().__init__(words.demand)
        self.words = words


class GradeResult(NamedTuple):
    score: float
    """Between 0 and 1; a gold answer counts as right at 1."""
    reasons: tuple[str, ...] = ()


class Marks(NamedTuple):
    """An answer to a rubric as numbers."""

    criteria: Mapping[str, float]
    """By criterion, between 0 and 1."""
    comments: tuple[str, ...] = ()
    """What the grader wrote to the person graded."""


class Combined(NamedTuple):
    """Many answers to one item put together."""

    answer: Answer
    confidence: float


@dataclass(frozen=True, slots=True)
class Example:
    """A row of an items file and a valid answer to the (first) item it makes."""

    row: Mapping[str, Any]
    answer: Answer


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where the order of things on a worker's page comes from: the same whenever they come back to it."""

    worker: str
    """For what stays the same for everything a worker does in the stage."""
    item: str
    """For what is another for each item."""

    @classmethod
    def of(cls, study_seed: int, stage: str, worker: str, item: str) -> "Seeds":
        """Those of a worker (their pseudonym) at an item (its key). Exports have all of it, so orders can be told."""
        return cls(
            *(sha256(f"{study_seed}:{stage}:{part}".encode()).hexdigest() for part in (worker, f"{worker}:{item}"))
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an item that was made from somebody's answer comes from."""

    worker: str
    arm: str | None
    stage: str
    item: str
    """The key of what they answered."""


def no_arm(_worker: str) -> str | None:
    """The plain case of `StageResults.arm`: a study without arms."""
    return None


def no_time(_worker: str) -> float | None:
    """The plain case of `StageResults.seconds`: nobody has measured it."""
    return None


def no_origin(_item: SourceItem) -> Origin | None:
    """The plain case of `StageResults.origin`: items come from a file."""
    return None


@dataclass(frozen=True, slots=True)
class StageResults:
    """A stage as its task's own exports see it."""

    items: Iterable[SourceItem]
    sources: Iterable[SourceItem] | None
    """The items of the stage it was derived from; None if its items come from a file."""
    confidence: float
    """What a result of that stage had to reach."""
    options: BaseModel
    judgments: Callable[[SourceItem], Sequence[Judgment]]
    """The counted answers to one of the items, with their workers' present trust."""
    seeds: Callable[[str, str], Seeds]
    """Those a worker (their pseudonym) had at an item (its key)."""
    origin: Callable[[SourceItem], Origin | None] = no_origin
    """Whose answer one of the items was made from; None if it was made from no single one."""
    arm: Callable[[str], str | None] = no_arm
    """The arm a worker (their pseudonym) is in."""
    seconds: Callable[[str], float | None] = no_time
    """How long an answer here took a worker (their pseudonym) on average."""


@dataclass(frozen=True, slots=True)
class TaskExport:
    """A table that only this kind of work has."""

    name: str
    summary: str
    file_name: str
    """Its ending (.csv, .tsv or .jsonl) says how it is written."""
    columns: tuple[str, ...]
    rows: Callable[[StageResults], Iterator[Mapping[str, Any]]]
    tally: Callable[[StageResults], Mapping[str, int]] | None = None
    """How many came to which end, for what the table leaves out."""
    more_columns: Callable[[StageResults], Sequence[str]] | None = None
    """Columns behind the others that depend on the study, such as what its items have beside what the task needs."""


class NoOptions(BaseModel):
    """For tasks without settings of their own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def one_item_per_row(row: Payload, key: str) -> list[NewItem]:
    """The plain case of `Task.expand`: the row is the item."""
    return [NewItem(key=key, payload=row, group=key)]


def as_it_is(payload: Payload) -> dict[str, Any]:
    """The plain case of `Task.view`: the worker sees the whole item."""
    return dict(payload)


def one_part(_answer: Answer) -> int:
    return 1


def told_as_it_is(_payload: Payload, answer: Answer) -> Answer:
    """The plain case of `Task.tell`: the answer can be understood by itself."""
    return answer


def right_or_wrong(answer: Answer, gold: Answer) -> GradeResult:
    return GradeResult(1.0) if answer == gold else GradeResult(0.0, ("differs from the expert's answer",))


def zero_or_one(left: Answer, right: Answer) -> float:
    return 0.0 if left == right else 1.0


def by_confidence(judgments: Sequence[Judgment]) -> Combined | None:
    """The answer with the largest trust-weighted share."""
    share = trust_weighted_share((judgment.answer, judgment.trust) for judgment in judgments)
    return None if share is None else Combined(share.answer, share.confidence)


@dataclass(frozen=True)
class Task:
    """A kind of work."""

    name: str
    version: int
    summary: str
    row_type: type[BaseModel]
    """A row of the stage's items file."""
    item_type: type[BaseModel]
    """An item, as stored; also a row of the gold and truth files (with `answer` beside it)."""
    answer_type: type[BaseModel]
    """What the form submits: an object whose single field `answer` may be of any shape."""
    page: Path | str
    """The form: a file of HTML, or the HTML itself. Elements with `data-text="field"` are filled with that field of
    the view."""
    examples: tuple[Example, ...]
    module: Path | None = None
    """ES module for forms that need more than filling in text and collecting fields."""
    style: Path | None = None
    """Style sheet for what the form has and other pages do not."""
    shared: tuple[Path, ...] = ()
    """Further modules and style sheets, which lie elsewhere: served beside the module, so that it can import them."""
    framed: bool = False
    """Whether its form shows pages by others, each in a sandboxed frame."""
    options_type: type[BaseModel] = NoOptions
    configure: Callable[[Any], "Task"] | None = None
    """From the options of a stage to the task as it is there, for tasks whose items or answers depend on them."""
    example_options: Mapping[str, Any] = field(default_factory=dict)
    """The options that the examples are for."""
    gold_type: type[BaseModel] | None = None
    """What a gold answer may be, if that is not the same as what the form submits."""
    expand: Callable[[Payload, str], list[NewItem]] = one_item_per_row
    view: Callable[[Payload], dict[str, Any]] = as_it_is
    grade: Callable[[Answer, Answer], GradeResult] = right_or_wrong
    distance: Callable[[Answer, Answer], float] = zero_or_one
    combine: Callable[[Sequence[Judgment]], Combined | None] = by_confidence
    derive: Callable[[Sequence[SourceItem], float], list[NewItem]] | None = None
    """New items from all items of one group of an earlier stage, given the confidence asked for."""
    gather: Callable[[Payload, Sequence[Answer], Random], Payload] | None = None
    """An item from an earlier stage's item and the answers to it: one (`of = "answers"`) or all (`of = "together"`), in
    the order they were given, with random numbers of the item's own. Named fields are put together if not given."""
    tell: Callable[[Payload, Answer], Answer] = told_as_it_is
    """An answer to an item, gold or not, so that others understand it: whoever grades, reviews or is told about it."""
    caption: Callable[[Payload], str] | None = None
    """An item in one line, for messages; all its values if not given."""
    quote: Callable[[Payload, Answer], str] | None = None
    """An answer to an item in words, for messages to whoever gave it, and the expert's; the fields of what `tell` makes
    of it if not given."""
    recount: Callable[[Payload, Answer, Answer], tuple[str, ...]] | None = None
    """The reasons of a grade with the item at hand, for messages: from an item, an answer and the expert's."""
    feedback: Callable[[Payload, Answer, Answer], Mapping[str, Any]] | None = None
    """How an answer compares with the expert's, for the form's module to show. Only ever in practice rounds, whose
    answers are there to be learned: never for gold among production items."""
    chosen: Callable[[Answer], tuple[str, ...]] | None = None
    """The options in an answer, where people choose from a list: what agreement on a study's quality is measured on."""
    parts: Callable[[Answer], int] = one_part
    """How many things an answer has that are paid by number, such as questions written."""
    most_parts: int | None = None
    """The most it can have: what a budget must cover before the item is given out. None if it is not known."""
    marks: Callable[[Answer], Marks] | None = None
    """An answer as grades, for tasks that can be rubrics."""
    criteria: tuple[str, ...] = ()
    """What those grades are called."""
    best_marks: Mapping[str, float] = field(default_factory=dict)
    """The most an answer can have by each of them, where that may be less than 1."""
    misfit: Callable[[Answer, Payload], str | None] | None = None
    """What is wrong with an answer, gold or not, that only the item tells; None if nothing is."""
    canonical: Callable[[Answer, Payload], Answer] | None = None
    """An answer that fits its item, in the form it is stored in, where only the item gives that."""
    arrange: Callable[[Payload, Seeds], dict[str, Any]] | None = None
    """An order of things for one worker at one item. The form's module gets it beside the view."""
    guess: Callable[[Mapping[str, Any], Answer, Random | None], Answer] | None = None
    """For simulated workers, where answers can't be listed: an answer to a view, like the known one where that says
    something (None if nothing is known) and at random elsewhere; without random numbers, whatever comes first. They
    are for this answer alone, and begin anew for the next."""
    imitate: Callable[[Mapping[str, Any], Answer, float, Random], Answer] | None = None
    """For simulated workers, where an answer can be right in part: to a view, what somebody answers who gets each part
    of the right answer right so often."""
    exports: tuple[TaskExport, ...] = ()
    may_be_empty: bool = False
    """Whether a stage may begin without items, because there is another way for work to come."""

    def configured(self, options: BaseModel) -> "Task":
        """The task as it is in a stage with these options."""
        return self if self.configure is None else self.configure(options)

    @property
    def html(self) -> str:
        """The form."""
        return self.page if isinstance(self.page, str) else self.page.read_text("utf-8")

    @cached_property
    def answer_schema(self) -> Mapping[str, Any]:
        """The JSON schema of an answer, with a reference followed."""
        whole = self.answer_type.model_json_schema()
        schema: Mapping[str, Any] = whole["properties"]["answer"]
        name = schema.get("$ref", "").removeprefix("#/$defs/")
        return whole["$defs"][name] if name else schema

    @property
    def choices(self) -> Sequence[Answer] | None:
        """All answers there are, in the order the form has them, if they can be listed."""
        schema = self.answer_schema
        if "const" in schema:
            return [schema["const"]]
        if schema.get("type") == "boolean":
            return [True, False]
        return list(schema["enum"]) if "enum" in schema else None

    def parse_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return _parsed(self.row_type, row)

    def parse_item(self, item: Mapping[str, Any]) -> dict[str, Any]:
        return _parsed(self.item_type, item)

    def parse_answer(self, raw: Any, item: Payload | None = None) -> Answer:
        """The answer in its canonical form, or AnswerError with a message for the worker.

        `item` is what it is an answer to, if that is known.
        """
        return self._answer(self.answer_type, raw, item)

    def parse_gold(self, raw: Any, item: Payload | None = None) -> Answer:
        """The same for a gold answer."""
        return self._answer(self.gold_type or self.answer_type, raw, item)

    def _answer(self, kind: type[BaseModel], raw: Any, item: Payload | None) -> Answer:
        try:
            parsed = kind.model_validate({"answer": raw})
        except ValidationError as error:
            raise AnswerError(plain_words(error.errors()[0]["msg"])) from None
        answer = parsed.model_dump(mode="json")["answer"]
        wrong = self.misfit(answer, item) if self.misfit is not None and item is not None else None
        if wrong is not None:
            raise AnswerError(plain_words(f"Value error, {wrong}"))
        return answer if self.canonical is None or item is None else self.canonical(answer, item)


def _parsed(kind: type[BaseModel], row: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return kind.model_validate(row).model_dump(mode="json", by_alias=True)
    except ValidationError as error:
        raise ItemError(
            [
                (".".join(map(str, problem["loc"])) or "row", problem["msg"], problem.get("input"))
                for problem in error.errors()
            ]
        ) from None
