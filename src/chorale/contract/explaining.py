"""The text of items, answers and grades for people: a part of a task."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chorale.model import Answer, Payload


def answer_as_it_is(_payload: Payload, answer: Answer) -> Answer:
    """The default of `Explaining.present`: the answer can be understood without the item."""
    return answer


@dataclass(frozen=True)
class Explaining:
    """The text of items, answers and grades for people."""

    present: Callable[[Payload, Answer], Answer] = answer_as_it_is
    """Takes an item and an answer (or gold). Returns the answer in a form that others can read: graders, consolidators,
    reviewers, and workers who see their result. Default: unchanged."""
    caption: Callable[[Payload], str] | None = None
    """Takes an item. Returns one line of text for messages. Default: all its values."""
    quote: Callable[[Payload, Answer], str] | None = None
    """Takes an item and an answer. Returns a text for messages. Default: the fields of `present`, with their names."""
    reasons: Callable[[Payload, Answer, Answer], tuple[str, ...]] | None = None
    """Takes an item, an answer and the expert's answer. Returns the reasons for the grade, for messages. Sentences made
    by `worded` are sent in the study's language. Default: the reasons of `grade`."""
    feedback: Callable[[Payload, Answer, Answer], Mapping[str, Any]] | None = None
    """Takes an item, an answer and the expert's answer. Returns the data that the module's `compare` shows. Called only
    in practice rounds, never for gold in other stages. Values called `media` name files of the study folder; the page
    gets their addresses."""


PLAIN_WORDING = Explaining()
"""The default for tasks that do not define `explaining`."""
