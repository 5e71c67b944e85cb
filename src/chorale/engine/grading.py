"""Grades that people give: the mean of the graders' marks for an answer becomes its grade."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from chorale.contract import Marks, Task
from chorale.engine.gates import decide_about
from chorale.engine.running import RunningStage, Study
from chorale.folder.feedback import wanting
from chorale.model import Judgment
from chorale.store import Tx, events, grades

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class PeoplesGrade:
    score: float
    criteria: dict[str, float]
    reasons: list[str]


def grade_of(task: Task, answers: Sequence[Any]) -> PeoplesGrade | None:
    """The grade that graders' answers to a rubric come to; None if they say nothing."""
    if task.grading.marks is None:
        return None
    marks = [task.grading.marks(answer) for answer in answers]
    criteria = mean_marks(marks)
    if not criteria:
        return None
    comments = sorted({comment for one in marks for comment in one.comments})
    return PeoplesGrade(fmean(criteria.values()), criteria, wanting(criteria) + comments)


def grade_answer(tx: Tx, study: Study, stage: RunningStage, response_id: int, judgments: Sequence[Judgment]) -> None:
    """Grade an answer by its graders' marks. A grade that changed is added, never overwritten."""
    grade = grade_of(stage.task, [judgment.answer for judgment in judgments])
    if grade is None:
        return
    graded = grades.grades_of(tx, response_id)
    if graded.score is not None and abs(graded.score - grade.score) < _SAME:
        return
    source = f"{stage.name}#{graded.times + 1}"
    grades.add_grade(tx, response_id, source, grade.score, grade.reasons, study.clock(), grade.criteria)
    evidence = {
        "response": response_id,
        "source": source,
        "score": grade.score,
        "by": [one.response for one in judgments],
    }
    events.record(tx, study.clock(), "graded", evidence, stage_id=stage.id, worker_id=graded.worker_id)
    decide_about(tx, study, study.stage_by_id(graded.stage_id), graded.worker_id)


def mean_marks(marks: Sequence[Marks]) -> dict[str, float]:
    """The mean of every criterion over those who judged it."""
    names = dict.fromkeys(name for one in marks for name in one.criteria)
    return {name: fmean(one.criteria[name] for one in marks if name in one.criteria) for name in names}
