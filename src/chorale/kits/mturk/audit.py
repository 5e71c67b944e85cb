"""HITs recomputed by `chorale verify`: approved work is paid, and every place taken belongs to an assignment."""

from chorale.audit.parts import AuditPart
from chorale.audit.protocol import Bonuses
from chorale.engine.running import Study
from chorale.kits.mturk.market.stage import market_stage
from chorale.kits.mturk.store import assignments, hits
from chorale.store import Tx


def _add_hit_pay(tx: Tx, study: Study, paid: Bonuses) -> None:
    """Add what approved assignments and their bonuses earned to what else was paid, by stage and worker."""
    stage = market_stage(study)
    if stage is not None:
        for worker, at, amount in assignments.approved_pay(tx):
            paid[stage.name, worker].append((at, amount))


def _time_on_hits(tx: Tx, study: Study) -> dict[tuple[str, str], int]:
    """The time of reviewed assignments, by stage and worker."""
    stage = market_stage(study)
    return {} if stage is None else {(stage.name, worker): spent for worker, spent in assignments.time_by_worker(tx)}


def _hit_differences(tx: Tx) -> list[str]:
    """HITs whose places are not those of their assignments, and times that cannot be."""
    places = [
        f"HIT {name}: {taken} places taken, {counted} assignments hold one"
        for name, taken, counted in hits.miscounted(tx)
    ]
    times = [
        f"assignment {name}: {worked} ms of work stored, and {held} ms passed between accepting and submitting it"
        for name, worked, held in assignments.impossible_times(tx)
    ]
    return places + times


# What scripts write to workers is theirs to decide.
AUDIT = AuditPart(add_pay=_add_hit_pay, differences=_hit_differences, worked=_time_on_hits, messages=("mturk:",))
