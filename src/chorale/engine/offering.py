"""The reply to a worker's request for the next item: an item, or the reason why there is none."""

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from chorale.contract import Seeds
from chorale.engine import paying, sessions
from chorale.engine.entering import admission
from chorale.engine.gold_share import NO_GOLD, gold_set_size, planned_gold, queues_gold
from chorale.engine.leases import expire_leases, lease_again
from chorale.engine.offering_room import has_room, more_may_come_to
from chorale.engine.places import take_gold
from chorale.engine.running import RunningStage, Study
from chorale.engine.suggesting import shown, suggest, suggested
from chorale.engine.training import places_in
from chorale.engine.way_in import way_in_of
from chorale.model import Answer, AssignmentKind, Refusal, StageState, Standing
from chorale.model.wording import worded
from chorale.protocol import (
    Facts,
    Reason,
    Situation,
    State,
    ahead,
    always,
    gold_due,
    never,
    removal_reason,
    situation,
    stopping_chance,
)
from chorale.protocol.situation_words import NO_CONSENT, message
from chorale.store import (
    Tx,
    assignments,
    codec,
    events,
    first_answers,
    gates,
    lengths,
    offering,
    participations,
    queued_gold,
    stages,
    workers,
)
from chorale.store.assignments import Lease
from chorale.store.credentials import credentials_of
from chorale.store.offering import EVERYTHING, Draw, GoldContent, ItemContent
from chorale.store.participations import Attendance
from chorale.store.sessions import SessionClaim


class WorkerProgress(NamedTuple):
    answered: int
    earned: int


class FirstStep(NamedTuple):
    """The first step of a form in two steps."""

    fields: tuple[str, ...]
    answer: Answer | None
    """The stored first answer, if there is one; then the complete item is shown."""


class Offer(NamedTuple):
    """The reply to a worker's request for the next item."""

    status: str
    """One of STATUSES."""
    message: str
    progress: WorkerProgress
    lease: Lease | None = None
    view: dict[str, Any] | None = None
    arrangement: dict[str, Any] | None = None
    """The order of options on this worker's page, if the task has one."""
    ended: int = 0
    """Number of expired assignments found in the process, whose items are free again; not shown to workers."""
    first: FirstStep | None = None
    """The first step, if the form has two."""
    skips_left: int | None = None
    """Number of skips left, including this item; None if unlimited."""
    pay: int | None = None
    """The pay for the item, if it depends on length."""
    suggestion: Answer | None = None
    """The suggested answer, if a model suggests answers to this worker."""


STATUSES: Mapping[Reason, str] = {
    Reason.BELOW_GOLD: "dropped",
    Reason.BELOW_QUALITY: "dropped",
    Reason.REMOVED_BY_STAFF: "dropped",
    Reason.BLOCKED: "dropped",
    Reason.HOLDS_ITEM: "item",
    Reason.HAS_ROOM: "item",
    Reason.ROUND_FINISHED: "round",
    Reason.ENDED: "locked",
    Reason.NOT_ADMITTED: "locked",
    Reason.NO_PLACES: "locked",
    Reason.NO_WORK_LEFT: "locked",
    Reason.PAUSED: "paused",
    Reason.BUDGET: "paused",
    Reason.LIMIT: "limit",
    Reason.MORE_MAY_COME: "wait",
    Reason.NOTHING_LEFT: "done",
    Reason.TOO_LATE: "none",
}
"""The API's status for each situation of a worker who requests an item."""


