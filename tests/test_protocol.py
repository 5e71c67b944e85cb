"""Decisions, decided in unit tests."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chorale.model import EntrySettings, GoldBonus, GoldRecord, GoldSettings, JudgmentSettings
from chorale.protocol import (
    decide_item,
    fee_due,
    fee_on,
    gold_after,
    gold_due,
    hourly_wage,
    may_enter,
    review_worker,
    trust,
    wage_summary,
)


@given(seed=st.integers(), share=st.floats(0.02, 0.5))
def test_gold_comes_often_enough_and_never_crowds(seed: int, share: float) -> None:
    positions = [served for served in range(400) if gold_due(seed, served, share)]
    gaps = [later - earlier for earlier, later in pairwise([-1, *positions])]
    assert all(1 <= gap <= 2 / share for gap in gaps)
    assert 400 - positions[-1] <= 2 / share


def test_the_share_of_gold_is_kept() -> None:
    for share in (0.05, 0.1, 0.33, 0.5):
        served = [gold_due(seed, number, share) for seed in range(60) for number in range(300)]
        assert sum(served) / len(served) == pytest.approx(share, rel=0.06)


def test_having_met_gold_does_not_say_when_the_next_comes() -> None:
    gaps: Counter[int] = Counter()
    for seed in range(200):
        positions = [served for served in range(200) if gold_due(seed, served, 0.1)]
        gaps.update(later - earlier for earlier, later in pairwise(positions))
    assert set(range(1, 19)) <= set(gaps)
    assert max(gaps.values()) < 2 * min(gaps[gap] for gap in range(2, 18))


def test_no_gold_without_a_share() -> None:
    assert not any(gold_due(1, served, 0.0) for served in range(100))


@pytest.mark.parametrize(
    ("right", "answered", "dropped"),
    [(0, 3, False), (0, 4, True), (2, 4, True), (3, 4, False), (6, 10, False), (5, 9, True)],
)
def test_who_is_dropped(right: int, answered: int, dropped: bool) -> None:
    verdict = review_worker(GoldRecord(right, answered), GoldSettings(file="g", floor=0.6, after=4))
    assert verdict.dropped is dropped
    assert verdict.evidence["answered"] == answered


def test_trust_is_accuracy_on_gold() -> None:
    rule = GoldSettings(file="gold.jsonl", floor=0.6)
    assert trust(GoldRecord(3, 4), rule) == 0.75
    assert trust(GoldRecord(), rule) == 0.6
    assert trust(GoldRecord(0, 9), None) == 1.0


def test_the_window_is_as_long_as_it_says_also_where_more_is_kept() -> None:
    rule = GoldSettings(file="gold.jsonl", window=2, bonus=GoldBonus(right=3, of=4, amount=50))
    record = GoldRecord()
    for right in (True, True, False, False):
        record = gold_after(record, [right], rule)
    assert record.recent == "1100"
    assert trust(record, rule) == 0.0


def test_trust_can_be_smoothed_and_look_at_the_latest_alone() -> None:
    smoothed = GoldSettings(file="gold.jsonl", floor=0.5, smoothing=2)
    assert trust(GoldRecord(0, 1), smoothed) == pytest.approx(1 / 3)
    latest = GoldSettings(file="gold.jsonl", floor=0.5, window=3)
    record = GoldRecord()
    for right in (True, False, False, True, True):
        record = gold_after(record, [right], latest)
    assert record == GoldRecord(3, 5, "011")
    assert trust(record, latest) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("record", "dropped", "allowed", "reason"),
    [
        (None, [], False, "more gold answers in `first`"),
        (GoldRecord(3, 3), [], False, "more gold answers in `first`"),
        (GoldRecord(2, 4), [], False, "is below the minimum"),
        (GoldRecord(3, 4), [], True, "qualified"),
        (GoldRecord(9, 9), ["first"], False, "removed"),
        (GoldRecord(9, 9), ["third"], False, "removed from `third`"),
    ],
)
def test_who_may_enter(record: GoldRecord | None, dropped: list[str], allowed: bool, reason: str) -> None:
    decided = may_enter(EntrySettings(qualified_in="first", accuracy=0.75), record, dropped)
    assert decided.allowed is allowed
    assert reason in decided.reason
    assert decided.evidence


def test_who_was_dropped_elsewhere_may_be_let_in() -> None:
    lenient = EntrySettings(exclude_dropped=False)
    assert may_enter(lenient, None, ["other"]).allowed
    assert not may_enter(EntrySettings(), None, ["other"]).allowed
    qualified = EntrySettings(qualified_in="first", exclude_dropped=False)
    assert may_enter(qualified, GoldRecord(9, 9), ["other"]).allowed
    assert not may_enter(qualified, GoldRecord(9, 9), ["first"]).allowed


def test_all_qualifications_are_needed() -> None:
    rule = EntrySettings(qualifications=("trained", "writer"))
    assert may_enter(rule, None, [], {"writer", "trained", "other"}).allowed
    for held in ({"writer"}, {"trained"}, {"other"}, set()):
        decided = may_enter(rule, None, [], held)
        assert not decided.allowed
        assert decided.evidence["missing"] == [name for name in ("trained", "writer") if name not in held]


def test_an_open_stage_admits_everyone() -> None:
    assert may_enter(EntrySettings(), None, []).allowed


FIXED = JudgmentSettings(min=3, max=3)
DYNAMIC = JudgmentSettings(min=2, max=5, until=0.9)


@pytest.mark.parametrize(
    ("rule", "counted", "confidence", "wanted", "complete", "released"),
    [
        (FIXED, 0, 0.0, 3, False, False),
        (FIXED, 2, 1.0, 3, False, False),
        (FIXED, 3, 0.7, 3, True, True),
        (FIXED, 3, 0.69, 3, True, False),
        (DYNAMIC, 1, 1.0, 2, False, False),
        (DYNAMIC, 3, 0.89, 4, False, False),
        (DYNAMIC, 3, 0.9, 3, True, True),
        (DYNAMIC, 2, 1.0, 2, True, True),
        (DYNAMIC, 2, 0.5, 3, False, False),
        (DYNAMIC, 4, 0.75, 5, False, False),
        (DYNAMIC, 5, 0.6, 5, True, False),
    ],
)
def test_when_an_item_is_done(
    rule: JudgmentSettings, counted: int, confidence: float, wanted: int, complete: bool, released: bool
) -> None:
    decision = decide_item(rule, counted, confidence, release=0.7)
    assert (decision.wanted, decision.complete, decision.released) == (wanted, complete, released)


@given(low=st.integers(1, 9), more=st.integers(0, 9), counted=st.integers(0, 30), confidence=st.floats(0, 1))
def test_never_more_than_the_maximum_is_asked_for(low: int, more: int, counted: int, confidence: float) -> None:
    rule = JudgmentSettings(min=low, max=low + more, until=0.8)
    decision = decide_item(rule, min(counted, rule.max), confidence, 0.7)
    assert decision.wanted <= rule.max
    assert decision.complete or decision.wanted > min(counted, rule.max)


@given(payments=st.lists(st.integers(1, 500), max_size=60), percent=st.decimals(0, 100, places=2))
def test_fees_add_up_to_the_cent(payments: list[int], percent: float) -> None:
    exact = fees = 0
    for payment in payments:
        exact += fee_on(payment, float(percent))
        fee = fee_due(exact, fees)
        assert fee >= 0
        fees += fee
    assert abs(fees - sum(payments) * float(percent) / 100) <= 0.5 + 1e-9


def test_another_rate_does_not_touch_fees_of_before() -> None:
    exact = sum(fee_on(3, 30) for _ in range(10))
    booked = fee_due(exact, 0)
    assert booked == 9
    exact += fee_on(3, 0)
    assert fee_due(exact, booked) == 0


def test_wages() -> None:
    assert hourly_wage(3, 9_000) == 1200
    assert hourly_wage(3, 0) is None
    summary = wage_summary([(hourly, 3_600_000) for hourly in range(100, 1100, 100)] + [(5, 0)])
    assert (summary.workers, summary.median, summary.tenth_percentile) == (10, 550, 100)
    assert wage_summary([]).median is None
