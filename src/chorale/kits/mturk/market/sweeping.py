"""Automatic events of HITs: time limits, automatic approval, and notifications about their end."""

from chorale.engine.running import Study
from chorale.kits.mturk.market.notifying import notify
from chorale.kits.mturk.market.policing import review_ended
from chorale.kits.mturk.market.reviewing import do_approve
from chorale.kits.mturk.market.stage import Market, market_of, market_stage
from chorale.kits.mturk.store import assignments, hits
from chorale.store import Tx, events

AT_ONCE = 200


def sweep(tx: Tx, study: Study) -> None:
    """Ends overdue assignments, and approves work that was not reviewed in time. Idempotent."""
    if market_stage(study) is None:
        return
    market = market_of(tx, study)
    abandon_overdue(market)
    for row in assignments.to_approve(tx, market.now, AT_ONCE):
        do_approve(market, row, row.feedback)
    review_ended(market, AT_ONCE)
    _announce_ends(market)


def abandon_overdue(market: Market) -> int:
    """Releases the places of overdue assignments and returns their number."""
    overdue = assignments.overdue(market.tx, market.now, AT_ONCE)
    for row in overdue:
        assignments.change(market.tx, row.id, state="abandoned")
        hits.give_place(market.tx, row.hit_id)
        evidence = {"hit": row.hit, "assignment": row.name, "accepted_at": row.accepted_at}
        events.record(
            market.tx, market.now, "assignment abandoned", evidence, stage_id=market.stage.id, worker_id=row.worker_id
        )
        hit = hits.hit_numbered(market.tx, row.hit_id)
        notify(market, hit.type, "AssignmentAbandoned", hit.name, row.name)
    return len(overdue)


def _announce_ends(market: Market) -> None:
    for hit in hits.untold(market.tx, market.now):
        announced = set(filter(None, hit.told.split(",")))
        ended = {"expired"} if hit.expires_at <= market.now else set()
        if hit.status(market.now) in ("Reviewable", "Reviewing"):
            ended.add("reviewable")
        for ending in sorted(ended - announced):
            notify(market, hit.type, f"HIT{ending.capitalize()}", hit.name)
        if ended - announced:
            hits.change_hit(market.tx, hit.id, told=",".join(sorted(announced | ended)))
