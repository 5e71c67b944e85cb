"""Pure decisions of a study: who may work on which items, when an item is complete, and what work pays.

Nothing here uses a task or a database. Grades, counts, times and random seeds are arguments, and each decision is
returned with its evidence. So a whole study can be decided in a unit test.
"""

from chorale.protocol.arms import ArmDraw, draw_arm
from chorale.protocol.eligibility import Admission, may_enter
from chorale.protocol.ending import Ending, PartDone, ending
from chorale.protocol.first_pass import FirstDecision, WhyAsked, decide_first
from chorale.protocol.gates import Candidate, GateVerdict, closed_by, criterion_of, decide_gate, is_criterion
from chorale.protocol.gold import (
    Ahead,
    GoldLeft,
    GoldPlan,
    ahead,
    gold_due,
    gold_needed,
    gold_plan,
    lowest_correct,
    stopping_chance,
)
from chorale.protocol.judgments import (
    ItemDecision,
    decide_item,
    ranking,
    ranking_is_stable,
    rule_for,
    why_so_many_judgments,
)
from chorale.protocol.limits import Limit, Shortage, gates_that_wait, stages_too_small
from chorale.protocol.pay import (
    CALL_UNIT,
    WageSummary,
    calls_due,
    fee_due,
    fee_on,
    gold_bonus,
    hourly_wage,
    length_pay,
    part_of_round,
    parts_bonus,
    wage_summary,
)
from chorale.protocol.situation import (
    Facts,
    Reason,
    Situation,
    State,
    after_held_item,
    always,
    for_late_answer,
    never,
    removal_reason,
    situation,
)
from chorale.protocol.skips import skips_exceeded, skips_left
from chorale.protocol.suggesting import suggests_to, wrong_on_purpose
from chorale.protocol.trust import (
    Verdict,
    WorkerQuality,
    counts_parts,
    gold_after,
    gold_counts,
    review_quality,
    review_worker,
    trust,
)
from chorale.protocol.turnout import Turnout, fewest_people

__all__ = [
    "CALL_UNIT",
    "Admission",
    "Ahead",
    "ArmDraw",
    "Candidate",
    "Ending",
    "Facts",
    "FirstDecision",
    "GateVerdict",
    "GoldLeft",
    "GoldPlan",
    "ItemDecision",
    "Limit",
    "PartDone",
    "Reason",
    "Shortage",
    "Situation",
    "State",
    "Turnout",
    "Verdict",
    "WageSummary",
    "WhyAsked",
    "WorkerQuality",
    "after_held_item",
    "ahead",
    "always",
    "calls_due",
    "closed_by",
    "counts_parts",
    "criterion_of",
    "decide_first",
    "decide_gate",
    "decide_item",
    "draw_arm",
    "ending",
    "fee_due",
    "fee_on",
    "fewest_people",
    "for_late_answer",
    "gates_that_wait",
    "gold_after",
    "gold_bonus",
    "gold_counts",
    "gold_due",
    "gold_needed",
    "gold_plan",
    "hourly_wage",
    "is_criterion",
    "length_pay",
    "lowest_correct",
    "may_enter",
    "never",
    "part_of_round",
    "parts_bonus",
    "ranking",
    "ranking_is_stable",
    "removal_reason",
    "review_quality",
    "review_worker",
    "rule_for",
    "situation",
    "skips_exceeded",
    "skips_left",
    "stages_too_small",
    "stopping_chance",
    "suggests_to",
    "trust",
    "wage_summary",
    "why_so_many_judgments",
    "wrong_on_purpose",
]
