"""Tables for terminals."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from chorale.formats import shortened
from chorale.model import money_text
from chorale.report.plan import StudyPlan
from chorale.study.status import DroppedWorker, Status
from chorale.tasks.rules_entailment import Application

_LONGEST_TEXT = 80


def plan_table(plan: StudyPlan) -> Table:
    """What each stage will ask for and cost."""
    table = table_of("stage", "items#", "gold#", "judgments#", "on gold#", "cost#", "an hour#")
    for stage in plan.stages:
        bound = "≤ " if stage.at_most else ""
        wage = "" if stage.hourly_wage is None else money_text(stage.hourly_wage, plan.currency)
        add_row(
            table,
            stage.name,
            f"{bound}{stage.items:,}",
            f"{stage.gold_items:,}",
            f"{bound}{stage.judgments:,}",
            f"{bound}{stage.gold_answers:,}",
            f"{bound}{money_text(stage.cost, plan.currency)}",
            wage,
        )
    return table


def stages_table(status: Status, currency: str, confidence: Mapping[str, float | None] | None = None) -> Table:
    """Where each stage stands; with the mean confidence of its results, if that is given.

    A column for each stage: a study has few stages and there is much to say about each.
    """
    stages = status.stages
    table = table_of("stage", *(f"{stage.name}#" for stage in stages))
    add_row(table, "state", *(stage.state for stage in stages))
    add_row(table, "items complete", *(f"{stage.complete:,} of {stage.items:,}" for stage in stages))
    add_row(table, "results released", *(f"{stage.released:,}" for stage in stages))
    if confidence is not None:
        add_row(table, "mean confidence", *(_share(confidence.get(stage.name)) for stage in stages))
    add_row(table, "judgments that count", *(f"{stage.judgments:,}" for stage in stages))
    add_row(table, "judgments discarded", *(f"{stage.discarded:,}" for stage in stages))
    add_row(table, "answers to gold", *(f"{stage.gold_answers:,}" for stage in stages))
    add_row(table, "workers", *(f"{stage.workers:,}" for stage in stages))
    add_row(table, "workers dropped", *(f"{stage.dropped:,}" for stage in stages))
    add_row(table, "cost", *(money_text(stage.paid + stage.fees, currency) for stage in stages))
    return table


def dropped_table(dropped: Iterable[DroppedWorker], currency: str) -> Table:
    """Who was dropped, and why."""
    table = table_of("dropped", "stage", "why", "sent#", "paid#")
    for worker in dropped:
        paid = money_text(worker.paid, currency)
        add_row(table, worker.worker, worker.stage, worker.reason, f"{worker.judgments:,}", paid)
    return table


def applications_table(applications: Iterable[Application]) -> Table:
    """Judged rule applications, like the paper's table."""
    table = table_of("first phrase", "second phrase", "judgment", "confidence#")
    for each in applications:
        judgment = each.judgment or each.outcome
        add_row(table, each.payload["lhs"], each.payload["rhs"], judgment, _share(each.confidence))
    return table


def gold_table(gold: Iterable[Mapping[str, Any]]) -> Table:
    """A stage's gold and how people did on it."""
    table = table_of("item", "answer", "from", "right#", "in use", "what workers see")
    for row in gold:
        right = f"{row['right']} of {row['answered']}"
        use = "yes" if row["active"] else "retired"
        add_row(table, row["item"], _brief(row["answer"]), row["origin"], right, use, _view(row["view"]))
    return table


def candidates_table(items: Iterable[Mapping[str, Any]]) -> Table:
    """Judged items that could become gold."""
    table = table_of("item", "crowd says", "confidence#", "judgments#", "what workers see")
    for row in items:
        confidence = _share(row["confidence"])
        add_row(table, row["item"], _brief(row["answer"]), confidence, row["judgments"], _view(row["view"]))
    return table


def outcomes_table(counts: Mapping[str, int]) -> Table:
    """How many of what a task judges came to which end."""
    table = table_of("outcome", "#")
    for outcome, count in counts.items():
        add_row(table, outcome, f"{count:,}")
    return table


def wage_line(status: Status, currency: str, minimum: int) -> str:
    """What people earn an hour, in a sentence."""
    wage = status.wage
    if wage.median is None or wage.tenth_percentile is None:
        return "Nobody has worked yet."
    line = (
        f"An hour pays {money_text(wage.median, currency)} (median of {wage.workers} workers; "
        f"10th percentile {money_text(wage.tenth_percentile, currency)})."
    )
    if wage.median < minimum:
        return f"{line} That is below your minimum of {money_text(minimum, currency)}."
    if wage.tenth_percentile < minimum:
        return f"{line} One worker in ten earns less than your minimum of {money_text(minimum, currency)}."
    return line


def table_of(*columns: str) -> Table:
    """A table with these columns; a name that ends in # is one of numbers."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for name in columns:
        table.add_column(name.removesuffix("#"), justify="right" if name.endswith("#") else "left")
    return table


def add_row(table: Table, *cells: Any) -> None:
    """Cells as they are, but for what would move a terminal's cursor."""
    # As text and not as markup: a cell may come from an item and hold anything.
    table.add_row(*(Text(_printable(str(cell))) for cell in cells))


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _view(view: Mapping[str, Any]) -> str:
    return " · ".join(_brief(value) for value in view.values())


def _brief(value: Any) -> str:
    return value if isinstance(value, str) and len(value) <= _LONGEST_TEXT else shortened(value)


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
