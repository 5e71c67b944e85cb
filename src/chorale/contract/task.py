"""The definition of a task.

A task is a frozen description in a few small parts. Built-in tasks have no privileges over those of other packages;
`chorale.testing` checks the contract of every task.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from chorale.contract.asked_once import AskedOnce
from chorale.contract.combined import Combined, by_confidence
from chorale.contract.errors import AnswerError, ItemError
from chorale.contract.explaining import PLAIN_WORDING
from chorale.contract.explaining import Explaining as Explaining  # noqa: PLC0414 - with the other parts of a task
from chorale.contract.exporting import Seeds, TaskExport
from chorale.contract.fields import AnswerField, FieldResult, Scale, StudioPage
from chorale.contract.peoples_grades import Kept, Marks
from chorale.contract.prompting import PLAIN_PROMPTING, Prompting
from chorale.contract.quality_names import CROWDTRUTH_NAMES, QualityNames
from chorale.contract.reveal import Reveal
from chorale.contract.simulating import PLAIN_SIMULATING
from chorale.contract.simulating import Simulating as Simulating  # noqa: PLC0414 - with the other parts of a task
from chorale.model import Answer, Judgment, NewItem, Payload, SourceItem
from chorale.model.frozen import frozen
from chorale.model.plain_words import own_words, words_of, words_of_own


class GradeResult(NamedTuple):
    score: float
    """From 0 to 1. The engine decides which scores are correct: see `Grading.pass_score`."""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A row of an items file and a valid answer to the (first) item it makes."""

    row: Mapping[str, Any]
    answer: Answer


class NoOptions(BaseModel):
    """The options of tasks without settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def one_item_per_row(row: Payload, key: str) -> list[NewItem]:
    """The default of `Shape.expand`: the row is the item."""
    return [NewItem(key=key, payload=row, group=key)]


def as_it_is(payload: Payload) -> dict[str, Any]:
    """The default of `Form.view`: the worker sees the whole item."""
    return dict(payload)


def one_part(_answer: Answer) -> int:
    """The default of `Grading.parts`: an answer has one part."""
    return 1


def right_or_wrong(answer: Answer, gold: Answer) -> GradeResult:
    """The default of `Grading.grade`: equal or not."""
    return GradeResult(1.0) if answer == gold else GradeResult(0.0, ("differs from the expert's answer",))


def zero_or_one(left: Answer, right: Answer) -> float:
    """The default of `Combining.distance`: equal or not."""
    return 0.0 if left == right else 1.0


class SourceProblem(NamedTuple):
    """Why a stage cannot take its items from another stage."""

    message: str
    fix: str
    value: str
    """The value in the stage's own options."""


