"""The owner's actions on one worker: a message, a bonus, a qualification; each with a logged reason.

Every form has a unique key, so a double click acts once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chorale.engine.entering import put_in_arm
from chorale.engine.leases import give_back_everything
from chorale.engine.paying import covers, pay_bonus
from chorale.engine.running import RunningStage, Study
from chorale.model import EXPERT, REMOVED_BY_STAFF, MessageState, Refusal, Standing, UserError, Worker
from chorale.store import Tx, console, events, gates, messages, participations, workers

BY_STAFF = "staff"
"""The removal rule for workers removed by a person."""
LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Act:
    """An action by staff: its author, the reason, and the key of the form."""

    by: str
    reason: str
    key: str

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise UserError("Enter a reason. It is kept in the activity log.")

    @property
    def cause(self) -> str:
        return f"{BY_STAFF}:{self.key}"

    def evidence(self) -> dict[str, str]:
        return {"by": self.by, "reason": self.reason.strip()}


def worker_called(tx: Tx, pseudonym: str) -> Worker:
    worker = workers.find_by_pseudonym(tx, pseudonym)
    if worker is None:
        raise Refusal("not_found", f"There is no worker {pseudonym}. Search the list of workers.", 404)
    return worker


def send(tx: Tx, study: Study, pseudonym: str, title: str, body: str, act: Act) -> bool:
    """Send a message to a worker; False if this form was already sent."""
    worker = worker_called(tx, pseudonym)
    if not title.strip() or not body.strip():
        raise UserError("A message needs a title and a text.")
    now = study.clock()
    sent = messages.add_message(tx, worker.id, act.cause, now, title.strip()[:LONGEST_TITLE], body, MessageState.SENT)
    if sent:
        events.record(tx, now, "message written", {**act.evidence(), "cause": act.cause}, worker_id=worker.id)
    return sent


def send_to_all(tx: Tx, study: Study, stage: RunningStage, title: str, body: str, act: Act) -> int:
    """Send a message to all active workers of a stage; returns the number of recipients."""
    rows = participations.participation_summaries(tx, stage_name=stage.name)
    working = [row.worker for row in rows if row.standing == Standing.ACTIVE]
    if not working:
        raise UserError(f"Stage {stage.name} has no active workers.")
    for pseudonym in working:
        send(tx, study, pseudonym, title, body, act)
    return len(working)


def give_bonus(tx: Tx, study: Study, pseudonym: str, stage: RunningStage, amount: int, act: Act) -> bool:
    """Pay a worker a bonus by hand; False if this form was already sent."""
    worker = worker_called(tx, pseudonym)
    if amount <= 0:
        raise UserError("The bonus must be more than 0.")
    if participations.participation_of(tx, stage.id, worker.id, lock=True) is None:
        raise UserError(f"{pseudonym} has not worked in {stage.name}. Choose a stage they have worked in.")
    if console.has_entry(tx, f"{act.cause}:bonus"):
        return False
    if not covers(tx, study, amount, 1):
        raise UserError("This bonus would exceed the budget. Raise `pay.budget` in study.toml first.")
    book_bonus(tx, study, stage, worker.id, amount, act)
    return True


def book_bonus(tx: Tx, study: Study, stage: RunningStage, worker_id: int, amount: int, act: Act) -> None:
    """Book a bonus, and log it for `verify` to recompute the ledger."""
    pay_bonus(tx, study, stage, worker_id, act.cause, amount, act.reason.strip())
    evidence = {**act.evidence(), "amount": amount, "cause": act.cause}
    events.record(tx, study.clock(), "bonus given", evidence, stage_id=stage.id, worker_id=worker_id)


def qualifications_known(study: Study) -> Sequence[str]:
    """Every qualification that the study requires or grants, except that of experts, which comes with their link."""
    names = {gate.name for gate in study.gates.values()}
    names |= {gate.settings.promote.to for gate in study.gates.values() if gate.settings.promote is not None}
    names |= {name for stage in study.stages.values() for name in stage.settings.entry.qualifications}
    if study.settings.arms is not None and study.settings.arms.after is not None:
        names.add(study.settings.arms.after)
    return sorted(names - {EXPERT})


def qualify(tx: Tx, study: Study, pseudonym: str, name: str, act: Act) -> bool:
    """Grant a worker a qualification by hand; False if they already have it."""
    worker = worker_called(tx, pseudonym)
    if name not in qualifications_known(study):
        raise UserError(f"No stage of this study needs {name!r}. Choose one of the qualifications listed.")
    now = study.clock()
    granted = gates.grant(tx, worker.id, name, now)
    if granted:
        events.record(tx, now, "qualified", {"qualification": name, **act.evidence()}, worker_id=worker.id)
        if study.settings.arms is not None and study.settings.arms.after == name:
            put_in_arm(tx, study, worker.id)
    return granted


def take_qualification(tx: Tx, study: Study, pseudonym: str, name: str, act: Act) -> bool:
    """Revoke a qualification; False if they do not have it. Their earlier work stays."""
    worker = worker_called(tx, pseudonym)
    granted_at = console.take_qualification(tx, worker.id, name)
    if granted_at is not None:
        evidence = {"qualification": name, "granted_at": granted_at, **act.evidence()}
        events.record(tx, study.clock(), "disqualified", evidence, worker_id=worker.id)
    return granted_at is not None


def end_work(tx: Tx, study: Study, pseudonym: str, stage: RunningStage, act: Act) -> bool:
    """Remove a worker from a stage: their judgments stop counting, and they keep their pay.

    False if they were already removed.
    """
    worker = worker_called(tx, pseudonym)
    if participations.participation_of(tx, stage.id, worker.id, lock=True) is None:
        raise UserError(f"{pseudonym} has not worked in {stage.name}.")
    give_back_everything(tx, study, worker.id, (stage.name,))
    dropped = participations.drop(tx, stage.id, worker.id, REMOVED_BY_STAFF)
    if dropped:
        evidence = {"rule": BY_STAFF, **act.evidence()}
        events.record(tx, study.clock(), "dropped", evidence, stage_id=stage.id, worker_id=worker.id)
    return dropped


def reveal(tx: Tx, study: Study, pseudonym: str, act: Act) -> list[tuple[str, str]]:
    """A worker's ID on their recruitment platform, for people with a reason to know; every look is logged."""
    worker = worker_called(tx, pseudonym)
    events.record(tx, study.clock(), "identity shown", act.evidence(), worker_id=worker.id)
    return workers.identities(tx, worker.id)


def recognise(tx: Tx, study: Study, panel_id: str, act: Act) -> str:
    """The participant ID of the worker with a platform ID. This reveals an identity, so it is logged."""
    worker = workers.find_by_panel_id(tx, panel_id.strip())
    if worker is None:
        raise UserError("No worker of this study has this platform ID.")
    events.record(
        tx, study.clock(), "identity shown", {**act.evidence(), "asked": "by platform ID"}, worker_id=worker.id
    )
    return worker.pseudonym
