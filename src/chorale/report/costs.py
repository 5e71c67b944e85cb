"""What the study cost, in the terms of papers, and how that compares with what was planned."""

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
from chorale.monitor.costs import ArmCosts, CostTerms, arm_costs, money_or_nothing
from chorale.monitor.status import Status, shared_as_json
from chorale.rehearsal import FORECAST_FILE
from chorale.rehearsal.tables import measure_text
from chorale.report.document import Part, Section
from chorale.report.people import crowd_and_experts, people_who_worked
from chorale.store import Tx, ledger
from chorale.store.arms import arm_counts
from chorale.store.workers import Attendees

_HOUR_MS = 3_600_000
_TERMS = (
    ("everything, fees included", "cost"),
    ("  of that, fees", "fees"),
    ("  of that, training and choosing people", "training"),
    ("  of that, answers that do not count", "discarded"),
    ("a {unit}", "per_result"),
    ("  without training", "per_result_without_training"),
    ("  without training and answers that do not count", "per_result_without_discarded"),
    ("an answer that counts", "per_answer"),
    ("  without training", "per_answer_without_training"),
    ("  without training and answers that do not count", "per_answer_without_discarded"),
    ("  paid to people, without fees", "paid_per_answer"),
    ("  paid to people, without fees and training", "paid_per_answer_without_training"),
)
_WITHOUT_FEES = frozenset({"fees", "paid_per_answer", "paid_per_answer_without_training"})
"""What is nothing new where there are no fees."""


def costs_section(tx: Tx, study: Study, now: Status, costs: CostTerms, *, with_arms: bool) -> Section:
    currency = study.settings.pay.currency
    arms = arm_costs(tx, study) if with_arms else None
    by_arm = {} if arms is None else {**arms.own, "shared by arms": arms.shared}
    columns = ("what it cost", "study#", *(f"{name}#" for name in by_arm))
    rows = [
        (
            title.format(unit=costs.unit),
            *(money_or_nothing(getattr(one, name), currency) for one in (costs, *by_arm.values())),
        )
        for title, name in _TERMS
        if costs.fees or name not in _WITHOUT_FEES
    ]
    stages = [
        (stage.name, *(money_text(amount, currency) for amount in (stage.paid, stage.fees, stage.paid + stage.fees)))
        for stage in now.stages
    ]
    ledger = [(kind, money_text(amount, currency)) for kind, amount in now.totals.items()]
    parts: list[Part] = [
        f"For {plural(costs.results, costs.unit, f'{costs.unit}s')} and "
        f"{plural(costs.answers, 'answer that counts', 'answers that count')}, where results come from.",
        ScoreTable("Costs", columns, rows),
        ScoreTable("By stage", ("stage", "paid#", "fees#", "together#"), stages),
        ScoreTable("By kind", ("kind", "amount#"), [*ledger, ("together", money_text(now.spent, currency))]),
    ]
    numbers: dict[str, Any] = {"currency": currency, **asdict(costs), "ledger": now.totals, "spent": now.spent}
    if arms is not None:
        counts = arm_counts(tx)
        numbers["arms"] = {name: {"workers": counts.get(name, 0), **asdict(one)} for name, one in arms.own.items()}
        numbers["shared"] = shared_as_json(arms)
        parts += _arms_parts(arms, counts, currency)
    return Section("costs", "Costs", parts, numbers)


def _arms_parts(arms: ArmCosts, counts: Mapping[str, int], currency: str) -> list[Part]:
    people = [(name, counts.get(name, 0), money_text(arms.shared_by[name], currency)) for name in arms.own]
    shared = [(name, money_text(cost, currency)) for name, cost in arms.shared_stages.items()]
    parts: list[Part] = [
        "An arm's cost is what was spent in the stages that are for it, and its answers are those in the last of them. "
        "What was spent for several arms at once is shared by arms, whoever got it.",
        ScoreTable("People in each arm", ("arm", "workers#", "what they cost in shared stages#"), people),
    ]
    return [*parts, ScoreTable("Shared by arms", ("stage", "cost#"), shared)] if shared else parts