@dataclass(frozen=True)
class Shape:
    """The types of items and answers."""

    item_type: type[BaseModel]
    """Pydantic model of an item, as stored; also of a row of the gold and truth files, without `id`, `answer` and
    `explanation`."""
    answer_type: type[BaseModel]
    """Pydantic model of the form's submission: its single field `answer` may have any type."""
    row_type: type[BaseModel] | None = None
    """Pydantic model of a row of the items file, without `id`. Default: `item_type`."""
    gold_type: type[BaseModel] | None = None
    """Pydantic model of a gold answer, with a single field `answer`. Default: `answer_type`."""
    expand: Callable[[Payload, str], list[NewItem]] = one_item_per_row
    """Takes a row and its ID. Returns items. Items with the same `group` are never shown to the same worker. Default:
    one item per row."""
    asked_once: AskedOnce | None = None
    """How duplicate items are recognised and merged. Default: duplicates are kept."""
    misfit: Callable[[Answer, Payload], str | None] | None = None
    """Takes an answer (or gold) and its item. Returns a message about a problem that depends on the item, or None if
    the answer is valid.

    Default: always valid.
    """
    canonical: Callable[[Answer, Payload], Answer] | None = None
    """Takes a valid answer and its item. Returns the stored answer, if that depends on the item. Default: as
    submitted."""
    gold_at: Callable[[Answer, Payload], Answer] | None = None
    """Takes gold in a file and its item. Returns the stored gold; raises ValueError if the gold is invalid.

    Default: `misfit` and `canonical`, as for answers.
    """
    fields: tuple[AnswerField, ...] = ()
    """The fields of answers that are objects. Agreement, gold, reports and exports work on each of them. Default: an
    answer has no fields."""
    may_be_empty: bool = False
    """Whether a stage may start without items, because its work comes from elsewhere."""

    @property
    def compared(self) -> tuple[AnswerField, ...]:
        """The fields in which answers are compared: all except free text."""
        return tuple(field for field in self.fields if field.compared)

    def without_texts(self, answer: Answer) -> Answer:
        """An answer without its free text."""
        written = {field.name for field in self.fields if field.scale is Scale.TEXT}
        if not written or not isinstance(answer, Mapping):
            return answer
        return frozen({name: value for name, value in answer.items() if name not in written})

    @cached_property
    def answer_schema(self) -> Mapping[str, Any]:
        """The JSON schema of an answer, with references resolved."""
        whole = self.answer_type.model_json_schema()
        schema: Mapping[str, Any] = whole["properties"]["answer"]
        name = schema.get("$ref", "").removeprefix("#/$defs/")
        return whole["$defs"][name] if name else schema

    @property
    def choices(self) -> Sequence[Answer] | None:
        """All possible answers, in the order of the form; None if they cannot be listed."""
        schema = self.answer_schema
        if "const" in schema:
            return [schema["const"]]
        if schema.get("type") == "boolean":
            return [True, False]
        return list(schema["enum"]) if "enum" in schema else None

    @property
    def of_rows(self) -> type[BaseModel]:
        """The Pydantic model of rows in the items file."""
        return self.row_type or self.item_type

    def parse_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Parse a row of the items file to its canonical form; ItemError if it is invalid."""
        return _parsed(self.of_rows, row)

    def parse_item(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Parse an item to its canonical form; ItemError if it is invalid."""
        return _parsed(self.item_type, item)

    def parse_answer(self, raw: Any, item: Payload | None = None) -> Answer:
        """Parse an answer to its canonical form; AnswerError with a message for the worker if it is invalid.

        `item` is the item it answers, if known.
        """
        return self._answer(self.answer_type, raw, item)

    def parse_first(self, raw: Any, reveal: Reveal) -> Answer:
        """Parse the first part of an answer to its canonical form; AnswerError with a message for the worker if it is
        invalid.
        """
        return self._answer(reveal.first_type(self.answer_type), raw, None)

    def parse_gold(self, raw: Any, item: Payload | None = None) -> Answer:
        """Parse a gold answer to its canonical form; AnswerError if it is invalid."""
        kind = self.gold_type or self.answer_type
        if self.gold_at is None or item is None:
            return self._answer(kind, raw, item)
        try:
            return frozen(self.gold_at(self._answer(kind, raw, None), item))
        except ValueError as error:
            raise AnswerError(words_of_own(error)) from None

    def _answer(self, kind: type[BaseModel], raw: Any, item: Payload | None) -> Answer:
        try:
            parsed = kind.model_validate({"answer": raw})
        except ValidationError as error:
            raise AnswerError(words_of(error)) from None
        answer = frozen(parsed.model_dump(mode="json")["answer"])
        wrong = self.misfit(answer, item) if self.misfit is not None and item is not None else None
        if wrong is not None:
            raise AnswerError(own_words(wrong))
        return answer if self.canonical is None or item is None else frozen(self.canonical(answer, item))


