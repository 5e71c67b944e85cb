"""Pure decisions of a study: who may work, on what, when it is enough, what it pays.

Nothing here sees a task or a database. Grades, counts, the time and random seeds come in as arguments, decisions go
out with the evidence they were made on, so a whole study can be decided in a unit test.
"""

from chorale.protocol.arms import ArmDraw, draw_arm
from chorale.protocol.eligibility import Admission, may_enter
from chorale.protocol.gates import Candidate, GateVerdict, decide_gate, is_criterion
from chorale.protocol.gold import gold_due, lowest_correct
from chorale.protocol.judgments import ItemDecision, asking_told, decide_item, rule_for
from chorale.protocol.limits import Limit, Shortage, gates_that_wait, stages_too_small
from chorale.protocol.pay import (
    WageSummary,
    fee_due,
    fee_on,
    gold_bonus,
    hourly_wage,
    part_of_round,
    parts_bonus,
    wage_summary,
)
from chorale.protocol.quality import WorkerQuality, review_quality
from chorale.protocol.stability import ranking, ranking_is_stable
from chorale.protocol.trust import Verdict, gold_after, review_worker, trust
from chorale.protocol.turnout import Turnout, fewest_people

__all__ = [
    "Admission",
    "ArmDraw",
    "Candidate",
    "GateVerdict",
    "ItemDecision",
    "Limit",
    "Shortage",
    "Turnout",
    "Verdict",
    "WageSummary",
    "WorkerQuality",
    "asking_told",
    "decide_gate",
    "decide_item",
    "draw_arm",
    "fee_due",
    "fee_on",
    "fewest_people",
    "gates_that_wait",
    "gold_after",
    "gold_bonus",
    "gold_due",
    "hourly_wage",
    "is_criterion",
    "lowest_correct",
    "may_enter",
    "part_of_round",
    "parts_bonus",
    "ranking",
    "ranking_is_stable",
    "review_quality",
    "review_worker",
    "rule_for",
    "stages_too_small",
    "trust",
    "wage_summary",
]
