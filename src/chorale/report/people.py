"""People and items in numbers: who joined, how far they got, and how they worked. No number identifies a person."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from chorale.engine.entering import EXPERTS_PANEL
from chorale.engine.gates import gate_statuses
from chorale.engine.running import Study
from chorale.metrics.score_table import Cell, ScoreTable
from chorale.model import Standing, is_model, money_text
from chorale.model.plural import plural
from chorale.monitor.outcomes import tallies
from chorale.monitor.status import Status, gold_of, paid_and_worked, with_known_pay
from chorale.present.svg import column_chart
from chorale.protocol import hourly_wage
from chorale.report.document import NUMBERS_IN_TABLE, Figure, Part, Section
from chorale.report.imported import ImportedWork
from chorale.store import Tx, participations, workers
from chorale.store.participations import ParticipationSummary
from chorale.store.stages import StageCounts
from chorale.store.workers import Attendees

_QUANTILES = (
    ("10th percentile", 10),
    ("lower quartile", 25),
    ("median", 50),
    ("upper quartile", 75),
    ("90th percentile", 90),
)
_FEW = 3
"""With fewer workers than this in a stage, quantiles would describe single people."""
_BUSIEST = 0.1
ALL_STAGES = "all stages"


def funnel_section(tx: Tx, study: Study, now: Status, came: Attendees, imported: ImportedWork | None = None) -> Section:
    crowd, experts = crowd_and_experts(tx)
    worked, at_desks = people_who_worked(crowd), people_who_worked(experts)
    gates = gate_statuses(tx, study)
    persons: list[tuple[Cell, ...]] = [("joined", came.arrived), ("gave consent", came.consented)]
    if imported is not None:
        persons = [("are in the file" if len(imported.files) == 1 else "are in the files", came.arrived)]
    persons.append(("worked", worked))
    if at_desks:
        persons.append(("worked as experts (not counted under “joined” and “worked”)", at_desks))
    for counts in now.stages:
        persons.append((f"worked in {counts.name}", counts.workers))
        if counts.dropped:
            persons.append((f"were removed from {counts.name}", counts.dropped))
    persons += [(f"passed {gate.name}", gate.passed) for gate in gates]
    details: list[Part] = [*_items(now), ScoreTable("People", ("people who", "number#"), persons), *_rounds(now)]
    left_out = {} if imported is None else imported.left_out
    if imported is not None and left_out:
        details.append(ScoreTable("Left out at import", ("left out", "number#"), imported.left_out_rows()))
    outcomes = {name: dict(tally) for name, tally in tallies(tx, study).items()}
    for name, tally in outcomes.items():
        title = "Outcomes" if len(outcomes) == 1 else f"Outcomes: {name}"
        details.append(ScoreTable(title, ("outcome", "items#"), list(tally.items())))
    json = {
        "arrived": came.arrived,
        "consented": None if imported is not None else came.consented,
        "left_out": left_out,
        "worked": worked,
        "experts": at_desks,
        "stages": [_counts(one, now) for one in now.stages],
        "gates": {gate.name: {"passed": gate.passed, "not_passed": gate.not_passed} for gate in gates},
        "outcomes": outcomes,
    }
    return Section("funnel", "Items and people by stage", [], json, details)


def _items(now: Status) -> list[Part]:
    """Items by stage, unless the study has training rounds only, such as a screening."""
    judged = [stage for stage in now.stages if stage.name not in now.rounds]
    if not judged and now.rounds:
        return []
    counts = {
        "items": "items",
        "complete": "complete",
        "released": "accepted labels",
        "judgments": "annotations",
        "discarded": "excluded annotations",
        "gold_answers": "gold answers",
        "withdrawn": "withdrawn items",
    }
    rows = [(one.name, *(getattr(one, name) for name in counts)) for one in judged]
    return [ScoreTable("Items", ("stage", *(f"{title}#" for title in counts.values())), rows)]


def crowd_and_experts(tx: Tx) -> tuple[list[ParticipationSummary], list[ParticipationSummary]]:
    """Everybody's work in every stage: of the people who joined, and of the experts."""
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
    columns = ("training round", "items#", "people who began#", "people who finished#", "answers#")
    return [ScoreTable("Training rounds (answers there are not annotations)", columns, rows)] if rows else []


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
    measures = [
        measure
        for stage in study.stages
        for measure in _measures(study, stage, [row for row in standings if row.stage == stage])
    ]
    measures += _quantiles(
        ALL_STAGES, _PER_HOUR, "money", _hourly(paid_and_worked(study, with_known_pay(tx, standings)))
    )
    rows: list[tuple[Cell, ...]] = [
        (
            measure["stage"],
            measure["what"],
            measure["workers"],
            *(_shown(measure, name, currency) for name, _ in _QUANTILES),
        )
        for measure in measures
    ]
    details: list[Part] = []
    if rows:
        columns = ("stage", "measure per worker", "workers#", *(f"{name}#" for name, _ in _QUANTILES))
        details.append(ScoreTable(_WORKED, columns, rows))
    else:
        details.append(f"Fewer than {_FEW} people worked in each stage, so nothing is shown about them.")
    details += _wages(now, currency, study.settings.pay.minimum_hourly)
    share = _busiest_share(standings)
    if share is not None:
        details.append(f"The busiest tenth of the workers gave {share:.1%} of all answers.")
    bins = _bins(_answers_of_each(standings))
    if bins:
        table = ScoreTable("Workers by number of answers", ("answers", "workers#"), list(bins.items()))
        title = "Answers per worker"
        counts = {"workers": list(bins.values())}
        svg = column_chart(title, list(bins), counts, "answers", "workers", description=NUMBERS_IN_TABLE)
        caption = f"{title}. Bars far to the right are people who did a large part of the work."
        details.append(Figure(caption, table, svg if draw else None))
    json = {
        "measures": measures,
        "hourly_wage": asdict(now.wage),
        "busiest_tenth": share,
        "dropped": sum(row.standing == Standing.DROPPED for row in standings),
    }
    return Section("workers", "Workers", [], json, details)


