"""Hourly wage of HITs, based on the time workers took."""

from datetime import timedelta

from chorale.kits.mturk.market.stage import Market
from chorale.kits.mturk.store import assignments
from chorale.kits.mturk.store.hits import HitTypeRow
from chorale.model import money_text
from chorale.protocol import WageSummary, wage_summary

ENOUGH_WORKERS = 3
"""Minimum number of workers for a meaningful median per HIT type."""
LOOK_AGAIN_MS = int(timedelta(minutes=1).total_seconds() * 1000)


def warn_of_low_pay(market: Market, kind: HitTypeRow) -> None:
    """Warns a requester who extends HITs that paid less than the study's minimum."""
    key = f"mturk wage:{kind.name}"
    looked_at, wage = market.study.memory.get(key, (0, None))
    # Cached, because scripts create thousands of HITs in a loop and the median hardly changes.
    if wage is None or abs(market.now - looked_at) > LOOK_AGAIN_MS:
        wage = wage_summary(assignments.paid_and_worked(market.tx, [kind.id]).get(kind.id, []))
        market.study.memory[key] = market.now, wage
    if is_low(market, wage):
        pay = market.study.settings.pay
        median, least = (money_text(amount, pay.currency) for amount in (wage.median or 0, pay.minimum_hourly))
        market.warn(
            f"HITs of this type paid a median of {median} per hour, below the study's minimum of {least}. Raise "
            "Reward, and pay bonuses for completed HITs."
        )


def is_low(market: Market, wage: WageSummary) -> bool:
    """Whether enough workers show that HITs pay less than the study's minimum."""
    minimum = market.study.settings.pay.minimum_hourly
    return wage.median is not None and wage.workers >= ENOUGH_WORKERS and wage.median < minimum
