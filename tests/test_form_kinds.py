"""The kinds of fields beyond choices, texts and spans: what answers may be, and what becomes of many of them."""

import json
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from chorale.contract import AnswerError, ItemError, Task, installed_tasks
from chorale.folder.reading import check_folder
from chorale.model import Judgment

FORM = installed_tasks()["form"]
Settings = dict[str, Any]
TEXT = "Ada Lovelace wrote to Charles Babbage in London ."
DIALOGUE = [
    {"speaker": "User", "text": "Where is my parcel?"},
    {"speaker": "Bot", "text": "It arrives on Monday."},
    {"speaker": "User", "text": "Thank you!"},
    {"speaker": "Bot", "text": "You are welcome."},
]
TUPLE = [{"id": name, "text": f"The text {name}"} for name in "abcd"]
ROW = {"text": TEXT, "talk": DIALOGUE, "four": TUPLE, "picture": "media/a.png", "sound": "media/a.wav"}
ROW |= {"one": "First text", "two": "Second text", "three": "Third text"}

SLIDER: Settings = {"name": "x", "kind": "slider", "ask": "How much?", "step": 5, "tolerance": 10}
NUMBER: Settings = {"name": "x", "kind": "number", "ask": "How heavy?", "min": -1.5, "max": 10, "unit": "kg"}
FREE: Settings = {"name": "x", "kind": "number", "ask": "How many?", "step": 1}
DATE: Settings = {"name": "x", "kind": "date", "ask": "When?", "earliest": "2020-01-01", "latest": "2020-12-31"}
MATRIX: Settings = {
    "name": "x",
    "kind": "matrix",
    "ask": "How good?",
    "rows": ["fluent", {"value": "true", "label": "Is it true?"}],
    "levels": 5,
    "tolerance": 1,
}
RANKING: Settings = {"name": "x", "kind": "ranking", "ask": "Order?", "sides": ["one", "two", "three"]}
RANKED: Settings = {"name": "x", "kind": "ranking", "ask": "Order?", "options": ["a", "b", "c", "d"], "enough": 0.8}
BEST: Settings = {"name": "x", "kind": "best_worst", "ask": "Which?", "item": "four", "shuffle": True}
TURNS: Settings = {
    "name": "x",
    "kind": "turn_choice",
    "ask": "Is it helpful?",
    "item": "talk",
    "options": ["yes", "no"],
    "speakers": ["Bot"],
}
TURN_SPANS: Settings = {"name": "x", "kind": "turn_spans", "ask": "Where?", "item": "talk", "options": ["good", "bad"]}
BOXES: Settings = {"name": "x", "kind": "boxes", "ask": "Where?", "item": "picture", "options": ["cat", "dog"]}
POLYGONS: Settings = {"name": "x", "kind": "polygons", "ask": "Where?", "item": "picture"}
SEGMENTS: Settings = {"name": "x", "kind": "segments", "ask": "When?", "item": "sound", "options": ["speech", "music"]}
RELATIONS: Settings = {
    "name": "x",
    "kind": "relations",
    "ask": "Who?",
    "item": "text",
    "options": ["person", "place"],
    "relations": ["knows", {"value": "in", "label": "is in", "from": ["person"], "to": ["place"]}],
}
ALL = (
    SLIDER,
    NUMBER,
    FREE,
    DATE,
    MATRIX,
    RANKING,
    RANKED,
    BEST,
    TURNS,
    TURN_SPANS,
    BOXES,
    POLYGONS,
    SEGMENTS,
    RELATIONS,
)


def form(*fields: Settings, **options: Any) -> Task:
    return FORM.configured(FORM.options.model.model_validate({"fields": fields, **options}))


def judged(*values: Any, trust: tuple[float, ...] | None = None) -> list[Judgment]:
    weights = trust or (0.8,) * len(values)
    return [Judgment(f"w{number}", {"x": value}, weights[number]) for number, value in enumerate(values)]


def combined(settings: Settings, *values: Any, trust: tuple[float, ...] | None = None) -> tuple[Any, Any]:
    task = form(settings)
    parsed = [task.shape.parse_answer({"x": value}, ROW)["x"] for value in values]
    result = task.combining.combine(judged(*parsed, trust=trust))
    assert result is not None
    return result.answer["x"], result.confidence


