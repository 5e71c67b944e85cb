"""A task under test: its examples, read and expanded once."""

import json
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any, Generic, TypeVar

from chorale.contract import AnswerError, ItemError, Task
from chorale.model import Answer, NewItem

T = TypeVar("T")


class ContractError(AssertionError):
    """A task or kit breaks a promise of the contract."""


def promised(kept: bool, message: str) -> None:
    if not kept:
        raise ContractError(message)


@dataclass(frozen=True)
class Check(Generic[T]):
    """One promise of the contract, and its check."""

    name: str
    promise: str
    find: Callable[[T], None]

    def check(self, kind: str, name: str, subject: Callable[[], T], code: str = "it") -> None:
        """Raise ContractError with the promise and the failures if it is broken."""
        try:
            self.find(subject())
        except Exception as error:
            how = str(error) if isinstance(error, ContractError) else f"{code} raises {type(error).__name__}: {error}"
            every = f"Every {kind} promises: {self.promise}"
            raise ContractError(f"{kind} {name!r}, {self.name}: {how}. {every}") from error

    def __repr__(self) -> str:
        return self.name


def check_all(checks: Iterable[Callable[[T], None]], subject: T) -> None:
    """Run all checks; ContractError names every promise that is broken."""
    broken = []
    for check in checks:
        try:
            check(subject)
        except ContractError as error:
            broken.append(str(error))
    if broken:
        raise ContractError("\n".join(broken))


@dataclass(frozen=True)
class WorkedExample:
    """An example of a task, in the form that the engine uses."""

    number: int
    row: dict[str, Any]
    items: list[NewItem]
    answer: Answer

    @property
    def name(self) -> str:
        return f"example {self.number}"

    @property
    def item(self) -> dict[str, Any]:
        """The item that the answer is for."""
        return dict(self.items[0].payload)


@dataclass(frozen=True)
class Subject:
    """A task with the options of its examples."""

    task: Task

    @classmethod
    def of(cls, task: Task) -> "Subject":
        options = task.options.model.model_validate(task.options.example)
        return cls(replace(task.configured(options), examples=task.examples))

    @cached_property
    def examples(self) -> list[WorkedExample]:
        """The examples; ContractError if the task itself refuses one."""
        return list(self._read())

    def _read(self) -> Iterator[WorkedExample]:
        shape = self.task.shape
        promised(bool(self.task.examples), "the task has no examples: add at least one row with a valid answer")
        for number, example in enumerate(self.task.examples, 1):
            try:
                row = shape.parse_row(example.row)
                items = shape.expand(row, "k1")
                promised(bool(items), f"example {number}: `expand` makes no item from its row")
                answer = shape.parse_answer(example.answer, items[0].payload)
            except (AnswerError, ItemError) as error:
                raise ContractError(f"example {number} is refused by the task itself: {error}") from None
            yield WorkedExample(number, row, items, answer)

    @property
    def answers(self) -> list[Answer]:
        return [example.answer for example in self.examples]

    def view(self, example: WorkedExample) -> dict[str, Any]:
        return self.task.form.shown(example.items[0].payload)


def as_json(value: Any, title: str) -> Any:
    """A value written as JSON and read again."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ContractError(f"{title} cannot be written as JSON: {error}") from None


def plain(value: Any) -> Any:
    """A copy that can be changed, so that a change in place is detected."""
    return deepcopy(value)


def numbers() -> Random:
    return Random(1)
