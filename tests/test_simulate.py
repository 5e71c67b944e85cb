"""Simulated workers are as good, and as fast, as they say."""

from copy import deepcopy
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median
from typing import Literal

import pytest
from pydantic import BaseModel

from chorale.contract import Form, Shape, Task, installed_tasks
from chorale.model import UserError
from chorale.rehearsal.simulated import (
    AnswerSheet,
    Knowledge,
    Mode,
    WorkerModel,
    careless,
    choices_of,
    first_option_clicker,
    good,
    mixed_crowd,
    random_clicker,
)
from chorale.rehearsal.simulated.chance import Chance

CHOICES = ["a", "b", "c"]


def share_right(model: WorkerModel, truth: str = "c", times: int = 20_000) -> float:
    rng = Random(1)
    right = [model.answer(truth, CHOICES, rng) == truth for _ in range(times)]
    return right.count(True) / times


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (good(0.95), 0.95),
        (WorkerModel("perfect"), 1.0),
        (careless(0.75), 0.9 * 0.75 + 0.1 / 3),
        (random_clicker(), 1 / 3),
        (first_option_clicker(), 0.0),
    ],
    ids=lambda value: value.name if isinstance(value, WorkerModel) else "",
)
def test_workers_are_right_as_often_as_they_should_be(model: WorkerModel, expected: float) -> None:
    assert share_right(model) == pytest.approx(expected, abs=0.01)


def test_graders_on_a_site_agree_and_find_few_answers_bad() -> None:
    """Otherwise the gates of a simulated site would pass nearly nobody."""
    task = installed_tasks()["mcq-grade"]
    assert task.grading.marks is not None
    sheet, another = (AnswerSheet(task, [], "seed") for _ in range(2))
    views = [{"passage": "A text.", "question_1": f"Why {number}?", "question_2": "Who?"} for number in range(60)]
    grades = [sheet.likely_grade(str(number), view)[0] for number, view in enumerate(views)]
    assert grades == [another.likely_grade(str(number), view)[0] for number, view in enumerate(views)]
    marks = [task.grading.marks(grade).criteria.values() for grade in grades]
    means = [sum(criteria) / len(criteria) for criteria in marks]
    assert sum(mean >= 0.5 for mean in means) > 50 and len(set(means)) > 3


def test_a_first_option_clicker_is_right_where_the_first_option_is() -> None:
    assert share_right(first_option_clicker(), truth="a", times=50) == 1.0


def test_a_task_with_one_answer_can_only_be_answered_rightly() -> None:
    assert WorkerModel("hopeless", accuracy=0.0).answer("a", ["a"], Random(1)) == "a"


def test_times_spread_about_their_median() -> None:
    model, rng = WorkerModel("slow", pace=1.5, spread=0.4), Random(2)
    times = [model.seconds(10, rng) for _ in range(20_000)]
    assert median(times) == pytest.approx(15, rel=0.02)
    assert min(times) > 0
    assert sum(time > 15 * 1.49 for time in times) / len(times) == pytest.approx(0.16, abs=0.01)


def test_a_mixed_crowd() -> None:
    crowd = mixed_crowd(40, seed=5)
    names = [model.name for model in crowd]
    assert (names.count("good"), names.count("careless")) == (28, 7)
    assert (names.count("random clicker"), names.count("first-option clicker")) == (3, 2)
    assert all(0.90 <= model.accuracy <= 0.98 for model in crowd if model.name == "good")
    assert all(0.65 <= model.accuracy <= 0.80 for model in crowd if model.name == "careless")
    assert {model.mode for model in crowd} == set(Mode) - {Mode.COPY_PREVIOUS}
    assert crowd == mixed_crowd(40, seed=5) != mixed_crowd(40, seed=6)
    assert [len(mixed_crowd(size, 1)) for size in (0, 1, 7, 100)] == [0, 1, 7, 100]


def test_the_same_seed_gives_the_same_answers() -> None:
    first, second = Random(3), Random(3)
    model = careless()
    assert [model.answer("a", CHOICES, first) for _ in range(99)] == [
        model.answer("a", CHOICES, second) for _ in range(99)
    ]


def test_knowledge_is_by_content_and_not_by_the_order_of_fields() -> None:
    known = Knowledge([({"lhs": "x", "rhs": "y"}, "yes")])
    assert known.get({"rhs": "y", "lhs": "x"}) == "yes"
    assert known.get({"rhs": "x", "lhs": "y"}) is None


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class _OfColours(BaseModel):
    answer: Colour


