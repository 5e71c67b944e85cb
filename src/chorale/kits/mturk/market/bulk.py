"""Bulk review of assignments: a preview first, then all actions together."""

from dataclasses import dataclass
from typing import Literal

from chorale.engine import paying
from chorale.engine.managing import Act
from chorale.engine.running import Study
from chorale.kits.mturk.api.errors import TurkError
from chorale.kits.mturk.market import reviewing
from chorale.kits.mturk.market.stage import Market, market_of, turk_worker
from chorale.kits.mturk.store import assignments, keys
from chorale.kits.mturk.store.assignments import AssignmentRow
from chorale.model import UserError
from chorale.store import Tx, events

MOST_AT_ONCE = 1_000
Deed = Literal["approve", "reject", "bonus"]
_REVIEWED = ("submitted", "approved", "rejected")
_FITTING: dict[str, tuple[str, ...]] = {
    "approve": ("submitted", "rejected"),
    "reject": ("submitted",),
    "bonus": _REVIEWED,
}
"""Required status of an assignment for each action."""


@dataclass(frozen=True, slots=True)
class Review:
    """A review action with its assignments."""

    deed: Deed
    names: tuple[str, ...]
    """IDs of assignments; empty for all unreviewed assignments of the HIT."""
    hit: str | None = None
    """The HIT of the assignments, or None for any."""
    amount: int = 0
    """Bonus per assignment, in minor units."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """Preview of a review."""

    rows: tuple[AssignmentRow, ...]
    left_out: int
    """Number of selected assignments that the action does not apply to."""
    cost: int
    """Cost before fees."""
    affordable: bool


def plan(tx: Tx, study: Study, review: Review) -> Planned:
    """Computes a preview of a review, and rejects incomplete requests."""
    market = market_of(tx, study)
    if review.deed != "approve" and not review.reason.strip():
        raise UserError("Enter a reason. The worker will read it.")
    if review.deed == "bonus" and review.amount < 1:
        raise UserError("A bonus must be at least 0.01.")
    rows = _chosen(market, review)
    fitting = tuple(row for row in rows if row.state in _FITTING[review.deed])
    if not fitting:
        suitable = {"approve": "an answer that is not approved yet", "reject": "an unreviewed answer"}
        which = suitable.get(review.deed, "an answer")
        raise UserError(f"No selected answer can be changed in this way. Select {which}.")
    each = {"approve": None, "reject": 0, "bonus": review.amount}[review.deed]
    cost = sum(row.reward if each is None else each for row in fitting)
    # Rewards of submitted work are already promised and within the budget.
    more = sum(row.reward for row in fitting if row.state == "rejected") if review.deed == "approve" else cost
    affordable = paying.covers(tx, study, more, len(fitting)) if more else True
    return Planned(fitting, len(rows) - len(fitting), cost, affordable)


def _chosen(market: Market, review: Review) -> list[AssignmentRow]:
    if len(review.names) > MOST_AT_ONCE:
        raise UserError(f"At most {MOST_AT_ONCE:,} assignments can be reviewed at once. Select fewer.")
    if not review.names:
        hit = None if review.hit is None else market.hit(review.hit).id
        return assignments.waiting(market.tx, MOST_AT_ONCE, hit_id=hit)
    return [market.assignment(name) for name in dict.fromkeys(review.names)]


def carry_out(tx: Tx, study: Study, review: Review, act: Act) -> int:
    """Reviews all assignments or none, and returns their number. Repeated requests have no effect."""
    market = market_of(tx, study)
    if keys.made_by(tx, "review", act.key, 0) is not None:
        return 0
    keys.note_request(tx, "review", act.key, review.deed, market.now)
    planned = plan(tx, study, review)
    try:
        for row in planned.rows:
            _do(market, review, row)
    except TurkError as error:
        raise UserError(error.message) from None
    evidence = {**act.evidence(), "assignments": len(planned.rows), "cost": planned.cost}
    events.record(tx, market.now, f"reviewed: {review.deed}", evidence, stage_id=market.stage.id)
    return len(planned.rows)


def _do(market: Market, review: Review, row: AssignmentRow) -> None:
    said = review.reason.strip()
    if review.deed == "approve":
        given = {"AssignmentId": row.name, "RequesterFeedback": said or None, "OverrideRejection": True}
        reviewing.approve(market, given)
    elif review.deed == "reject":
        reviewing.reject(market, {"AssignmentId": row.name, "RequesterFeedback": said})
    else:
        bonus = {
            "WorkerId": turk_worker(row.pseudonym),
            "AssignmentId": row.name,
            "BonusAmount": review.amount,
            "Reason": said,
            "UniqueRequestToken": None,
        }
        reviewing.send_bonus(market, bonus)
