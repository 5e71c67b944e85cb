"""How people enter a study: joining, consenting, being assigned to an arm, and being admitted to a stage or not."""

from collections.abc import Mapping

from chorale.engine.running import NO_CONSENT_NEEDED, RunningStage, Study
from chorale.model import EXPERT, MODEL_PREFIX, Worker
from chorale.protocol import Admission, draw_arm
from chorale.store import (
    Tx,
    arms,
    beginnings,
    consents,
    events,
    gates,
    locks,
    participations,
    requesters,
    settings,
    workers,
)
from chorale.store.credentials import Credentials

EXPERTS_PANEL = requesters.PANEL
"""The panel of experts who work in stages for experts."""
MODELS_PANEL = "model"
"""The panel of models."""


def arrive(tx: Tx, study: Study, panel: str, external_id: str, visit: Mapping[str, str]) -> Worker:
    """The worker with a platform ID.

    `visit` has other values sent by the panel; they are stored with the id, separate from answers.
    """
    worker, new = workers.arrive(tx, panel, external_id, visit, study.clock(), study.secrets)
    if new:
        evidence = {"panel": panel, "worker": worker.pseudonym}
        events.record(tx, study.clock(), "arrived", evidence, worker_id=worker.id)
    return worker


def arrive_as_expert(tx: Tx, study: Study, name: str) -> Worker:
    """The worker of an expert in stages for experts. Experts are staff and need not consent."""
    worker = arrive(tx, study, EXPERTS_PANEL, name, {})
    now = study.clock()
    workers.consent(tx, worker.id, NO_CONSENT_NEEDED, now)
    if gates.grant(tx, worker.id, EXPERT, now):
        events.record(tx, now, "qualified", {"qualification": EXPERT, "by": name}, worker_id=worker.id)
    expert = workers.find_worker(tx, worker.id)
    if expert is None:
        raise RuntimeError("a worker vanished in their own transaction")
    return expert


def arrive_as_model(tx: Tx, study: Study, name: str) -> Worker:
    """The worker of a model. Models need not consent."""
    worker, new = workers.arrive_named(tx, MODELS_PANEL, name, f"{MODEL_PREFIX}{name}", study.clock())
    if new:
        evidence = {"panel": MODELS_PANEL, "worker": worker.pseudonym}
        events.record(tx, study.clock(), "arrived", evidence, worker_id=worker.id)
        workers.consent(tx, worker.id, NO_CONSENT_NEEDED, study.clock())
    return worker


def consent(tx: Tx, study: Study, worker_id: int) -> None:
    """Record a worker's consent to the current form; again if it has changed since they agreed."""
    form = study.consent
    if workers.consent(tx, worker_id, form.version, study.clock()):
        evidence = {"consent": form.sha256, "version": form.version}
        events.record(tx, study.clock(), consents.KIND, evidence, worker_id=worker_id)
        rule = study.settings.arms
        if rule is not None and rule.after is None:
            put_in_arm(tx, study, worker_id)


def put_in_arm(tx: Tx, study: Study, worker_id: int) -> None:
    """Assign a worker to an arm, permanently. Doing it again changes nothing."""
    rule = study.settings.arms
    if rule is None:
        return
    locks.lock(tx, locks.Alone.DRAWS_ARMS)
    if arms.arm_of(tx, worker_id) is not None:
        return
    panel = workers.panel_of(tx, worker_id) or ""
    if panel in (EXPERTS_PANEL, MODELS_PANEL):
        return
    stratum = panel if rule.stratify == "panel" else ""
    counter = f"arms:{stratum}"
    number = int(settings.setting_value(tx, counter) or 0)
    settings.set_setting(tx, counter, str(number + 1))
    seed = _arm_seed(tx, study)
    drawn = draw_arm(rule, seed, stratum, number)
    arms.put_in_arm(tx, worker_id, drawn.arm)
    evidence = {"arm": drawn.arm, "stratum": stratum, "number": number, "block": drawn.block}
    events.record(tx, study.clock(), "arm", {**evidence, "seed": seed}, worker_id=worker_id)


def _arm_seed(tx: Tx, study: Study) -> int:
    """The seed of arm assignment. It is generated for the first person, so that nobody can predict an arm."""
    seed = arms.stored_seed(tx)
    if seed is None:
        # Studies of earlier versions used the seed in their file. 53 bits are exact in JSON.
        seed = study.settings.study.seed if beginnings.anybody_in_arm(tx) else study.secrets.getrandbits(53)
        arms.store_seed(tx, seed)
    return seed


def put_everybody_in_arms(tx: Tx, study: Study) -> None:
    """Assign an arm to every worker who joined before the study had arms. Experts get none."""
    rule = study.settings.arms
    if rule is not None:
        for worker_id in arms.without_arm(tx, rule.after):
            put_in_arm(tx, study, worker_id)


def admission(tx: Tx, study: Study, stage: RunningStage, worker_id: int, credentials: Credentials) -> Admission:
    """Whether a worker with these credentials may work in a stage, and why.

    Checked before every item, since the reason for admission may no longer hold.
    """
    rule = stage.settings.entry
    if rule.qualified_in is None:
        return stage.admitting(credentials)
    earlier = participations.participation_of(tx, study.stage(rule.qualified_in).id, worker_id)
    return stage.admission(credentials, None if earlier is None else earlier.gold)
