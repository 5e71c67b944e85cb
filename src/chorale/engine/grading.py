"""Grades by people: the mean of the graders' marks for an answer becomes its grade.

Graders mark an answer by a rubric, or keep parts of it when they merge several answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from statistics import fmean
from typing import Any

from chorale.contract import Marks, Task
from chorale.engine.gates import decide_about
from chorale.engine.paying import pay_bonus
from chorale.engine.running import RunningStage, Study
from chorale.folder.feedback import wanting
from chorale.model import Judgment, responses_behind
from chorale.model.plural import plural
from chorale.protocol import parts_bonus
from chorale.store import Tx, events, grades
from chorale.store.labels import ItemProgress
from chorale.store.responses import answers_given

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class PeoplesGrade:
    score: float
    criteria: dict[str, float]
    reasons: list[str]
    kept: int = 0
    """Number of the answer's parts that are kept, if graders merge answers."""


def grade_of(task: Task, answers: Sequence[Any]) -> PeoplesGrade | None:
    """The grade from graders' answers to a rubric; None if there is none."""
    if task.grading.marks is None:
        return None
    marks = [task.grading.marks(answer) for answer in answers]
    criteria = mean_marks(marks)
    if not criteria:
        return None
    comments = sorted({comment for one in marks for comment in one.comments})
    return PeoplesGrade(fmean(criteria.values()), criteria, wanting(criteria) + comments)


def grade_by_kept(task: Task, graded: Any, answers: Sequence[Any]) -> PeoplesGrade | None:
    """The grade of an answer by the parts kept of it; None if it was erased."""
    if task.grading.kept is None or graded is None or not answers:
        return None
    kept_grades = [task.grading.kept(graded, answer) for answer in answers]
    criteria = mean_marks([Marks(one.criteria) for one in kept_grades])
    kept = floor(fmean(one.parts for one in kept_grades) + 0.5)
    return PeoplesGrade(fmean(criteria.values()), criteria, wanting(criteria), kept)


def grade_behind(tx: Tx, study: Study, stage: RunningStage, item: ItemProgress, judgments: Sequence[Judgment]) -> None:
    """Grade the answers that a complete item was made from, if its stage is a grading stage."""
    answers = [judgment.answer for judgment in judgments]
    if stage.settings.grades and item.response_id is not None:
        _add(tx, study, stage, item.response_id, judgments, grade_of(stage.task, answers))
    elif stage.settings.grades_sources:
        for response_id, graded in answers_given(tx, responses_behind(item.key)).items():
            _add(tx, study, stage, response_id, judgments, grade_by_kept(stage.task, graded, answers))


def _add(
    tx: Tx,
    study: Study,
    stage: RunningStage,
    response_id: int,
    judgments: Sequence[Judgment],
    grade: PeoplesGrade | None,
) -> None:
    """Store an answer's grade and apply its consequences. A changed grade is added, never overwritten."""
    if grade is None:
        return
    # Only grades by this stage: an equal score from another stage is a different grade, with its own pay.
    latest = grades.latest_by(tx, response_id, stage.name)
    if latest is not None and abs(latest - grade.score) < _SAME:
        return
    graded = grades.grades_of(tx, response_id)
    source = f"{stage.name}#{graded.times + 1}"
    grades.add_grade(tx, response_id, source, grade.score, grade.reasons, study.clock(), grade.criteria)
    evidence = {
        "response": response_id,
        "source": source,
        "score": grade.score,
        "by": [one.response for one in judgments],
        **({"kept": grade.kept} if stage.settings.grades_sources else {}),
    }
    events.record(tx, study.clock(), "graded", evidence, stage_id=stage.id, worker_id=graded.worker_id)
    earlier = study.stage_by_id(graded.stage_id)
    amount = parts_bonus(grade.kept, earlier.settings.pay.kept)
    if latest is None and amount:
        reason = f"{plural(grade.kept, 'part', 'parts')} of an answer in {earlier.name} kept in {stage.name}"
        pay_bonus(tx, study, earlier, graded.worker_id, f"kept:{response_id}:{stage.name}", amount, reason)
    decide_about(tx, study, earlier, graded.worker_id)


def mean_marks(marks: Sequence[Marks]) -> dict[str, float]:
    """The mean of every criterion over the graders who judged it."""
    names = dict.fromkeys(name for one in marks for name in one.criteria)
    return {name: fmean(one.criteria[name] for one in marks if name in one.criteria) for name in names}
