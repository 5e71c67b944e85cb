"""Mechanical Turk's requester API as operations on a study."""

from chorale.kits.mturk.market.operations import perform
from chorale.kits.mturk.market.stage import Market, market_of, market_stage
from chorale.kits.mturk.market.sweeping import sweep

__all__ = ["Market", "market_of", "market_stage", "perform", "sweep"]
