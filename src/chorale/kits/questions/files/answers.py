"""Validations and predictions in separate files, one answer per row.

A row has `question_id`, `answer` (`option2`; `invalid` for a validator who finds the question invalid) and its source:
`worker_id` for a validation, `model` for a prediction. A prediction may have `text` instead of `answer`: the text of a
model, for which the most similar option is used. CSV, TSV or JSONL, optionally compressed.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from chorale.files.rows import Row
from chorale.files.shortening import shortened
from chorale.kits.questions.files.columns import INVALID
from chorale.kits.questions.files.questions import MISSING, McqQuestions
from chorale.kits.questions.files.study_exports import RowError, read_parsed
from chorale.kits.questions.text_answers import NO_OPTION, option_in

_ANSWER = re.compile(r"option([1-9]\d{0,3})")


class _Answers:
    """Parses a file of answers, row by row."""

    def __init__(self, files: Sequence[McqQuestions], who: str, *, may_be_invalid: bool) -> None:
        self._files, self._who, self._may_be_invalid = files, who, may_be_invalid
        self._places = {
            name: (number, place) for number, file in enumerate(files) for place, name in enumerate(file.ids)
        }
        self._given: dict[tuple[str, str], int] = {}

    def parse(self, row: Row) -> tuple[int, int, str, int]:
        """File, question, worker or model, and option; the number of options stands for "invalid"."""
        for column in ("question_id", self._who):
            if not isinstance(row.values.get(column), str) or not row.values[column]:
                raise _refused(f"has no {column}", f"Fill in the column {column}", row.values.get(column))
        question, who = str(row.values["question_id"]), str(row.values[self._who])
        if question not in self._places:
            raise _refused(
                "refers to a question that is not in any of the files",
                "Remove the row, or add the file with the question",
                question,
            )
        if (question, who) in self._given:
            where = f"answered in line {self._given[question, who]}"
            raise _refused(f"repeats an answer: {who} already {where}", "Keep only one answer", question)
        self._given[question, who] = row.line
        number, place = self._places[question]
        if self._has_answered(self._files[number], place, who):
            where = "answered in the file of questions"
            raise _refused(f"repeats an answer: {who} already {where}", "Keep only one answer", question)
        options = int((~np.isnan(self._files[number].words[place])).sum())
        if self._may_be_invalid or row.values.get("answer") is not None:
            return number, place, who, self._answer(row, options)
        return number, place, who, self._written(row, self._files[number], place, options)

    def _written(self, row: Row, file: McqQuestions, place: int, options: int) -> int:
        """The option most similar to a model's text; the number of options if none is similar."""
        text = row.values.get("text")
        if not isinstance(text, str):
            raise _refused(
                "has neither `answer` nor `text`",
                "Write option1, option2 and so on in `answer`, or the model's output in `text`",
                text,
            )
        if not file.texts:
            raise _refused(
                "has a `text`, but the options of the question are unknown",
                "Add `options` to the file of questions",
                text,
            )
        option = option_in(text, file.texts[place].options)
        return options if option is None else option

    def _has_answered(self, file: McqQuestions, place: int, who: str) -> bool:
        if self._who == "model":
            return who in file.models and bool(file.models[who][place] != MISSING)
        return bool(file.validators) and who in file.validators[place]

    def _answer(self, row: Row, options: int) -> int:
        value = row.values.get("answer", row.values.get("worker_answer"))
        if value == NO_OPTION if not self._may_be_invalid else value in (INVALID, f"option{options + 1}"):
            return options
        match = _ANSWER.fullmatch(value) if isinstance(value, str) else None
        if match is None or int(match[1]) > options:
            last = f"option{options}" + (f", or {INVALID}" if self._may_be_invalid else "")
            raise _refused("has an answer that is not one of the options", f"Write option1 to {last}", value)
        return int(match[1]) - 1


def _refused(message: str, fix: str, value: Any) -> RowError:
    return RowError(message, f"{fix}.", "nothing" if value is None else shortened(value))


def add_validations(files: Sequence[McqQuestions], path: Path) -> list[McqQuestions]:
    """Adds these votes to the questions."""
    votes = [file.votes.copy() for file in files]
    answers = _Answers(files, "worker_id", may_be_invalid=True)
    for number, place, _, answer in read_parsed(path, "answers", answers.parse):
        options = int((~np.isnan(files[number].words[place])).sum())
        votes[number][place, files[number].invalid if answer == options else answer] += 1
    return [replace(file, votes=table) for file, table in zip(files, votes, strict=True)]


def add_predictions(files: Sequence[McqQuestions], path: Path) -> list[McqQuestions]:
    """Adds the answers of these models to the questions."""
    models = [{name: given.copy() for name, given in file.models.items()} for file in files]
    answers = _Answers(files, "model", may_be_invalid=False)
    for number, place, model, answer in read_parsed(path, "answers", answers.parse):
        empty = np.full(len(files[number]), MISSING)
        options = int((~np.isnan(files[number].words[place])).sum())
        # "Invalid" is never the gold answer of a kept question.
        models[number].setdefault(model, empty)[place] = files[number].invalid if answer == options else answer
    return [
        replace(file, models={name: by_model[name] for name in sorted(by_model)})
        for file, by_model in zip(files, models, strict=True)
    ]
