"""What a question costs in every arm, as a command tells it."""

from collections.abc import Mapping

from chorale.kits.questions.metrics.costs import HOUR, QuestionCosts
from chorale.kits.questions.scoring.sections import McqSection
from chorale.metrics.score_table import Cell, ScoreTable
from chorale.model import UserError


def costs_section(costs: Mapping[str, QuestionCosts], hourly: int) -> McqSection:
    """Amounts in whole units (dollars), as papers have them."""
    if not any(spent.questions for spent in costs.values()):
        raise UserError(
            "Costs need questions of arms that were validated, and the responses have none. Export them from a study "
            "whose `mcq-validate` stage is made of answers."
        )

    def units(value: float | None) -> float | None:
        return None if value is None else value / 100

    rows: list[tuple[Cell, ...]] = [
        (
            arm,
            spent.questions,
            spent.writers,
            units(spent.per_question(training=False)),
            units(spent.per_question()),
            units(spent.per_question(hourly=hourly)) if hourly else None,
            units(spent.training / spent.writers) if spent.writers else None,
            spent.expert_seconds / HOUR,
        )
        for arm, spent in costs.items()
    ]
    columns = (
        "arm",
        "questions#",
        "writers#",
        "a question, after training#",
        "with training#",
        "with experts' time#",
        "training a writer#",
        "experts' hours#",
    )
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
    notes = [
        "Costs are without the panel's fees and without validation; questions of earlier rounds count as training."
    ]
    return McqSection("costs", json, [ScoreTable("Costs", columns, rows, digits=2)], notes)