def distance(settings: Settings, left: Any, right: Any) -> float:
    task = form(settings)
    one, other = (task.shape.parse_answer({"x": value}, ROW) for value in (left, right))
    apart = task.combining.distance(one, other)
    assert apart == pytest.approx(task.combining.distance(other, one))
    return apart


def box(x: float, y: float, width: float, height: Any, label: str = "cat") -> dict[str, Any]:
    return {"x": x, "y": y, "width": width, "height": height, "label": label}


def span(start: int, end: int, label: str) -> dict[str, Any]:
    return {"start": start, "end": end, "label": label}


GRAPH = {
    "spans": [span(7, 8, "place"), span(0, 2, "person"), span(4, 6, "person")],
    "relations": [{"from": 1, "to": 2, "label": "knows"}, {"from": 2, "to": 0, "label": "in"}],
}

RIGHT: list[tuple[Settings, Any]] = [
    (SLIDER, 35),
    (NUMBER, 2.25),
    (FREE, -12),
    (DATE, "2020-02-29"),
    (MATRIX, {"true": 5, "fluent": 1}),
    (RANKING, ["two", "one", "three"]),
    (BEST, {"best": "c", "worst": "a"}),
    (TURNS, [{"turn": 3, "value": "yes"}, {"turn": 1, "value": "no"}]),
    (TURN_SPANS, [{"turn": 2, "start": 0, "end": 1, "label": "good"}]),
    (BOXES, [box(0.1, 0.2, 0.3, 0.4), box(0.5, 0.5, 0.5, 0.5, "dog")]),
    (POLYGONS, [{"points": [[0, 0], [1, 0], [0.5, 1]]}]),
    (SEGMENTS, [{"start": 1, "end": 2.5, "label": "speech"}]),
    (RELATIONS, GRAPH),
]
WRONG: list[tuple[Settings, Any]] = [
    (SLIDER, 33),
    (SLIDER, 105),
    (SLIDER, True),
    (SLIDER, "35"),
    (NUMBER, float("nan")),
    (NUMBER, float("inf")),
    (NUMBER, 10**400),
    (NUMBER, -2),
    (FREE, 1.5),
    (DATE, "2020-02-30"),
    (DATE, "2019-12-31"),
    (DATE, "20200229"),
    (DATE, 20200229),
    (MATRIX, {"fluent": 1}),
    (MATRIX, {"fluent": 1, "true": 6}),
    (MATRIX, {"fluent": 1, "true": True}),
    (MATRIX, {"fluent": 1, "true": 2, "more": 3}),
    (MATRIX, [1, 2]),
    (RANKING, ["two", "one"]),
    (RANKING, ["two", "two", "one"]),
    (RANKING, "two"),
    (RANKING, [["two"], "one", "three"]),
    (BEST, {"best": "a", "worst": "a"}),
    (BEST, {"best": "a", "worst": "z"}),
    (BEST, {"best": "a"}),
    (BEST, {"best": ["a"], "worst": "b"}),
    (TURNS, [{"turn": 1, "value": "yes"}]),
    (TURNS, [{"turn": 0, "value": "yes"}, {"turn": 1, "value": "no"}, {"turn": 3, "value": "no"}]),
    (TURNS, [{"turn": 1, "value": "yes"}, {"turn": 1, "value": "no"}]),
    (TURNS, [{"turn": 1.0, "value": "yes"}, {"turn": 3, "value": "no"}]),
    (TURNS, [{"turn": 10**30, "value": "yes"}]),
    (TURNS, []),
    (TURN_SPANS, [{"turn": 9, "start": 0, "end": 1, "label": "good"}]),
    (TURN_SPANS, [{"turn": 2, "start": 0, "end": 9, "label": "good"}]),
    (TURN_SPANS, [{"start": 0, "end": 1, "label": "good"}]),
    (TURN_SPANS, [{"turn": 2, "start": 0, "end": 1, "label": "ugly"}]),
    (BOXES, [box(0.9, 0, 0.2, 0.1)]),
    (BOXES, [box(0, 0, 0, 0.1)]),
    (BOXES, [box(0, 0, 0.1, float("nan"))]),
    (BOXES, [box(0, 0, 0.1, 0.1, "cow")]),
    (BOXES, [{"x": 0, "y": 0, "width": 1, "height": 1}]),
    (BOXES, [box(0, 0, 0.1, 0.1)] * 201),
    (POLYGONS, [{"points": [[0, 0], [1, 1]]}]),
    (POLYGONS, [{"points": [[0, 0], [1, 0], [0.5, 2]]}]),
    (POLYGONS, [{"points": [[0, 0, 0], [1, 0], [0.5, 1]]}]),
    (POLYGONS, [{"points": [[0, 0]] * 201}]),
    (SEGMENTS, [{"start": 2, "end": 2, "label": "speech"}]),
    (SEGMENTS, [{"start": -1, "end": 2, "label": "speech"}]),
    (SEGMENTS, [{"start": 0, "end": 10**9, "label": "speech"}]),
    (SEGMENTS, []),
    (RELATIONS, {"spans": GRAPH["spans"]}),
    (RELATIONS, {"spans": GRAPH["spans"], "relations": [{"from": 0, "to": 9, "label": "knows"}]}),
    (RELATIONS, {"spans": GRAPH["spans"], "relations": [{"from": 1, "to": 1, "label": "knows"}]}),
    (RELATIONS, {"spans": GRAPH["spans"], "relations": [{"from": 0, "to": 1, "label": "in"}]}),
    (RELATIONS, {"spans": GRAPH["spans"], "relations": [{"from": True, "to": 2, "label": "knows"}]}),
    (RELATIONS, {"spans": GRAPH["spans"], "relations": [{"from": 1, "to": 2, "label": ["knows"]}]}),
    (RELATIONS, {"spans": [span(0, 99, "person")], "relations": []}),
]


