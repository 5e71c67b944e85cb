"""Who came, how far they got, and how they worked: in numbers that point to nobody."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from chorale.engine.entering import EXPERTS_PANEL
from chorale.engine.gates import gate_statuses
from chorale.engine.running import Study
from chorale.metrics.score_table import Cell, ScoreTable
from chorale.model import Standing, is_model, money_text
from chorale.monitor.hurried import hurried_line
from chorale.monitor.outcomes import tallies
from chorale.monitor.status import Status, gold_of
from chorale.present.svg import Bar, bar_chart, column_chart
from chorale.protocol import hourly_wage
from chorale.report.document import NUMBERS_BELOW, Figure, Part, Section
from chorale.store import Tx, participations, workers
from chorale.store.participations import ParticipationSummary
from chorale.store.stages import StageCounts
from chorale.store.workers import Attendees

_QUANTILES = (
    ("10th percentile", 10),
    ("lower quarter", 25),
    ("median", 50),
    ("upper quarter", 75),
    ("90th percentile", 90),
)
_FEW = 3
"""With fewer workers than this in a stage, its quantiles would be about single people."""
_BUSIEST = 0.1


def funnel_section(
    tx: Tx, study: Study, now: Status, came: Attendees, imported: Sequence[str] = (), *, draw: bool
) -> Section:
    """`imported` are the files that the work was imported from: they do not show who came, or who agreed to what."""
    crowd, experts = crowd_and_experts(tx)
    worked, at_desks = people_who_worked(crowd), people_who_worked(experts)
    gates = gate_statuses(tx, study)
    persons: list[tuple[Cell, ...]] = [("came", came.arrived), ("agreed to take part", came.consented)]
    if imported:
        persons = [("are in the file" if len(imported) == 1 else "are in the files", came.arrived)]
    persons.append(("worked", worked))
    if at_desks:
        persons.append(("worked as experts, who are none of these", at_desks))
    for counts in now.stages:
        persons.append((f"worked in {counts.name}", counts.workers))
        if counts.dropped:
            persons.append((f"dropped from {counts.name}", counts.dropped))
    persons += [(f"passed {gate.name}", gate.passed) for gate in gates]
    parts: list[Part] = [
        *_items(now, draw=draw),
        ScoreTable(
            "From people to answers" if imported else "From arrivals to answers", ("people who", "number#"), persons
        ),
        *_rounds(now),
    ]
    outcomes = {name: dict(tally) for name, tally in tallies(tx, study).items()}
    for name, tally in outcomes.items():
        parts.append(ScoreTable(f"What came of it: {name}", ("outcome", "number#"), list(tally.items())))
    json = {
        "arrived": came.arrived,
        "consented": None if imported else came.consented,
        "worked": worked,
        "experts": at_desks,
        "stages": [_counts(one, now) for one in now.stages],
        "gates": {gate.name: {"passed": gate.passed, "not_passed": gate.not_passed} for gate in gates},
        "outcomes": outcomes,
    }
    return Section("funnel", "From items to results", parts, json)


def _items(now: Status, *, draw: bool) -> list[Part]:
    """What became of items, unless the study has rounds alone: a screening, say."""
    judged = [stage for stage in now.stages if stage.name not in now.rounds]
    if not judged and now.rounds:
        return []
    title, kinds = "From items to released results", ("items", "complete", "released")
    counts = (*kinds, "judgments", "discarded", "gold_answers", "withdrawn")
    columns = ("stage", *(f"{name.replace('_', ' ')}#" for name in counts))
    stages = ScoreTable(title, columns, [(one.name, *(getattr(one, name) for name in counts)) for one in judged])
    bars = [
        Bar(stage.name, float(getattr(stage, kind)), series=number)
        for stage in judged
        for number, kind in enumerate(kinds)
    ]
    svg = bar_chart(title, bars, lambda value: f"{value:,.0f}", series=kinds, description=NUMBERS_BELOW)
    return [Figure(title, stages, svg if draw and bars else None)]


def crowd_and_experts(tx: Tx) -> tuple[list[ParticipationSummary], list[ParticipationSummary]]:
    """How everybody stands in every stage: the people who came, and the experts, who are staff."""
    staff = workers.from_panel(tx, EXPERTS_PANEL)
    rows = [row for row in participations.participation_summaries(tx) if not is_model(row.worker)]
    return [row for row in rows if row.worker not in staff], [row for row in rows if row.worker in staff]


def people_who_worked(standings: Sequence[ParticipationSummary]) -> int:
    return len({row.worker for row in standings if row.answered})


def _rounds(now: Status) -> list[Part]:
    rows: list[tuple[Cell, ...]] = [
        (stage.name, of.questions, stage.workers, of.finished, stage.answers)
        for stage in now.stages
        if (of := now.rounds.get(stage.name)) is not None
    ]
    columns = ("round", "questions#", "people who began#", "people who finished#", "answers#")
    return [ScoreTable("Rounds with known answers: none of these answers is a judgment", columns, rows)] if rows else []


def _counts(stage: StageCounts, now: Status) -> dict[str, Any]:
    names = (
        *("name", "items", "complete", "released", "withdrawn", "judgments", "discarded", "gold_items", "gold_answers"),
        *("workers", "dropped", "paid", "fees", "answers"),
    )
    of = now.rounds.get(stage.name)
    return {name: getattr(stage, name) for name in names} | {"round": None if of is None else asdict(of)}


def workers_section(tx: Tx, study: Study, now: Status, *, draw: bool) -> Section:
    standings = [row for row in participations.participation_summaries(tx) if not is_model(row.worker)]
    currency = study.settings.pay.currency
    measures: list[dict[str, Any]] = []
    for stage in study.stages:
        here = [row for row in standings if row.stage == stage and row.answered]
        measures += _measures(study, stage, here)
    rows: list[tuple[Cell, ...]] = [
        (
            measure["stage"],
            measure["what"],
            measure["workers"],
            *(_shown(measure, name, currency) for name, _ in _QUANTILES),
        )
        for measure in measures
    ]
    parts: list[Part] = []
    if rows:
        columns = ("stage", "of each worker", "workers#", *(f"{name}#" for name, _ in _QUANTILES))
        parts.append(ScoreTable("How people worked", columns, rows))
    parts += _wages(now, currency, study.settings.pay.minimum_hourly)
    share = _busiest_share(standings)
    if share is not None:
        parts.append(f"The busiest tenth of the workers gave {share:.1%} of all answers.")
    bins = _bins(_answers_of_each(standings))
    if bins:
        table = ScoreTable("Answers of each worker", ("answers", "workers#"), list(bins.items()))
        title = "How much each worker did"
        counts = {"workers": list(bins.values())}
        svg = column_chart(title, list(bins), counts, "answers", "workers", description=NUMBERS_BELOW)
        parts.append(Figure(title, table, svg if draw else None))
    if not rows:
        parts.append(
            f"Fewer than {_FEW} people have worked in any stage: what could be said would be about single people."
        )
    json = {
        "measures": measures,
        "hourly_wage": asdict(now.wage),
        "busiest_tenth": share,
        "dropped": sum(row.standing == Standing.DROPPED for row in standings),
    }
    return Section("workers", "Workers", parts, json)


def _measures(study: Study, stage: str, here: Sequence[ParticipationSummary]) -> list[dict[str, Any]]:
    gold = (gold_of(study, row) for row in here)
    given: dict[str, tuple[str, list[float]]] = {
        "answers": ("count", [float(row.answered) for row in here]),
        "seconds for an answer": ("number", [row.worked_ms / row.answered / 1000 for row in here if row.worked_ms]),
        "accuracy on gold": ("share", [right / answered for right, answered in gold if answered]),
        "an hour paid": ("money", [float(wage) for row in here if (wage := hourly_wage(row.earned, row.worked_ms))]),
    }
    return [
        {
            "stage": stage,
            "what": what,
            "unit": unit,
            "workers": len(values),
            **{name: float(np.percentile(values, at)) for name, at in _QUANTILES},
        }
        for what, (unit, values) in given.items()
        if len(values) >= _FEW
    ]


def _shown(measure: dict[str, Any], name: str, currency: str) -> str:
    value = measure[name]
    match measure["unit"]:
        case "money":
            return money_text(round(value), currency)
        case "share":
            return f"{value:.1%}"
        case "count":
            return f"{value:,.0f}"
    return f"{value:,.1f}"


def _wages(now: Status, currency: str, minimum: int) -> list[Part]:
    wage = now.wage
    if wage.median is None or wage.tenth_percentile is None:
        return []
    fast = [f"Too fast to have read: {hurried_line(one)}" for one in now.too_fast]
    below = f" The study's minimum is {money_text(minimum, currency)}." if minimum else ""
    return [
        f"An hour of work paid {money_text(wage.median, currency)} in the median of {wage.workers:,} workers, and "
        f"{money_text(wage.tenth_percentile, currency)} at the 10th percentile.{below}",
        *fast,
    ]


def _answers_of_each(standings: Sequence[ParticipationSummary]) -> list[int]:
    """How many answers each person gave, in all stages together; those who gave some."""
    answered = Counter[str]()
    for row in standings:
        answered[row.worker] += row.answered
    return [count for count in answered.values() if count]


def _busiest_share(standings: Sequence[ParticipationSummary]) -> float | None:
    counts = sorted(_answers_of_each(standings), reverse=True)
    if len(counts) < 10:
        return None
    return sum(counts[: int(len(counts) * _BUSIEST)]) / sum(counts)


def _bins(counts: Sequence[int]) -> dict[str, int]:
    """At most ten bins of equal width; none where so few worked that they could be recognised."""
    if len(counts) < _FEW:
        return {}
    width = -(-max(counts) // 10)
    sizes = [0] * -(-max(counts) // width)
    for count in counts:
        sizes[(count - 1) // width] += 1
    ends = [(place * width + 1, (place + 1) * width) for place in range(len(sizes))]
    return {str(low) if low == high else f"{low}–{high}": count for (low, high), count in zip(ends, sizes, strict=True)}
