"""Quality against cost: cost, time and gold accuracy per label, for people and for each model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from chorale.engine.running import Study
from chorale.metrics.sampling import TAIL, TOO_FEW, Interval
from chorale.metrics.score_table import ScoreTable, shown_interval
from chorale.metrics.student import t_bound, wilson
from chorale.model import is_model
from chorale.model.money import exact_money_text, minor_digits
from chorale.monitor.models import ModelRecord
from chorale.present.svg.curves import Point, point_chart
from chorale.present.svg.frame import Axis
from chorale.protocol import CALL_UNIT
from chorale.store import Tx
from chorale.store.participations import ParticipationSummary, participation_summaries

PEOPLE = "people"
FEWEST_GOLD = 2


@dataclass(frozen=True, slots=True)
class Annotator:
    """All people together, or one model, in a stage."""

    stage: str
    name: str
    labels: int
    """Number of answers to items, without gold."""
    cost: int
    """Cost in billionths of a minor unit, with fees and gold."""
    seconds: float
    """Mean seconds per answer, or per call."""
    gold_right: int
    gold_answered: int

    @property
    def cost_a_label(self) -> int | None:
        """The cost per label, in billionths of a minor unit."""
        return round(self.cost / self.labels) if self.labels else None

    @property
    def accuracy(self) -> float | None:
        """Gold accuracy."""
        return self.gold_right / self.gold_answered if self.gold_answered else None

    @property
    def interval(self) -> Interval:
        if self.accuracy is None or self.gold_answered < FEWEST_GOLD:
            return TOO_FEW
        return Interval(*wilson(self.accuracy, self.gold_answered, t_bound(TAIL, self.gold_answered - 1)))

    def as_json(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in self.__slots__}
        return {
            **kept,
            "cost_a_label": self.cost_a_label,
            "accuracy": self.accuracy,
            "ci": self.interval.as_list(),
        }


def annotators(tx: Tx, study: Study, records: Sequence[ModelRecord]) -> list[Annotator]:
    """People and models in every stage that models have annotated, except rounds."""
    everybody = []
    for stage in dict.fromkeys(record.stage for record in records if record.role != "round"):
        rows = [row for row in participation_summaries(tx, stage_name=stage) if not is_model(row.worker)]
        if stage in study.stages and any(row.answered for row in rows):
            everybody.append(_people(stage, rows))
        for record in records:
            if record.stage == stage:
                labels = max(record.answered - record.gold_answered, 0)
                gold = record.gold_right, record.gold_answered
                everybody.append(Annotator(stage, record.model, labels, record.cost, record.seconds, *gold))
    return everybody


def _people(stage: str, rows: Iterable[ParticipationSummary]) -> Annotator:
    rows = list(rows)
    answered, gold = sum(row.answered for row in rows), sum(row.gold_answered for row in rows)
    return Annotator(
        stage,
        PEOPLE,
        answered - gold,
        sum(row.earned + row.fees for row in rows) * CALL_UNIT,
        sum(row.worked_ms for row in rows) / 1000 / max(1, answered),
        sum(row.gold_right for row in rows),
        gold,
    )


def quality_cost_table(compared: Sequence[Annotator], currency: str) -> ScoreTable | None:
    """The table for a terminal and a report; None if no model has annotated."""
    columns = (
        "stage",
        "annotator",
        "labels#",
        "cost per label#",
        "seconds per answer#",
        "gold accuracy#",
        "95% interval#",
        "gold#",
    )
    rows = []
    for annotator in compared:
        cost = "" if annotator.cost_a_label is None else exact_money_text(annotator.cost_a_label, currency)
        right = annotator.accuracy, shown_interval(annotator.interval) if annotator.gold_answered else ""
        rows.append(
            (
                annotator.stage,
                annotator.name,
                annotator.labels,
                cost,
                f"{annotator.seconds:.2f}",
                *right,
                annotator.gold_answered,
            )
        )
    return ScoreTable("Quality against cost", columns, rows) if rows else None


def quality_cost_chart(compared: Sequence[Annotator], currency: str) -> str | None:
    """A chart of gold accuracy against cost per label; None if gold or costs are missing."""
    points = [
        Point(
            one.cost_a_label / CALL_UNIT / 10 ** minor_digits(currency),
            one.accuracy,
            one.name if len({each.stage for each in compared}) == 1 else f"{one.name}, {one.stage}",
            y_range=(one.interval.low, one.interval.high) if one.interval.is_known else None,
        )
        for one in compared
        if one.accuracy is not None and one.cost_a_label is not None
    ]
    if len(points) < 2:
        return None
    return point_chart(
        "Quality against cost",
        points,
        Axis(f"cost per label ({currency})", zero=True),
        Axis("gold accuracy", high=1.0),
        description="Gold accuracy of people and of each model against cost per label; bars are 95% intervals.",
    )
