"""What a question costs in every arm, as a command tells it."""

from collections.abc import Mapping

from chorale.kits.questions.metrics.costs import HOUR, ArmCosts
from chorale.kits.questions.scoring.sections import McqSection
from chorale.model import UserError
from chorale.present.scoring import Cell, ScoreTable


def costs_section(costs: Mapping[str, ArmCosts], hourly: int) -> McqSection:
    """Amounts in whole units (dollars), as papers have them."""
    if not any(one.questions for one in costs.values()):
        raise UserError(
            "Costs need questions of arms that were validated, and the responses have none. Export them from a study "
            "whose `mcq-validate` stage is made of answers."
        )

    def units(value: float | None) -> float | None:
        return None if value is None else value / 100

    rows: list[tuple[Cell, ...]] = [
        (
            arm,
            one.questions,
            one.writers,
            units(one.per_question(training=False)),
            units(one.per_question()),
            units(one.per_question(hourly=hourly)) if hourly else None,
            units(one.training / one.writers) if one.writers else None,
            one.expert_seconds / HOUR,
        )
        for arm, one in costs.items()
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
            "questions": one.questions,
            "writers": one.writers,
            "writing": one.writing,
            "training": one.training,
            "expert_hours": one.expert_seconds / HOUR,
            "per_question_after_training": units(one.per_question(training=False)),
            "per_question": units(one.per_question()),
            "per_question_with_experts": units(one.per_question(hourly=hourly)) if hourly else None,
        }
        for arm, one in costs.items()
    }
    notes = [
        "Costs are without the panel's fees and without validation; questions of earlier rounds count as training."
    ]
    return McqSection("costs", json, [ScoreTable("Costs", columns, rows, digits=2)], notes)