@dataclass(frozen=True)
class Form:
    """The page that a worker sees and fills in."""

    page: Path | str
    """The form, HTML without scripts or inline styles: a file, or the HTML itself. Elements with `data-text="field"`
    are filled with that field of the view (the data of an item that the page gets)."""
    module: Path | None = None
    """JavaScript (ES) module for forms with more than texts and fields. It can import modules from its folder."""
    style: Path | None = None
    """Style sheet of this form."""
    shared: tuple[Path, ...] = ()
    """Modules and style sheets from other folders, served next to `module` so that it can import them."""
    media: tuple[str, ...] = ()
    """Keys of the view whose values name files of the study folder, or https addresses on `hosts`: pictures, audio and
    video. The page gets addresses that only this worker can open."""
    hosts: tuple[str, ...] = ()
    """Other servers that the page may load pictures, audio and video from, such as `https://media.example.org`."""
    markdown: tuple[str, ...] = ()
    """Keys of the view whose values are Markdown. The page gets them as HTML too, without anything that runs or loads,
    in `rendered`."""
    suggests: bool = False
    """Whether the module fills in `api.suggestion`, a model's answer for workers to correct. Forms without a module
    always do."""
    framed: bool = False
    """Whether the form shows pages written by others, each in a sandboxed frame."""
    view: Callable[[Payload], dict[str, Any]] = as_it_is
    """Takes an item. Returns the worker's view.

    Leave out everything that reveals the answer. It must depend only on the item: views are cached and shown to other
    workers. Default: the whole item.
    """
    reveal: Reveal | None = None
    """The second step, shown after the first part of the answer is stored. Default: a form in one step."""
    arrange: Callable[[Payload, Seeds], dict[str, Any]] | None = None
    """Takes an item and `Seeds` (seeds for random orders). Returns an order of options for one worker, the same on
    every call. The module also gets this order. Store answers by value, so that they do not depend on the order."""
    read: Callable[[dict[str, Any]], Any] = as_it_is
    """Takes a view. Returns the part that people read, if the view also has other content, such as scripts. Default:
    the view."""
    studio: StudioPage | None = None
    """How Label Studio shows an item. Default: as text."""
    seconds: Callable[[Payload], float] | None = None
    """Takes an item. Returns its minimum time in seconds. Default: estimated from its words, options, pictures and
    fields."""
    written_words: int = 0
    """Minimum number of words that people write per part of an answer (`Grading.parts`), to estimate hourly pay."""

    def shown(self, payload: Payload) -> dict[str, Any]:
        """The complete view of an item, including the second step."""
        return self.view(payload) if self.reveal is None else {**self.view(payload), **self.reveal.view(payload)}

    @cached_property
    def html(self) -> str:
        """The text of the page."""
        return self.page if isinstance(self.page, str) else self.page.read_text("utf-8")


@dataclass(frozen=True)
class Options:
    """The task's settings in a study file, in `[stage.options]`."""

    model: type[BaseModel] = NoOptions
    """Pydantic model of the options; descriptions of its fields are its documentation."""
    configure: Callable[[Any], "Task"] | None = None
    """Takes a stage's options. Returns the configured task, for tasks whose items, answers or form depend on the
    options. The configured task must keep the name. Once people have answered, options that change the shape of answers
    are refused."""
    example: Mapping[str, Any] = field(default_factory=dict)
    """The options that the task's examples are for."""


@dataclass(frozen=True)
class Grading:
    """How an answer is graded."""

    grade: Callable[[Answer, Answer], GradeResult] = right_or_wrong
    """Takes an answer and the gold answer. Returns a score between 0 and 1, with reasons. Default: 1 if they are equal,
    otherwise 0."""
    pass_score: float = 1.0
    """The minimum score of a correct answer to gold, if the study file sets no `pass_score`."""
    gold_parts: int = 1
    """The number of parts that `grade` compares, all with equal weight. With `stage.gold.unit = "part"`, gold accuracy
    counts these parts."""
    marks: Callable[[Answer], Marks] | None = None
    """For tasks with which people grade answers. Takes a grader's answer. Returns the grades that it gives."""
    kept: Callable[[Answer, Answer], Kept] | None = None
    """For tasks that combine answers (`of = "together"`). Takes an answer that is part of an item, and the
    consolidator's answer to that item. Returns the parts that the consolidator keeps."""
    criteria: tuple[str, ...] = ()
    """The names of the grades that `marks` or `kept` give."""
    best_marks: Mapping[str, float] = field(default_factory=dict)
    """The maximum grade by criterion, if it is less than 1."""
    asks: Mapping[str, str] = field(default_factory=dict)
    """The question that graders answer, by criterion. It is shown to workers whose grade is too low."""
    parts: Callable[[Answer], int] = one_part
    """Takes an answer. Returns the number of its parts that are paid separately (`stage.pay.parts`), such as questions
    written.

    Default: one.
    """
    most_parts: int | None = None
    """The maximum number of parts, which a budget must cover. Default: the number of amounts in the study file."""


