"""The form task: what a study file can ask for, what answers may be, and what becomes of many of them."""

import asyncio
import csv
import json
import re
import socket
import threading
import tomllib
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.contract import AnswerError, ItemError, Seeds, Task, installed_tasks
from chorale.engine.clock import wall_clock
from chorale.engine.opening import open_study
from chorale.exchange.export import export_file_name, export_formats, write_export
from chorale.folder.reading import check_folder, load_folder
from chorale.folder.templates import create_study
from chorale.kits.forms.task.tokens import excerpt, pieces, tokens
from chorale.kits.rules.commands.demonstration import StudyTruth
from chorale.model import Judgment, UserError
from chorale.platforms.simulated import CrowdSite, SimulatedTime, run_crowd
from chorale.rehearsal.over_http import Joining, crowd_members
from chorale.rehearsal.simulated import good, prospects, random_clicker
from chorale.web.app import create_app
from crowd import Person, look, people

FORM = installed_tasks()["form"]
TEXT = "Please do not shout, you two!"
Settings = dict[str, Any]
ROW = {"text": TEXT, "left": "Yes, of course.", "right": "Certainly."}

CHOICE: Settings = {
    "name": "one",
    "kind": "choice",
    "ask": "Which?",
    "options": ["a", "b", {"value": "c", "label": "The third"}],
}
CHOICES: Settings = {
    "name": "some",
    "kind": "choices",
    "ask": "Which ones?",
    "options": ["x", "y", "z"],
    "none": "None",
}
LIKERT: Settings = {"name": "scale", "kind": "likert", "ask": "How much?", "levels": 7, "tolerance": 1}
LINE: Settings = {"name": "line", "kind": "text", "ask": "In a word?", "max": 20}
LONG: Settings = {"name": "long", "kind": "long_text", "ask": "Why?", "min": 5, "max_words": 6}
SPANS: Settings = {"name": "spans", "kind": "spans", "ask": "Where?", "item": "text"}
LABELLED: Settings = {
    "name": "labelled",
    "kind": "spans",
    "ask": "What?",
    "item": "text",
    "options": ["good", "bad"],
    "max": 2,
}
OVERLAPPING: Settings = {
    "name": "over",
    "kind": "spans",
    "ask": "What?",
    "item": "text",
    "overlap": True,
    "match": "exact",
}
PAIR: Settings = {
    "name": "pair",
    "kind": "pair",
    "ask": "Which is better?",
    "sides": ["left", "right"],
    "same": "Neither",
}
LATER: Settings = {"name": "later", "kind": "text", "ask": "Why b?", "shown_if": {"field": "one", "is": "b"}}
ALL = (CHOICE, CHOICES, LIKERT, LINE, LONG, SPANS, LABELLED, OVERLAPPING, PAIR)


def form(*fields: dict[str, Any], **options: Any) -> Task:
    """The task with these fields."""
    return FORM.configured(FORM.options.model.model_validate({"fields": fields, **options}))


def span(start: int, end: int, label: str | None = None) -> dict[str, Any]:
    return {"start": start, "end": end} | ({} if label is None else {"label": label})


def judged(*answers: Any, trust: float | tuple[float, ...] = 0.8) -> list[Judgment]:
    trusts = trust if isinstance(trust, tuple) else (trust,) * len(answers)
    return [Judgment(f"w{number}", each, trusts[number]) for number, each in enumerate(answers)]


# Tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't shout, please!", ["Don't", "shout", ",", "please", "!"]),
        ("a well-known e.g. (3.5)", ["a", "well-known", "e.g", ".", "(", "3.5", ")"]),
        ("wait...", ["wait", "..."]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा", "।"]),
        ("ok 👍🏽👍🏽!!", ["ok", "👍🏽👍🏽", "!!"]),
        ("  ", []),
        (["New York", "is", "big"], ["New York", "is", "big"]),
    ],
)
def test_tokens(text: str | list[str], expected: list[str]) -> None:
    assert tokens(text) == expected


@given(st.text())
def test_pieces_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text.strip() or not tokens(text)
    assert all(token.strip() for token in tokens(text))
    assert excerpt(text, 0, len(tokens(text))) == text.strip() or not tokens(text)


# Answers


@pytest.mark.parametrize(
    ("field", "raw", "parsed"),
    [
        (CHOICE, "c", "c"),
        (CHOICES, ["z", "x"], ["x", "z"]),
        (CHOICES, [], []),
        (LIKERT, 7, 7),
        (LINE, "  two\n words ", "two words"),
        (LONG, " one\ntwo ", "one\ntwo"),
        (SPANS, [span(5, 6), span(0, 2)], [span(0, 2), span(5, 6)]),
        (LABELLED, [span(0, 1, "good"), span(1, 2, "good")], [span(0, 1, "good"), span(1, 2, "good")]),
        (OVERLAPPING, [span(0, 3), span(1, 2)], [span(0, 3), span(1, 2)]),
        (PAIR, "same", "same"),
        (PAIR, "left", "left"),
    ],
)
def test_answers_come_out_in_one_form(field: dict[str, Any], raw: Any, parsed: Any) -> None:
    task = form(field)
    assert task.shape.parse_answer({field["name"]: raw}, ROW) == {field["name"]: parsed}