def planned_section(tx: Tx, study: Study, directory: Path, now: Status, costs: CostTerms, came: Attendees) -> Section:
    """What a rehearsal that was kept had forecast, beside what came of it, both counted in the same way."""
    actual = _actual(tx, study, now, costs, came)
    planned = read_forecast(directory / FORECAST_FILE)
    noted = noted_forecast(tx, directory)
    currency = study.settings.pay.currency
    budget = study.settings.pay.budget
    parts: list[Part] = []
    if planned is None:
        parts.append(
            "No forecast was kept for this study: chorale rehearse --save keeps one, before the study, to be compared "
            "here."
        )
    else:
        rows = [
            row
            for key, (title, unit, value) in actual.items()
            if (row := _beside(planned, key, title, unit, value, currency))
        ]
        rehearsals = plural(planned.get("runs", 0), "rehearsal", "rehearsals")
        parts.append(f"As forecast by {rehearsals} with simulated people, and as it was.")
        parts.append(_since(noted))
        columns = ("what", "planned#", "interval#", "actual#", "within")
        parts.append(ScoreTable("Planned and actual", columns, rows))
        parts += _about_experts(tx)
    if budget is not None:
        parts.append(f"The budget was {money_text(budget, currency)}; {money_text(now.spent, currency)} was spent.")
    json_of = {
        "actual": {key: value for key, (_, _, value) in actual.items()},
        "planned": None if planned is None else {key: _of(planned, key) for key in actual},
        "on_record": None if noted is None else {"at": _moment(noted.at), "answers": noted.answers},
        "budget": budget,
    }
    return Section("planned", "Planned and actual", parts, json_of)


def _about_experts(tx: Tx) -> list[Part]:
    _, experts = crowd_and_experts(tx)
    given = sum(row.answered for row in experts)
    if not given:
        return []
    theirs = f"{plural(given, 'answer', 'answers')} of {plural(people_who_worked(experts), 'expert', 'experts')}"
    return [f"Experts are not among those who came and worked, planned or actual: {theirs} come on top."]


def _since(noted: Noted | None) -> str:
    """Whether the forecast was there before the study, as its record says."""
    if noted is None:
        return "This forecast is not in the study's record: nobody can tell whether it was made before the study began."
    when = _moment(noted.at)
    if noted.is_plan:
        return f"It is in the study's record since {when}, before the first answer."
    given = "one answer" if noted.answers == 1 else f"{noted.answers:,} answers"
    return f"It is no plan: it came into the study's record on {when}, after {given} had been given."


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(sep=" ", timespec="minutes")


def read_forecast(path: Path) -> Mapping[str, Any] | None:
    """The first variation of a forecast that `chorale rehearse --save` kept; None if there is none."""
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
    """By the forecast's names: what it is, its unit, and what it was. Each is counted as `rehearsal.Run` counts it."""
    finishing = sum(amount for _, amount, cause in ledger.amounts(tx) if is_for_finishing(cause))
    crowd, _ = crowd_and_experts(tx)
    span = None if came.first_at is None or came.last_at is None else (came.last_at - came.first_at) / _HOUR_MS
    actual: dict[str, tuple[str, str, float | None]] = {
        "cost": ("cost", "money", now.spent),
        "base": ("pay for judgments", "money", now.totals["base"]),
        "finishing": ("pay for finishing rounds", "money", finishing),
        "bonus": ("bonuses", "money", now.totals["bonus"] - finishing),
        "fee": ("fees", "money", now.totals["fee"]),
        "cost_per_result": (f"cost of a {costs.unit}", "money", costs.per_result),
        "wage": ("an hour pays (median)", "money", now.wage.median),
        "low_wage": ("an hour pays (10th percentile)", "money", now.wage.tenth_percentile),
        "hours": ("hours from first arrival to last answer", "number", span),
        "arrived": ("people who came before the last answer", "count", came.in_time),
        "active": ("people who worked", "count", people_who_worked(crowd)),
        "answers": ("their answers", "count", sum(row.answered for row in crowd)),
    }
    for stage in now.stages:
        is_round = study.stage(stage.name).round_size is not None
        of_stage: dict[str, tuple[str, str, float]] = {}
        if stage.items and not is_round:
            of_stage["released"] = ("results released", "share", stage.released / stage.items)
            of_stage["judgments_per_item"] = ("judgments per item", "number", stage.judgments / stage.items)
        of_stage["dropped"] = ("people dropped", "count", stage.dropped)
        of_stage["cost"] = ("cost", "money", stage.paid + stage.fees)
        for name, (what, unit, value) in of_stage.items():
            actual[f"stages.{stage.name}.{name}"] = (f"{stage.name}: {what}", unit, value)
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
