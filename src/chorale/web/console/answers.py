"""Answers by team members: an input for every field, and reading submitted answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from chorale.contract import AnswerField, Task
from chorale.contract.fields import FieldKind
from chorale.engine.running import RunningStage
from chorale.model import Answer, UserError

_CHOSEN_FROM = (FieldKind.LABEL, FieldKind.RATING)
"""Kinds of fields that hold one of their options."""
_TEXTS = (FieldKind.LABEL, FieldKind.TEXT, FieldKind.DATE)
"""Kinds of fields that hold a text, which needs no quotes."""
_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class FieldInput:
    """The input for one field of an answer."""

    name: str
    value: str
    options: list[tuple[str, str]]
    """The possible values, each with its text; empty if the value is typed."""
    hint: str


def field_inputs(stage: RunningStage, given: Any, typed: Mapping[str, Any] | None = None) -> list[FieldInput]:
    """An input for every field of a stage's answers, filled with the existing answer or, after an error, the input."""
    answer = given if isinstance(given, Mapping) else {}
    return [_input(field, answer.get(field.name), typed) for field in stage.task.shape.fields]


def _input(field: AnswerField, given: Any, typed: Mapping[str, Any] | None) -> FieldInput:
    options = [(json.dumps(value, ensure_ascii=False), _option_text(value, words)) for value, words in field.options]
    if field.kind not in _CHOSEN_FROM:
        options = []
    hint = "" if options or field.kind in _TEXTS or field.kind is FieldKind.NUMBER else _as_json(field)
    value = "" if given is None else json.dumps(given, ensure_ascii=False)
    if not options and isinstance(given, str):
        value = given
    if typed is not None:
        value = str(typed.get(f"answer-{field.name}", ""))
    return FieldInput(field.name, value, options, hint)


def _option_text(value: Any, words: str) -> str:
    """An option as pages show it. Levels of a scale are numbers, and only some of them have words."""
    if isinstance(value, str):
        return words or value
    return f"{value} ({words})" if words and words != str(value) else str(value)


def _as_json(field: AnswerField) -> str:
    if field.kind is not FieldKind.SPANS:
        return f"The {'value' if field.kind is FieldKind.OTHER else field.kind.value} as JSON"
    if field.options:
        label = json.dumps(field.options[0][0], ensure_ascii=False)
        return (
            f'Words of the text with their labels as a JSON list, such as [{{"text": "some words", "label": {label}}}]'
        )
    return 'Words of the text as a JSON list, such as ["first words", "other words"]'


async def typed_answer(request: Request) -> dict[str, str]:
    """A submitted answer as text: field by field, or as a whole."""
    form = await request.form(max_fields=200)
    return {
        name: value[:_LONGEST]
        for name, value in form.items()
        if isinstance(value, str) and (name == "answer" or name.startswith("answer-"))
    }


def read_answer(task: Task, typed: Mapping[str, str]) -> Answer:
    """The answer that was chosen or typed: field by field, as JSON, or as plain text where answers are texts."""
    if task.shape.fields and not typed.get("answer", "").strip():
        return _read_fields(task, typed)
    text = typed.get("answer", "")
    if not text.strip():
        raise UserError("Choose an answer.")
    if task.shape.answer_schema.get("type") == "string" and task.shape.choices is None:
        return text
    return _from_json(text, "The answer")


def _read_fields(task: Task, typed: Mapping[str, str]) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for field in task.shape.fields:
        text = typed.get(f"answer-{field.name}", "").strip()
        if not text:
            continue
        is_plain = field.kind in _TEXTS and not (field.options and field.kind in _CHOSEN_FROM)
        answer[field.name] = text if is_plain else _from_json(text, f"Field {field.name!r}")
    if not answer:
        raise UserError("Fill in at least one field of the answer.")
    return answer


def _from_json(text: str, title: str) -> Any:
    try:
        answer = json.loads(text)
        json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise UserError(f"{title} is not valid JSON: {text[:100]!r}. Put texts in double quotes.") from None
    if "\\u0000" in text:
        raise UserError(f"{title} has NUL characters, which cannot be stored.")
    return answer