def next_item(tx: Tx, study: Study, stage: RunningStage, worker_id: int, session: SessionClaim | None = None) -> Offer:
    """The next item for a worker; the one they hold, if any. The session must be valid."""
    record = participations.attendance(tx, stage.id, worker_id, session=session)
    if record is None:
        if session is not None:
            sessions.check(tx, study, session)
        entered = _enter(tx, study, stage, worker_id)
        if isinstance(entered, Offer):
            return entered
        record = entered
    # Also for a worker who has just entered: another of their tabs may have been first.
    held = assignments.live_lease(tx, stage.id, worker_id) if record.holds_item else None
    facts = _facts(tx, study, stage, worker_id, record, held is not None)
    now = situation(facts)
    lease, ended = held, 0
    if now.reason is Reason.HAS_ROOM:
        _check_open(tx, study, worker_id)
        lease = _lease_next(tx, study, stage, worker_id, record)
        if lease is None and (ended := expire_leases(tx, study)):
            lease = _lease_next(tx, study, stage, worker_id, record)
    if now.state is State.AVAILABLE and lease is not None:
        offer = _offer(tx, study, stage, record.pseudonym, lease, WorkerProgress(record.answered, record.earned), ended)
        by_length = stage.settings.pay.by_length is not None
        suggests = stage.settings.models is not None and stage.settings.models.role == "suggest"
        return offer._replace(
            skips_left=stage.skips_left(record.answered, record.skipped),
            pay=paying.item_pay(stage, lengths.words_of(tx, lease.token)) if by_length else None,
            suggestion=shown(tx, lease.token) if suggests else None,
        )
    # It was only assumed that there is an item for them: the message depends on whether there is.
    if now.reason is Reason.HAS_ROOM or (now.reason is Reason.BUDGET and not has_room(tx, stage, worker_id)):
        now = situation(facts._replace(has_room=never))
    return _without_item(tx, study, stage, worker_id, now, WorkerProgress(record.answered, record.earned), ended)


MOST_OPEN = 3
"""Maximum number of items a worker can hold at once, in all stages together."""


def _check_open(tx: Tx, study: Study, worker_id: int) -> None:
    """Refuse another item to a worker who holds too many, so that nobody blocks items for others."""
    if len(study.stages) <= MOST_OPEN:
        return
    if len(assignments.tokens_held(tx, worker_id)) >= MOST_OPEN:
        expire_leases(tx, study)
        if len(assignments.tokens_held(tx, worker_id)) >= MOST_OPEN:
            raise Refusal("too_many_open", _TOO_MANY_OPEN)


_TOO_MANY_OPEN = worded(
    "You have started {number} questions in other parts of this study. Finish or skip one of them first. Your overview "
    "lists the parts.",
    number=MOST_OPEN,
)


def _facts(tx: Tx, study: Study, stage: RunningStage, worker_id: int, record: Attendance, holds_item: bool) -> Facts:
    """The facts about a worker who requests an item. Finding and taking an item is one step, which comes later."""
    closed = record.credentials.closed
    return Facts(
        partial(admission, tx, study, stage, worker_id, record.credentials),
        always,
        partial(paying.allows, tx, study, stage),
        lambda: more_may_come_to(tx, study, stage, worker_id, closed, offering.stages_with_open_items(tx)),
        study.has_consent(record.consent_version),
        removal_reason(
            record.standing, record.answered, record.removed_after, has_gold=stage.settings.gold is not None
        ),
        holds_item,
        record.answered,
        stage.round_size,
        stage.settings.max_per_worker,
        not closed.isdisjoint(stage.closed_by),
        record.stage_state == StageState.PAUSED,
    )


def _without_item(
    tx: Tx, study: Study, stage: RunningStage, worker_id: int, now: Situation, progress: WorkerProgress, ended: int = 0
) -> Offer:
    if now.state is State.NO_CONSENT:
        sessions.refuse_withdrawn(tx, worker_id)
        raise Refusal("no_consent", NO_CONSENT, 403)

    def awaits_result() -> bool:
        looking = study.gates_on(stage)
        return progress.answered > 0 and any(not gates.decided_about(tx, name, worker_id) for name in looking)

    words = message(now, study.titles, awaits_result, way_in_of(tx, study, now, worker_id))
    return Offer(STATUSES[now.reason], words, progress, ended=ended)


