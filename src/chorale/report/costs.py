"""Costs of the study, in the terms of papers, and planned and actual numbers side by side."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chorale.engine.paying import is_for_finishing
from chorale.engine.planning import Noted, noted_forecast
from chorale.engine.running import Study
from chorale.metrics.score_table import Cell, ScoreTable
from chorale.model import UserError, money_text
from chorale.model.plural import plural
from chorale.monitor.costs import RESULT, ArmCosts, CostTerms, arm_costs, money_or_nothing
from chorale.monitor.status import Status, shared_as_json
from chorale.rehearsal import FORECAST_FILE
from chorale.rehearsal.tables import measure_text
from chorale.report.document import Part, Section
from chorale.report.imported import ImportedWork
from chorale.report.people import crowd_and_experts, people_who_worked
from chorale.store import Tx, ledger
from chorale.store.arms import arm_counts
from chorale.store.workers import Attendees

_HOUR_MS = 3_600_000
_TERMS = (
    ("total cost, {included}", "cost"),
    ("  of that, {fees}", "fees"),
    ("  of that, training and selecting people", "training"),
    ("  of that, excluded annotations", "discarded"),
    ("per {unit}", "per_result"),
    ("  without training", "per_result_without_training"),
    ("  without {trained}excluded annotations", "per_result_without_discarded"),
    ("per annotation", "per_answer"),
    ("  without training", "per_answer_without_training"),
    ("  without {trained}excluded annotations", "per_answer_without_discarded"),
    ("  paid to people, without fees", "paid_per_answer"),
    ("  paid to people, without fees and training", "paid_per_answer_without_training"),
)
_WITHOUT = {
    "fees": ("fees", "paid_per_answer", "paid_per_answer_without_training"),
    "training": (
        *("training", "per_result_without_training", "per_answer_without_training"),
        "paid_per_answer_without_training",
    ),
    "discarded": ("discarded", "per_result_without_discarded", "per_answer_without_discarded"),
}
"""Rows that would repeat others if there are no fees, no training or no excluded annotations."""


def costs_section(
    tx: Tx, study: Study, now: Status, costs: CostTerms, imported: ImportedWork | None = None, *, with_arms: bool
) -> Section:
    currency = study.settings.pay.currency
    if imported is not None and not imported.has_pay:
        unknown = dict.fromkeys(name for _, name in _TERMS)
        return Section(
            "costs",
            "Costs",
            [imported.about_costs],
            {"currency": currency, **asdict(costs), **unknown, "ledger": now.totals, "spent": None},
        )
    stages = [
        (stage.name, *(money_text(amount, currency) for amount in (stage.paid, stage.fees, stage.paid + stage.fees)))
        for stage in now.stages
    ]
    ledger = [(kind, money_text(amount, currency)) for kind, amount in now.totals.items() if amount]
    fees = "fees and model calls" if now.totals["model"] else "fees"
    parts: list[Part] = [
        f"The final stages have {plural(costs.results, costs.unit, f'{costs.unit}s')} and "
        f"{plural(costs.answers, 'annotation', 'annotations')}. Costs per {costs.unit} and per annotation are amounts "
        "divided by these numbers.",
        *([] if imported is None else [imported.about_costs]),
        _terms_table(
            "Total cost and cost per result",
            {"amount": costs},
            costs.unit,
            currency,
            fees=fees,
            with_fees=imported is None,
        ),
    ]
    details: list[Part] = [
        ScoreTable("Costs by stage", ("stage", "pay and bonuses#", f"{fees}#", "total#"), stages)
        if imported is None
        else ScoreTable("Costs by stage, without fees", ("stage", "pay and bonuses#"), [stage[:2] for stage in stages]),
        ScoreTable("Costs by kind", ("kind", "amount#"), [*ledger, ("total", money_text(now.spent, currency))]),
    ]
    numbers: dict[str, Any] = {"currency": currency, **asdict(costs), "ledger": now.totals, "spent": now.spent}
    arms = arm_costs(tx, study) if with_arms else None
    if arms is not None:
        counts = arm_counts(tx)
        numbers["arms"] = {name: {"workers": counts.get(name, 0), **asdict(one)} for name, one in arms.own.items()}
        numbers["shared"] = shared_as_json(arms)
        details += _arms_parts(arms, counts, currency, fees)
    return Section("costs", "Costs", parts, numbers, details)


def _terms_table(
    title: str, columns: Mapping[str, CostTerms], unit: str, currency: str, *, fees: str, with_fees: bool = True
) -> ScoreTable:
    of_nothing = {
        term
        for name, terms in _WITHOUT.items()
        if not any(getattr(one, name) for one in columns.values())
        for term in terms
    }
    trained = "training and " if any(one.training for one in columns.values()) else ""
    rows = [
        (
            words.format(
                unit=unit, trained=trained, fees=fees, included="fees included" if with_fees else "without fees"
            ),
            *(money_or_nothing(getattr(one, name), currency) for one in columns.values()),
        )
        for words, name in _TERMS
        if name not in of_nothing and any(getattr(one, name) is not None for one in columns.values())
    ]
    return ScoreTable(title, ("cost", *(f"{name}#" for name in columns)), rows)


def _arms_parts(arms: ArmCosts, counts: Mapping[str, int], currency: str, fees: str) -> list[Part]:
    people = [(name, counts.get(name, 0), money_text(arms.shared_by[name], currency)) for name in arms.own]
    shared = [(name, money_text(cost, currency)) for name, cost in arms.shared_stages.items()]
    by_arm = {**arms.own, "shared": arms.shared}
    [unit] = {terms.unit for terms in arms.own.values()}
    counted = (
        "The arm's labels and annotations are counted in the last of its own stages."
        if unit == RESULT
        else f"The arm's {unit}s are those of its workers. Its annotations are counted in the last of its own stages."
    )
    parts: list[Part] = [
        f"An arm's cost is the cost of its own stages. {counted} Costs of stages that serve several arms are in the "
        "column “shared”.",
        _terms_table("Costs by arm", by_arm, f"{unit} of the arm", currency, fees=fees),
        ScoreTable("People in each arm", ("arm", "workers#", "their cost in shared stages#"), people),
    ]
    return [*parts, ScoreTable("Costs of shared stages", ("stage", "cost#"), shared)] if shared else parts


def planned_section(tx: Tx, study: Study, directory: Path, now: Status, costs: CostTerms, came: Attendees) -> Section:
    """The saved forecast of a simulation next to the actual numbers, which are counted in the same way."""
    actual = _actual(tx, study, now, costs, came)
    planned = read_forecast(directory / FORECAST_FILE)
    noted = noted_forecast(tx, directory)
    currency = study.settings.pay.currency
    budget = study.settings.pay.budget
    parts: list[Part] = []
    details: list[Part] = []
    if planned is None:
        details.append("No forecast was saved. `chorale rehearse --save`, run before the study, saves one.")
    else:
        rows = [
            row
            for key, (title, unit, value) in actual.items()
            if (row := _beside(planned, key, title, unit, value, currency))
        ]
        runs = plural(planned.get("runs", 0), "simulated run", "simulated runs")
        parts.append(f"The forecast comes from {runs} of the study.")
        parts.append(_since(noted))
        columns = ("measure", "planned#", "interval#", "actual#", "within interval")
        parts.append(ScoreTable("Planned and actual", columns, rows))
        parts += _about_experts(tx)
    if budget is not None:
        spent = money_text(now.spent, currency)
        (parts or details).append(f"The budget was {money_text(budget, currency)}. The study cost {spent}.")
    json_of = {
        "actual": {key: value for key, (_, _, value) in actual.items()},
        "planned": None if planned is None else {key: _of(planned, key) for key in actual},
        "on_record": None if noted is None else {"at": _moment(noted.at), "answers": noted.answers},
        "budget": budget,
    }
    return Section("planned", "Planned and actual", parts, json_of, details)


def _about_experts(tx: Tx) -> list[Part]:
    _, experts = crowd_and_experts(tx)
    given = sum(row.answered for row in experts)
    if not given:
        return []
    theirs = f"{plural(given, 'answer', 'answers')} ({plural(people_who_worked(experts), 'expert', 'experts')})"
    return [f"Experts are not counted here. They gave {theirs}."]


def _since(noted: Noted | None) -> str:
    """Whether the forecast was made before the study, according to the activity log."""
    if noted is None:
        return "The activity log does not have this forecast: whether it was made before the study is unknown."
    when = _moment(noted.at).replace("+00:00", " UTC")
    if noted.is_plan:
        return f"It was logged on {when}, before the first answer."
    given = plural(noted.answers, "answer", "answers")
    return f"It was logged on {when}, after {given}, so it was not made before the study."


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(sep=" ", timespec="minutes")


def read_forecast(path: Path) -> Mapping[str, Any] | None:
    """The first variation of the forecast that `chorale rehearse --save` saved; None if there is no saved forecast."""
    try:
        saved = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} can't be read: {error}. Make it again with `chorale rehearse --save --force`."
        ) from None
    variations = saved.get("variations") if isinstance(saved, dict) else None
    if not isinstance(variations, list) or not variations or not isinstance(variations[0], dict):
        raise UserError(f"{path} is not a forecast. Make it again with `chorale rehearse --save --force`.")
    forecast: Mapping[str, Any] = variations[0]
    return forecast


def _actual(
    tx: Tx, study: Study, now: Status, costs: CostTerms, came: Attendees
) -> dict[str, tuple[str, str, float | None]]:
    """By the forecast's names: title, unit and actual value, each counted as `rehearsal.Run` counts it."""
    finishing = sum(amount for _, amount, cause in ledger.amounts(tx) if is_for_finishing(cause))
    crowd, _ = crowd_and_experts(tx)
    span = None if came.first_at is None or came.last_at is None else (came.last_at - came.first_at) / _HOUR_MS
    actual: dict[str, tuple[str, str, float | None]] = {
        "cost": ("cost", "money", now.spent),
        "base": ("pay for annotations", "money", now.totals["base"]),
        "finishing": ("pay for finished rounds and grading stages", "money", finishing),
        "bonus": ("bonuses", "money", now.totals["bonus"] - finishing),
        "fee": ("fees", "money", now.totals["fee"]),
        "cost_per_result": (f"cost per {costs.unit}", "money", costs.per_result),
        "wage": ("pay per hour, median", "money", now.wage.median),
        "low_wage": ("pay per hour, 10th percentile", "money", now.wage.tenth_percentile),
        "hours": ("hours from the first person to the last answer", "number", span),
        "arrived": ("people who joined before the last answer", "count", came.in_time),
        "active": ("people who worked", "count", people_who_worked(crowd)),
        "answers": ("answers by people", "count", sum(row.answered for row in crowd)),
    }
    for stage in now.stages:
        is_round = study.stage(stage.name).round_size is not None
        of_stage: dict[str, tuple[str, str, float]] = {}
        if stage.items and not is_round:
            of_stage["released"] = ("accepted labels", "share", stage.released / stage.items)
            of_stage["judgments_per_item"] = ("annotations per item", "number", stage.judgments / stage.items)
        of_stage["dropped"] = ("people removed", "count", stage.dropped)
        of_stage["cost"] = ("cost", "money", stage.paid + stage.fees)
        for name, (title, unit, value) in of_stage.items():
            actual[f"stages.{stage.name}.{name}"] = (f"{stage.name}: {title}", unit, value)
    return actual


def _of(planned: Mapping[str, Any], key: str) -> Mapping[str, float] | None:
    value: Any = planned
    for part in key.split(".") if key.startswith("stages.") else [key]:
        value = value.get(part) if isinstance(value, dict) else None
    known = isinstance(value, dict) and all(
        isinstance(value.get(name), int | float) for name in ("mean", "low", "high")
    )
    return value if known else None


def _beside(
    planned: Mapping[str, Any], key: str, title: str, unit: str, value: float | None, currency: str
) -> tuple[Cell, ...] | None:
    forecast = _of(planned, key)
    if forecast is None or value is None or not (forecast["high"] or value):
        return None
    low, high = (measure_text(forecast[name], unit, currency) for name in ("low", "high"))
    within = "yes" if forecast["low"] <= value <= forecast["high"] else "below" if value < forecast["low"] else "above"
    mean, actual = (measure_text(each, unit, currency) for each in (forecast["mean"], value))
    return title, mean, f"{low} to {high}", actual, within
