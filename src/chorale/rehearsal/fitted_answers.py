"""Simulated people with the error rate of a model's recorded answers, by the study's known correct answers."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

from chorale.contract import Task
from chorale.contract.prompting import UnreadableError
from chorale.contract.prompts import Prompter
from chorale.files.rows import read_rows
from chorale.folder.reading import StageContent, StudyFolder
from chorale.model import Answer, Payload, Problem, UserError
from chorale.model.plural import plural
from chorale.rehearsal.simulated import Knowledge, WorkerModel
from chorale.rehearsal.simulated.answering import listed_answers
from chorale.rehearsal.simulated.models import label_of

_STEPS = 12
_MOST_COMPARED = 200
"""Number of answers to estimate an accuracy from; more add little."""


class FittedAnswers(NamedTuple):
    """The fit of recorded answers in a stage."""

    stage: str
    answers: int
    """Number of compared answers."""
    score: float
    """Their mean score."""
    accuracy: float
    """The accuracy with which simulated answers have that score."""
    confusion: Mapping[str, Mapping[str, float]]
    """Confusion frequencies, if answers can be listed."""

    @property
    def note(self) -> str:
        return (
            f"{self.stage}: {plural(self.answers, 'recorded answer has', 'recorded answers have')} a mean score of "
            f"{self.score:.2f}. Simulated people have an accuracy of {self.accuracy:.2f}, which gives the same score."
        )


class _Compared(NamedTuple):
    view: Mapping[str, Any]
    truth: Answer
    answer: Answer


def has_recorded_answers(path: Path) -> bool:
    """Whether a file has recorded answers of a model: JSONL rows with `output`, `stage` and `item`."""
    if path.suffix != ".jsonl":
        return False
    try:
        with path.open(encoding="utf-8") as lines:
            first = json.loads(next(lines, ""))
    except (OSError, ValueError):
        return False
    return isinstance(first, dict) and {"output", "stage", "item"} <= first.keys()


def fit_answers(folder: StudyFolder, path: Path) -> list[FittedAnswers]:
    """The quality of recorded answers by stage, where correct answers are known."""
    recorded = _read(path)
    fitted = [
        found
        for content in folder.stages
        if (found := _fit_stage(content, recorded.get(content.settings.name, {}))) is not None
    ]
    if not fitted:
        raise UserError(
            f"{path}: no recorded answer is about an item with a known correct answer. Add gold, or set "
            "`truth` in [stage.rehearsal] to a file of correct answers."
        )
    return fitted


def like_answers(fitted: Sequence[FittedAnswers], like: WorkerModel) -> WorkerModel:
    """A worker with the errors of recorded answers; everything else as in `like`."""
    accuracies = {one.stage: one.accuracy for one in fitted}
    confusion = {right: row for one in fitted for right, row in one.confusion.items()}
    return replace(like, accuracy=fmean(accuracies.values()), accuracies=accuracies, confusion=confusion)


def _read(path: Path) -> dict[str, dict[str, str]]:
    """The outputs, by stage and item."""
    problems: list[Problem] = []
    outputs: dict[str, dict[str, str]] = defaultdict(dict)
    for row in read_rows(path, shown_as=str(path), problems=problems):
        stage, item, output = (row.values.get(name) for name in ("stage", "item", "output"))
        if isinstance(stage, str) and isinstance(item, str) and output:
            outputs[stage].setdefault(item, output if isinstance(output, str) else json.dumps(output))
    if problems:
        raise UserError(f"{path} has no recorded answers.", problems[:5])
    return outputs


def _fit_stage(content: StageContent, recorded: Mapping[str, str]) -> FittedAnswers | None:
    compared = list(_compared(content, recorded))[:_MOST_COMPARED]
    if not compared:
        return None
    grade = content.task.grading.grade
    score = fmean(grade(one.answer, one.truth).score for one in compared)
    if content.task.simulating.imitate is not None:
        accuracy = _accuracy_with(content.task, compared, score)
        return FittedAnswers(content.settings.name, len(compared), score, accuracy, {})
    confusion = {} if listed_answers(content.task) is None else _confusion(compared)
    return FittedAnswers(content.settings.name, len(compared), score, score, confusion)


def _compared(content: StageContent, recorded: Mapping[str, str]) -> Iterator[_Compared]:
    task = content.task
    shown = task.form.shown
    by_gold = ((shown(row.item.payload), row.answer) for row in content.gold)
    known = Knowledge([*by_gold, *((row.view, row.answer) for row in content.truth)])
    prompter = Prompter(task, content.guidelines)
    payloads: dict[str, Payload] = {item.key: item.payload for item in content.items}
    payloads |= {row.item.key: row.item.payload for row in content.gold}
    for key, output in recorded.items():
        truth = known.get(shown(payloads[key])) if key in payloads else None
        if truth is None:
            continue
        view = shown(payloads[key])
        try:
            yield _Compared(view, truth, prompter.read(output, view, payloads[key]).answer)
        except UnreadableError:
            continue


def _accuracy_with(task: Task, compared: Sequence[_Compared], score: float) -> float:
    """The accuracy with which simulated answers have this mean score, which increases with accuracy."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        made = fmean(_simulated_score(task, one, middle, number) for number, one in enumerate(compared))
        low, high = (middle, high) if made < score else (low, middle)
    return (low + high) / 2


def _simulated_score(task: Task, compared: _Compared, accuracy: float, number: int) -> float:
    if task.simulating.imitate is None:
        raise RuntimeError("answers of this task are right or wrong as a whole")
    imitate = partial(task.simulating.imitate, compared.view, compared.truth, accuracy)
    answer = imitate(Random(f"fit:{number}"))
    return task.grading.grade(answer, compared.truth).score


def _confusion(compared: Sequence[_Compared]) -> dict[str, dict[str, float]]:
    given: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair in compared:
        given[label_of(pair.truth)][label_of(pair.answer)] += 1
    return {right: {label: count / row.total() for label, count in row.items()} for right, row in given.items()}