def _enter(tx: Tx, study: Study, stage: RunningStage, worker_id: int) -> Attendance | Offer:
    """Admit a worker to a stage they have not entered yet, or return the reason for refusing."""
    worker = workers.find_worker(tx, worker_id)
    if worker is None:
        raise Refusal("signed_out", worded("You are not signed in. Open your link again."), 401)
    credentials = credentials_of(tx, worker_id)
    decided = admission(tx, study, stage, worker_id, credentials)
    now = situation(
        Facts(
            lambda: decided,
            always,
            always,
            never,
            study.has_consent(worker.consent_version),
            max_per_worker=stage.settings.max_per_worker,
            paused=stage.id in stages.paused_stages(tx),
            places=partial(places_in, tx, study, stage, credentials, entering=True),
        )
    )
    if now.state is not State.AVAILABLE:
        return _without_item(tx, study, stage, worker_id, now, WorkerProgress(0, 0))
    if participations.enter(tx, stage.id, worker_id, secret_number(study), study.clock()):
        events.record(
            tx,
            study.clock(),
            "entered",
            {"reason": decided.reason, **decided.evidence},
            stage_id=stage.id,
            worker_id=worker_id,
        )
    entered = participations.attendance(tx, stage.id, worker_id)
    if entered is None:
        raise RuntimeError("a participation vanished in its own transaction")
    return entered


def secret_number(study: Study) -> int:
    """A worker's secret number, which determines the positions of gold.

    It never leaves the server, since it would reveal gold.
    """
    return study.secrets.getrandbits(62)


def new_token(study: Study) -> str:
    """An unguessable token of an assignment, for URLs."""
    return urlsafe_b64encode(study.secrets.randbytes(15)).decode()


def _lease_next(tx: Tx, study: Study, stage: RunningStage, worker_id: int, record: Attendance) -> Lease | None:
    now = study.clock()
    until = now + int(stage.settings.lease_minutes * 60_000)
    if stage.skips_exceeded(record.answered, record.skipped):
        again = lease_again(tx, study, stage, worker_id, now, until)
        if again is not None:
            return again
    choose = _stage_item if stage.round_size is None else _round_item
    chosen = choose(tx, study, stage, worker_id, record)
    if chosen is not None:
        lease = assignments.lease(tx, new_token(study), stage.id, worker_id, chosen.item, chosen.kind, now, until)
        if chosen.with_suggestion:
            suggest(tx, study, stage, record.pseudonym, record.credentials.arm, lease)
        return lease
    if stage.round_size is not None and record.answered < stage.round_size:
        # A round is the same for everybody: skipped items come again after all others.
        return lease_again(tx, study, stage, worker_id, now, until)
    return None


class _Chosen(NamedTuple):
    item: ItemContent
    kind: AssignmentKind
    with_suggestion: bool = True
    """Whether a suggestion is shown, if there is one."""


def _round_item(tx: Tx, study: Study, stage: RunningStage, worker_id: int, record: Attendance) -> _Chosen | None:
    """The next item of a round, in a random order per worker.

    If the round has more items than it asks for, a random subset.
    """
    rule = stage.settings.round
    if rule is None or stage.round_size is None or record.answered >= stage.round_size:
        return None
    offered = offering.any_gold(tx, stage.id, worker_id, record.item_cursor, _draw(study, 1).modulus)
    if offered is None:
        return None
    return _Chosen(offered, AssignmentKind.TRAINING if rule.feedback == "at once" else AssignmentKind.QUALIFICATION)