_PER_HOUR = "pay per hour"
_WORKED = (
    "How people worked (percentiles by nearest rank; the median of an even number of values is the mean of the middle "
    "two)"
)


def _measures(study: Study, stage: str, rows: Sequence[ParticipationSummary]) -> list[dict[str, Any]]:
    here = [row for row in rows if row.answered]
    gold = (gold_of(study, row) for row in here)
    given: dict[str, tuple[str, list[float]]] = {
        "answers": ("count", [float(row.answered) for row in here]),
        "seconds per answer": ("number", [row.worked_ms / row.answered / 1000 for row in here if row.worked_ms]),
        "gold accuracy": ("share", [right / answered for right, answered in gold if answered]),
        _PER_HOUR: ("money", _hourly(paid_and_worked(study, [row for row in rows if row.answered or row.worked_ms]))),
    }
    return [one for what, (unit, values) in given.items() for one in _quantiles(stage, what, unit, values)]


def _hourly(paid_and_worked_ms: Sequence[tuple[int, int]]) -> list[float]:
    wages = (hourly_wage(paid, worked) for paid, worked in paid_and_worked_ms)
    return [float(wage) for wage in wages if wage is not None]


def _quantiles(stage: str, quantity: str, unit: str, values: Sequence[float]) -> list[dict[str, Any]]:
    """A measure with its quantiles; nothing if there are so few workers that they could be recognised."""
    if len(values) < _FEW or not any(values):
        return []
    quantiles = {name: percentile(values, at) for name, at in _QUANTILES}
    return [{"stage": stage, "what": quantity, "unit": unit, "workers": len(values), **quantiles}]


def percentile(values: Sequence[float], percent: int) -> float:
    """A percentile by nearest rank, as for all wages.

    The median of an even number of values is the mean of the two in the middle.

    >>> percentile([1, 2, 3, 4], 10), percentile([1, 2, 3, 4], 50), percentile([1, 2, 3, 4], 75)
    (1, 2.5, 3)
    """
    if percent == 50:
        return median(values)
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)]


def _shown(measure: dict[str, Any], name: str, currency: str) -> str:
    value = measure[name]
    match measure["unit"]:
        case "money":
            return money_text(int(value), currency)
        case "share":
            return f"{value:.1%}"
        case "count":
            return f"{value:,.0f}"
    return f"{value:,.1f}"


def _wages(now: Status, currency: str, minimum: int) -> list[Part]:
    parts: list[Part] = []
    if now.wage.median is not None and now.wage.tenth_percentile is not None:
        below = f" The study's minimum is {money_text(minimum, currency)} per hour." if minimum else ""
        parts.append(
            f"Over all stages, {plural(now.wage.workers, 'worker', 'workers')} earned a median of "
            f"{money_text(now.wage.median, currency)} per hour (10th percentile "
            f"{money_text(now.wage.tenth_percentile, currency)}).{below}"
        )
    if now.too_fast:
        people = len({one.worker for one in now.too_fast})
        parts.append(f"{plural(people, 'worker', 'workers')} answered faster than the items can be read.")
    return parts


def _answers_of_each(standings: Sequence[ParticipationSummary]) -> list[int]:
    """The number of answers per person in all stages together, without people who gave none."""
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
    """At most ten bins of equal width; none if there are so few workers that they could be recognised."""
    if len(counts) < _FEW:
        return {}
    width = -(-max(counts) // 10)
    sizes = [0] * -(-max(counts) // width)
    for count in counts:
        sizes[(count - 1) // width] += 1
    ends = [(place * width + 1, (place + 1) * width) for place in range(len(sizes))]
    return {str(low) if low == high else f"{low}–{high}": count for (low, high), count in zip(ends, sizes, strict=True)}
