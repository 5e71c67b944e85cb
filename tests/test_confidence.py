"""Trust-weighted confidence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chorale.metrics.aggregation import Share, trust_weighted_share

VOTES = st.lists(st.tuples(st.sampled_from(["yes", "no", "other"]), st.floats(0, 1)), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([], None),
        ([("yes", 0.9)], Share("yes", 1.0)),
        ([("yes", 1.0), ("no", 1.0), ("yes", 1.0)], Share("yes", 2 / 3)),
        # Two doubtful workers against one who was always right: 0.9 of 1.9.
        ([("yes", 0.45), ("yes", 0.45), ("no", 1.0)], Share("no", 1.0 / 1.9)),
        ([("no", 0.5), ("yes", 0.5)], Share("no", 0.5)),
        ([("yes", 0.0), ("yes", 0.0), ("no", 0.0)], Share("yes", 2 / 3)),
    ],
)
def test_by_hand(votes: list[tuple[str, float]], expected: Share | None) -> None:
    found = trust_weighted_share(votes)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert found.answer == expected.answer
        assert found.confidence == pytest.approx(expected.confidence)


@given(votes=VOTES, seed=st.randoms())
def test_the_order_of_votes_does_not_matter(votes: list[tuple[str, float]], seed: object) -> None:
    shuffled = votes.copy()
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    assert trust_weighted_share(votes) == trust_weighted_share(shuffled)


@given(votes=VOTES)
def test_a_share_is_a_share(votes: list[tuple[str, float]]) -> None:
    found = trust_weighted_share(votes)
    assert found is not None
    assert 0 < found.confidence <= 1
    assert found.confidence >= 1 / 3 - 1e-9
