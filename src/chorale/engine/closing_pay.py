"""Payments when a gate closes, in addition to bonuses for passing, and whether the budget covers them.

Rounds and grading can be paid as a whole. A closing gate ends them: graders have then finished, and workers in the
middle of a round are paid for the part they have done.
"""

from collections.abc import Mapping, Sequence

from chorale.engine.paying import covers, for_part, lacking, pay_bonus
from chorale.engine.running import RunningGate, RunningStage, Study
from chorale.model import money_text
from chorale.store import Tx, gates, grades
from chorale.store.participations import Unfinished, in_the_middle


def is_affordable(tx: Tx, study: Study, gate: RunningGate, passing: int) -> bool:
    """Whether the budget covers the gate's payments if it closes now and this number of workers pass."""
    amount, payments = _due(tx, study, gate, passing)
    return not amount or covers(tx, study, amount, payments)


def lacking_to_close(tx: Tx, study: Study, gate: RunningGate, passing: int) -> int:
    """The amount by which the gate's payments would exceed the budget now."""
    amount, payments = _due(tx, study, gate, passing)
    return lacking(tx, study, amount, payments) if amount else 0


def _due(tx: Tx, study: Study, gate: RunningGate, passing: int) -> tuple[int, int]:
    """The total and the number of the gate's payments if it closes now and this number of workers pass."""
    graders = graders_who_finish(tx, study, gate)
    parts = [
        for_part(study.stage(name), worker.answered)
        for name, several in cut_off_by(tx, study, gate).items()
        for worker in several
    ]
    parts = [part for part in parts if part]
    amount = gate.settings.bonus * passing + sum(parts)
    amount += sum(study.stage(name).settings.pay.finished * len(paid) for name, paid in graders.items())
    return amount, passing + sum(map(len, graders.values())) + len(parts)


def beyond_budget(study: Study, name: str, missing: int) -> tuple[str, str]:
    """The message for a gate that can't close because the budget is too small."""
    pay = study.settings.pay
    enough = (pay.budget or 0) + missing
    return (
        f"The gate {name} can't close: its payments would exceed the budget by {money_text(missing, pay.currency)}.",
        f"Raise `pay.budget` in study.toml to {enough} or more ({money_text(enough, pay.currency)}) and start the site "
        "again.",
    )


def graders_who_finish(tx: Tx, study: Study, gate: RunningGate) -> dict[str, dict[str, int]]:
    """Graders whose work is paid as a whole when a gate closes: for each stage, their ids by pseudonym.

    If several gates use the same grading, the first to close ends it.
    """
    return {
        stage.name: grades.active_in(tx, stage.id, stage.settings.pay.finished_from)
        for stage in _ended_by(tx, study, gate)
        if stage.settings.grades and stage.settings.pay.finished
    }


def cut_off_by(tx: Tx, study: Study, gate: RunningGate, *, lock: bool = False) -> dict[str, list[Unfinished]]:
    """Workers in the middle of a round that ends when a gate closes, by stage, paid or not."""
    return {
        stage.name: in_the_middle(tx, stage.id, stage.round_size, lock=lock)
        for stage in _ended_by(tx, study, gate)
        if stage.round_size is not None
    }


def _ended_by(tx: Tx, study: Study, gate: RunningGate) -> list[RunningStage]:
    """The stages that end when a gate closes, except those ended by an earlier gate."""
    closed = gates.closed_gates(tx) - {gate.name}
    return [
        stage
        for stage in study.stages.values()
        if gate.name in stage.closed_by and not closed.intersection(stage.closed_by)
    ]


def pay_graders(tx: Tx, study: Study, finished: Mapping[str, Mapping[str, int]]) -> None:
    for name, graders in finished.items():
        stage = study.stage(name)
        for _, worker_id in sorted(graders.items()):
            amount = stage.settings.pay.finished
            pay_bonus(tx, study, stage, worker_id, f"grading:{name}:{worker_id}", amount, f"finished {name}")


def pay_for_parts(tx: Tx, study: Study, cut_off: Mapping[str, Sequence[Unfinished]]) -> None:
    """Pay workers for their part of a round that they can no longer finish."""
    for name, several in cut_off.items():
        stage = study.stage(name)
        for worker in several:
            if amount := for_part(stage, worker.answered):
                reason = f"{worker.answered} of {stage.round_size} answers in {name} before it ended"
                pay_bonus(tx, study, stage, worker.worker_id, f"unfinished:{name}:{worker.worker_id}", amount, reason)
