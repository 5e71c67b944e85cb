"""Tables about a study, for terminals.

Names are loaded when they are first used: commands that only score files need nothing of a study.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chorale.report.plan import StagePlan, StudyPlan, plan_study, study_notes
    from chorale.report.tables import (
        applications_table,
        arms_table,
        candidates_table,
        cost_lines,
        dropped_table,
        gates_table,
        gold_table,
        outcomes_table,
        plan_table,
        stages_table,
        verdicts_table,
        wage_line,
    )
    from chorale.report.truth import Truth

_HOMES = {
    "StagePlan": "plan",
    "StudyPlan": "plan",
    "Truth": "truth",
    "applications_table": "tables",
    "arms_table": "tables",
    "candidates_table": "tables",
    "cost_lines": "tables",
    "dropped_table": "tables",
    "gates_table": "tables",
    "gold_table": "tables",
    "outcomes_table": "tables",
    "plan_study": "plan",
    "plan_table": "tables",
    "stages_table": "tables",
    "study_notes": "plan",
    "verdicts_table": "tables",
    "wage_line": "tables",
}

__all__ = [
    "StagePlan",
    "StudyPlan",
    "Truth",
    "applications_table",
    "arms_table",
    "candidates_table",
    "cost_lines",
    "dropped_table",
    "gates_table",
    "gold_table",
    "outcomes_table",
    "plan_study",
    "plan_table",
    "stages_table",
    "study_notes",
    "verdicts_table",
    "wage_line",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
