"""Results from a study's exports: agreement of graders, and cost per question in each arm."""

from collections.abc import Mapping, Sequence
from typing import Any

from chorale.kits.questions.metrics.costs import HOUR, QuestionCosts
from chorale.kits.questions.scoring.measured import McqSection
from chorale.metrics.agreement import krippendorff_alpha
from chorale.metrics.judgments import Judgments
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import Cell, ScoreTable, shown_interval
from chorale.model import UserError

ALL = "all"


def grades_section(rows: Sequence[Mapping[str, str]], resampling: Resampling) -> McqSection:
    """Krippendorff's α for ordinal grades, per criterion, for each graded stage and for all stages."""
    stages = sorted({row.get("stage", "") for row in rows} - {""})
    criteria = list(dict.fromkeys(row["criterion"] for row in rows))
    json: dict[str, dict[str, dict[str, Any]]] = {}
    table: list[list[Cell]] = []
    for stage in [ALL, *stages]:
        chosen = [row for row in rows if stage in (ALL, row.get("stage"))]
        json[stage] = {}
        for number, criterion in enumerate(criteria):
            graded = [row for row in chosen if row["criterion"] == criterion]
            alpha = krippendorff_alpha(
                Judgments.from_columns(
                    [row["task"] for row in graded], [row["worker"] for row in graded], [row["label"] for row in graded]
                ),
                level="ordinal",
            )
            wanted = resampling.ci and alpha.value is not None
            interval = resampling.intervals(*alpha.statistics())["value"] if wanted else None
            json[stage][criterion] = {"alpha": alpha.value, "grades": len(graded)}
            if interval is not None:
                json[stage][criterion] |= {"ci": interval.as_list()}
            row: list[Cell] = ["" if number else stage, criterion, len(graded), alpha.value]
            table.append([*row, shown_interval(interval)] if resampling.ci else row)
    columns = ("graded stage", "criterion", "grades#", "Krippendorff's alpha#")
    shown = (*columns, "95% interval#") if resampling.ci else columns
    return McqSection("grades", json, [ScoreTable("Agreement of graders, ordinal", shown, table)])


def costs_section(costs: Mapping[str, QuestionCosts], hourly: int) -> McqSection:
    """Amounts in major units (dollars), as in papers."""
    if not any(spent.questions for spent in costs.values()):
        raise UserError(
            "Costs require validated questions whose writers have an arm, but the responses have none. Export the "
            "responses of a study whose `mcq-validate` stage takes its items from writers' answers."
        )

    def units(value: float | None) -> float | None:
        return None if value is None else value / 100

    json = {
        arm: {
            "questions": spent.questions,
            "writers": spent.writers,
            "writing": spent.writing,
            "training": spent.training,
            "expert_hours": spent.expert_seconds / HOUR,
            "per_question_after_training": units(spent.per_question(training=False)),
            "per_question": units(spent.per_question()),
            "per_question_with_experts": units(spent.per_question(hourly=hourly)) if hourly else None,
        }
        for arm, spent in costs.items()
    }
    columns = {
        "questions#": "questions",
        "writers#": "writers",
        "per question, without training#": "per_question_after_training",
        "with training#": "per_question",
        "with training and expert time#": "per_question_with_experts",
    }
    rows: list[list[Cell]] = []
    for arm, spent in costs.items():
        training = units(spent.training / spent.writers) if spent.writers else None
        rows.append([arm, *(json[arm][name] for name in columns.values()), training, json[arm]["expert_hours"]])
    shown = ("arm", *columns, "training per writer#", "expert hours#")
    notes = ["Costs exclude platform fees and validation. Questions of earlier rounds count as training."]
    return McqSection(
        "costs", json, [ScoreTable("Costs, in units of the study's currency", shown, rows, digits=2)], notes
    )
