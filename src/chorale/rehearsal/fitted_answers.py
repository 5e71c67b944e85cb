"""People who err like a model: as often as its recorded answers do, by the answers that the study knows to be right."""

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
"""Answers by which an accuracy is found. More say little more."""


class FittedAnswers(NamedTuple):
    """What recorded answers say about a stage."""

    stage: str
    answers: int
    """How many were compared."""
    score: float
    """Their mean score."""
    accuracy: float
    """With which a simulated worker's answers have that score."""
    confusion: Mapping[str, Mapping[str, float]]
    """How often which answer is given where which is right, of answers that can be listed."""

    @property
    def note(self) -> str:
        return (
            f"{self.stage}: {plural(self.answers, 'recorded answer has', 'recorded answers have')} a mean score of "
            f"{self.score:.2f}. Simulated people who answer like that have an accuracy of {self.accuracy:.2f}."
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
    """Stage by stage, how good recorded answers are where the right ones are known."""
    recorded = _read(path)
    fitted = [
        found
        for content in folder.stages
        if (found := _fit_stage(content, recorded.get(content.settings.name, {}))) is not None
    ]
    if not fitted:
        raise UserError(
            f"{path}: no answer is about an item whose right answer is known. Add gold, or name a file with right "
            "answers in [stage.rehearsal] truth."
        )
    return fitted


def like_answers(fitted: Sequence[FittedAnswers], like: WorkerModel) -> WorkerModel:
    """A worker who errs like recorded answers: `like` in everything else."""
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
    """The accuracy with which simulated answers have this mean score. More accuracy never gives less."""
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
