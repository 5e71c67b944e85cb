"""Multiple-choice questions as numbered columns of items and answers, in files and in the database.

A question has `question_1`, `options_1` (a list of texts), `right_1` (`option2`: marked as correct by its writer) and,
with explanations, `why_1`. The second question has a 2, and so on.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from chorale.contract.task import SourceProblem
from chorale.model.plural import plural

LONGEST_PASSAGE = 20_000
LONGEST_TEXT = 400
LONGEST_WHY = 1_500
_KINDS = ("question", "options", "right", "why")
_COLUMN = re.compile(rf"(?:{'|'.join(_KINDS)})_[0-9]{{1,9}}")
INVALID = "invalid"
"""Answer of a validator to a question that is invalid or has no correct option."""


def one_of(values: tuple[str, ...]) -> Any:
    """A type for text that must be one of these values."""
    literal: Any = Literal
    return literal[values]


def _in_one_line(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) else value


def _so_many_different(count: int) -> Callable[[list[str]], list[str]]:
    def check(options: list[str]) -> list[str]:
        if len(options) != count:
            raise ValueError(f"must be a list of {count} options, but has {len(options)}")
        if len(set(map(str.casefold, options))) < count:
            raise ValueError("must not have the same option twice")
        return options

    return check


Line = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT), BeforeValidator(_in_one_line)]
McqPassage = Annotated[str, Field(min_length=1, max_length=LONGEST_PASSAGE, pattern=r"\S")]
Why = Annotated[str, Field(min_length=1, max_length=LONGEST_WHY), BeforeValidator(_in_one_line)]


class QuestionsOptions(BaseModel):
    """Number of questions per page, and of options per question."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    questions: int = Field(default=2, ge=1, le=5, description="Number of questions per passage.")
    choices: int = Field(default=4, ge=2, le=8, description="Number of options per question.")

    @property
    def numbers(self) -> range:
        return range(1, self.questions + 1)

    @property
    def letters(self) -> str:
        return "abcdefgh"[: self.choices]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the options in answers."""
        return tuple(f"option{place}" for place in range(1, self.choices + 1))


class WrittenQuestion(NamedTuple):
    number: int
    text: str
    options: tuple[str, ...]
    right: str | None
    why: str | None


def questions_type(
    name: str, options: QuestionsOptions, *, passage: bool, right: bool, why: bool = False
) -> type[BaseModel]:
    """A Pydantic model for this number of questions: an item with their passage, or an answer without it. Items keep
    all other columns of their row.

    `right` and `why`: whether these columns are required; otherwise they are optional.
    """
    columns: dict[str, Any] = {"passage": (McqPassage, ...)} if passage else {}
    size = {"minItems": options.choices, "maxItems": options.choices}
    several = Annotated[
        list[Line], AfterValidator(_so_many_different(options.choices)), Field(json_schema_extra=dict(size))
    ]
    named = one_of(options.names)
    for number in options.numbers:
        columns[f"question_{number}"] = (Line, ...)
        columns[f"options_{number}"] = (several, ...)
        columns[f"right_{number}"] = (named, ...) if right else (named | None, None)
        if why:
            columns[f"why_{number}"] = (Why, ...)
        elif passage:
            columns[f"why_{number}"] = (Why | None, None)
    if not passage:
        return create_model(name, __config__=ConfigDict(extra="forbid", frozen=True), **columns)
    checks: dict[str, Any] = {"only_so_many": model_validator(mode="before")(_without_more(options.questions))}
    return create_model(name, __config__=ConfigDict(extra="allow", frozen=True), __validators__=checks, **columns)


def _without_more(questions: int) -> Callable[[Any], Any]:
    """Keeps all other columns, but rejects columns that look like those of an additional question."""

    usual = {f"{kind}_{number}" for kind in _KINDS for number in range(1, questions + 1)}

    def check(row: Any) -> Any:
        unusual = (name for name in row if name not in usual) if isinstance(row, dict) else ()
        more = (name for name in unusual if _COLUMN.fullmatch(str(name)))
        strange = next((name for name in more if not 1 <= int(name.rpartition("_")[2]) <= questions), None)
        if strange is not None:
            raise ValueError(
                f"has {strange}, but a page has {plural(questions, 'question', 'questions')}. Remove the column, or "
                "change `questions`."
            )
        return row

    return check


def questions_in(row: Mapping[str, Any]) -> Iterator[WrittenQuestion]:
    """The questions of an item or an answer, in order."""
    number = 1
    while f"question_{number}" in row:
        yield WrittenQuestion(
            number,
            row[f"question_{number}"],
            tuple(row[f"options_{number}"]),
            row.get(f"right_{number}"),
            row.get(f"why_{number}"),
        )
        number += 1


def shown_questions(row: Mapping[str, Any]) -> dict[str, str]:
    """The passage and its questions for a page: each option separately, without the correct answers."""
    view = {"passage": row["passage"]}
    for question in questions_in(row):
        view[f"question_{question.number}"] = question.text
        view |= {f"option_{question.number}_{place}": option for place, option in enumerate(question.options, 1)}
    return view


def same_questions(options: QuestionsOptions, source: object) -> SourceProblem | None:
    """Checks that a writing stage and the stage made from it have equal numbers of questions and options."""
    if not isinstance(source, QuestionsOptions):
        return None
    here, there = (options.questions, options.choices), (source.questions, source.choices)
    if here == there:
        return None
    return SourceProblem(
        f"the source stage has `questions = {there[0]}` and `choices = {there[1]}`",
        f"Use the same numbers in both stages, e.g. `questions = {there[0]}` and `choices = {there[1]}`.",
        f"questions = {here[0]} and choices = {here[1]}",
    )
