"""HITs made by scripts, once more: what was approved is paid, and no place is taken that nobody has."""

from chorale.audit.protocol import Bonuses
from chorale.engine.running import Study
from chorale.kits.mturk.market.stage import market_stage
from chorale.store import Tx
from chorale.store.mturk import assignments, hits


def add_hit_pay(tx: Tx, study: Study, paid: Bonuses) -> None:
    """Add what approved assignments and their bonuses earned to what else was paid, by stage and worker."""
    stage = market_stage(study)
    if stage is not None:
        for worker, at, amount in assignments.approved_pay(tx):
            paid[stage.name, worker].append((at, amount))


def hit_differences(tx: Tx) -> list[str]:
    """HITs whose places are not those of their assignments."""
    return [
        f"HIT {name}: {taken} places taken, {counted} assignments hold one"
        for name, taken, counted in hits.miscounted(tx)
    ]
