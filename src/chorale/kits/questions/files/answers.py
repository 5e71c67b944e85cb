"""Validations and predictions in files of their own: one answer a row, beside the files of questions they are about.

A row has `question_id`, `answer` (`option2`; `invalid` for a validator who finds the question broken) and who gave it:
`worker_id` of a validation, `model` of a prediction. CSV, TSV or JSONL, perhaps packed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from chorale.files.rows import Row, read_rows, shortened
from chorale.files.source import MOST_PROBLEMS
from chorale.kits.questions.files.columns import INVALID
from chorale.kits.questions.files.questions import MISSING, McqQuestions
from chorale.model import Problem, UserError

_ANSWER = re.compile(r"option([1-9]\d{0,3})")


class _Answers:
    """Reads a file of answers and reports what is wrong with it."""

    def __init__(self, path: Path, files: Sequence[McqQuestions], who: str, *, may_be_invalid: bool) -> None:
        self._path, self._files, self._who, self._may_be_invalid = path, files, who, may_be_invalid
        self._places = {
            name: (number, place) for number, file in enumerate(files) for place, name in enumerate(file.ids)
        }
        self._given: dict[tuple[str, str], int] = {}
        self.problems: list[Problem] = []

    def read(self) -> Iterator[tuple[int, int, str, int]]:
        """File, question, who and which option; the number of options for "invalid"."""
        for row in read_rows(self._path, shown_as=self._path.name, problems=self.problems):
            answer = self._parsed(row)
            if answer is not None:
                yield answer
            if len(self.problems) >= MOST_PROBLEMS:
                break
        if not self.problems and not self._given:
            self.problems.append(
                Problem(self._path.name, None, "has no answers", "Check that the right file was named.")
            )
        if self.problems:
            raise UserError(f"{self._path.name} can't be used", self.problems)

    def _parsed(self, row: Row) -> tuple[int, int, str, int] | None:
        for column in ("question_id", self._who):
            if not isinstance(row.values.get(column), str) or not row.values[column]:
                self._report(row, f"has no {column}", f"Fill in the column {column}", row.values.get(column))
                return None
        question, who = str(row.values["question_id"]), str(row.values[self._who])
        if question not in self._places:
            self._report(
                row, "is about a question that is in none of the files", "Remove it, or name its file", question
            )
            return None
        if (question, who) in self._given:
            first = self._given[question, who]
            self._report(row, f"answers a question again that {who} answered in line {first}", "Keep one", question)
            return None
        self._given[question, who] = row.line
        number, place = self._places[question]
        if self._has_answered(self._files[number], place, who):
            self._report(
                row, f"answers a question again that {who} answers in the file of questions", "Keep one", question
            )
            return None
        answer = self._answer(row, int((~np.isnan(self._files[number].words[place])).sum()))
        return None if answer is None else (number, place, who, answer)

    def _has_answered(self, file: McqQuestions, place: int, who: str) -> bool:
        if self._who == "model":
            return who in file.models and bool(file.models[who][place] != MISSING)
        return bool(file.validators) and who in file.validators[place]

    def _answer(self, row: Row, options: int) -> int | None:
        value = row.values.get("answer", row.values.get("worker_answer"))
        if self._may_be_invalid and value in (INVALID, f"option{options + 1}"):
            return options
        match = _ANSWER.fullmatch(value) if isinstance(value, str) else None
        if match is None or int(match[1]) > options:
            last = f"option{options}" + (f", or {INVALID}" if self._may_be_invalid else "")
            self._report(row, "has an answer that is none of the options", f"Write option1 to {last}", value)
            return None
        return int(match[1]) - 1

    def _report(self, row: Row, message: str, fix: str, value: Any) -> None:
        shown = "nothing" if value is None else shortened(value)
        self.problems.append(Problem(self._path.name, row.line, message, f"{fix}.", shown))


def add_validations(files: Sequence[McqQuestions], path: Path) -> list[McqQuestions]:
    """The same questions with these votes besides those they had."""
    votes = [file.votes.copy() for file in files]
    for number, place, _, answer in _Answers(path, files, "worker_id", may_be_invalid=True).read():
        options = int((~np.isnan(files[number].words[place])).sum())
        votes[number][place, files[number].invalid if answer == options else answer] += 1
    return [replace(file, votes=table) for file, table in zip(files, votes, strict=True)]


def add_predictions(files: Sequence[McqQuestions], path: Path) -> list[McqQuestions]:
    """The same questions with these models besides those they had."""
    models = [{name: answers.copy() for name, answers in file.models.items()} for file in files]
    for number, place, model, answer in _Answers(path, files, "model", may_be_invalid=False).read():
        empty = np.full(len(files[number]), MISSING)
        models[number].setdefault(model, empty)[place] = answer
    return [
        replace(file, models={name: by_model[name] for name in sorted(by_model)})
        for file, by_model in zip(files, models, strict=True)
    ]
