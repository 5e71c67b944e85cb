"""Tests for workers who act together: seldom wrong where all are honest, seldom blind where some are not."""

from collections.abc import Sequence
from random import Random

import pytest

from chorale.protocol.suspicion import Given, good_at_gold_only, groups_of, in_step, skippers, tail

HONEST, ITEMS, EACH = 24, 800, 5


def answers(rng: Random, gang: Sequence[str] = ()) -> list[Given]:
    """Labels of a study with items of different difficulty. Those of the group give one another's random answers."""
    workers = [f"w{number:02d}" for number in range(HONEST)]
    skill = {worker: rng.uniform(0.75, 0.98) for worker in workers}
    given = []
    for item in range(ITEMS):
        ease = rng.choice((0.75, 1.0, 1.0, 1.05))
        truth, agreed = rng.choice("ab"), rng.choice("ab")
        said = {}
        for worker in rng.sample(workers, EACH):
            right = rng.random() < min(0.99, skill[worker] * ease)
            said[worker] = agreed if worker in gang else (truth if right else "b" if truth == "a" else "a")
        label = max(sorted(set(said.values())), key=list(said.values()).count)
        given += [Given(worker, item, answer, label) for worker, answer in said.items()]
    return given


@pytest.mark.slow
def test_honest_workers_are_hardly_ever_suspected() -> None:
    looks = 60
    alarms = 0
    for seed in range(looks):
        rng = Random(seed)
        given = answers(rng)
        gold = {f"w{number:02d}": (sum(rng.random() < 0.88 for _ in range(8)), 8) for number in range(HONEST)}
        skips = {worker: (sum(rng.random() < rng.choice((0, 0.05, 0.1)) for _ in range(50)), 50) for worker in gold}
        alarms += bool(in_step(given)) + bool(good_at_gold_only(given, gold)) + bool(skippers(skips))
    # Three tests of one in a hundred each, at the most.
    assert alarms <= 4


def test_workers_who_give_the_same_answers_are_found() -> None:
    gang = tuple(f"w{number:02d}" for number in range(6))
    found = 0
    for seed in range(12):
        groups = groups_of(in_step(answers(Random(seed), gang)))
        assert all(set(group) <= set(gang) for group in groups)
        found += bool(groups)
    assert found >= 10


def test_two_who_share_items_with_hardly_anybody_else_are_not_suspected() -> None:
    """Two people per item: one answers all items, and each of the others has half of them."""
    given = []
    for item in range(120):
        other = "left" if item < 60 else "right"
        given += [Given(worker, item, "a", "a") for worker in ("busy", other)]
    assert in_step(given) == []


def test_who_is_right_on_gold_alone_is_found() -> None:
    liar = ("w00",)
    found = 0
    for seed in range(12):
        given = answers(Random(seed), liar)
        gold = {f"w{number:02d}": (8, 8) for number in range(HONEST)}
        suspects = {one.worker for one in good_at_gold_only(given, gold)}
        assert suspects <= set(liar)
        found += bool(suspects)
    assert found >= 7


def test_skippers_are_compared_with_others() -> None:
    usual = {f"w{number}": (3, 40) for number in range(10)}
    assert skippers(usual) == []
    [found] = skippers({**usual, "picky": (25, 40)})
    assert (found.worker, found.skipped, found.served) == ("picky", 25, 65)
    assert skippers({"alone": (1, 2)}) == []


def test_the_tail_of_a_binomial_distribution() -> None:
    assert tail(3, 10, 0.5) == pytest.approx(1 - (1 + 10 + 45) / 1024)
    assert (tail(0, 3, 0.0), tail(1, 3, 0.0), tail(4, 3, 0.5), tail(1, 3, 1.0)) == (1.0, 0.0, 0.0, 1.0)
