"""The completion code with which a worker returns to their platform."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from chorale.engine import recruited
from chorale.engine.running import Study
from chorale.engine.visit import StageVisit, Visit
from chorale.model import ProlificStudy
from chorale.protocol import Ending, PartDone, Reason, State, ending
from chorale.store import Tx, gates, responses
from chorale.store.submissions import SubmissionRow


@dataclass(frozen=True, slots=True)
class Finish:
    """How a worker's participation ended."""

    ending: Ending
    code: str | None
    """The completion code; None if there is none for this ending."""
    joined: ProlificStudy | None = None
    """Their study on Prolific, as defined in the study file."""


class _Work(NamedTuple):
    """A worker's work since a given time."""

    before: Mapping[int, int]
    """Number of earlier answers, by stage id, which do not count."""
    beside: Mapping[str, tuple[int, bool]]
    """Their work other than items, by stage, and whether there is more of it."""


def finish_of(tx: Tx, study: Study, seen: Visit) -> Finish | None:
    """How a worker of the study's platform may finish now; None if they may not yet."""
    arrival = study.settings.arrival
    if seen.panel != arrival.panel:
        return None
    done, out = arrival.completion_code, arrival.screenout_code
    joined = recruited.current(tx, seen.worker.id) if study.settings.prolific is not None else None
    rule = None
    if joined is None:
        ended = ending(parts_done(tx, study, seen), arrival.finish_after)
    else:
        row, submission = joined
        done, out = row.completion_code, row.screenout_code
        ended = ending_in(tx, study, seen, submission)
        rule = recruited.in_study_file(tx, study, row.name)
    if ended is None:
        return None
    if ended is Ending.COMPLETED:
        return Finish(ended, done, rule)
    # People who were removed have worked before. Those who only failed never get the code for finished work.
    return Finish(ended, out or (done if ended is Ending.REMOVED else None), rule)


def ending_in(tx: Tx, study: Study, seen: Visit, submission: SubmissionRow) -> Ending | None:
    """How the worker of a submission has finished the stages of its study on the platform."""
    names = recruited.stages_of(tx, study, submission.panel_study)
    done = parts_done(tx, study, seen, names, recruited.counts_from(tx, submission))
    return ending(done, study.settings.arrival.finish_after)


def parts_done(
    tx: Tx, study: Study, seen: Visit, names: Collection[str] | None = None, since: int = 0
) -> list[PartDone]:
    """A worker's progress in the named stages, or in all.

    Only work since `since` counts: a worker who comes back has to do new work.
    """
    parts = [part for part in seen.stages if names is None or part.stage.name in names]
    failed = _not_passed(tx, study, seen.worker.id)
    removed = any(part.state is State.REMOVED for part in seen.stages)
    work = _work_from(tx, study, seen.worker.id, since)
    return [_part_done(part, failed, work, removed=removed) for part in parts]


def _is_shut(part: StageVisit) -> bool:
    """Whether a stage is closed to people who were removed from another stage."""
    return part.situation.reason is Reason.NOT_ADMITTED and part.stage.settings.entry.exclude_dropped


def _part_done(part: StageVisit, failed: Collection[str], work: _Work, *, removed: bool) -> PartDone:
    stage = part.stage
    more, is_open = work.beside.get(stage.name, (0, False))
    failure = None
    if part.state is State.REMOVED or (removed and _is_shut(part)):
        failure = Ending.REMOVED
    elif stage.name in failed:
        failure = Ending.NOT_PASSED
    answered = part.answered - work.before.get(stage.id, 0) + more
    waits = part.state is State.WAITING and bool(stage.settings.entry.qualifications)
    return PartDone(answered, part.goes_on or is_open, stage.round_size is not None, failure, waits)


def _work_from(tx: Tx, study: Study, worker_id: int, since: int) -> _Work:
    before = responses.answered_before(tx, worker_id, since) if since else {}
    beside = {}
    for part in study.work_parts.values():
        own = None if part.beside is None else part.beside(tx, study, worker_id, since)
        if own is not None:
            beside[own.stage] = (own.done, own.is_open)
    return _Work(before, beside)


def _not_passed(tx: Tx, study: Study, worker_id: int) -> set[str]:
    """The stages of gates that a worker did not pass."""
    failed = gates.failed_by(tx, worker_id) if study.gates else ()
    return {stage for name in failed if name in study.gates for stage in study.gates[name].settings.stage}
