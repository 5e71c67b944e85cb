"""Agreement in a running study: CrowdTruth quality of workers, items and options, and removals by worker quality.

Only new answers are read from the database. The qualities depend on each other, so they are recomputed from all counted
answers, outside of any transaction, and only after enough new answers. The total cost is a fixed multiple of computing
them once at the end.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as data_field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from chorale.contract import AnswerField
from chorale.engine.running import RunningStage, Study
from chorale.engine.settling import settle_worker
from chorale.model import REMOVED_BY_QUALITY, UserError
from chorale.protocol import WorkerQuality, review_quality
from chorale.store import Tx, events, labels, locks, participations, responses
from chorale.store.responses import GivenAnswer

if TYPE_CHECKING:
    from chorale.metrics.aggregation.crowdtruth import CrowdTruth

FEWEST_MORE = 20
MORE = 0.05
"""Qualities are recomputed after this number of new judgments, or this share of the earlier ones if that is more."""
ALL_EVENTS = 1_000_000
LATE = 500
"""Number of responses that are read again: with several servers, one may become visible after a later one."""


@dataclass(frozen=True, slots=True)
class StageQuality:
    """A stage's qualities, and the answers they are based on."""

    crowdtruth: "CrowdTruth | None" = None
    """None until two people have judged the same item."""
    answers: tuple[GivenAnswer, ...] = ()
    """The counted answers."""
    upto: int = 0
    """The last response included."""
    events: int = 0
    """The last event before the counted answers were determined."""


@dataclass
class _Memory:
    """A process's cache of a stage's answers."""

    lock: Lock = data_field(default_factory=Lock)
    answers: dict[int, GivenAnswer] = data_field(default_factory=dict)
    """By response."""
    known: StageQuality = data_field(default_factory=StageQuality)


def stage_quality(
    study: Study, stage: RunningStage, *, at_once: bool = False, field: AnswerField | None = None
) -> StageQuality:
    """The qualities of a stage or a field, recomputed if that is due or requested with `at_once`."""
    name = f"quality:{stage.name}" if field is None else f"quality:{stage.name}:{field.name}"
    memory: _Memory = study.memory.setdefault(name, _Memory())
    with memory.lock:
        after = max(memory.answers, default=0) - LATE
        active, last, new = study.store.look(lambda tx: _read(tx, stage, after))
        memory.answers |= {answer.response: answer for answer in new}
        counted = tuple(
            memory.answers[number] for number in sorted(memory.answers) if memory.answers[number].worker_id in active
        )
        if is_due(len(counted), len(memory.known.answers)) or (at_once and counted != memory.known.answers):
            upto = max(memory.answers, default=0)
            memory.known = StageQuality(qualities(stage, counted, field), counted, upto, last)
        return memory.known


def _read(tx: Tx, stage: RunningStage, after: int) -> tuple[set[int], int, list[GivenAnswer]]:
    return participations.active_workers(tx, stage.id), events.latest(tx), responses.answers_after(tx, stage.id, after)


def is_due(counted: int, before: int) -> bool:
    """Whether enough new answers have been submitted to recompute the qualities.

    The number of counted answers falls only after a removal, when the worker's answers no longer count.
    """
    return counted < before or counted >= before + max(FEWEST_MORE, MORE * before)


def qualities(
    stage: RunningStage, answers: Iterable[GivenAnswer], field: AnswerField | None = None
) -> "CrowdTruth | None":
    """CrowdTruth qualities of a stage whose task has options, or of a field; None if nobody can be compared."""
    chosen = stage.task.combining.chosen if field is None else field.chosen
    if chosen is None:
        return None
    given = sorted(
        (answer for answer in answers if field is None or answer.answer.get(field.name) is not None),
        key=lambda answer: (answer.item, answer.worker),
    )
    if not given:
        return None
    # Loading takes 0.2 seconds, which studies without options can save.
    from chorale.metrics.aggregation.crowdtruth import crowdtruth  # noqa: PLC0415
    from chorale.metrics.judgments import Judgments  # noqa: PLC0415

    labels_given = [list(chosen(answer.answer)) for answer in given]
    judgments = Judgments.from_columns(
        [answer.item for answer in given], [answer.worker for answer in given], labels_given
    )
    try:
        return crowdtruth(judgments)
    except UserError:
        return None


