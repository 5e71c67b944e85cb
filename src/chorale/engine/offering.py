"""What a worker gets when they ask for the next item: one to judge, or why there is none."""

from base64 import urlsafe_b64encode
from collections.abc import Collection
from typing import Any, NamedTuple

from chorale.contract import Seeds
from chorale.engine import paying
from chorale.engine.entering import admission, why_locked
from chorale.engine.leases import expire_leases
from chorale.engine.running import RunningStage, Study
from chorale.model import AssignmentKind, Refusal, StageState, Standing
from chorale.protocol import gold_due
from chorale.store import Tx, codec, events, leasing, offering, participations, people, stage_rows
from chorale.store.leasing import Lease
from chorale.store.offering import OfferedItem
from chorale.store.papers import papers_of
from chorale.store.participations import Attendance


class Progress(NamedTuple):
    answered: int
    earned: int


class Offer(NamedTuple):
    """What a worker gets when they ask for the next item."""

    status: str
    """item, wait, done, paused, dropped, limit or locked."""
    message: str
    progress: Progress
    lease: Lease | None = None
    view: dict[str, Any] | None = None
    arrangement: dict[str, Any] | None = None
    """The order of things on this worker's page, if the task has one."""
    ended: int = 0
    """How many leases were found to be over on the way, whose items others can have; not for workers."""


MESSAGES = {
    "wait": "There is nothing for you to do right now. More may come up as others go on, so look in again.",
    "done": "All done. There is nothing left to do in this part. Thank you!",
    "paused": "This part is paused for the moment. What you sent is saved and paid; look in again later.",
    "dropped": (
        "Thank you for your work. Too many of your answers differed from the ones we are sure of, so this part ends "
        "here for you. You are paid for everything you sent."
    ),
    "apart": (
        "Thank you for your work. Over many questions your answers had too little in common with those of the others, "
        "so this part ends here for you. You are paid for everything you sent."
    ),
    "limit": "You have done as many of these as one person may. Thank you!",
    "round": "You have finished this part. Thank you!",
}
OVER = "This part is over. Thank you for what you did in it!"
WILL_HEAR = "On your start page you will hear how you did, and what comes next."


def next_item(tx: Tx, study: Study, stage: RunningStage, worker_id: int) -> Offer:
    """The item a worker is to judge next; the one they already have, if they have one."""
    found = participations.attendance(tx, stage.id, worker_id, ends=bool(stage.closed_by))
    if found is None:
        entered = _enter(tx, study, stage, worker_id)
        if isinstance(entered, Offer):
            return entered
        found = entered
    elif found.consented_at is None:
        raise _no_consent()
    progress = Progress(found.answered, found.earned)
    if found.standing == Standing.DROPPED:
        return Offer("dropped", why_dropped(stage), progress)
    # Also for somebody who has only just entered: another tab of theirs may have been first.
    if found.may_hold_item and (held := leasing.live_lease(tx, stage.id, worker_id)) is not None:
        return _offer(study, stage, found.pseudonym, held, progress)
    barred = _barred(tx, study, stage, worker_id, found, progress)
    if barred is not None:
        return barred
    if not paying.allows(tx, study, stage):
        return _nothing("paused", progress)
    lease, ended = _lease_next(tx, study, stage, worker_id, found), 0
    if lease is None and (ended := expire_leases(tx, study)):
        lease = _lease_next(tx, study, stage, worker_id, found)
    if lease is None:
        status = nothing_left(tx, study, stage, found.papers.closed)
        return Offer(
            status, at_the_end(status, bool(study.gates_on(stage)) and progress.answered > 0), progress, ended=ended
        )
    return _offer(study, stage, found.pseudonym, lease, progress, ended)


def _barred(
    tx: Tx, study: Study, stage: RunningStage, worker_id: int, found: Attendance, progress: Progress
) -> Offer | None:
    """Why somebody who is in the stage gets no item now, if they do not."""
    if found.stage_state == StageState.PAUSED:
        return _nothing("paused", progress)
    if found.papers.dropped or stage.is_conditional:
        decided = admission(tx, study, stage, worker_id, found.papers)
        if not decided.allowed:
            return Offer("locked", why_locked(study, decided), progress)
    limit = stage.settings.max_per_worker
    if limit is not None and progress.answered >= limit:
        return Offer("limit", at_the_end("limit", bool(study.gates_on(stage))), progress)
    return None


def _enter(tx: Tx, study: Study, stage: RunningStage, worker_id: int) -> Attendance | Offer:
    """Let somebody into the stage who has not been there, or say why not."""
    worker = people.find_worker(tx, worker_id)
    if worker is None:
        raise Refusal("signed_out", "You are not signed in. Open the link you were given again.", 401)
    if worker.consented_at is None:
        raise _no_consent()
    if stage.id in stage_rows.paused_stages(tx):
        return _nothing("paused", Progress(0, 0))
    decided = admission(tx, study, stage, worker_id, papers_of(tx, worker_id))
    if not decided.allowed:
        return Offer("locked", why_locked(study, decided), Progress(0, 0))
    if participations.enter(tx, stage.id, worker_id, secret_number(study), secret_number(study), study.clock()):
        events.record(
            tx,
            study.clock(),
            "entered",
            {"reason": decided.reason, **decided.evidence},
            stage_id=stage.id,
            worker_id=worker_id,
        )
    found = participations.attendance(tx, stage.id, worker_id, ends=bool(stage.closed_by))
    if found is None:
        raise RuntimeError("a participation vanished in its own transaction")
    return found