@pytest.mark.parametrize(
    ("field", "raw", "told"),
    [
        (CHOICE, "d", "`one` is not one of a, b, c"),
        (CHOICE, ["a"], "`one` is not one of a, b, c"),
        (CHOICES, ["x", "x"], "has the same option twice"),
        (CHOICES, ["w"], "has an option that is not one of x, y, z"),
        (CHOICES, "x", "is not a list of options"),
        (CHOICES | {"none": None}, [], "has 0 options but must have from 1 to 3"),
        (CHOICES | {"min": 2}, ["x"], "has 1 option but must have none or from 2 to 3"),
        (LIKERT, 0, "is not one of 1, 2"),
        (LIKERT, True, "is not one of 1, 2"),
        (LIKERT, 1.0, "is not one of 1, 2"),
        (LINE, " ", "has 0 characters but must have 1 to 20"),
        (LINE, "x" * 21, "has 21 characters but must have 1 to 20"),
        (LINE, 5, "is not text"),
        (LINE, "a\0b", "has characters that can't be stored"),
        (LINE, "\ud800", "has characters that can't be stored"),
        (LONG, "four", "has 4 characters"),
        (LONG, "one two three four five six seven", "has 7 words but must have at most 6"),
        (LONG | {"min_words": 3}, "one two", "has 2 words but must have at least 3"),
        (LONG, "他在骂人，太粗鲁了", "has 8 words but must have at most 6"),
        (SPANS, [], "has 0 spans but must have at least 1"),
        (SPANS, [span(2, 2)], "whose end is not after its start"),
        (SPANS, [span(-1, 2)], "whose end is not after its start"),
        (SPANS, [{"start": 0, "end": True}], "whose end is not after its start"),
        (SPANS, [span(0, 10**30)], "whose end is not after its start"),
        (SPANS, [span(0, 99)], "has a span beyond the 8 tokens of the text"),
        (SPANS, [span(0, 2), span(1, 3)], "has spans that overlap"),
        (SPANS, [span(0, 2, "good")], "has a span whose keys are not exactly start, end"),
        (LABELLED, [span(0, 2)], "has a span whose keys are not exactly start, label, end"),
        (LABELLED, [span(0, 2, "ugly")], "whose label is not one of good, bad"),
        (LABELLED, [span(0, 1, "bad"), span(1, 2, "bad"), span(2, 3, "bad")], "has 3 spans but must have at most 2"),
        (OVERLAPPING, [span(0, 2), span(0, 2)], "has the same span twice"),
        (PAIR, "middle", "is not one of left, right, same"),
        (PAIR | {"same": None}, "same", "is not one of left, right"),
    ],
)
def test_answers_that_can_t_be_are_refused(field: dict[str, Any], raw: Any, told: str) -> None:
    with pytest.raises(AnswerError) as refused:
        form(field).shape.parse_answer({field["name"]: raw}, ROW)
    assert told in str(refused.value)
    assert str(refused.value).startswith(f"Invalid answer: `{field['name']}` ")


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ({}, "`one` is required but missing"),
        ({"one": "b"}, "`later` is required but missing"),
        ({"one": "a", "later": "x"}, "must not have `later`, which is asked only after certain answers to `one`"),
        ({"one": "a", "two": 1}, "must have only the form's fields, but has 'two'"),
        ("a", "must be an object with an answer for each field (found 'a')"),
        ({"one": None}, "`one` is not one of a, b, c (found null)"),
    ],
)
def test_what_is_asked_must_be_there_and_nothing_else(raw: Any, told: str) -> None:
    with pytest.raises(AnswerError) as refused:
        form(CHOICE, LATER).shape.parse_answer(raw)
    assert str(refused.value) == f"Invalid answer: {told}"


@pytest.mark.parametrize(
    ("field", "raw", "told"),
    [
        (CHOICE, "d", "`one` is not one of a, b, c (found 'd')"),
        (CHOICE, "No. Maybe", "`one` is not one of a, b, c (found 'No. Maybe')"),
        (CHOICE, True, "`one` is not one of a, b, c (found true)"),
        (CHOICE, "\x1b[2J\u202e\n\ud800", r"`one` is not one of a, b, c (found '\x1b[2J\u202e\n\ud800')"),
        (CHOICES, ["x", "w"], "`some` has an option that is not one of x, y, z (found 'w')"),
        (LIKERT, 8, "`scale` is not one of 1, 2, 3, 4, 5, 6, 7 (found 8)"),
        (LINE, 5, "`line` is not text (found 5)"),
        (LINE, "a\0b", r"`line` has characters that can't be stored (found '\x00')"),
        (LABELLED, [span(0, 2, "ugly")], "`labelled` has a span whose label is not one of good, bad (found 'ugly')"),
        (PAIR, "middle", "`pair` is not one of left, right, same (found 'middle')"),
    ],
)
def test_an_invalid_answer_is_named_in_full_words(field: dict[str, Any], raw: Any, told: str) -> None:
    """The value found is escaped, and a sentence in it does not end the message."""
    with pytest.raises(AnswerError) as refused:
        form(field).shape.parse_answer({field["name"]: raw}, ROW)
    assert str(refused.value) == f"Invalid answer: {told}"


LARGE: dict[str, Any] = {
    "text": "x" * 10**6,
    "number": 10**5000,
    "lists": [["y" * 90] * 90] * 90,
    "table": {str(key): key for key in range(10**4)},
}


@pytest.mark.parametrize("kind", LARGE)
def test_an_invalid_answer_is_shortened_in_messages(kind: str) -> None:
    with pytest.raises(AnswerError) as refused:
        form(CHOICE).shape.parse_answer({"one": LARGE[kind]}, ROW)
    assert "`one` is not one of a, b, c (found " in str(refused.value) and len(str(refused.value)) < 180


def test_a_quotation_with_a_sentence_in_it_is_shown_whole() -> None:
    """Before, the message ended in the middle of the quotation, and the rest was printed as the remedy."""
    task, row = form(SPANS), ROW | {"text": "He left. She stayed."}
    with pytest.raises(AnswerError) as refused:
        task.shape.parse_gold({"spans": ["He left. Nobody"]}, row)
    assert refused.value.problem == "`spans` quotes 'He left. Nobody', which is not in the text"
    assert refused.value.words.fix == "Copy it exactly from the text."


