"""Readable forms of answers and items, shown in the console, the terminal and the activity log."""

from collections.abc import Mapping
from typing import Any

from chorale.contract.task import Task
from chorale.files.answer_text import answer_text
from chorale.model import Answer, Payload


def field_lines(
    task: Task, payload: Payload, answer: Mapping[str, Any], *, gold: bool = False
) -> list[tuple[str, str]]:
    """The fields of an answer, or of gold, each with its value in words."""
    lines = []
    for field in task.shape.fields:
        if answer.get(field.name) is not None:
            words = field.gold_words if gold and field.gold_words is not None else field.words
            lines.append((field.name, words(answer[field.name], payload)))
    return lines


def answer_words(task: Task, payload: Payload, answer: Answer, *, gold: bool = False, between: str = " · ") -> str:
    """An answer, or gold, in words: field by field if it has fields, otherwise as the task presents it."""
    if task.shape.fields and isinstance(answer, Mapping):
        lines = field_lines(task, payload, answer, gold=gold)
        if len(task.shape.fields) == 1:
            return between.join(words for _, words in lines)
        return between.join(f"{name}: {words}" for name, words in lines)
    if task.explaining.quote is not None:
        return task.explaining.quote(payload, answer)
    return answer_text(task.explaining.present(payload, answer))


def item_words(task: Task, payload: Payload, longest: int) -> str:
    """What workers see of an item, in one line of at most this many characters."""
    if task.explaining.caption is not None:
        return _cut(task.explaining.caption(payload), longest)
    # Nested values are for the form's script, not for readers.
    shown = task.form.shown(payload).values()
    parts = [answer_text(value) for value in shown if value is not None and not isinstance(value, dict)]
    if len(" · ".join(parts)) > longest:
        # IDs and numbers come last, so that the sentence is not cut off.
        parts.sort(key=lambda part: -len(part.split()))
    return _cut(" · ".join(parts), longest)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
