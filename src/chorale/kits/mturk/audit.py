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


def _hit_differences(tx: Tx) -> list[str]:
    """HITs whose places are not those of their assignments."""
    return [
        f"HIT {name}: {taken} places taken, {counted} assignments hold one"
        for name, taken, counted in hits.miscounted(tx)
    ]


# What scripts write to workers is theirs to decide.
AUDIT = AuditPart(add_pay=_add_hit_pay, differences=_hit_differences, messages=("mturk:",))
