"""Tables about a study, for terminals."""

from chorale.report.plan import StagePlan, StudyPlan, plan_study, study_notes
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
    "plan_study",
    "plan_table",
    "stages_table",
    "study_notes",
    "wage_line",
]