@dataclass(frozen=True)
class Combining:
    """How answers to an item are compared and aggregated."""

    combine: Callable[[Sequence[Judgment]], Combined | None] = by_confidence
    """Takes judgments. Returns an answer with a confidence, or None if there is no result. Default: the answer with the
    largest share of annotations, weighted by the workers' gold accuracy. This requires hashable answers."""
    distance: Callable[[Answer, Answer], float] = zero_or_one
    """Takes two answers. Returns their distance: symmetric, 0 for equal answers, at most 1. Default: 0 or 1."""
    combine_fields: Callable[[Sequence[Judgment]], Mapping[str, FieldResult]] | None = None
    """For answers with fields. Takes judgments (at least one). Returns the result of every field. `combine` then merges
    the results."""
    chosen: Callable[[Answer], tuple[str, ...]] | None = None
    """Takes an answer. Returns the options chosen in it, if people choose from a list. `stage.quality` and
    `judgments.stable` need it."""
    quality_names: QualityNames = CROWDTRUTH_NAMES
    """The displayed names of CrowdTruth's scores. Default: CrowdTruth's own."""


@dataclass(frozen=True)
class Deriving:
    """How items are made from the labels or answers of an earlier stage."""

    derive: Callable[[Sequence[SourceItem], float], list[NewItem]] | None = None
    """Takes the items of one group of an earlier stage, and the confidence required. Returns new items. Each item of
    the earlier stage has its label and its counted answers (`judgments`). Called again whenever one of them changes:
    items it no longer returns are withdrawn. Keys must not depend on the order of answers."""
    from_results: bool = False
    """Whether, without `derive`, each label makes an item, with the labelled item's columns and the label's fields."""
    any_confidence: bool = False
    """Whether `derive` ignores the confidence required, so that the report does not state it."""
    gather: Callable[[Payload, Sequence[Answer], Random], Payload] | None = None
    """Takes an item of an earlier stage, a list of answers to this item, and a random number generator. Returns an item
    of this task. With `of = "answers"`, the list has one answer; with `of = "together"`, it has all answers. The
    generator is seeded, so that the same answers always make the same item. Default: the columns of the earlier item
    and the fields of the answers. With `of = "together"`, the names of these fields get the suffixes `_1`, `_2` and so
    on."""
    source_problem: Callable[[Any, Any], SourceProblem | None] | None = None
    """Takes the options of a stage and of its source stage. Returns the reason why the stage cannot take the source's
    items, or None if it can."""


@dataclass(frozen=True)
class Task:
    """The work that a stage asks for."""

    name: str
    """Its name in study files."""
    version: int
    """Stored with every answer. Raise it when the meaning of answers or of items changes."""
    summary: str
    """One line for workers."""
    shape: Shape
    """The types of items and answers."""
    form: Form
    """The page that a worker sees and fills in."""
    examples: tuple[Example, ...]
    """Rows with valid answers, used by the checks of `chorale.testing`."""
    options: Options = Options()
    """The settings of the task."""
    grading: Grading = Grading()
    """How an answer is graded."""
    combining: Combining = Combining()
    """How answers to an item are compared and aggregated."""
    deriving: Deriving = Deriving()
    """How items are made from the labels or answers of an earlier stage."""
    simulating: Simulating = PLAIN_SIMULATING
    """How simulated workers answer."""
    explaining: Explaining = PLAIN_WORDING
    """How items, answers and grades are written as text for people."""
    prompting: Prompting = PLAIN_PROMPTING
    """How prompts for models are made, and how the models' answers are parsed."""
    exports: tuple[TaskExport, ...] = ()
    """Tables of this task for `chorale export`."""

    def configured(self, options: BaseModel) -> "Task":
        """The task configured with a stage's options."""
        return self if self.options.configure is None else self.options.configure(options)


def _parsed(kind: type[BaseModel], row: Mapping[str, Any]) -> dict[str, Any]:
    try:
        item: dict[str, Any] = frozen(kind.model_validate(row).model_dump(mode="json", by_alias=True))
        return item
    except ValidationError as error:
        raise ItemError(
            [
                (".".join(map(str, problem["loc"])) or "row", problem["msg"], problem.get("input"))
                for problem in error.errors()
            ]
        ) from None
