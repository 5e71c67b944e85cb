"""How people come in: arriving, consenting, being put in an arm, and being let into a stage or not."""

from collections.abc import Mapping
from hashlib import sha256

from chorale.model import EXPERT
from chorale.protocol import Admission, draw_arm, may_enter
from chorale.store import Tx, events, gates, participations, people, setup
from chorale.store.papers import Papers
from chorale.study.running import RunningStage, Study

EXPERTS_PANEL = "expert"
"""Where experts come from who work in stages of their own."""


def arrive(tx: Tx, study: Study, panel: str, external_id: str, visit: Mapping[str, str]) -> people.WorkerRow:
    """The worker behind a panel's id. `visit` is what else the panel said; it is kept with the id, apart."""
    worker, new = people.arrive(tx, panel, external_id, visit, study.clock(), study.secrets)
    if new:
        events.record(tx, study.clock(), "arrived", {"panel": panel}, worker_id=worker.id)
    return worker


def arrive_as_expert(tx: Tx, study: Study, name: str) -> people.WorkerRow:
    """The worker an expert is in stages for experts. They are staff: there is nothing for them to consent to."""
    worker = arrive(tx, study, EXPERTS_PANEL, name, {})
    now = study.clock()
    people.consent(tx, worker.id, now)
    if gates.grant(tx, worker.id, EXPERT, now):
        events.record(tx, now, "qualified", {"qualification": EXPERT, "by": name}, worker_id=worker.id)
    found = people.find_worker(tx, worker.id)
    if found is None:
        raise RuntimeError("a worker vanished in their own transaction")
    return found


def consent(tx: Tx, study: Study, worker_id: int) -> None:
    if people.consent(tx, worker_id, study.clock()):
        text = sha256(study.consent.encode()).hexdigest()
        events.record(tx, study.clock(), "consented", {"consent": text}, worker_id=worker_id)
        rule = study.settings.arms
        if rule is not None and rule.after is None:
            put_in_arm(tx, study, worker_id)


def put_in_arm(tx: Tx, study: Study, worker_id: int) -> None:
    """Put a worker in an arm, for good. Doing it again changes nothing."""
    rule = study.settings.arms
    if rule is None:
        return
    gates.lock_arms(tx)
    if gates.arm_of(tx, worker_id) is not None:
        return
    panel = people.panel_of(tx, worker_id) or ""
    if panel == EXPERTS_PANEL:
        return
    stratum = panel if rule.stratify == "panel" else ""
    counter = f"arms:{stratum}"
    number = int(setup.setting_value(tx, counter) or 0)
    setup.set_setting(tx, counter, str(number + 1))
    drawn = draw_arm(rule, study.settings.study.seed, stratum, number)
    gates.put_in_arm(tx, worker_id, drawn.arm)
    evidence = {"arm": drawn.arm, "stratum": stratum, "number": number, "block": drawn.block}
    events.record(tx, study.clock(), "arm", {**evidence, "seed": study.settings.study.seed}, worker_id=worker_id)


def put_everybody_in_arms(tx: Tx, study: Study) -> None:
    """Let those catch up who came before there were arms. Experts stay out of them."""
    rule = study.settings.arms
    if rule is not None:
        for worker_id in gates.without_arm(tx, rule.after):
            put_in_arm(tx, study, worker_id)


def admission(tx: Tx, study: Study, stage: RunningStage, worker_id: int, papers: Papers) -> Admission:
    """Whether a worker with these papers may work in a stage, and why.

    Asked before every item: what let them in may no longer hold.
    """
    rule = stage.settings.entry
    if not is_for_arm(stage, papers.arm):
        return Admission(False, "it is not among the parts you were given", {"arms": list(stage.settings.arms)})
    if papers.closed and (closed := papers.closed.intersection(stage.closed_by)):
        return Admission(False, "this round is over", {"closed": sorted(closed)})
    record = None
    if rule.qualified_in is not None:
        earlier = participations.participation_of(tx, study.stage(rule.qualified_in).id, worker_id)
        record = None if earlier is None else earlier.gold
    return may_enter(rule, record, papers.dropped, papers.held)


def is_for_arm(stage: RunningStage, arm: str | None) -> bool:
    """Whether a stage is for everybody, or for this arm. Others are not to know of it."""
    return not stage.settings.arms or arm in stage.settings.arms


def is_conditional(stage: RunningStage) -> bool:
    """Whether what lets people into a stage can change from one item to the next, apart from being dropped."""
    entry = stage.settings.entry
    return bool(entry.qualified_in or entry.qualifications or stage.settings.arms or stage.closed_by)


def why_locked(study: Study, decided: Admission) -> str:
    """Why a worker may not work in a stage, with the titles they know."""
    reason = decided.reason
    for stage in study.stages.values() if "`" in reason else ():
        reason = reason.replace(f"`{stage.name}`", f"“{stage.settings.title}”")
    return f"This part is not open to you: {reason}."