def review_workers(study: Study) -> list[str]:
    """Remove workers who agree with others too little, in stages whose study file asks for it; returns who they were.

    Their items are settled at once. Without new answers, a second call changes nothing.
    """
    dropped: list[str] = []
    for stage in study.stages.values():
        rule = stage.settings.quality
        if rule is None or rule.floor is None or stage.task.combining.chosen is None:
            continue
        known = stage_quality(study, stage)
        if known.upto == study.memory.get(f"reviewed:{stage.name}"):
            continue
        below = [
            (worker_id, name, dict(verdict.evidence))
            for worker_id, name, quality in worker_qualities(known)
            if (verdict := review_quality(quality, rule)).dropped
        ]
        if below and not study.store.do(partial(_is_all_there, stage=stage, known=known)):
            # With several servers, an answer may become visible after a later one: check again when it has.
            _forget(study, stage)
            continue
        if below:
            basis = {"upto": known.upto, "events": known.events}
            dropped += study.store.do(partial(_drop, study=study, stage=stage, below=below, basis=basis))
            for changed in study.store.look(labels.unsettled):
                settle_worker(study, changed)
        study.memory[f"reviewed:{stage.name}"] = known.upto
    return dropped


def counted_by(tx: Tx, stage: RunningStage, upto: int, last: int) -> list[GivenAnswer]:
    """The answers that counted earlier: up to the response `upto`, without workers removed up to the event `last`."""
    gone = _gone_by(tx, stage.name, last)
    return [
        answer
        for answer in responses.answers_after(tx, stage.id, 0)
        if answer.response <= upto and answer.worker not in gone
    ]


def _is_all_there(tx: Tx, stage: RunningStage, known: StageQuality) -> bool:
    """Whether the qualities can be recomputed exactly: no earlier answer has become visible since."""
    locks.await_others(tx)
    return [answer.response for answer in counted_by(tx, stage, known.upto, known.events)] == [
        answer.response for answer in known.answers
    ]


def _forget(study: Study, stage: RunningStage) -> None:
    memory: _Memory = study.memory[f"quality:{stage.name}"]
    with memory.lock:
        memory.answers.clear()
        memory.known = StageQuality()


def worker_qualities(known: StageQuality) -> list[tuple[int, str, WorkerQuality]]:
    """Number, pseudonym and quality of every worker with a CrowdTruth quality."""
    truth = known.crowdtruth
    if truth is None:
        return []
    numbers = {answer.worker: answer.worker_id for answer in known.answers}
    shared = shared_items(known.answers)
    columns = zip(truth.workers, truth.wqs.tolist(), truth.wwa.tolist(), truth.wua.tolist(), strict=True)
    return [(numbers[name], name, WorkerQuality(wqs, wwa, wua, shared.get(name, 0))) for name, wqs, wwa, wua in columns]


def shared_items(answers: Sequence[GivenAnswer]) -> dict[str, int]:
    """Number of items each worker shares with at least one other worker."""
    people: dict[str, set[str]] = {}
    for answer in answers:
        people.setdefault(answer.item, set()).add(answer.worker)
    return Counter(name for workers in people.values() if len(workers) > 1 for name in workers)


def _drop(
    tx: Tx,
    study: Study,
    stage: RunningStage,
    below: Collection[tuple[int, str, Mapping[str, Any]]],
    basis: dict[str, int],
) -> list[str]:
    gone = []
    for worker_id, name, evidence in below:
        if participations.drop(tx, stage.id, worker_id, REMOVED_BY_QUALITY):
            events.record(tx, study.clock(), "dropped", {**evidence, **basis}, stage_id=stage.id, worker_id=worker_id)
            gone.append(name)
    return gone


def _gone_by(tx: Tx, stage: str, last: int) -> set[str | None]:
    """Workers who were removed from a stage, and not reinstated, after the event with this number."""
    out: dict[str | None, bool] = {}
    for event in reversed(events.recent(tx, ALL_EVENTS, before=last + 1, kinds=("dropped", "reinstated"))):
        if event.stage == stage:
            out[event.worker] = event.kind == "dropped"
    return {worker for worker, gone in out.items() if gone}