@pytest.mark.parametrize(("settings", "value"), RIGHT)
def test_an_answer_is_taken_and_shown_in_words(settings: Settings, value: Any) -> None:
    task = form(settings)
    answer = task.shape.parse_answer({"x": value}, ROW)
    assert task.shape.parse_answer(json.loads(json.dumps(answer)), ROW) == answer, "reading it again changes nothing"
    assert task.combining.distance(answer, answer) == 0
    assert task.grading.grade(answer, task.shape.parse_gold({"x": value}, ROW)).score == 1
    (field,) = task.shape.fields
    assert field.words(answer["x"], ROW)
    assert all(set(row) <= set(field.columns) for row in field.rows(answer["x"], ROW))


@pytest.mark.parametrize(("settings", "value"), WRONG)
def test_what_is_no_answer_is_refused_in_words(settings: Settings, value: Any) -> None:
    with pytest.raises(AnswerError, match="x"):
        form(settings).shape.parse_answer({"x": value}, ROW)


@pytest.mark.parametrize("settings", ALL, ids=lambda settings: settings["kind"])
@pytest.mark.parametrize(
    "value", [None, 0, "", "<script>", [], {}, [None], [[]], [{}], {"spans": 1, "relations": 1}, "\0"]
)
def test_anything_may_arrive(settings: Settings, value: Any) -> None:
    task = form({**settings, "required": True})
    with suppress(AnswerError):
        task.shape.parse_answer({"x": value}, ROW)


@pytest.mark.parametrize("settings", ALL, ids=lambda settings: settings["kind"])
def test_simulated_answers_can_be_submitted_and_combined(settings: Settings) -> None:
    task = form(settings)
    item = task.shape.parse_item(ROW)
    view, guess = task.form.view(item), task.simulating.guess
    assert guess is not None
    answers = [task.shape.parse_answer(guess(view, None, Random(seed)), item) for seed in range(12)]
    assert task.shape.parse_answer(guess(view, None, None), item) == task.shape.parse_answer(
        guess(view, None, None), item
    )
    known = guess(view, answers[0], Random(1))
    assert task.shape.parse_answer(known, item) == answers[0]
    judgments = [Judgment(f"w{number}", answer, 0.5 + number / 30) for number, answer in enumerate(answers)]
    result = task.combining.combine(judgments)
    assert result is not None
    assert 0 <= result.confidence <= 1
    again = task.combining.combine(list(reversed(judgments)))
    assert again == result, "who came first does not matter"
    for left in answers[:4]:
        for right in answers[:4]:
            apart = task.combining.distance(left, right)
            assert 0 <= apart <= 1
            assert apart == pytest.approx(task.combining.distance(right, left))


