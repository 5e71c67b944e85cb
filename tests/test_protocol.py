"""Decisions, decided in unit tests."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chorale.model import EntrySettings, GoldRecord, GoldSettings, JudgmentSettings
from chorale.protocol import (
    decide_item,
    fee_due,
    gold_due,
    hourly_wage,
    may_enter,
    review_worker,
    trust,
    wage_summary,
)


@given(seed=st.integers(), share=st.floats(0.01, 0.5))
def test_gold_share_is_kept_within_one_stretch(seed: int, share: float) -> None:
    for length in (0, 37, 400):
        due = sum(gold_due(seed, served, share) for served in range(length))
        assert abs(due - length * share) <= 1


@given(seed=st.integers())
def test_one_gold_in_every_ten(seed: int) -> None:
    positions = [served for served in range(1000) if gold_due(seed, served, 0.1)]
    assert [position // 10 for position in positions] == list(range(100))


def test_gold_positions_differ_between_workers_and_stretches() -> None:
    places = Counter(served % 10 for seed in range(50) for served in range(200) if gold_due(seed, served, 0.1))
    assert set(places) == set(range(10))
    assert max(places.values()) < 2 * min(places.values())


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
    assert trust(GoldRecord(3, 4), unproven=0.6) == 0.75
    assert trust(GoldRecord(), unproven=0.6) == 0.6


@pytest.mark.parametrize(
    ("record", "dropped", "allowed", "reason"),
    [
        (None, [], False, "more work in first"),
        (GoldRecord(3, 3), [], False, "more work in first"),
        (GoldRecord(2, 4), [], False, "below what this part needs"),
        (GoldRecord(3, 4), [], True, "qualified"),
        (GoldRecord(9, 9), ["first"], False, "ended"),
        (GoldRecord(9, 9), ["third"], False, "your work in third was ended"),
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
    paid = fees = 0
    for payment in payments:
        paid += payment
        fee = fee_due(paid, fees, float(percent))
        assert fee >= 0
        fees += fee
    assert abs(fees - paid * float(percent) / 100) <= 0.5 + 1e-9


def test_wages() -> None:
    assert hourly_wage(3, 9_000) == 1200
    assert hourly_wage(3, 0) is None
    summary = wage_summary([(hourly, 3_600_000) for hourly in range(100, 1100, 100)] + [(5, 0)])
    assert (summary.workers, summary.median, summary.tenth_percentile) == (10, 550, 100)
    assert wage_summary([]).median is None
