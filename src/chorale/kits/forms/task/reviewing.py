"""A form for reviewers: the anonymous answers to an item side by side, with the same fields to decide."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from chorale.contract.fields import plain_text
from chorale.kits.forms.task.fields import FormField
from chorale.kits.forms.task.settings import ANSWERS_GIVEN
from chorale.model import Answer, Payload


def gather(payload: Payload, answers: Sequence[Answer], rng: Random) -> dict[str, Any]:
    """An item for reviewers: the annotators' item, and their answers in a random order."""
    given = list(answers)
    rng.shuffle(given)
    return {**payload, ANSWERS_GIVEN: given}


def side_by_side(fields: Mapping[str, FormField], item: Payload) -> dict[str, Any]:
    """The answers to an item for the page: each field's value for the form and in words."""
    given = item.get(ANSWERS_GIVEN)
    if given is None:
        return {}
    shown = [
        {
            name: {"value": answer[name], "words": field.words(answer[name], item)}
            for name, field in fields.items()
            if name in answer
        }
        for answer in given
    ]
    return {ANSWERS_GIVEN: shown}


def most_given(view: Mapping[str, Any]) -> dict[str, Any]:
    """The most frequent value of each field among the answers, for simulated reviewers."""
    given: dict[str, list[Any]] = {}
    for answer in view.get(ANSWERS_GIVEN, ()):
        for name, each in answer.items():
            given.setdefault(name, []).append(each["value"])
    return {name: _most_frequent(values) for name, values in given.items()}


def _most_frequent(values: Sequence[Any]) -> Any:
    by_text = {plain_text(value): value for value in values}
    counts = Counter(map(plain_text, values))
    return by_text[min(counts, key=lambda text: (-counts[text], text))]