def test_numbers() -> None:
    assert combined(SLIDER, 10, 20, 95) == (20, pytest.approx(1 - (0.1 + 0 + 0.75) / 3))
    assert combined(SLIDER, 10, 20)[0] == 15
    assert combined(SLIDER, 10, 20, 95, trust=(0.1, 0.1, 0.9))[0] == 95
    assert distance(SLIDER, 0, 50) == 0.5
    assert distance(FREE, 10, 20) == 0.5
    task = form(SLIDER)
    assert task.grading.grade({"x": 45}, {"x": 35}).score == 1
    assert task.grading.grade({"x": 50}, {"x": 35}).reasons == ("x: answered 50; the correct answer is 35",)
    assert form(NUMBER).shape.fields[0].words(2.5, ROW) == "2.5 kg"


def test_dates() -> None:
    assert combined(DATE, "2020-03-01", "2020-03-01", "2020-03-02") == ("2020-03-01", pytest.approx(2 / 3))
    assert distance(DATE, "2020-01-01", "2020-12-31") == 1
    near = form({**DATE, "tolerance": 3})
    assert near.grading.grade({"x": "2020-03-04"}, {"x": "2020-03-01"}).score == 1
    assert near.grading.grade({"x": "2020-03-05"}, {"x": "2020-03-01"}).score == 0


def test_tables_of_ratings() -> None:
    low, high = {"fluent": 1, "true": 1}, {"fluent": 5, "true": 3}
    assert distance(MATRIX, low, high) == pytest.approx((1 + 0.5) / 2)
    assert combined(MATRIX, low, low, high) == (low, pytest.approx(2 / 3))
    graded = form(MATRIX).grading.grade({"x": high}, {"x": {"fluent": 4, "true": 1}})
    assert graded.reasons == ("x: true: answered 3; the correct answer is 1",)


def test_rankings() -> None:
    assert distance(RANKED, list("abcd"), list("dcba")) == 1
    assert distance(RANKED, list("abcd"), list("abdc")) == pytest.approx(1 / 6)
    assert combined(RANKED, list("abcd"), list("abdc"), list("bacd"))[0] == list("abcd")
    task = form(RANKED)
    assert task.grading.grade({"x": list("abdc")}, {"x": list("abcd")}).score == 1
    assert task.grading.grade({"x": list("badc")}, {"x": list("abcd")}).score == 0
    assert form(RANKING).shape.fields[0].words(["two", "one", "three"], ROW).startswith("1. “Second text”")


def test_best_and_worst() -> None:
    first, second = {"best": "a", "worst": "d"}, {"best": "b", "worst": "d"}
    assert combined(BEST, first, first, second) == (first, pytest.approx(2 / 3))
    assert distance(BEST, first, second) == 0.5
    both = [{"best": "a", "worst": "b"}, {"best": "b", "worst": "a"}]
    result, _ = combined(BEST, *both)
    assert result["best"] != result["worst"]
    assert form(BEST).shape.fields[0].words(first, ROW) == "Best: “The text a”; Worst: “The text d”"


def test_turns_are_compared_turn_by_turn() -> None:
    right = [{"turn": 1, "value": "yes"}, {"turn": 3, "value": "yes"}]
    half = [{"turn": 1, "value": "yes"}, {"turn": 3, "value": "no"}]
    assert distance(TURNS, right, half) == 0.5
    assert combined(TURNS, right, right, half) == (right, pytest.approx((1 + 2 / 3) / 2))
    task = form(TURNS)
    gold = task.shape.parse_gold({"x": [{"turn": 1, "value": "yes"}]}, ROW)
    assert task.grading.grade({"x": half}, gold).score == 1, "gold grades the turns it has"
    assert task.grading.grade({"x": half}, {"x": right}).score == 0
    guess = task.simulating.guess
    assert guess is not None
    assert len(guess(task.form.view(ROW), gold, Random(1))["x"]) == 2, "and the others are made up"


