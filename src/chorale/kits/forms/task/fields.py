"""What every kind of field does: read an answer, grade it, and combine the answers of several people."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from chorale.kits.forms.task.settings import FieldSettings
from chorale.model import Payload

Votes = Sequence[tuple[Any, float]]
"""Answers of several people to one field, each with the trust they have: at least one, and not all without trust."""


@dataclass(frozen=True)
class FormField(ABC):
    """One thing a form asks for."""

    settings: FieldSettings

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """The JSON schema of an answer."""

    @abstractmethod
    def parse(self, raw: Any) -> Any:
        """The answer in its canonical form, or ValueError with words that go on after the field's name."""

    def parse_gold(self, raw: Any) -> Any:
        return self.parse(raw)

    def misfit(self, _value: Any, _item: Payload) -> str | None:
        """What only the item tells to be wrong."""
        return None

    @abstractmethod
    def mistake(self, value: Any, gold: Any) -> str | None:
        """How an answer differs from gold; None if it is right."""

    @abstractmethod
    def distance(self, left: Any, right: Any) -> float: ...

    @abstractmethod
    def combine(self, votes: Votes, draw: int) -> tuple[Any, float | None]:
        """What many said, with its confidence, if it can have one; `draw` decides between what is tied."""

    @abstractmethod
    def guess(self, view: Mapping[str, Any], rng: Random | None) -> Any: ...

    def cell(self, value: Any, _item: Payload) -> Any:
        """The answer in a table, where it must be understood by itself."""
        return value

    def in_words(self, value: Any, _item: Payload) -> Any:
        """The answer in words, beside its item."""
        return value