def _stage_item(tx: Tx, study: Study, stage: RunningStage, worker_id: int, record: Attendance) -> _Chosen | None:
    """The next item of a stage, or gold in its place."""
    rule = stage.settings.gold
    gold = NO_GOLD if rule is None else planned_gold(tx, study, stage, rule)
    is_due = rule is not None and _gold_is_due(study, record, rule.share, gold.share)
    if rule is not None and queues_gold(study, stage, rule):
        # As many workers as see an item see each gold item, and all but the first of them get it from the queue.
        opens = is_due and gold.opens and secret_number(study) % stage.settings.judgments.min == 0
        return _queued(tx, study, stage, worker_id, record, rule.share, opens=opens)
    compares_workers = stage.settings.quality is not None
    places = ahead(gold.share, compares_workers=compares_workers)
    offered = offering.next_item(
        tx,
        stage.id,
        worker_id,
        record.item_cursor,
        _item_draw(study, places.items),
        apart=stage.kept_apart,
        shuffle=_MODULI + secret_number(study) % _MODULI if compares_workers and not gold.share else None,
    )
    if offered is None:
        # Gold alone would be work for nothing: it stops with the last item.
        return None
    if is_due:
        like = suggested(tx, study, stage, record.credentials.arm, offered.id)
        draw = _draw(study, places.gold)
        size = gold_set_size(tx, study, stage)
        search = partial(
            offering.next_gold, tx, stage.id, worker_id, record.item_cursor, draw, opens=gold.opens, set_size=size
        )
        unseen = search(like)
        in_turn = unseen is not None or (like is not None and search() is not None)
        if not in_turn and gold.repeats and offering.next_turn(tx, stage.id, worker_id, stage.settings.judgments.min):
            unseen = search(like)
        if unseen is not None:
            take_gold(tx, study, stage, unseen.item.id, unseen.places, removed=record.standing == Standing.DROPPED)
            return _Chosen(unseen.item, AssignmentKind.GOLD, with_suggestion=like is None or like.is_shown)
    return _Chosen(offered, AssignmentKind.PRODUCTION)


def _queued(
    tx: Tx, study: Study, stage: RunningStage, worker_id: int, record: Attendance, share: float, *, opens: bool
) -> _Chosen | None:
    """The next item of a stage in which gold is queued among the items.

    With `opens`, a gold item that nobody has seen, if there is one.
    """
    draw = _item_draw(study, ahead(share).items)
    where = (tx, stage.id, worker_id, record.item_cursor, draw, stage.kept_apart)
    if opens:
        chosen = queued_gold.open_queued(*where)
    else:
        chosen = queued_gold.next_queued(*where, set_size=gold_set_size(tx, study, stage))
    if not isinstance(chosen, GoldContent):
        return None if chosen is None else _Chosen(chosen, AssignmentKind.PRODUCTION)
    take_gold(tx, study, stage, chosen.item.id, chosen.places, removed=record.standing == Standing.DROPPED)
    return _Chosen(chosen.item, AssignmentKind.GOLD)


def _gold_is_due(study: Study, record: Attendance, usual: float, share: float) -> bool:
    """Whether the next item is gold, by the planned share, adjusted to the remaining gold."""
    if share >= usual:
        return gold_due(record.seed, record.served, share)
    return gold_due(record.seed, record.served, usual) and study.secrets.random() * usual < share


_MODULI = 1 << 20
"""The resolution of random draws; high enough to match any share closely."""


def _draw(study: Study, places: float) -> Draw:
    """A random step with this mean."""
    modulus = _MODULI + secret_number(study) % _MODULI
    return Draw(modulus, int(modulus * stopping_chance(places)))


def _item_draw(study: Study, places: float) -> Draw:
    """A random choice among items. Sometimes it is a search over all items, since only that advances the cursor."""
    if places <= 1:
        return EVERYTHING
    number = secret_number(study)
    if (number // _MODULI) % _MODULI * places < _MODULI:
        return EVERYTHING
    modulus = _MODULI + number % _MODULI
    return Draw(modulus, int(modulus * stopping_chance(places)))


def _offer(
    tx: Tx, study: Study, stage: RunningStage, pseudonym: str, lease: Lease, progress: WorkerProgress, ended: int = 0
) -> Offer:
    arrangement = None
    if stage.task.form.arrange is not None:
        seeds = Seeds.of(study.settings.study.seed, stage.name, pseudonym, lease.item_key)
        arrangement = stage.task.form.arrange(codec.frozen_from_text(lease.payload), seeds)
    view, reveal, step = stage.view_of(lease.payload), stage.task.form.reveal, None
    if reveal is not None:
        step = FirstStep(reveal.fields, first_answers.first_answer_of(tx, lease.token))
        view = view if step.answer is None else stage.task.form.shown(codec.frozen_from_text(lease.payload))
    return Offer("item", "", progress, lease, view, arrangement, ended, step)