def test_spans_in_turns_do_not_touch() -> None:
    first = [{"turn": 0, "start": 0, "end": 2, "label": "good"}]
    other = [{"turn": 1, "start": 0, "end": 2, "label": "good"}]
    assert distance(TURN_SPANS, first, other) == 1
    assert combined(TURN_SPANS, first, first, other)[0] == first
    task = form(TURN_SPANS)
    quoted = [{"turn": 1, "text": "Monday", "label": "good"}]
    gold = task.shape.parse_gold({"x": quoted}, ROW)
    assert gold["x"] == [{"turn": 1, "start": 3, "end": 4, "label": "good"}]
    assert task.shape.fields[0].words(gold["x"], ROW) == "2: “Monday” (good)"


def test_boxes_that_overlap_are_one() -> None:
    first, near, other = box(0, 0, 0.5, 0.5), box(0, 0, 0.5, 0.4), box(0, 0, 0.5, 0.5, "dog")
    assert distance(BOXES, [first], [near]) == pytest.approx(0.2)
    assert distance(BOXES, [first], [other]) == 1
    result, sure = combined(BOXES, [first], [near], [first, other])
    assert result == [box(0, 0, 0.5, pytest.approx(0.4667, abs=1e-4))]
    assert 0.7 < sure < 0.95


def test_polygons() -> None:
    square = {"points": [[0, 0], [0.5, 0], [0.5, 0.5], [0, 0.5]]}
    half = {"points": [[0, 0], [0.5, 0], [0.5, 0.25], [0, 0.25]]}
    triangle = {"points": [[0, 0], [0.5, 0], [0, 0.5]]}
    assert distance(POLYGONS, [square], [half]) == pytest.approx(0.5, abs=0.01)
    assert distance(POLYGONS, [square], [triangle]) == pytest.approx(0.5, abs=0.01)
    assert combined(POLYGONS, [square], [square], [triangle])[0] == [square]
    line = {"points": [[0, 0], [0.5, 0], [1, 0]]}
    assert distance(POLYGONS, [line], [square]) == 1


def test_segments() -> None:
    first, late = {"start": 0, "end": 2, "label": "speech"}, {"start": 1.5, "end": 3.5, "label": "speech"}
    assert distance(SEGMENTS, [first], [late]) == pytest.approx(1 - 0.5 / 3.5)
    assert combined(SEGMENTS, [first], [{**first, "end": 3}], [late])[0] == [
        {"start": 0, "end": 2.5, "label": "speech"}
    ]


@pytest.mark.parametrize("number", [10**400, -(10**400), float("nan"), float("inf"), True])
def test_a_place_that_no_number_can_be_is_refused(number: Any) -> None:
    """A number of 400 digits was an error of the server."""
    with pytest.raises(AnswerError, match="has a number that is not from 0 to"):
        form(SEGMENTS).shape.parse_answer({"x": [{"start": 0, "end": number, "label": "speech"}]}, ROW)


