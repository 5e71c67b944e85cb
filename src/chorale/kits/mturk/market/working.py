"""The worker's side: available HITs, and accepting, returning and submitting them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from chorale.engine.entering import EXPERTS_PANEL, admission
from chorale.engine.offering import secret_number
from chorale.engine.parts import WorkBeside
from chorale.engine.running import Study
from chorale.kits.mturk.api.answers import Fields, answers_xml, joined, misfit
from chorale.kits.mturk.api.names import group_id
from chorale.kits.mturk.api.questions import Question, QuestionForm, read_question
from chorale.kits.mturk.api.requirements import (
    APPROVED_HITS,
    APPROVED_PERCENT,
    guards,
    holds,
    is_checked,
)
from chorale.kits.mturk.market.notifying import notify
from chorale.kits.mturk.market.policing import review_assignment
from chorale.kits.mturk.market.stage import Market, market_of, market_stage
from chorale.kits.mturk.market.sweeping import abandon_overdue
from chorale.kits.mturk.store import assignments, hits, qualifications
from chorale.kits.mturk.store.assignments import AssignmentRow
from chorale.kits.mturk.store.hits import HitRow, HitTypeRow, Offered
from chorale.model import Refusal
from chorale.model.wording import worded
from chorale.protocol import Facts, Reason, State, always, for_late_answer, never, situation
from chorale.protocol.situation_words import message
from chorale.store import Tx, events, participations, requesters, stages, team, workers
from chorale.store.credentials import credentials_of

LONGEST_ANSWER = 131_072
MOST_HELD = 25
"""Maximum number of accepted HITs per worker at once, as on Mechanical Turk."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """A required qualification."""

    name: str
    """ID of its type; empty if it cannot be requested."""
    title: str


@dataclass(frozen=True, slots=True)
class HitOffer:
    offered: Offered
    lacking: tuple[Lacking, ...]
    """Unmet requirements; empty if the worker may accept."""


@dataclass(frozen=True, slots=True)
class Board:
    """Available HITs for a worker."""

    held: tuple[tuple[AssignmentRow, HitRow], ...]
    offers: tuple[HitOffer, ...]
    barred: str | None
    """Reason why no HITs are available, if so."""

    @property
    def open_count(self) -> int:
        return sum(offer.offered.count for offer in self.offers if not offer.lacking)


@dataclass(frozen=True, slots=True)
class HitView:
    """A HIT from the perspective of a worker."""

    hit: HitRow
    question: Question
    assignment: AssignmentRow | None
    lacking: tuple[Lacking, ...]
    may_look: bool
    barred: str | None
    another: bool
    """Whether another HIT of the same type is available."""


def board(tx: Tx, study: Study, worker_id: int) -> Board:
    market = market_of(tx, study)
    barred = _barred(market, worker_id)
    held = tuple((row, hits.hit_numbered(tx, row.hit_id)) for row in assignments.held_by(tx, worker_id))
    if barred is not None:
        return Board(held, (), barred)
    values = _values(market, worker_id)
    offers = []
    for offered in hits.offered_to(tx, worker_id, market.now):
        lacking, guarded = _lacking(market, offered.type, values)
        if "DiscoverPreviewAndAccept" not in guarded:
            offers.append(HitOffer(offered, lacking))
    return Board(held, tuple(sorted(offers, key=lambda offer: bool(offer.lacking))), None)


def work_beside(tx: Tx, study: Study, worker_id: int, since: int) -> WorkBeside | None:
    """Number of HITs a worker has done since a time, and whether more are available."""
    stage = market_stage(study)
    if stage is None:
        return None
    own = board(tx, study, worker_id)
    return WorkBeside(stage.name, assignments.done_since(tx, worker_id, since), bool(own.held or own.open_count))


def _barred(market: Market, worker_id: int) -> str | None:
    """Reason why no HITs are available to a worker, if so."""
    now = situation(_facts(market, worker_id))
    return None if now.state is State.AVAILABLE else message(now, market.study.titles, never)


def _facts(market: Market, worker_id: int) -> Facts:
    """Facts about a worker that do not depend on a HIT. Free places and cost are left out: every HIT has its own."""
    tx, stage = market.tx, market.stage
    worker = workers.find_worker(tx, worker_id)
    return Facts(
        lambda: admission(tx, market.study, stage, worker_id, credentials_of(tx, worker_id)),
        always,
        always,
        never,
        worker is not None and market.study.has_consent(worker.consent_version),
        Reason.BLOCKED if qualifications.is_blocked(tx, worker_id) else None,
        paused=stage.id in stages.paused_stages(tx),
    )


def _values(market: Market, worker_id: int) -> dict[str, int]:
    """The qualifications a worker has."""
    values = qualifications.values_of(market.tx, worker_id)
    approved, rejected = assignments.track_record(market.tx, worker_id)
    done = approved + rejected
    return {**values, APPROVED_HITS: approved, APPROVED_PERCENT: round(100 * approved / done) if done else 100}


def _lacking(market: Market, kind: HitTypeRow, values: Mapping[str, int]) -> tuple[tuple[Lacking, ...], set[str]]:
    """Unmet requirements of a worker, with the actions they guard."""
    lacking, guarded = [], set()
    for requirement in kind.requirements:
        name = requirement["QualificationTypeId"]
        # Requirements that only Mechanical Turk could check are left to the recruitment platform. The requester was
        # warned.
        if is_checked(name, counted=market.counts_approvals) and not holds(requirement, values.get(name)):
            known = qualifications.type_called(market.tx, name)
            requestable = known is not None and known.status == "Active" and name not in values
            lacking.append(
                Lacking(
                    name if requestable else "", "enough approved work on this site" if known is None else known.title
                )
            )
            guarded.add(guards(requirement))
    return tuple(lacking), guarded


def look_at(tx: Tx, study: Study, worker_id: int, name: str) -> HitView:
    """A HIT for preview or work."""
    market = market_of(tx, study)
    hit = _hit(market, name)
    assignment = assignments.of_worker(tx, hit.id, worker_id)
    lacking, guarded = _lacking(market, hit.type, _values(market, worker_id))
    barred = _barred(market, worker_id)
    if assignment is None and barred is None and hit.status(market.now) != "Assignable":
        barred = worded("This task is no longer available. There may be others like it.")
    return HitView(
        hit,
        read_question(hit.question),
        assignment,
        lacking,
        assignment is not None or (barred is None and guarded <= {"Accept"}),
        barred,
        hits.next_of_type(tx, hit.type.name, worker_id, market.now) is not None,
    )


def _hit(market: Market, name: str, *, lock: bool = False) -> HitRow:
    hit = hits.hit_called(market.tx, name, lock=lock)
    if hit is None:
        raise Refusal("not_found", worded("There is no such task. Go back to the list."), 404)
    return hit


def accept(tx: Tx, study: Study, worker_id: int, name: str) -> str:
    """Accepts a HIT and returns the assignment ID. Accepting it again returns the same ID."""
    market = market_of(tx, study)
    hit = _hit(market, name, lock=True)
    held = assignments.of_worker(tx, hit.id, worker_id)
    if held is not None:
        return held.name
    barred = _barred(market, worker_id)
    if barred is not None:
        raise Refusal("not_open", barred, 403)
    lacking, _ = _lacking(market, hit.type, _values(market, worker_id))
    if lacking:
        raise Refusal("not_qualified", worded("This task requires a qualification that you do not have."), 403)
    abandon_overdue(market)
    if len(assignments.held_by(tx, worker_id)) >= MOST_HELD:
        message = f"You already have {MOST_HELD} tasks. Submit or return one of them first."
        raise Refusal("too_many", message)
    if not hits.take_place(tx, hit.id, market.now):
        raise Refusal("taken", worded("This task is no longer available. There may be others like it."))
    _enter(market, worker_id)
    made = market.new_id()
    deadline = market.now + hit.type.assignment_seconds * 1000
    assignments.add_assignment(tx, made, hit.id, worker_id, market.now, deadline, hit.type.reward)
    notify(market, hit.type, "AssignmentAccepted", hit.name, made)
    return made


def _enter(market: Market, worker_id: int) -> None:
    """Enters a worker into the stage with the first HIT, so that payments can be booked."""
    study, stage = market.study, market.stage
    if participations.enter(market.tx, stage.id, worker_id, secret_number(study), market.now):
        evidence = {"reason": "accepted a HIT"}
        events.record(market.tx, market.now, "entered", evidence, stage_id=stage.id, worker_id=worker_id)


def accept_next(tx: Tx, study: Study, worker_id: int, type_name: str) -> str | None:
    """Accepts the next HIT of a type and returns its ID, or None."""
    market = market_of(tx, study)
    name = hits.next_of_type(tx, type_name, worker_id, market.now)
    if name is None:
        return None
    accept(tx, study, worker_id, name)
    return name


def hit_of_group(tx: Tx, study: Study, worker_id: int, name: str) -> str | None:
    """The HIT for a URL with `groupId`, which is the ID of a group or of a type."""
    market = market_of(tx, study)
    kind = next((kind for kind in hits.type_names(tx) if name in (kind, group_id(kind))), None)
    return None if kind is None else hits.next_of_type(tx, kind, worker_id, market.now)


def give_back(tx: Tx, study: Study, worker_id: int, name: str) -> None:
    """Returns a HIT for other workers. Repeated returns have no effect."""
    market = market_of(tx, study)
    row = assignments.assignment_called(tx, name, lock=True)
    if row is None or row.worker_id != worker_id:
        raise Refusal("not_found", worded("You do not have this task. Go back to the list."), 404)
    if row.state != "accepted":
        return
    assignments.change(tx, row.id, state="returned")
    hits.give_place(tx, row.hit_id)
    hit = hits.hit_numbered(tx, row.hit_id)
    notify(market, hit.type, "AssignmentReturned", hit.name, row.name)


def give_back_all(tx: Tx, study: Study, worker_id: int) -> int:
    """Returns all accepted HITs of a worker who has left, so that others can accept them, and counts them."""
    held = assignments.held_by(tx, worker_id)
    for row in held:
        give_back(tx, study, worker_id, row.name)
    return len(held)


def submit(tx: Tx, study: Study, name: str, fields: Fields) -> bool:
    """Accepts the submission of an assignment once. False if the assignment does not exist.

    Anyone with the ID of an assignment may submit it: pages on other sites have no other proof.
    """
    market = market_of(tx, study)
    row = assignments.assignment_called(tx, name, lock=True)
    if row is None:
        return False
    if row.state in ("submitted", "approved", "rejected"):
        return True
    if requesters.is_revoked(tx, EXPERTS_PANEL, row.worker_id) or team.is_deactivated(tx, row.worker_id):
        # Frames have no session that could have been closed.
        raise Refusal(
            "revoked", worded("Your access to this study was revoked. Answers are no longer accepted from you."), 403
        )
    if row.state != "accepted":
        _renew(market, row)
    hit = hits.hit_numbered(tx, row.hit_id)
    question = read_question(hit.question)
    answer = as_answer(fields, question if isinstance(question, QuestionForm) else None)
    # No time is measured if the clock was set back.
    worked = max(0, market.now - max(row.accepted_at, assignments.last_submission(tx, row.worker_id)))
    assignments.change(
        tx,
        row.id,
        state="submitted",
        worked_ms=worked,
        submitted_at=market.now,
        approve_at=market.now + hit.type.approval_seconds * 1000,
        answer=answer,
    )
    notify(market, hit.type, "AssignmentSubmitted", hit.name, row.name)
    if hit.policies is not None:
        review_assignment(market, hit, replace(row, state="submitted", answer=answer, worked_ms=worked))
    return True


def _renew(market: Market, row: AssignmentRow) -> None:
    """Accepts a late answer if the HIT still has a free place and the worker could accept the HIT now."""
    again = assignments.of_worker(market.tx, row.hit_id, row.worker_id)
    barred = row.state == "returned" or again is not None
    barred = barred or for_late_answer(_facts(market, row.worker_id)).state is not State.AVAILABLE
    if barred or not hits.take_place(market.tx, row.hit_id, market.now):
        raise Refusal(
            "lease_ended", worded("The time limit of this task has passed, or you returned it. Choose another task.")
        )


def as_answer(fields: Fields, form: QuestionForm | None) -> str:
    """Fields of a form as XML for storage. Raises an error for invalid fields."""
    together = {name: value for name, value in joined(fields).items() if name != "assignmentId"}
    wrong = None if form is None else misfit(form, together)
    if wrong is not None:
        raise Refusal("invalid_answer", f"Your answer has not been submitted. {wrong}.", 422)
    answer = answers_xml(together, form)
    if len(answer.encode()) > LONGEST_ANSWER:
        raise Refusal("too_large", worded("Your answer is too long. Shorten it and submit again."), 413)
    return answer


def may_see(tx: Tx, study: Study, worker_id: int, name: str) -> HitView:
    """The HIT if the worker may see its page."""
    view = look_at(tx, study, worker_id, name)
    if not view.may_look:
        raise Refusal(
            "not_open", view.barred or worded("This task requires a qualification that you do not have."), 403
        )
    return view