class _OfNumbers(BaseModel):
    answer: Literal[1, 2]


class _OfText(BaseModel):
    answer: str


def _task(answer_type: type[BaseModel]) -> Task:
    return Task("a-task", 1, "?", Shape(BaseModel, answer_type), Form(Path("form.html")), ())


def test_where_nobody_knows_the_same_is_true_of_all_that_looks_the_same() -> None:
    sheet = AnswerSheet(installed_tasks()["rules-meaningful"], [], "1")
    alike = {sheet.prospects(f"payload {number}", {"phrase": "the ferry carry the cars"})[0] for number in range(30)}
    others = {
        sheet.prospects(f"other {number}", {"phrase": f"the ferry carry {number} cars"})[0] for number in range(30)
    }
    assert (len(alike), len(others)) == (1, 2)


def test_choices_come_from_the_task() -> None:
    assert {name: choices_of(task) for name, task in installed_tasks().items() if task.simulating.guess is None} == {
        "rules-meaningful": ["yes", "no"],
        "rules-entailment": ["yes", "no"],
        "rules-check": ["yes", "no"],
        "mcq-compare": ["first", "second"],
    }
    assert choices_of(_task(_OfColours)) == ["red", "blue"]
    assert choices_of(_task(_OfNumbers)) == [1, 2]
    with pytest.raises(UserError, match="a-task"):
        choices_of(_task(_OfText))


def test_chance_is_the_same_for_a_text_and_another_for_others() -> None:
    def drawn(chance: Chance) -> list[float]:
        return [chance.random(), chance.gauss(0.0, 1.0), chance.uniform(1, 2), float(chance.getrandbits(700))]

    used, texts = Chance("anything"), [f"item {number}" for number in range(50)]
    fresh = [drawn(Chance(text)) for text in texts]
    again = []
    for text in texts:
        used.seed(text)
        again.append(drawn(used))
    assert fresh == again
    assert len({number for row in fresh for number in row}) == 4 * len(texts)


def test_chance_is_even() -> None:
    """Over the texts as over what is drawn for one; where a hash ends and the next begins nothing is seen."""
    chance, times = Chance(), 20_000
    first = []
    for number in range(times):
        chance.seed(f"item {number}")
        first.append(chance.random())
    chance.seed("item")
    later = [chance.random() for _ in range(times)]
    for numbers in (first, later):
        tenths = [int(10 * number) for number in numbers]
        # Each tenth is drawn 2,000 times, give or take 42; and together with the one before as often as apart.
        assert all(abs(tenths.count(tenth) - times / 10) < 5 * 42.5 for tenth in range(10))
        pairs = sum(one == other for one, other in pairwise(tenths))
        assert abs(pairs - times / 10) < 5 * 42.5
    chosen = [chance.choice("abc") for _ in range(times)]
    assert all(abs(chosen.count(letter) - times / 3) < 5 * 67 for letter in "abc")
    assert sorted(chance.sample(range(100), 100)) == list(range(100))
    huge = [chance.randrange(3 << 99) >> 99 for _ in range(times)]
    assert all(abs(huge.count(third) - times / 3) < 5 * 67 for third in range(3))
    assert len({chance.randrange(1 << 100) % 1024 for _ in range(times)}) == 1024
    assert [chance.getrandbits(bits) < 2**bits for bits in (0, 1, 53, 511, 512, 513, 2000)] == [True] * 7


def test_chance_is_not_copied() -> None:
    for copied in (Chance.getstate, deepcopy, lambda chance: chance.setstate(Random(1).getstate())):
        with pytest.raises(NotImplementedError, match="seed it with the text"):
            copied(Chance("item"))
    assert Chance().random() == Chance("").random() != Chance("None").random()


def test_what_may_be_answered_does_not_depend_on_what_was_asked_before() -> None:
    task = installed_tasks()["mcq-write"]
    view = {"passage": "The ferry left at noon, and the keeper of the old harbour watched it from her window."}
    one, other = (AnswerSheet(task, [], "seed") for _ in range(2))
    (truth, guesses), (again, backwards) = one.prospects("1", view), other.prospects("1", view)
    places = range(len(guesses))
    shown = [guesses[place] for place in places]
    assert [backwards[place] for place in reversed(places)] == shown[::-1]
    assert truth == again and shown.count(truth) <= 1
    assert len({str(guess) for guess in shown}) > len(shown) / 2
