"""Checks of a task's prompts for models."""

import json
from typing import Any

from chorale.contract.prompting import TrainingExample, UnreadableError
from chorale.contract.prompts import Prompter
from chorale.testing.subject import ContractError, Subject, as_json, promised

_SENT = ("", "No.", "{", "{}", '{"answer": null}', '{"answer": {"x": [[]]}}', '{"answer": 1e999}', "[" * 2_000)


def prompting(subject: Subject) -> None:
    """Check that every example can be prompted and parsed, and that any other output is refused with a reason."""
    task = subject.task
    for example in subject.examples:
        view = as_json(subject.view(example), "the view")
        prompter = Prompter(task, "Guidelines.", [TrainingExample(view, example.answer, "Because.")])
        prompt = prompter.prompt(view)
        as_json(dict(prompt.schema), "the schema of the answer")
        write = task.prompting.write
        written = as_json(example.answer if write is None else write(view, example.answer), "the answer as written")
        try:
            read = prompter.read(json.dumps({"answer": written}), view, example.item)
        except UnreadableError as error:
            raise ContractError(f"{example.name}: written as {written!r}, its answer is refused: {error}") from None
        promised(
            read.answer == example.answer, f"{example.name}: written as {written!r}, it is read as {read.answer!r}"
        )
        for text in _SENT:
            _refused_or_read(prompter, text, view, example.item)


def _refused_or_read(prompter: Prompter, text: str, view: Any, item: Any) -> None:
    try:
        prompter.read(text, view, item)
    except UnreadableError:
        pass
    except Exception as error:
        raise ContractError(f"{text[:60]!r} raises {type(error).__name__}: {error}") from error
