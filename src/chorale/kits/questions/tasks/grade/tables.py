"""What graders said, one criterion a row: `chorale agreement` reads it."""

from collections.abc import Iterator, Mapping
from typing import Any

from chorale.contract.exporting import StageResults, TaskExport
from chorale.kits.questions.tasks.grade.rubric import CRITERIA, points_of


def _rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    for item in stage.items:
        origin = stage.origin(item)
        for judgment in stage.judgments(item):
            for name, level in judgment.answer.items():
                criterion, _, number = name.rpartition("_")
                yield {
                    "task": f"{item.key}/{number}/{criterion}",
                    "worker": judgment.worker,
                    "label": list(CRITERIA[criterion].levels).index(level) + 1,
                    "criterion": criterion,
                    "level": level,
                    "points": points_of(name)[level],
                    "question_id": f"{item.key}/{number}",
                    "writer": origin.worker if origin else None,
                    "arm": origin.arm if origin else None,
                    "stage": origin.stage if origin else None,
                }


GRADES_TABLE = TaskExport(
    name="mcq-grades",
    summary="what every grader said of every question, one criterion a row, as CSV",
    file_name="mcq-grades.csv",
    columns=("task", "worker", "label", "criterion", "level", "points", "question_id", "writer", "arm", "stage"),
    rows=_rows,
)
