"""The status of a study, in numbers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from chorale.engine.forgetting import BY_ERASURE
from chorale.engine.gates import statuses_as_json
from chorale.engine.paying import stopped
from chorale.engine.running import Study
from chorale.model import GoldRecord, StageState, Standing, is_model
from chorale.monitor.costs import ArmCosts, arm_costs, study_costs
from chorale.monitor.hurried import HurriedWorker, hurried_workers
from chorale.monitor.outcomes import tallies
from chorale.protocol import WageSummary, gold_counts, trust, wage_summary
from chorale.store import Tx, events, gates, ledger, participations
from chorale.store.arms import arm_counts
from chorale.store.participations import ParticipationSummary
from chorale.store.stages import StageCounts, finished, stage_counts


@dataclass(frozen=True, slots=True)
class DroppedWorker:
    worker: str
    stage: str
    reason: str
    judgments: int
    paid: int


@dataclass(frozen=True, slots=True)
class RoundStatus:
    """The progress of a training round. Its answers do not count as annotations."""

    questions: int
    """Questions for each person."""
    finished: int
    """People who answered all of them."""


@dataclass(frozen=True, slots=True)
class StageCondition:
    """Whether a stage assigns items and, if not, why."""

    state: str
    """open; ended (by a gate, finally); paused (by the team); stopped (the budget does not cover another answer)."""
    ended_by: tuple[str, ...] = ()
    """The gates that ended it by closing."""
    is_complete: bool = False
    """Whether an open stage has no item left: nobody gets one there, unless an item is reopened."""

    @property
    def words(self) -> str:
        if self.ended_by:
            return f"ended by gate {', '.join(self.ended_by)}"
        if self.is_complete:
            return "complete"
        return "stopped: budget" if self.state == "stopped" else self.state


@dataclass(frozen=True, slots=True)
class Status:
    stages: list[StageCounts]
    totals: dict[str, int]
    """base, bonus and fee in minor units."""
    wage: WageSummary
    below_minimum: bool
    dropped: list[DroppedWorker]
    wages: dict[str, WageSummary]
    """By stage."""
    below_in: tuple[str, ...]
    """The stages where the median is below the minimum."""
    conditions: Mapping[str, StageCondition]
    """Of every stage, by name."""
    stopped: tuple[str, ...] = ()
    """Stages with items left that assign none, because the budget does not cover it."""
    too_fast: Sequence[HurriedWorker] = ()
    """Workers who answer too fast to have read the items."""
    rounds: Mapping[str, RoundStatus] = field(default_factory=dict)
    """The stages that are rounds, by name."""

    @property
    def spent(self) -> int:
        return sum(self.totals.values())


def status(tx: Tx, study: Study) -> Status:
    minimum = study.settings.pay.minimum_hourly
    standings = participations.participation_summaries(tx)
    wage, by_stage = wages(study, with_known_pay(tx, standings))
    stages, short = stage_counts(tx, study.also_working), stopped(tx, study)
    return Status(
        stages=stages,
        totals=ledger.ledger_totals(tx),
        wage=wage,
        below_minimum=wage.median is not None and wage.median < minimum,
        dropped=_dropped(tx, standings),
        wages=by_stage,
        below_in=tuple(name for name, paid in by_stage.items() if paid.median is not None and paid.median < minimum),
        stopped=short,
        too_fast=hurried_workers(
            tx, study, ((row.stage, row.worker, row.answered, row.worked_ms) for row in standings)
        ),
        rounds=round_statuses(tx, study),
        conditions=conditions(tx, study, stages, short),
    )


def conditions(tx: Tx, study: Study, stages: Sequence[StageCounts], short: Sequence[str]) -> dict[str, StageCondition]:
    """The condition of every stage, by name. `short` are those that the budget does not cover any more."""
    closed = gates.closed_gates(tx)

    def condition(counts: StageCounts) -> StageCondition:
        stage = study.stages.get(counts.name)
        ended_by = tuple(name for name in stage.closed_by if name in closed) if stage is not None else ()
        if ended_by:
            return StageCondition("ended", ended_by)
        if counts.state == StageState.OPEN and counts.name in short:
            return StageCondition("stopped")
        is_round = stage is not None and stage.round_size is not None
        is_complete = not is_round and 0 < counts.items == counts.complete
        return StageCondition(counts.state, is_complete=counts.state == StageState.OPEN and is_complete)

    return {counts.name: condition(counts) for counts in stages}


def round_statuses(tx: Tx, study: Study) -> dict[str, RoundStatus]:
    """The progress of every training round, by stage name."""
    sizes = study.round_sizes
    return {
        study.stage_by_id(stage_id).name: RoundStatus(sizes[stage_id], count)
        for stage_id, count in finished(tx, sizes).items()
    }


def wages(study: Study, standings: Sequence[ParticipationSummary]) -> tuple[WageSummary, dict[str, WageSummary]]:
    """Hourly wages overall, and by stage with paid work."""
    by_stage: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in standings:
        if (row.answered or row.worked_ms) and not study.stage(row.stage).is_by_colleagues and not is_model(row.worker):
            by_stage[row.stage].append((row.earned, row.worked_ms))
    paid_work = paid_and_worked(study, standings)
    if not paid_work:
        by_stage.clear()
    of_all = wage_summary(paid_work)
    return of_all, {name: wage_summary(paid) for name, paid in by_stage.items()}


def with_known_pay(tx: Tx, standings: Sequence[ParticipationSummary]) -> list[ParticipationSummary]:
    """The rows without stages that were imported from files without pay: there, earnings are unknown, not 0."""
    imported = {event.stage for event in events.recent(tx, 1_000_000, kinds=("imported",))}
    paid = {row.stage for row in standings if row.earned}
    return [row for row in standings if row.stage in paid or row.stage not in imported]


def paid_and_worked(study: Study, standings: Sequence[ParticipationSummary]) -> list[tuple[int, int]]:
    """Earnings and working time of each worker, where wages are computed; empty if nobody has earned anything."""
    by_worker: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for row in standings:
        if not study.stage(row.stage).is_by_colleagues and not is_model(row.worker):
            paid, worked = by_worker[row.worker]
            by_worker[row.worker] = (paid + row.earned, worked + row.worked_ms)
    return list(by_worker.values()) if any(earned for earned, _ in by_worker.values()) else []


def _dropped(tx: Tx, standings: Sequence[ParticipationSummary]) -> list[DroppedWorker]:
    evidence = {
        (event.stage, event.worker): event.evidence for event in events.recent(tx, 1_000_000, kinds=("dropped",))
    }
    return [
        DroppedWorker(
            row.worker,
            row.stage,
            why_dropped(evidence.get((row.stage, row.worker))),
            row.answered,
            row.earned,
        )
        for row in standings
        if row.standing == Standing.DROPPED
    ]


def why_dropped(evidence: Mapping[str, Any] | None) -> str:
    """Why a worker was removed, in words."""
    if evidence is None:
        return "no reason recorded"
    if evidence.get("rule") == "staff":
        return "by {by}: {reason}".format_map(evidence)
    if evidence.get("rule") == "quality":
        return "low agreement with others: WQS {wqs:.2f} below {floor:.2f} after {judgments} annotations".format_map(
            evidence
        )
    if evidence.get("rule") == BY_ERASURE:
        return "their answers were erased"
    latest = ", {latest_right} of the last {latest}" if "latest" in evidence else ""
    return f"gold accuracy {{trust:.2f}} below {{floor:.2f}} ({{right}} of {{answered}} correct{latest})".format_map(
        evidence
    )


def gold_of(study: Study, row: ParticipationSummary) -> tuple[int, int]:
    """A worker's numbers of correct and of all gold answers in a stage; of their parts, if the stage counts parts."""
    record = GoldRecord(row.gold_right, row.gold_answered, row.gold_recent)
    return gold_counts(record, study.stage(row.stage).settings.gold)