def test_relations_go_by_their_spans() -> None:
    task = form(RELATIONS)
    parsed = task.shape.parse_answer({"x": GRAPH}, ROW)["x"]
    assert parsed["relations"] == [{"from": 0, "to": 1, "label": "knows"}, {"from": 1, "to": 2, "label": "in"}]
    without = {"spans": GRAPH["spans"], "relations": []}
    assert distance(RELATIONS, GRAPH, without) == 0.5
    assert combined(RELATIONS, GRAPH, GRAPH, without)[0] == parsed
    quoted = {
        "spans": [{"text": "London", "label": "place"}, {"text": "Ada Lovelace", "label": "person"}],
        "relations": [{"from": 1, "to": 0, "label": "in"}],
    }
    gold = task.shape.parse_gold({"x": quoted}, ROW)["x"]
    assert gold == {
        "spans": [span(0, 2, "person"), span(7, 8, "place")],
        "relations": [{"from": 0, "to": 1, "label": "in"}],
    }
    words = task.shape.fields[0].words(gold, ROW)
    assert words == "“Ada Lovelace” (person), “London” (place); “Ada Lovelace” → is in → “London”"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("talk", []),
        ("talk", "text"),
        ("talk", [{"speaker": "Bot"}]),
        ("talk", [{"speaker": "Bot", "text": " "}]),
        ("four", TUPLE[:2]),
        ("four", [*TUPLE[:3], TUPLE[0]]),
        ("four", ["a", "b", "c"]),
        ("picture", "../secret.png"),
        ("picture", "/etc/a.png"),
        ("picture", "media/../../a.png"),
        ("picture", ".hidden/a.png"),
        ("picture", "gold.jsonl"),
        ("picture", "a\\b.png"),
        ("picture", "media/a.wav"),
        ("picture", "https://elsewhere.example/a.png"),
        ("picture", "javascript:alert(1)//.png\n"),
        ("sound", "media/a.png"),
    ],
)
def test_columns_that_do_not_fit_are_refused(column: str, value: Any) -> None:
    task = form(*({**each, "name": each["kind"]} for each in (TURNS, BEST, BOXES, SEGMENTS)))
    task.shape.parse_item(ROW)
    with pytest.raises(ItemError, match=column):
        task.shape.parse_item({**ROW, column: value})


def test_media_may_come_from_listed_servers() -> None:
    task = form(BOXES, hosts=["https://media.example.org"])
    address = "https://media.example.org/a.png"
    assert task.shape.parse_item({**ROW, "picture": address})["picture"] == address


@pytest.mark.parametrize(
    "settings",
    [
        {**SLIDER, "max": 0},
        {**SLIDER, "step": 200},
        {**SLIDER, "labels": ["a", "b", "c"]},
        {**NUMBER, "min": 20},
        {**NUMBER, "options": ["a", "b"]},
        {**DATE, "latest": "2019-01-01"},
        {**DATE, "min": 3},
        {**MATRIX, "rows": []},
        {**MATRIX, "rows": ["a", "a"]},
        {**MATRIX, "tolerance": 4},
        {**RANKING, "options": ["a", "b"]},
        {**RANKING, "sides": ["one"]},
        {**RANKING, "sides": ["one", "one"]},
        {key: value for key, value in RANKING.items() if key != "sides"},
        {key: value for key, value in BEST.items() if key != "item"},
        {key: value for key, value in RELATIONS.items() if key != "options"},
        {**RELATIONS, "relations": [{"value": "in", "from": ["thing"]}]},
        {**TURNS, "options": ["a"]},
        {**BOXES, "min": 1.5},
        {**SEGMENTS, "min": -1},
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: Settings) -> None:
    with pytest.raises(ValueError, match=r"fields\.0|FieldSettings"):
        FORM.options.model.model_validate({"fields": [settings]})


def test_a_field_may_be_filled_in_at_first() -> None:
    task = form({**BOXES, "prefill": "suggested"})
    suggested = [box(0.1, 0.1, 0.2, 0.2)]
    assert task.form.view(task.shape.parse_item({**ROW, "suggested": suggested}))["suggested"] == suggested
    assert "suggested" not in task.form.view(task.shape.parse_item(ROW)), "an item may go without"
    with pytest.raises(ItemError, match="it cannot prefill the field `x`"):
        task.shape.parse_item({**ROW, "suggested": [box(0.9, 0.1, 0.2, 0.2)]})


def test_check_names_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("Read.\n")
    (tmp_path / "items.jsonl").write_text(json.dumps({"id": "a", **ROW}) + "\n")
    (tmp_path / "study.toml").write_text(
        """\
study = { title = "A form", contact = "team@example.org", consent = "text.md" }
[[stage]]
name = "only"
title = "The only stage"
task = "form"
guidelines = "text.md"
items = { file = "items.jsonl" }
[[stage.options.fields]]
name = "x"
kind = "slider"
ask = "How much?"
min = 5
max = 5
"""
    )
    _, problems = check_folder(tmp_path)
    assert any("equals `min`" in str(problem) and "study.toml:13" in str(problem) for problem in problems)
