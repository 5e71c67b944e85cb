"""Whatever a study's protocol is and whatever people do in it, these things hold."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from chorale.folder.reading import check_folder
from chorale.store import open_store, store_url
from chorale.store.arms import store_seed, stored_seed
from chorale.store.memory import MemoryStore, open_memory_store
from crowd import do, look
from examples import examples
from protocol_world import Step, World
from random_study import Drawn, studies, write_study

ACTS, PEOPLE, WAYS = 17, 10, 105


def walk(seed: int, length: int) -> list[Step]:
    chance = Random(seed)
    return [(chance.randrange(ACTS), chance.randrange(PEOPLE), chance.randrange(WAYS)) for _ in range(length)]


# Drawn one by one, steps are few and much the same, and far too little happens.
WALKS = st.builds(walk, st.integers(0, 10**9), st.integers(40, 140))
LISTS = st.lists(
    st.tuples(st.integers(0, ACTS - 1), st.integers(0, PEOPLE - 1), st.integers(0, WAYS - 1)), min_size=10, max_size=70
)
STEPS = WALKS | WALKS | WALKS | LISTS
FEW = settings(
    derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
EVERY = 20
"""Steps between two looks at everything."""


@pytest.fixture(autouse=True)
def same_gold_positions() -> None:
    """Here gold comes where the study's own secrets say."""


@cache
def _empty() -> MemoryStore:
    return open_memory_store()


REFUSED = ("can never be finished", "would never close")


def write_possible(folder: Path, drawn: Drawn) -> None:
    """Write the study, unless it lets too few people through: `chorale check` refuses that. Its budget is tight."""
    write_study(folder, replace(drawn, budget=None))
    _, problems = check_folder(folder)
    assume(not any(reason in problem.message for problem in problems for reason in REFUSED))
    if drawn.budget is not None:
        write_study(folder, replace(drawn, budget=1))
        [problem] = check_folder(folder)[1]
        write_study(folder, replace(drawn, budget=drawn.budget + int(problem.fix.split()[3])))


@contextmanager
def worlds(drawn: Drawn, count: int = 1) -> Iterator[list[World]]:
    """The same study, so many times, in memory."""
    with tempfile.TemporaryDirectory() as name:
        write_possible(Path(name), drawn)
        made = [World(Path(name), _empty().copy(), secrets) for secrets in range(count)]
        yield made
        for world in made:
            world.study.close()


def live(world: World, steps: list[Step]) -> None:
    for number, step in enumerate(steps, 1):
        world.take(step)
        if number % EVERY == 0:
            world.check()
    world.check()


def all_holds(drawn: Drawn, steps: list[Step]) -> None:
    with worlds(drawn) as [world]:
        live(world, steps)


def replays(drawn: Drawn, steps: list[Step]) -> None:
    with worlds(drawn, 2) as [first, again]:
        for step in steps:
            first.take(step)
        first.settle()
        seed = look(first.study, stored_seed)
        if seed is not None:
            do(again.study, lambda tx, _: store_seed(tx, seed))  # the draw of arms, repeated from its seed
        again.replay(first.log)
        known, found = first.state(), again.state()
        for what, stored in known.items():
            assert found[what] == stored, f"{what}: {found[what]}, recorded {stored}"


@settings(FEW, max_examples=examples(6, 12))
@given(studies(), STEPS)
def test_everything_holds_at_any_point(drawn: Drawn, steps: list[Step]) -> None:
    all_holds(drawn, steps)


@settings(FEW, max_examples=examples(4, 8))
@given(studies(), STEPS)
def test_the_recorded_answers_give_the_same_state(drawn: Drawn, steps: list[Step]) -> None:
    replays(drawn, steps)


@settings(FEW, max_examples=examples(2, 4))
@given(studies(), STEPS)
def test_everything_holds_on_disk(drawn: Drawn, steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_possible(folder, drawn)
        world = World(folder, open_store(store_url(None, folder / "study.db")))
        for step in steps:
            world.take(step)
        world.study.close()
        # Another process finds everything as it was left.
        world.study = world._opened(open_store(store_url(None, folder / "study.db")))
        world.check()
        world.study.close()


@pytest.mark.slow
@settings(FEW, max_examples=300, derandomize=False)
@given(studies(), STEPS)
def test_everything_holds_in_many_more_studies(drawn: Drawn, steps: list[Step]) -> None:
    all_holds(drawn, steps)
    replays(drawn, steps)
