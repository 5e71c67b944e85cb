"""Pure decisions of a study: who may work, on what, when it is enough, what it pays.

Nothing here sees a task or a database. Grades, counts, the time and random seeds come in as arguments, decisions go
out with the evidence they were made on, so a whole study can be decided in a unit test.
"""

from chorale.protocol.eligibility import Admission, may_enter
from chorale.protocol.gold import gold_due
from chorale.protocol.judgments import ItemDecision, decide_item
from chorale.protocol.pay import WageSummary, fee_due, fee_on, hourly_wage, wage_summary
from chorale.protocol.trust import Verdict, review_worker, trust

__all__ = [
    "Admission",
    "ItemDecision",
    "Verdict",
    "WageSummary",
    "decide_item",
    "fee_due",
    "fee_on",
    "gold_due",
    "hourly_wage",
    "may_enter",
    "review_worker",
    "trust",
    "wage_summary",
]
