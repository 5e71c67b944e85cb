"""Checks HITs for `chorale verify`: approved work is paid, and every place taken belongs to an assignment."""

from chorale.audit.parts import AuditPart
from chorale.audit.protocol import Bonuses
from chorale.engine.running import Study
from chorale.kits.mturk.market.stage import market_stage
from chorale.kits.mturk.store import assignments, hits
from chorale.model.plural import plural
from chorale.store import Tx


def _add_hit_pay(tx: Tx, study: Study, paid: Bonuses) -> None:
    """Adds earnings from approved assignments and bonuses to other payments, by stage and worker."""
    stage = market_stage(study)
    if stage is not None:
        for worker, at, amount in assignments.approved_pay(tx):
            paid[stage.name, worker].append((at, amount))


def _time_on_hits(tx: Tx, study: Study) -> dict[tuple[str, str], int]:
    """The time of reviewed assignments, by stage and worker."""
    stage = market_stage(study)
    return {} if stage is None else {(stage.name, worker): spent for worker, spent in assignments.time_by_worker(tx)}


def _hit_differences(tx: Tx) -> list[str]:
    """HITs whose number of places differs from their assignments, and impossible times."""
    places = [
        f"HIT {name}: {plural(taken, 'place is', 'places are')} recorded as taken, but "
        f"{plural(counted, 'assignment holds', 'assignments hold')} a place"
        for name, taken, counted in hits.miscounted(tx)
    ]
    times = [
        f"assignment {name}: {worked:,} ms of work are stored, but only {held:,} ms passed between acceptance and "
        "submission"
        for name, worked, held in assignments.impossible_times(tx)
    ]
    return places + times


# Scripts decide which messages they send to workers.
AUDIT = AuditPart(add_pay=_add_hit_pay, differences=_hit_differences, worked=_time_on_hits, messages=("mturk:",))
