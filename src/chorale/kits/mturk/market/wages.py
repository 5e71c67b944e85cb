"""What an hour of HITs pays, by the time that people took."""

from datetime import timedelta

from chorale.kits.mturk.market.stage import Market
from chorale.kits.mturk.store import assignments
from chorale.kits.mturk.store.hits import HitTypeRow
from chorale.model import money_text
from chorale.protocol import WageSummary, wage_summary

ENOUGH_WORKERS = 3
"""From how many on a median says something about a kind of HIT."""
LOOK_AGAIN_MS = int(timedelta(minutes=1).total_seconds() * 1000)


def warn_of_low_pay(market: Market, kind: HitTypeRow) -> None:
    """Warn a requester who asks for more of what has paid less than the study's minimum."""
    key = f"mturk wage:{kind.name}"
    looked_at, wage = market.study.memory.get(key, (0, None))
    # Scripts make thousands of HITs in a loop, and what was measured hardly changes meanwhile.
    if wage is None or abs(market.now - looked_at) > LOOK_AGAIN_MS:
        wage = wage_summary(assignments.paid_and_worked(market.tx, [kind.id]).get(kind.id, []))
        market.study.memory[key] = market.now, wage
    if is_low(market, wage):
        pay = market.study.settings.pay
        median, least = (money_text(amount, pay.currency) for amount in (wage.median or 0, pay.minimum_hourly))
        market.warn(
            f"HITs of this type have paid a median of {median} an hour, below the study's minimum of {least}. Raise "
            "Reward, and pay bonuses for those that were done."
        )


def is_low(market: Market, wage: WageSummary) -> bool:
    """Whether enough people have worked to say that they earn less than the study's minimum."""
    minimum = market.study.settings.pay.minimum_hourly
    return wage.median is not None and wage.workers >= ENOUGH_WORKERS and wage.median < minimum