def test_optional_fields_may_be_left_out() -> None:
    task = form(CHOICE, LINE | {"required": False}, LATER)
    assert task.shape.parse_answer({"one": "a"}) == {"one": "a"}
    assert task.shape.parse_answer({"later": "because", "one": "b"}) == {"one": "b", "later": "because"}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["a", "b", "x", "left", "good"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([field["name"] for field in ALL] + ["start", "end", "label"]) | st.text(), inner, max_size=6
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_comes_is_an_answer_or_refused(raw: Any) -> None:
    """Everything from outside is hostile: it is read, or refused in words, and never anything else."""
    task = form(*(field | {"required": False} for field in ALL))
    for parse in (task.shape.parse_answer, task.shape.parse_gold):
        try:
            answer = parse(raw, ROW)
        except AnswerError as error:
            assert error.problem.startswith(("must be ", "must have ", "must not have ", "`"))
            assert str(error) == f"Invalid answer: {error.problem}"
        else:
            assert parse(json.loads(json.dumps(answer)), ROW) == answer


def spans_of(field: dict[str, Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    one = st.tuples(st.integers(0, 7), st.integers(1, 3), st.sampled_from(field.get("options", [None])))
    made = st.lists(one.map(lambda each: span(each[0], min(8, each[0] + each[1]), each[2])), min_size=1, max_size=2)
    return made.filter(lambda found: _is_answer(field, found))


def _is_answer(field: dict[str, Any], raw: Any) -> bool:
    try:
        form(field).shape.parse_answer({field["name"]: raw}, ROW)
    except AnswerError:
        return False
    return True


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "one": st.sampled_from(["a", "b", "c"]),
    "some": st.lists(st.sampled_from(["x", "y", "z"]), unique=True),
    "scale": st.integers(1, 7),
    "line": st.sampled_from(["yes", "Yes ", "no", "perhaps"]),
    "long": st.sampled_from(["a reason", "another reason"]),
    "spans": spans_of(SPANS),
    "labelled": spans_of(LABELLED),
    "over": spans_of(OVERLAPPING),
    "pair": st.sampled_from(["left", "right", "same"]),
}
WHOLE = form(*ALL)
ANSWERS = st.fixed_dictionaries(VALUES).map(lambda raw: WHOLE.shape.parse_answer(raw, ROW))


@given(ANSWERS, ANSWERS)
def test_distance_is_one(left: Any, right: Any) -> None:
    assert WHOLE.combining.distance(left, left) == 0
    assert WHOLE.combining.distance(left, right) == WHOLE.combining.distance(right, left)
    assert 0 <= WHOLE.combining.distance(left, right) <= 1
    same = {name: value.casefold() if isinstance(value, str) else value for name, value in left.items()}
    other = {name: value.casefold() if isinstance(value, str) else value for name, value in right.items()}
    assert (WHOLE.combining.distance(left, right) == 0) == (same == other)


@given(ANSWERS, st.integers(1, 5), st.floats(0, 1))
def test_what_everybody_says_is_the_result(answer: Any, count: int, trust: float) -> None:
    combined = WHOLE.combining.combine(judged(*[answer] * count, trust=trust))
    assert combined is not None
    assert combined.answer == answer
    assert combined.confidence == pytest.approx(1.0)
    assert WHOLE.grading.grade(answer, answer).score == 1


@given(st.lists(st.tuples(ANSWERS, st.floats(0, 1)), min_size=1, max_size=5), st.randoms())
def test_the_result_does_not_depend_on_who_came_first(given_: list[tuple[Any, float]], rng: Any) -> None:
    judgments = [Judgment(f"w{number}", answer, trust) for number, (answer, trust) in enumerate(given_)]
    combined = WHOLE.combining.combine(judgments)
    rng.shuffle(judgments)
    assert WHOLE.combining.combine(judgments) == combined
    assert combined is not None
    assert 0 <= combined.confidence <= 1 + 1e-9
    # Written texts become a list where they differ; without them, the result is an answer, or has nothing marked.
    rest = {name: value for name, value in combined.answer.items() if value != []}
    assert WHOLE.shape.parse_gold(rest, ROW) == rest


# Grading


@pytest.mark.parametrize(
    ("field", "value", "gold", "reason"),
    [
        (CHOICE, "a", "a", None),
        (CHOICE, "a", "b", "one: answered a; the correct answer is b"),
        (CHOICES, ["x"], [], "some: answered x; the correct answer is none"),
        (LIKERT, 4, 5, None),
        (LIKERT, 3, 5, "scale: answered 3; the correct answer is 5"),
        # A text that gold has is graded: by it, or by any of several.
        (LINE, "anything", "Sun", "line: answered “anything”; the correct answer is “Sun”"),
        (LINE, "the  sun", ["Moon", "The sun"], None),
        (LINE | {"gold": "one_of"}, "The  SUN", ["moon", "the sun"], None),
        (
            LINE | {"gold": "one_of"},
            "sun",
            ["moon", "the sun"],
            "line: answered sun; the correct answer is moon or the sun",
        ),
        (LINE | {"gold": "one_of"}, "sun", "Sun", None),
        (LINE | {"gold": "exact"}, "sun", "Sun", "line: answered sun; the correct answer is Sun"),
        (LINE | {"gold": "regex"}, "The  SUN", "(the )?sun", None),
        (LINE | {"gold": "regex"}, "sunny", "(the )?sun", "line: “sunny” does not match (the )?sun"),
        (CHOICE | {"gold": "one_of"}, "b", ["a", "b"], None),
        (CHOICE | {"gold": "one_of"}, "c", ["a", "b"], "one: answered c; the correct answer is a or b"),
        (CHOICES | {"gold": "one_of"}, ["x"], [["x"], ["y", "z"]], None),
        (CHOICES | {"gold": "one_of"}, ["z"], [["x"], ["y", "z"]], "some: differs from gold"),
        (LIKERT | {"gold": "exact"}, 4, 5, "scale: answered 4; the correct answer is 5"),
        (SPANS, [span(0, 5)], [span(0, 5)], None),
        (SPANS, [span(0, 5)], [span(0, 4)], None),
        (SPANS, [span(0, 2)], [span(0, 5)], "spans: different spans than gold: f1 0.57, below 0.8"),
        (SPANS | {"match": "iou"}, [span(0, 5)], [span(0, 4)], None),
        (
            SPANS | {"match": "iou"},
            [span(0, 4)],
            [span(0, 3)],
            "spans: different spans than gold: iou 0.75, below 0.8",
        ),
        (SPANS | {"match": "exact"}, [span(0, 5)], [span(0, 4)], "spans: different spans than gold"),
        (LABELLED, [span(0, 1, "bad")], [span(0, 1, "good")], "f1 0.00, below 0.8"),
        (SPANS | {"min": 0}, [], [], None),
        (PAIR, "left", "same", "pair: answered left; the correct answer is same"),
    ],
)
def test_grading_says_why(field: dict[str, Any], value: Any, gold: Any, reason: str | None) -> None:
    task, name = form(field), field["name"]
    result = task.grading.grade(task.shape.parse_answer({name: value}, ROW), task.shape.parse_gold({name: gold}, ROW))
    if reason is None:
        assert result == type(result)(1.0)
    else:
        assert result.score == 0
        assert reason in result.reasons[0]


def test_only_what_gold_says_is_graded() -> None:
    task = form(CHOICE, CHOICES, LIKERT, LATER)
    answer = task.shape.parse_answer({"one": "a", "some": ["x"], "scale": 1})
    assert task.grading.grade(answer, task.shape.parse_gold({"scale": 1})).score == 1
    assert task.grading.grade(answer, task.shape.parse_gold({"one": "b", "scale": 1})).score == 0.5
    written = task.grading.grade(answer, task.shape.parse_gold({"one": "b", "later": ["because"], "scale": 1}))
    assert written.reasons == ("one: answered a; the correct answer is b", "later: not answered")
    task = form(CHOICE, LIKERT, LATER | {"gold": "none"})
    answer = task.shape.parse_answer({"one": "a", "scale": 1})
    shown = task.shape.parse_gold({"one": "b", "later": ["because"], "scale": 1})
    assert task.grading.grade(answer, shown) == (0.5, ("one: answered a; the correct answer is b",))
    assert task.explaining.reasons is not None
    (told,) = task.explaining.reasons(ROW, answer, shown)
    assert "because" not in told, "what is not graded is not wrong"
    with pytest.raises(AnswerError, match="must have an answer to a graded field: `later` has gold = "):
        task.shape.parse_gold({"later": "because"})
    task = form(CHOICE, LIKERT, LATER | {"gold": "one_of"})
    both = task.grading.grade(
        {"one": "a", "scale": 1}, task.shape.parse_gold({"one": "b", "later": ["because"], "scale": 1})
    )
    assert both.score == pytest.approx(1 / 3)
    assert both.reasons == ("one: answered a; the correct answer is b", "later: not answered")
    assert task.grading.grade({"one": "a"}, {"later": ["because"]}).score == 0
    assert form(CHOICE, LATER).grading.grade({"one": "b", "later": "x"}, {"later": "because"}).score == 0


@pytest.mark.parametrize(
    ("field", "gold", "stored"),
    [
        (SPANS, ["shout"], [span(3, 4)]),
        (SPANS, [{"text": "do not shout"}, {"text": "two"}], [span(1, 4), span(6, 7)]),
        (SPANS, [span(0, 1)], [span(0, 1)]),
        (SPANS, [span(3, 4), "Please"], [span(0, 1), span(3, 4)]),
        (LABELLED, [{"text": "shout", "label": "bad"}], [span(3, 4, "bad")]),
        (SPANS | {"item": "left", "gold": "one_of"}, [["Yes"], ["of course"]], [[span(0, 1)], [span(2, 4)]]),
    ],
)
def test_gold_spans_may_be_quoted(field: Settings, gold: Any, stored: Any) -> None:
    assert form(field).shape.parse_gold({field["name"]: gold}, ROW) == {field["name"]: stored}


def test_a_quotation_that_occurs_twice_needs_its_number() -> None:
    task, row = form(SPANS), ROW | {"text": "no, I said no and no"}
    assert task.shape.parse_gold({"spans": [{"text": "no", "occurrence": 2}]}, row) == {"spans": [span(4, 5)]}
    for quoted, told in (
        ("no", "`spans` quotes 'no', which occurs in the text 3 times"),
        ({"text": "no", "occurrence": 4}, "has occurrence 4 of 'no', which occurs in the text only 3 times"),
        ("yes", "quotes 'yes', which is not in the text"),
        ("sai", "quotes 'sai', which begins or ends within a word of the text"),
        ({"text": "no", "occurrence": 0}, "has an `occurrence` that is not a positive whole number"),
        ({"text": "no", "label": "x"}, "has a quotation that is not like"),
        ({"text": ""}, "has a quotation that is not text"),
    ):
        with pytest.raises(AnswerError) as raised:
            task.shape.parse_gold({"spans": [quoted]}, row)
        assert told in str(raised.value)
    # Spans that overlap are refused, however they are given.
    with pytest.raises(AnswerError, match="overlap"):
        task.shape.parse_gold({"spans": ["I said", "said"]}, row)


@pytest.mark.parametrize(
    ("gold", "told"),
    [
        ({}, "must have an answer to at least one field"),
        ({"one": "d"}, "`one` is not one of a, b, c"),
        ({"one": "a", "later": "x"}, "must not have `later`, which is not asked after this answer to `one`"),
        ({"one": "b", "later": []}, "`later` is not text"),
        ({"one": "b", "later": [3]}, "`later` is not text"),
    ],
)
def test_gold_that_can_t_be_is_refused(gold: Any, told: str) -> None:
    with pytest.raises(AnswerError, match=told):
        form(CHOICE, LATER).shape.parse_gold(gold)


# Putting answers together


def combined(task: Task, *answers: Any, trust: float | tuple[float, ...] = 0.8) -> tuple[Any, Any]:
    result = task.combining.combine(judged(*answers, trust=trust))
    assert result is not None
    return result.answer, result.confidence


def test_a_choice_is_the_largest_share_of_trust() -> None:
    task = form(CHOICE)
    assert combined(task, {"one": "a"}, {"one": "b"}, {"one": "b"}) == ({"one": "b"}, pytest.approx(2 / 3))
    assert combined(task, {"one": "a"}, {"one": "b"}, trust=(0.9, 0.3)) == ({"one": "a"}, pytest.approx(0.75))
    assert combined(task, {"one": "a"}, {"one": "a"}, trust=0.0) == ({"one": "a"}, 1.0)


def test_options_are_in_if_most_chose_them() -> None:
    task = form(CHOICES)
    three = ({"some": ["x", "y"]}, {"some": ["x"]}, {"some": ["x", "z"]})
    assert combined(task, *three) == ({"some": ["x"]}, pytest.approx(2 / 3))
    assert combined(task, {"some": []}, {"some": []}, {"some": ["x"]}) == ({"some": []}, pytest.approx(2 / 3))
    # Where something must be chosen, the most chosen one is, however few that were.
    strict = form(CHOICES | {"none": None})
    spread = ({"some": ["y"]}, {"some": ["x"]}, {"some": ["z"]}, {"some": ["y"]})
    assert combined(strict, *spread) == ({"some": ["y"]}, pytest.approx(0.5))
    narrow = form(CHOICES | {"max": 1})
    assert combined(narrow, {"some": ["y"]}, {"some": ["y"]}, {"some": ["x"]})[0] == {"some": ["y"]}


def test_spans_are_what_most_marked() -> None:
    task = form(SPANS)
    answers = [{"spans": [span(0, 4)]}, {"spans": [span(1, 4), span(6, 7)]}, {"spans": [span(1, 5)]}]
    value, sure = combined(task, *answers)
    assert value == {"spans": [span(1, 4)]}
    assert sure == pytest.approx((6 / 7 + 6 / 7 + 6 / 7) / 3)
    # Two spans side by side stay two if most began anew.
    apart = {"spans": [span(0, 2), span(2, 4)]}
    assert combined(task, apart, apart, {"spans": [span(0, 4)]})[0] == apart
    assert combined(task, {"spans": [span(0, 1)]}, {"spans": [span(5, 6)]}) == ({"spans": []}, 0.0)
    # No more than an answer may have: those that most marked.
    few = form(SPANS | {"max": 1})
    far = [{"spans": [span(0, 5)]}, {"spans": [span(0, 1)]}, {"spans": [span(3, 5)]}, {"spans": [span(0, 1)]}]
    assert combined(few, *far, {"spans": [span(4, 5)]})[0] == {"spans": [span(0, 1)]}


def test_overlapping_spans_are_counted_whole() -> None:
    task = form(OVERLAPPING)
    inner = {"over": [span(0, 4), span(1, 2)]}
    assert combined(task, inner, inner, {"over": [span(0, 4)]})[0] == inner


def test_texts_are_kept_and_say_nothing_of_confidence() -> None:
    task = form(CHOICE, LINE)
    answers = ({"one": "a", "line": "sun"}, {"one": "a", "line": "Sun "}, {"one": "a", "line": "moon"})
    parsed = [task.shape.parse_answer(answer) for answer in answers]
    assert combined(task, *parsed) == ({"one": "a", "line": ["moon", "sun"]}, 1.0)
    assert combined(task, *parsed[:2]) == ({"one": "a", "line": "sun"}, 1.0)
    assert combined(form(LINE), {"line": "sun"}, {"line": "moon"}) == ({"line": ["moon", "sun"]}, 1.0)


def test_the_whole_is_as_sure_as_its_least_sure_field() -> None:
    task = form(CHOICE, LIKERT)
    answers = ({"one": "a", "scale": 1}, {"one": "a", "scale": 2}, {"one": "b", "scale": 3})
    value, sure = combined(task, *answers)
    assert (value["one"], sure) == ("a", pytest.approx(1 / 3))


def test_a_field_is_in_the_result_only_if_the_result_asks_for_it() -> None:
    task = form(CHOICE, LIKERT | {"shown_if": {"field": "one", "is": ["b", "c"]}})
    a, b = {"one": "a"}, {"one": "b", "scale": 3}
    assert combined(task, a, a, b)[0] == a
    assert combined(task, a, b, b) == (b, pytest.approx(2 / 3))
    optional = form(CHOICE, LIKERT | {"required": False})
    assert combined(optional, a, a, {"one": "a", "scale": 3}) == (a, pytest.approx(2 / 3))
    both = {"one": "a", "scale": 3}
    assert combined(optional, both, both, {"one": "a", "scale": 1}, a) == (both, pytest.approx(0.5))


def test_a_scale_has_as_many_levels_as_labels() -> None:
    task = form({"name": "scale", "kind": "likert", "ask": "How much?", "labels": ["No", "Perhaps", "Yes"]})
    assert task.shape.parse_answer({"scale": 3}) == {"scale": 3}
    with pytest.raises(AnswerError):
        task.shape.parse_answer({"scale": 4})
    assert all(f"<span>{label}</span>" in task.form.html for label in ("No", "Perhaps", "Yes"))


def test_a_form_with_points_is_a_rubric() -> None:
    rated = LIKERT | {"levels": 3, "tolerance": 0, "points": [0, 0.5, 1]}
    task = form(rated, CHOICE | {"points": [1, 0, 0.2]}, LINE, PAIR)
    assert task.grading.marks is not None
    marks = task.grading.marks({"scale": 2, "one": "c", "line": "Too short.", "pair": "left"})
    assert (marks.criteria, marks.comments) == ({"scale": 0.5, "one": 0.2}, ("Too short.",))
    assert form(CHOICE, LINE).grading.marks is None


def test_results_with_several_texts_can_be_compared_too() -> None:
    (field,) = form(LINE).shape.fields
    assert field.distance(["Sun", "moon"], "sun") == 0.5
    assert not field.compared


def test_free_text_is_never_compared_unless_the_study_says_so() -> None:
    free, labels = form(CHOICE, LINE), form(CHOICE, LINE | {"compare": True})
    left, right = {"one": "a", "line": "Sun"}, {"one": "a", "line": "moon"}
    assert (free.combining.distance(left, right), labels.combining.distance(left, right)) == (0, 0.5)
    assert combined(free, left, right) == ({"one": "a", "line": ["moon", "Sun"]}, 1)
    assert combined(labels, left, right, {"one": "a", "line": "sun "}) == (left, pytest.approx(2 / 3))


def test_every_field_says_how_it_is_measured_and_reads_elsewhere() -> None:
    fields = {field.name: field for field in form(*ALL).shape.fields}
    assert {name: str(field.scale) for name, field in fields.items()} == {
        "one": "nominal",
        "some": "set",
        "scale": "ordinal",
        "line": "text",
        "long": "text",
        "spans": "spans",
        "labelled": "spans",
        "over": "spans",
        "pair": "nominal",
    }
    marked = [span(1, 3, "bad"), span(3, 4, "good")]
    spans = fields["labelled"]
    assert spans.words(marked, ROW) == "“do not” (bad), “shout” (good)"
    assert spans.label(marked) == ["1:3:bad", "3:4:good"]
    assert spans.rows(marked, ROW)[0] == {
        "value": "do not", "label": "bad", "start": 1, "end": 3, "start_character": 7, "end_character": 13
    }  # fmt: skip
    assert fields["some"].rows(["x", "z"], ROW) == [{"value": "x"}, {"value": "z"}]
    assert fields["pair"].words("left", ROW) == "“Yes, of course.”"


def test_every_field_comes_back_from_label_studio() -> None:
    answer = {
        "one": "c",
        "some": ["x", "z"],
        "scale": 4,
        "line": "sun & moon",
        "long": "It is late.",
        "spans": [span(0, 1), span(3, 5)],
        "labelled": [span(1, 3, "bad")],
        "over": [span(0, 3), span(1, 2)],
        "pair": "same",
    }
    for field in form(*ALL).shape.fields:
        assert field.studio is not None and field.studio.read is not None
        results = field.studio.results(answer[field.name], ROW)
        assert field.studio.read(results, ROW) == answer[field.name]
        tag = ElementTree.fromstring(field.studio.tag("text"))
        assert (tag.attrib["name"], tag.attrib["toName"]) == (field.name, "text")


# Showing


def test_the_view_has_what_the_form_shows_and_no_more() -> None:
    shows = [
        {"item": "context", "optional": True},
        {"item": "text", "highlight": "word"},
    ]
    task = form(SPANS, PAIR, shows=shows)
    item = task.shape.parse_item(ROW | {"word": "shout", "secret": "the answer"})
    view = task.form.view(item)
    assert view.pop("pieces") == {"text": pieces(TEXT)}
    assert view == ROW | {"word": "shout"}
    for given_, shown in ((3, "3"), (["noise", "parcels"], "noise, parcels")):
        assert task.form.view(task.shape.parse_item(ROW | {"word": "two", "context": given_}))["context"] == shown
    about_words = form(CHOICE, shows=[{"item": "tokens", "highlight": "verb"}])
    given = {"tokens": ["Police", "searched", "it", "."], "verb": "searched"}
    assert about_words.form.view(about_words.shape.parse_item(given))["tokens"] == "Police searched it ."


def test_orders_stay_for_a_worker_and_sides_change() -> None:
    task = form(CHOICE | {"shuffle": True}, PAIR | {"shuffle": True})
    assert task.form.arrange is not None
    assert form(CHOICE, PAIR).form.arrange is None
    orders = [task.form.arrange({}, Seeds.of(7, "s", "ada", f"i{number}")) for number in range(40)]
    assert len({tuple(order["one"]) for order in orders}) == 1
    assert {tuple(order["pair"]) for order in orders} == {("left", "right"), ("right", "left")}
    assert orders[0] == task.form.arrange({}, Seeds.of(7, "s", "ada", "i0"))
    others = [task.form.arrange({}, Seeds.of(7, "s", f"w{number}", "i0"))["one"] for number in range(200)]
    first = [order[0] for order in others]
    assert all(40 <= first.count(value) <= 95 for value in "abc")
    sides = [task.form.arrange({}, Seeds.of(7, "s", f"w{number}", "i0"))["pair"][0] for number in range(200)]
    assert 70 <= sides.count("left") <= 130


def test_hostile_words_in_the_study_file_are_text() -> None:
    hostile = """</legend><script>alert(1)</script><img src=x onerror="alert(2)"> {{ 7*7 }} '"""
    fields = [field | {"ask": hostile, "hint": hostile} for field in ALL]
    option = {"value": hostile, "label": hostile}
    fields[0] |= {"options": [option, {"value": "b", "label": "b"}]}
    fields[6] |= {"options": [option]}
    shows = [{"item": hostile, "label": hostile, "sticky": True}]
    html = form(*fields, shows=shows).form.html
    assert "<script" not in html
    assert "<img" not in html
    assert "49" not in html
    assert html.count("&lt;script&gt;") > 20


def test_items_must_have_what_the_form_shows() -> None:
    task = form(SPANS, PAIR, shows=[{"item": "text", "highlight": "word"}])
    with pytest.raises(ItemError) as refused:
        task.shape.parse_row({"text": " ", "left": "x", "word": True})
    told = {field: message for field, message, _ in refused.value.messages}
    assert told == {
        "right": "Field required",
        "text": "Value error, is blank. Fill it in.",
        "word": "Value error, is not text. Write it in quotes.",
    }
    with pytest.raises(ItemError) as refused:
        task.shape.parse_row(ROW | {"word": "whisper"})
    assert refused.value.messages[0][:2] == (
        "word",
        "Value error, does not occur in `text`. Copy it exactly from there.",
    )
    with pytest.raises(ItemError):
        task.shape.parse_row(ROW | {"word": "shout", "text": ["a", ""]})


# Simulated workers


@pytest.mark.parametrize("known", [None, {"one": "b"}, {"line": ["sun", "moon"], "labelled": [span(0, 1, "bad")]}])
def test_simulated_workers_can_fill_in_any_form(known: Any) -> None:
    task = form(*ALL, LATER, LINE | {"name": "extra", "required": False})
    view = task.form.view(ROW)
    for seed in range(60):
        right, choices = prospects(task, view, known, Random(seed))
        assert task.shape.parse_answer(right, ROW) == right
        assert {name: right[name] for name in known or {} if name != "line"} == {
            name: value for name, value in (known or {}).items() if name != "line"
        }
        for choice in choices:
            assert task.shape.parse_answer(choice, ROW) == choice
        assert choices[0]["one"] == "a"
    assert good(1.0).answer(right, choices, Random(1)) == right


def test_bounds_hold_for_simulated_workers_too() -> None:
    narrow = {"name": "some", "kind": "choices", "ask": "?", "options": list("abcdef"), "min": 2, "max": 3}
    many = SPANS | {"min": 3, "max": 3}
    wordy = LONG | {"min": 40, "min_words": 4, "max_words": 4}
    exact = LINE | {"min": 10, "max": 10}
    task = form(narrow, many, wordy, exact)
    for seed in range(100):
        for choice in prospects(task, task.form.view(ROW), None, Random(seed))[1]:
            assert task.shape.parse_answer(choice, ROW) == choice


# Study files


def write_form_study(folder: Path, options: str, *, rows: str = "", gold: str = "", extra: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.md").write_text("Read.\n")
    (folder / "items.jsonl").write_text(rows or json.dumps({"id": "i1", **ROW}) + "\n")
    (folder / "gold.jsonl").write_text(gold)
    gold_table = '[stage.gold]\nfile = "gold.jsonl"\nafter = 1\n' if gold else ""
    (folder / "study.toml").write_text(
        f"""\
study = {{ title = "A form", contact = "team@example.org", consent = "text.md" }}
arrival = {{ worker_pattern = "[a-z0-9-]+" }}

[[stage]]
name = "only"
title = "The only stage"
task = "form"
guidelines = "text.md"
items = {{ file = "items.jsonl" }}
{extra}
{gold_table}
{options}
"""
    )


def field_toml(**settings: Any) -> str:
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    return "\n".join(["[[stage.options.fields]]", *lines, ""])


ONE = field_toml(name="one", kind="choice", ask="Which?", options=["a", "b"])


@pytest.mark.parametrize(
    ("options", "at", "told"),
    [
        (
            "",
            "[[stage]]",
            "`stage.options.fields` is missing. Add [[stage.options.fields]]: The questions of the form",
        ),
        (
            field_toml(name="one", kind="choice", ask="Which?"),
            "[[stage.options.fields]]",
            "`stage.options.fields.options` is missing. Add it: the options to choose from.",
        ),
        (
            field_toml(name="one", kind="radio", ask="Which?"),
            "kind =",
            "`stage.options.fields.kind` is not one of the allowed values (found 'radio'). Write 'choice', ",
        ),
        (
            field_toml(name="one", kind="date", ask="When?", earliest="1.1.2000"),
            "earliest =",
            "`stage.options.fields.earliest` is not a date (found '1.1.2000'). Write it as \"YYYY-MM-DD\", with ",
        ),
        (
            field_toml(name="one", kind="text", ask="Which?", options=["a", "b"]),
            "options =",
            "`stage.options.fields.options` does not apply to fields of the kind `text`, only to `choice`, `choices`, ",
        ),
        (
            field_toml(name="One!", kind="text", ask="Which?"),
            "name = ",
            "`stage.options.fields.name` is not a valid name (found 'One!'). Use lower-case letters",
        ),
        (
            field_toml(name="confidence", kind="text", ask="Which?"),
            "name = ",
            "is already a column of the exports (found 'confidence'). Choose another name.",
        ),
        (
            field_toml(name="one", kind="choice", ask="Which?", options=["a", "a"]),
            "options =",
            "repeats a value (found ['a', 'a']). Give every option a unique value.",
        ),
        (field_toml(name="one", kind="choice", ask="Which?", options=["a"]), "options =", "leaves no choice"),
        (
            field_toml(name="one", kind="choice", ask="Which?", options=["a", 2]),
            "options =",
            "`stage.options.fields.options` is not text (found 2). Write the option in quotes.",
        ),
        (
            field_toml(name="one", kind="choices", ask="Which?", options=["a", "b"], min=3),
            "min =",
            "`stage.options.fields.min` exceeds the number of options (found 3). Write at most 2.",
        ),
        (
            field_toml(name="one", kind="long_text", ask="Which?", min=30, max=20),
            "max =",
            "`stage.options.fields.max` is below `min` (30) (found 20). Write at least 30.",
        ),
        (
            field_toml(name="one", kind="text", ask="Which?", min=300),
            "min =",
            "exceeds the length of a line (found 300). Set `max` too, or use `long_text`.",
        ),
        (
            field_toml(name="one", kind="likert", ask="How?", levels=5, labels=["a", "b", "c"]),
            "labels =",
            "does not fit 5 levels (found ['a', 'b', 'c']). Write two labels, or 5.",
        ),
        (
            field_toml(name="one", kind="likert", ask="How?", levels=3, tolerance=2),
            "tolerance =",
            "would accept any answer",
        ),
        (
            field_toml(name="one", kind="likert", ask="How?", levels=3, points=[0, 1]),
            "points =",
            "does not fit 3 answers (found [0.0, 1.0]). Write 3 numbers.",
        ),
        (
            field_toml(name="one", kind="likert", ask="How?", levels=2, points=[0, 2]),
            "points =",
            "`stage.options.fields.points` is above 1 (found 2). Write a number up to 1.",
        ),
        (field_toml(name="one", kind="pair", ask="?", sides=["left"]), "sides =", "is not a pair (found ['left'])"),
        (
            field_toml(name="one", kind="spans", ask="?", item="answer"),
            "item =",
            "is stored with the item and never shown (found 'answer'). Use a column of the item itself.",
        ),
        (
            ONE + ONE,
            "name = ",
            "`stage.options.fields.name` is already the name of another field (found 'one'). Choose another name.",
        ),
        (
            ONE + field_toml(name="two", kind="text", ask="?") + 'shown_if = { field = "two", is = "a" }\n',
            "shown_if",
            "`stage.options.fields.shown_if.field` is not an earlier field with a list of answers (found 'two'). "
            "Use one of: `one`.",
        ),
        (
            ONE + field_toml(name="two", kind="text", ask="?") + 'shown_if = { field = "one", is = ["a", "z"] }\n',
            "shown_if",
            "`stage.options.fields.shown_if.is` is not an answer to `one` (found 'z'). Use one of: `a`, `b`.",
        ),
        (
            ONE + field_toml(name="two", kind="text", ask="?") + 'shown_if = { field = "one", is = 0.5 }\n',
            "shown_if",
            "is not an answer (found 0.5). Write a text, a level of a scale, or a list of them.",
        ),
        (
            '[[stage.options.shows]]\nitem = "text"\n[[stage.options.shows]]\nitem = "text"\n' + ONE,
            "item =",
            "`stage.options.shows.item` is already shown (found 'text'). Show every column only once.",
        ),
        (
            '[[stage.options.shows]]\nitm = "text"\n' + ONE,
            "itm =",
            "there is no setting `itm` here. Did you mean `item`?",
        ),
    ],
)
def test_check_names_the_setting_the_value_and_the_fix(tmp_path: Path, options: str, at: str, told: str) -> None:
    write_form_study(tmp_path, options)
    _, problems = check_folder(tmp_path)
    (problem,) = (problem for problem in problems if told in str(problem))
    lines = (tmp_path / "study.toml").read_text().splitlines()
    assert problem.line is not None
    assert lines[problem.line - 1].startswith(at)


def test_check_tells_items_and_gold_with_line_and_fix(tmp_path: Path) -> None:
    options = (
        '[[stage.options.shows]]\nitem = "context"\n' + ONE + field_toml(name="s", kind="spans", ask="?", item="text")
    )
    rows = '{"id": "i1", "text": "a b"}\n{"id": "i2", "text": "a b", "context": ""}\n'
    gold = "".join(
        json.dumps({"id": f"g{number}", "text": "a b", "context": "c", "explanation": "So.", "answer": answer}) + "\n"
        for number, answer in enumerate([{"one": "c"}, {"s": [span(1, 3)]}, {"one": "a", "s": [span(0, 1)]}])
    )
    write_form_study(tmp_path, options, rows=rows, gold=gold)
    _, problems = check_folder(tmp_path)
    assert sorted(map(str, problems), key=lambda told: told[0] == "g") == [
        "items.jsonl:1: `context` is missing. Add it.",
        "items.jsonl:2: `context` is blank (found ''). Fill it in.",
        "gold.jsonl:1: `answer` is invalid: `one` is not one of a, b (found 'c'). Correct it.",
        "gold.jsonl:2: `answer` is invalid: `s` has a span beyond the 2 tokens of the text "
        "(found [{'end': 3, 'start': 1}]). Correct it.",
    ]


def test_the_whole_study_of_the_documentation_is_in_order(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "form.md").read_text("utf-8")
    [text] = [block for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if block.startswith("[study]")]
    (tmp_path / "study.toml").write_text(text)
    for name in ("consent.md", "guidelines.md"):
        (tmp_path / name).write_text("Read.\n")
    item = {"id": "m1", "message": "Get out!"}
    (tmp_path / "messages.jsonl").write_text(json.dumps(item) + "\n")
    known = {"id": "t1", "message": "Get out!", "answer": {"tone": "rude"}, "explanation": "It is an order."}
    (tmp_path / "training.jsonl").write_text(json.dumps(known) + "\n")
    assert [content.settings.name for content in load_folder(tmp_path).stages] == ["training", "main"]


@pytest.mark.parametrize(
    ("options", "at", "told"),
    [
        (
            '[[stage.options.shows]]\nitem = "mesage"\n',
            'item = "mesage"',
            "no row of items.jsonl has a column `mesage`. Did you mean `message`?",
        ),
        (
            '[[stage.options.shows]]\nitem = "message"\nhighlight = "wrd"\n',
            'highlight = "wrd"',
            "no row of items.jsonl has a column `wrd`. Did you mean `word`?",
        ),
    ],
)
def test_a_misspelt_column_is_one_problem(tmp_path: Path, options: str, at: str, told: str) -> None:
    rows = "".join(json.dumps({"id": f"i{number}", "message": "Hello", "word": "Hello"}) + "\n" for number in range(9))
    gold = json.dumps({"id": "g", "message": "Hello", "answer": {"one": "a"}, "explanation": "So."}) + "\n"
    write_form_study(tmp_path, options + ONE, rows=rows, gold=gold)
    _, problems = check_folder(tmp_path)
    line = (tmp_path / "study.toml").read_text().splitlines().index(at) + 1
    assert list(map(str, problems)) == [f"study.toml:{line}: {told}"]


def test_a_misspelt_column_hides_no_other_mistake_of_its_file(tmp_path: Path) -> None:
    rows = ["{", *(json.dumps({"id": key, "message": "Hello"}) for key in ("a", "b", "a"))]
    write_form_study(tmp_path, '[[stage.options.shows]]\nitem = "mesage"\n' + ONE, rows="\n".join(rows) + "\n")
    told = [str(problem) for problem in check_folder(tmp_path)[1]]
    assert "has a column `mesage`" in told[0]
    assert [line.partition(": ")[0] for line in told[1:]] == ["items.jsonl:1", "items.jsonl:4"]
    assert "`id` is already used in line 2" in told[2]


def test_answers_of_forms_do_not_fit_in_a_cell(tmp_path: Path) -> None:
    write_form_study(tmp_path, ONE, gold="x")
    (tmp_path / "gold.csv").write_text('id,answer,explanation\ng1,"{""one"": ""a""}",So.\n')
    text = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text.replace("gold.jsonl", "gold.csv"))
    _, [problem] = check_folder(tmp_path)
    assert problem.fix == "CSV cells hold only text: write the file as JSONL."


def test_a_table_of_several_stages_is_chosen_by_stage(tmp_path: Path) -> None:
    write_form_study(tmp_path, ONE)
    text = (tmp_path / "study.toml").read_text()
    stage = text[text.index("[[stage]]") :].replace('"only"', '"other"')
    (tmp_path / "study.toml").write_text(text + stage)
    study = open_study(tmp_path)
    with pytest.raises(UserError, match=r"Several stages have a table `form`\. Choose one of form-only, form-other"):
        write_export(study, "form", tmp_path / "out.jsonl")
    study.close()


def test_a_csv_file_of_items_will_do(tmp_path: Path) -> None:
    options = (
        '[[stage.options.shows]]\nitem = "text"\n[[stage.options.shows]]\nitem = "context"\noptional = true\n' + ONE
    )
    write_form_study(tmp_path, options)
    (tmp_path / "items.csv").write_text("id,text,context\ni1,Hello there,\ni2,Bye,In the evening\n")
    study = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(study.replace("items.jsonl", "items.csv"))
    (stage,) = load_folder(tmp_path).stages
    assert [stage.task.form.view(item.payload) for item in stage.items] == [
        {"text": "Hello there"},
        {"text": "Bye", "context": "In the evening"},
    ]


# Studies


def test_once_people_have_answered_the_answers_may_not_change(tmp_path: Path) -> None:
    write_form_study(tmp_path, ONE)
    study = open_study(tmp_path)
    Person(study, "ada").judge({"one": "a"}, "only")
    study.close()
    text = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text.replace("Which?", "Which one?"))
    open_study(tmp_path).close()
    (tmp_path / "study.toml").write_text(text.replace('["a", "b"]', '["a", "c"]'))
    with pytest.raises(UserError, match="answers of stage 'only' would change after the stage has"):
        open_study(tmp_path)


def test_a_refused_answer_costs_nothing(tmp_path: Path) -> None:
    write_form_study(tmp_path, field_toml(name="s", kind="spans", ask="?", item="text"))
    study = open_study(tmp_path)
    with TestClient(create_app(study)) as client:
        client.get("/join", params={"PROLIFIC_PID": "ada"})
        client.post("/consent", data={"agree": "yes"})
        offer = client.post("/api/stages/only/next").json()["assignment"]
        assert offer["item"]["pieces"]["text"] == pieces(TEXT)
        assert offer["arrangement"] is None
        url = f"/api/assignments/{offer['id']}/submit"
        refused = client.post(url, json={"key": "made-once-1", "answer": {"s": [span(0, 99)]}})
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_answer")
        assert "beyond the 8 tokens" in refused.json()["error"]["message"]
        taken = client.post(url, json={"key": "made-once-1", "answer": {"s": [span(0, 2)]}})
        assert taken.json()["status"] == "accepted"
    study.close()


def test_a_task_brings_its_own_files_and_no_others(tmp_path: Path) -> None:
    write_form_study(tmp_path, ONE)
    study = open_study(tmp_path)
    with TestClient(create_app(study)) as client:
        for file, kind in (("form.js", "text/javascript"), ("spans.js", "text/javascript"), ("form.css", "text/css")):
            answer = client.get(f"/tasks/form/{file}")
            assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, kind)
        for file in ("page.html", "settings.py", "..%2Fcontract.py", "%2e%2e/contract.py", "nothing.js"):
            assert client.get(f"/tasks/form/{file}").status_code == 404
        assert client.get("/tasks/rules-meaningful/form.js").status_code == 404
    study.close()


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_form_s_results_have_a_column_for_every_field(tmp_path: Path) -> None:
    shuffled = field_toml(name="one", kind="choice", ask="Which?", options=["a", "b"], shuffle=True)
    write_form_study(tmp_path, shuffled + field_toml(name="s", kind="spans", ask="?", item="text"))
    study = open_study(tmp_path)
    for person, value in zip(people(study, 3), "aab", strict=True):
        person.judge({"one": value, "s": [span(0, 2)]}, "only")
    assert list(export_formats(study))[:2] == ["form", "form-answers"]
    assert write_export(study, "form", tmp_path / "form.csv") == 1
    assert write_export(study, "form-answers", tmp_path / "answers.csv") == 3
    (row,) = read_table(tmp_path / "form.csv")
    assert (row["item"], row["one"], row["judgments"], row["released"]) == ("i1", "a", "3", "false")
    assert float(row["one_confidence"]) == float(row["confidence"]) == pytest.approx(2 / 3)
    marked = span(0, 2) | {"start_character": 0, "end_character": 9, "text": "Please do"}
    assert json.loads(row["s"]) == [marked]
    rows = read_table(tmp_path / "answers.csv")
    assert sorted(row["one"] for row in rows) == ["a", "a", "b"]
    assert all(sorted(json.loads(row["one_order"])) == ["a", "b"] for row in rows)
    assert look(study, lambda tx: verify(tx, study)).differences == []
    study.close()


