"""Steps that would qualify a worker for a stage."""

from collections.abc import Collection, Mapping
from itertools import chain

from chorale.engine.running import RunningGate, Study
from chorale.protocol import Situation
from chorale.protocol.situation_words import NO_WAY_IN, WayIn
from chorale.store import Tx, visiting
from chorale.store.visiting import StageProgress


def way_in(
    study: Study,
    now: Situation,
    progress: Mapping[int, StageProgress],
    decided_by: Collection[str],
    held: Collection[str] = (),
) -> WayIn:
    """The earlier work that a worker needs for a stage that does not admit them. `held` are their qualifications.

    If several qualifications are missing, one that the worker can no longer get takes precedence. Otherwise, it is
    the first missing one.
    """
    if now.admission is None:
        return NO_WAY_IN
    evidence = now.admission.evidence
    if "answered_needed" in evidence:
        return WayIn((evidence["qualified_in"],), decided=evidence["answered"] >= evidence["answered_needed"])
    ways = [_way_to(study, name, progress, decided_by, held) for name in evidence.get("missing", ())]
    return next(chain((way for way in ways if not way.is_open), ways), NO_WAY_IN)


def way_in_of(tx: Tx, study: Study, now: Situation, worker_id: int) -> WayIn:
    """The earlier work that a worker needs for a stage, from the database. Nothing is read if they are admitted."""
    if now.admission is None:
        return NO_WAY_IN
    view = visiting.worker_view(tx, worker_id)
    return way_in(study, now, view.progress, view.decided_by, view.credentials.held)


def _way_to(
    study: Study,
    qualification: str,
    progress: Mapping[int, StageProgress],
    decided_by: Collection[str],
    held: Collection[str],
) -> WayIn:
    gate = next((gate for gate in study.gates.values() if qualification in _grants(gate)), None)
    if gate is None:
        return NO_WAY_IN

    def is_finished(name: str) -> bool:
        stage = study.stage(name)
        done = progress.get(stage.id)
        return done is not None and done.answered >= (stage.round_size or gate.settings.graded)

    stages = gate.settings.stage
    way = WayIn(stages, all(map(is_finished, stages)), gate.name in decided_by)
    if way.decided:
        return way
    # Somebody who did not pass a gate before the earlier part cannot do that part, and so cannot reach this stage.
    required = (name for stage in stages for name in study.stage(stage).settings.entry.qualifications)
    earlier = (_way_to(study, name, progress, decided_by, held) for name in required if name not in held)
    return next((one for one in earlier if one.decided), way)


def _grants(gate: RunningGate) -> tuple[str, ...]:
    return (gate.name,) if gate.settings.promote is None else (gate.name, gate.settings.promote.to)