def _no_consent() -> Refusal:
    return Refusal("no_consent", "Please read and accept the consent form first.", 403)


def secret_number(study: Study) -> int:
    """Where a worker's gold comes. Kept with the participation: whoever knew it could tell which items are gold."""
    return study.secrets.getrandbits(62)


def _new_token(study: Study) -> str:
    """What an assignment is called in addresses: nobody can guess it."""
    return urlsafe_b64encode(study.secrets.randbytes(15)).decode()


def _lease_next(tx: Tx, study: Study, stage: RunningStage, worker_id: int, found: Attendance) -> Lease | None:
    now = study.clock()
    until = now + int(stage.settings.lease_minutes * 60_000)
    choose = _stage_item if stage.round_size is None else _round_item
    chosen = choose(tx, stage, worker_id, found)
    if chosen is not None:
        return leasing.lease(tx, _new_token(study), stage.id, worker_id, *chosen, now, until)
    if stage.round_size is not None and found.answered < stage.round_size:
        # A round is the same for everybody: what somebody has put aside comes again when all else is done.
        return leasing.lease_again(tx, stage.id, worker_id, now, until)
    return None


def _round_item(
    tx: Tx, stage: RunningStage, worker_id: int, found: Attendance
) -> tuple[OfferedItem, AssignmentKind] | None:
    """The next item of a round: everybody gets the same, from a place of their own on."""
    rule = stage.settings.round
    if rule is None or stage.round_size is None or found.answered >= stage.round_size:
        return None
    offered = offering.next_gold(tx, stage.id, worker_id, found.gold_cursor)
    if offered is None:
        return None
    return offered, AssignmentKind.TRAINING if rule.feedback == "at once" else AssignmentKind.QUALIFICATION


def _stage_item(
    tx: Tx, stage: RunningStage, worker_id: int, found: Attendance
) -> tuple[OfferedItem, AssignmentKind] | None:
    """The next item of a stage, or gold in its place."""
    gold = stage.settings.gold
    offered = offering.next_item(
        tx,
        stage.id,
        worker_id,
        found.item_cursor,
        not_from_own=stage.not_from_own,
        not_seen_later=stage.not_seen_later,
    )
    if offered is None:
        # Gold alone would be work for nothing: it stops with the last item.
        return None
    if gold is not None and gold_due(found.seed, found.served, gold.share):
        unseen = offering.next_gold(tx, stage.id, worker_id, found.gold_cursor)
        if unseen is not None:
            return unseen, AssignmentKind.GOLD
    return offered, AssignmentKind.PRODUCTION


def nothing_left(tx: Tx, study: Study, stage: RunningStage, closed: frozenset[str]) -> str:
    """What it means that a stage has no item for somebody, given the gates that are closed: round, wait or done."""
    if stage.round_size is not None:
        return "round"
    return "wait" if more_may_come(study, stage, closed, offering.stages_with_open_items(tx)) else "done"


def more_may_come(study: Study, stage: RunningStage, closed: frozenset[str], wanting: Collection[int]) -> bool:
    """Whether this stage, or one it is derived from, is among those that want judgments.

    A round that a gate has closed wants none.
    """
    found = [stage.name]
    for name in found:
        each = study.stage(name)
        if closed and not closed.isdisjoint(each.closed_by):
            continue
        if each.id in wanting:
            return True
        found += [source for source in each.settings.sources if source not in found]
    return False


def at_the_end(status: str, will_hear: bool) -> str:
    """What somebody reads for whom a stage has nothing more; also that they hear of it, if a gate is to decide."""
    return f"{MESSAGES[status]} {WILL_HEAR}" if will_hear else MESSAGES[status]


def why_dropped(stage: RunningStage) -> str:
    """What somebody reads for whom a stage has ended: by its gold, or, where it has none, by their quality."""
    return MESSAGES["dropped" if stage.settings.gold is not None else "apart"]


def _nothing(status: str, progress: Progress) -> Offer:
    return Offer(status, MESSAGES[status], progress)


def _offer(
    study: Study, stage: RunningStage, pseudonym: str, lease: Lease, progress: Progress, ended: int = 0
) -> Offer:
    arrangement = None
    if stage.task.arrange is not None:
        seeds = Seeds.of(study.settings.study.seed, stage.name, pseudonym, lease.item_key)
        arrangement = stage.task.arrange(codec.from_text(lease.payload), seeds)
    return Offer("item", "", progress, lease, stage.view_of(lease.payload), arrangement, ended)