def trust_of(study: Study, row: ParticipationSummary) -> float:
    """A worker's gold accuracy in a stage, which is the current weight of their annotations."""
    record = GoldRecord(row.gold_right, row.gold_answered, row.gold_recent)
    return trust(record, study.stage(row.stage).settings.gold)


def summary(tx: Tx, study: Study, *, arms: bool = False) -> dict[str, Any]:
    """The status of a study, as JSON values; by arm only on request."""
    now = status(tx, study)
    return {
        "title": study.settings.study.title,
        "seed": study.settings.study.seed,
        "currency": study.settings.pay.currency,
        "stages": [_stage_summary(study, now, counts) for counts in now.stages],
        "ledger": now.totals,
        "spent": now.spent,
        "hourly_wage": asdict(now.wage),
        "below_minimum_wage": now.below_minimum,
        "hourly_wage_by_stage": {name: asdict(wage) for name, wage in now.wages.items()},
        "below_minimum_wage_in": list(now.below_in),
        "too_fast": [one._asdict() for one in now.too_fast],
        "stopped_by_budget": list(now.stopped),
        "gates": statuses_as_json(tx, study),
        "costs": asdict(study_costs(tx, study)),
        **({"arms": _arms_summary(tx, study)} if arms else {}),
        "dropped": [asdict(worker) for worker in now.dropped],
        "outcomes": {name: dict(tally) for name, tally in tallies(tx, study).items()},
    }


def _arms_summary(tx: Tx, study: Study) -> dict[str, Any]:
    costs = arm_costs(tx, study)
    return {
        "workers": arm_counts(tx),
        "costs": {name: asdict(terms) for name, terms in costs.own.items()},
        "shared": shared_as_json(costs),
    }


def shared_as_json(costs: ArmCosts) -> dict[str, Any]:
    """Costs shared by the arms, as JSON values."""
    return {
        "cost": costs.shared.cost,
        "fees": costs.shared.fees,
        "training": costs.shared.training,
        "stages": dict(costs.shared_stages),
        "by_arm": dict(costs.shared_by),
    }


def has_seen_arms(tx: Tx, _study: Study, name: str) -> bool:
    """Whether this person has looked at the arms."""
    return any(event.evidence.get("by") == name for event in events.recent(tx, 1000, kinds=("arms shown",)))


def note_arms_shown(tx: Tx, study: Study, by: str, reason: str) -> None:
    """Log that somebody looked at the arms: while a study runs, this can bias their decisions."""
    events.record(tx, study.clock(), "arms shown", {"by": by, "reason": reason})


def _stage_summary(study: Study, now: Status, counts: StageCounts) -> dict[str, Any]:
    stage = study.stage(counts.name)
    of_round, condition = now.rounds.get(counts.name), now.conditions[counts.name]
    summary = asdict(counts)
    del summary["stage_id"]
    summary["state"] = condition.state
    summary["ended_by"] = list(condition.ended_by)
    summary["round"] = None if of_round is None else asdict(of_round)
    return {"task": stage.task.name, "title": stage.settings.title, **summary}