def test_tables_of_several_forms_are_called_after_their_stages(tmp_path: Path) -> None:
    write_form_study(tmp_path, ONE)
    text = (tmp_path / "study.toml").read_text()
    head, stage = text.split("[[stage]]")
    second = stage.replace('name = "only"', 'name = "again"')
    (tmp_path / "study.toml").write_text(f"{head}[[stage]]{stage}[[stage]]{second}")
    study = open_study(tmp_path)
    assert list(export_formats(study))[:4] == ["form-only", "form-answers-only", "form-again", "form-answers-again"]
    assert export_file_name(study, "form-again") == "form-again.csv"
    study.close()


# The template


@pytest.mark.slow
def test_the_template_is_done_by_a_simulated_crowd(tmp_path: Path) -> None:
    create_study(tmp_path / "study", "form")
    folder = load_folder(tmp_path / "study")
    clock = SimulatedTime(wall_clock())
    study = open_study(tmp_path / "study", clock=clock)
    # One who clicks anything is quicker than all others and gets at most one of an item's three judgments.
    crowd = [*[good(0.97)] * 9, random_clicker()]
    crew = crowd_members(folder, crowd, 3, [Joining()] * len(crowd))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(create_app(study), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        place = CrowdSite(url, folder.settings.arrival, list(study.stages), clock)
        asyncio.run(run_crowd(place, crew, on_submitted=lambda: None))
        server.should_exit = True
        thread.join()
    assert write_export(study, "form", tmp_path / "form.csv") == 12
    rows = read_table(tmp_path / "form.csv")
    truth = {row.view["message"]: row.answer for row in folder.stages[0].truth}
    messages = {item.key: item.payload["message"] for item in folder.stages[0].items}
    right = [row["tone"] == truth[messages[row["item"]]]["tone"] for row in rows]
    assert sum(right) >= 9
    assert all(row["judgments"] == "3" for row in rows)
    assert look(study, lambda tx: verify(tx, study)).differences == []
    study.close()


def test_the_template_knows_an_answer_to_each_of_its_messages(tmp_path: Path) -> None:
    create_study(tmp_path, "form")
    (stage,) = load_folder(tmp_path).stages
    truth = StudyTruth(load_folder(tmp_path))
    assert (len(stage.items), len(stage.gold), len(stage.truth)) == (12, 8, 12)
    for item in stage.items:
        known = truth.answer("tone", stage.task.form.view(item.payload))
        assert stage.task.shape.parse_answer(known, item.payload) == known
    assert tomllib.loads((tmp_path / "study.toml").read_text())["stage"][0]["task"] == "form"
    # No message stands twice, be it as gold.
    messages = [row.payload["message"] for row in (*stage.items, *(gold.item for gold in stage.gold))]
    assert all(left != right for left, right in pairwise(sorted(messages)))
