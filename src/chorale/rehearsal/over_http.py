"""Simulated people for a study's site, with their answers and times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from chorale.folder.reading import StudyFolder
from chorale.folder.reading_plan import simulated_seconds
from chorale.folder.view_key import view_key
from chorale.model import Answer
from chorale.platforms.simulated import CrowdMember
from chorale.rehearsal.simulated import AnswerSheet, WorkerModel


@dataclass(frozen=True, slots=True)
class Joining:
    """How a person joins a site (by invitation, or already signed in), when, and for which stages."""

    link: str | None = None
    cookies: Mapping[str, str] | None = None
    after: float = 0.0
    stages: Sequence[str] | None = None


def crowd_members(
    folder: StudyFolder, models: Sequence[WorkerModel], seed: int, joining: Sequence[Joining], difficulty: float = 0.0
) -> list[CrowdMember]:
    """People who answer like the worker models. Their IDs, answers and times depend only on the seed."""
    sheets = {
        content.settings.name: AnswerSheet(
            content.task,
            [
                *((content.task.form.shown(row.item.payload), row.answer) for row in content.gold),
                *((row.view, row.answer) for row in content.truth),
            ],
            f"{seed}:{content.settings.name}",
            difficulty,
        )
        for content in folder.stages
    }
    expected = {content.settings.name: simulated_seconds(content) for content in folder.stages}
    return [
        _member(folder, sheets, expected, model, f"{seed}:{number}", join)
        for number, (model, join) in enumerate(zip(models, joining, strict=True))
    ]


def _member(
    folder: StudyFolder,
    sheets: Mapping[str, AnswerSheet],
    expected: Mapping[str, float],
    model: WorkerModel,
    seed: str,
    join: Joining,
) -> CrowdMember:
    tasks = {content.settings.name: content.task for content in folder.stages}
    pace = Random(f"{seed}:pace")
    previous: dict[str, Answer] = {}

    def answer(stage: str, view: Mapping[str, Any]) -> Answer:
        key, task, sheet = view_key(view), tasks[stage], sheets[stage]
        # On a site, nobody knows the quality of what they grade.
        work_out = sheet.prospects if task.grading.marks is None else sheet.likely_grade
        truth, choices = work_out(key, view)
        given = model.answer(
            truth,
            choices,
            # An item always gets the same answer, even after its time limit has passed.
            Random(f"{seed}:{stage}:{key}"),
            accuracy=model.accuracy_in(stage, task.name),
            previous=previous.get(stage),
            imitate=None if task.simulating.imitate is None else partial(task.simulating.imitate, view),
            hardness=sheet.hardness(key, view),
        )
        previous[stage] = given
        return given

    return CrowdMember(
        external_id=f"{Random(f'{seed}:id').getrandbits(96):024x}",
        answer=answer,
        seconds=lambda stage: model.seconds(expected[stage], pace),
        forget=lambda stage: previous.pop(stage, None),
        link=join.link,
        cookies=join.cookies or {},
        after=join.after,
        stages=join.stages,
    )
