"""Where a study stands, in numbers."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from chorale.model import GoldRecord, Standing
from chorale.protocol import WageSummary, trust, wage_summary
from chorale.store import Tx, events, results
from chorale.store.results import StageCounts
from chorale.study.outcomes import tallies
from chorale.study.running import Study


@dataclass(frozen=True, slots=True)
class DroppedWorker:
    worker: str
    stage: str
    reason: str
    judgments: int
    paid: int


@dataclass(frozen=True, slots=True)
class Status:
    stages: list[StageCounts]
    totals: dict[str, int]
    """base, bonus and fee in minor units."""
    wage: WageSummary
    below_minimum: bool
    dropped: list[DroppedWorker]

    @property
    def spent(self) -> int:
        return sum(self.totals.values())


def status(tx: Tx, study: Study) -> Status:
    wage = wage_summary(results.paid_and_worked(tx))
    minimum = study.settings.pay.minimum_hourly
    return Status(
        stages=results.stage_counts(tx),
        totals=results.ledger_totals(tx),
        wage=wage,
        below_minimum=wage.median is not None and wage.median < minimum,
        dropped=_dropped(tx),
    )


def _dropped(tx: Tx) -> list[DroppedWorker]:
    evidence = {
        (event.stage, event.worker): event.evidence for event in events.recent(tx, 1_000_000, kinds=("dropped",))
    }
    return [
        DroppedWorker(
            row.worker,
            row.stage,
            _reason(evidence.get((row.stage, row.worker))),
            row.answered,
            row.earned,
        )
        for row in results.worker_standings(tx)
        if row.standing == Standing.DROPPED
    ]


def _reason(evidence: Mapping[str, Any] | None) -> str:
    if evidence is None:
        return "no reason recorded"
    return "{right} of {answered} gold right, trust {trust:.2f} below {floor:.2f}".format_map(evidence)


def trust_of(study: Study, row: results.WorkerStanding) -> float:
    """A worker's present trust in a stage."""
    return trust(GoldRecord(row.gold_right, row.gold_answered), study.stage(row.stage).unproven_trust)


def summary(tx: Tx, study: Study) -> dict[str, Any]:
    """Where the study stands, as JSON values."""
    now = status(tx, study)
    return {
        "title": study.settings.study.title,
        "seed": study.settings.study.seed,
        "currency": study.settings.pay.currency,
        "stages": [_stage_summary(study, counts) for counts in now.stages],
        "ledger": now.totals,
        "spent": now.spent,
        "hourly_wage": asdict(now.wage),
        "below_minimum_wage": now.below_minimum,
        "dropped": [asdict(worker) for worker in now.dropped],
        "outcomes": {name: dict(tally) for name, tally in tallies(tx, study).items()},
    }


def _stage_summary(study: Study, counts: StageCounts) -> dict[str, Any]:
    stage = study.stage(counts.name)
    told = asdict(counts)
    del told["stage_id"]
    return {"task": stage.task.name, "title": stage.settings.title, **told}
