"""Tables about a study, for terminals."""

from chorale.report.plan import StagePlan, StudyPlan, placeholders_left, plan_study
from chorale.report.tables import (
    applications_table,
    candidates_table,
    dropped_table,
    gold_table,
    outcomes_table,
    plan_table,
    stages_table,
    wage_line,
)
from chorale.report.truth import Truth

__all__ = [
    "StagePlan",
    "StudyPlan",
    "Truth",
    "applications_table",
    "candidates_table",
    "dropped_table",
    "gold_table",
    "outcomes_table",
    "placeholders_left",
    "plan_study",
    "plan_table",
    "stages_table",
    "wage_line",
]
