"""Mechanical Turk's requester interface, as operations on a study."""

from chorale.study.mturk.market import Market, market_of, market_stage
from chorale.study.mturk.operations import perform
from chorale.study.mturk.sweeping import sweep

__all__ = ["Market", "market_of", "market_stage", "perform", "sweep"]
