"""What workers do in a stage: enter it, get an item, submit it, give it back.

Each function is one transaction: load, decide, append.
"""

from chorale.engine.leases import expire_leases, extend, give_back
from chorale.engine.offering import MESSAGES, Offer, Progress, next_item
from chorale.engine.submitting import Outcome, submit

__all__ = [
    "MESSAGES",
    "Offer",
    "Outcome",
    "Progress",
    "expire_leases",
    "extend",
    "give_back",
    "next_item",
    "submit",
]
