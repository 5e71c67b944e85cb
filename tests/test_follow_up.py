"""A form whose items are the labels of an earlier form: only some of them, shown or prefilled, and up to date."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chorale.audit.verify import verify
from chorale.engine import adjudicating
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.reading import check_folder
from chorale.model import ItemState, UserError
from chorale.report.protocol import protocol_section
from chorale.store.items import all_items, find_item
from crowd import Person, do, look
from test_form import field_toml, span

TEXTS = {"a": "Please go away now", "b": "Thank you so much", "c": "Go away you clown"}
TONES = {"a": ("rude", "fine", "fine"), "b": ("fine", "fine", "fine"), "c": ("rude", "rude", "rude")}
WORDS = {"a": [span(0, 1)], "b": [span(0, 2)], "c": [span(2, 4)]}
HEAD = """\
study = { title = "Comments", contact = "team@example.org", consent = "text.md", seed = 3 }
arrival = { worker_pattern = "[a-z0-9-]+" }

[[stage]]
name = "main"
title = "Judge comments"
task = "form"
guidelines = "text.md"
items = { file = "comments.csv" }
judgments = 3
release_confidence = 0.6
[stage.options]
shows = [{ item = "text" }]
"""
LATER = """
[[stage]]
name = "second"
title = "Check rude words"
task = "form"
guidelines = "text.md"
items = { from = "main", confidence = 0.6, where = WHERE }
judgments = 2
[stage.options]
shows = [{ item = "text" }, { item = "tone", label = "Other people say" }]
"""


def write_study(folder: Path, where: str = '{ tone = "rude" }') -> None:
    (folder / "text.md").write_text("Read the comment.\n")
    rows = "".join(f"{key},{text}\n" for key, text in TEXTS.items())
    (folder / "comments.csv").write_text(f"id,text\n{rows}")
    first = (
        field_toml(name="tone", kind="choice", ask="Which?", options=["rude", "fine"])
        + field_toml(name="words", kind="spans", ask="Where?", item="text")
        + field_toml(name="why", kind="text", ask="Why?")
    )
    then = field_toml(name="checked", kind="spans", ask="Right?", item="text", prefill="words")
    (folder / "study.toml").write_text(HEAD + first + LATER.replace("WHERE", where) + then)


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    write_study(tmp_path)
    with closing(open_study(tmp_path)) as opened:
        for number in range(3):
            person = Person(opened, f"person-{number}")
            while (offer := person.next("main")).lease is not None:
                key = next(key for key, text in TEXTS.items() if text == (offer.view or {})["text"])
                answer = {"tone": TONES[key][number], "words": WORDS[key], "why": f"Because {number}"}
                person.submit(offer, answer)
        yield opened


def later(study: Study) -> dict[str, tuple[str, Any]]:
    """The items of the second stage: the first part of the key with state and tone."""
    items = look(study, lambda tx: list(all_items(tx, "second")))
    return {f"{item.key.partition('/')[0]} {item.payload['tone']}": (item.state, item.payload) for item in items}


def states(study: Study) -> dict[str, str]:
    return {key: state for key, (state, _) in later(study).items()}


def test_only_labels_with_the_values_make_items(study: Study) -> None:
    ((name, (state, payload)),) = later(study).items()
    assert (name, state) == ("c rude", ItemState.OPEN)
    assert payload == {"text": TEXTS["c"], "tone": "rude", "words": WORDS["c"]}, "free text is left out"
    offer = Person(study, "somebody-else").next("second")
    assert offer.view is not None and offer.view["tone"] == "rude"
    assert offer.view["words"] == WORDS["c"], "for `prefill`"
    assert Person(study, "person-0").next("second").lease is None, "nobody checks their own label"


def test_items_follow_decisions_of_reviewers(study: Study) -> None:
    stage = study.stage("main")

    def decide(key: str, tone: str) -> None:
        item = look(study, lambda tx: find_item(tx, "main", key))
        assert item is not None
        do(study, adjudicating.decide, stage, key, {"tone": tone, "words": WORDS[key]}, "Read again.", "owner")

    decide("a", "rude")
    assert states(study) == {"a rude": ItemState.OPEN, "c rude": ItemState.OPEN}
    decide("c", "fine")
    assert states(study) == {"a rude": ItemState.OPEN, "c rude": ItemState.WITHDRAWN}
    assert not look(study, lambda tx: verify(tx, study)).differences


def test_the_labels_that_make_items_stay_the_same_once_people_work(study: Study, tmp_path: Path) -> None:
    study.close()
    write_study(tmp_path, '{ tone = "fine" }')
    with pytest.raises(UserError, match="where"):
        open_study(tmp_path)


def test_the_report_names_the_labels(study: Study) -> None:
    section = str(protocol_section(study))
    assert "Items come from the labels of main with a confidence of 0.6 or more." in section
    assert "Only items whose label for tone is rude are used." in section


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (
            '{ tune = "rude" }',
            "needs a field of main whose answer is one option or several (found 'tune'). Did you mean",
        ),
        ('{ words = "x" }', "needs a field of main whose answer is one option or several (found 'words')."),
        ('{ people = "PER" }', "needs a field of main whose answer is one option or several (found 'people')."),
        ('{ order = "x" }', "needs a field of main whose answer is one option or several (found 'order')."),
        ("{ grid = 2 }", "needs a field of main whose answer is one option or several (found 'grid')."),
        ('{ why = "x" }', "needs a field of main whose answer is one option or several (found 'why')."),
        ('{ tone = ["rude", "kind"] }', "the field tone of main has no such option: 'kind'. Use one of: rude, fine."),
        ("{ tone = [] }", "`stage.items.where.tone` is not an option or a list of options (found [])."),
        ("{ tone = true }", "`stage.items.where.tone` is not an option or a list of options (found true)."),
        ('{ tone = { is = "rude" } }', "`stage.items.where.tone` is not an option or a list of options."),
    ],
)
def test_values_that_no_label_can_have_are_refused(tmp_path: Path, where: str, said: str) -> None:
    write_study(tmp_path, where)
    file = tmp_path / "study.toml"
    more = (
        field_toml(name="order", kind="ranking", ask="Order?", options=["x", "y"])
        + field_toml(name="grid", kind="matrix", ask="How?", rows=["p", "q"], levels=3)
        + field_toml(name="people", kind="spans", ask="Who?", item="text", options=["PER", "ORG"])
    )
    first, later, then = file.read_text().partition(LATER.replace("WHERE", where))
    file.write_text(first + more + later + then)
    _, (problem,) = check_folder(tmp_path)
    assert said in str(problem)


def field_of_two_stages(folder: Path, shows: str, **field: Any) -> list[str]:
    """The problems of a study whose second stage shows a column and has one field."""
    write_study(folder)
    file = folder / "study.toml"
    head = file.read_text().partition('shows = [{ item = "text" }, {')[0]
    file.write_text(f'{head}shows = [{{ item = "text" }}{shows}]\n{field_toml(**field)}')
    return [str(problem) for problem in check_folder(folder)[1]]


YES_NO = {"name": "right", "kind": "choice", "ask": "Right?", "options": ["yes", "no"]}
MARKS = {"name": "checked", "kind": "spans", "ask": "Right?", "item": "text"}
PREFILLED_CHOICE = {"name": "tone_2", "kind": "choice", "ask": "Which?", "prefill": "tone"}


@pytest.mark.parametrize(
    ("shows", "field", "said"),
    [
        (
            ', { item = "tune" }',
            YES_NO,
            "neither the items nor the labels of main have a column `tune`. Did you mean `tone`?",
        ),
        (', { item = "why" }', YES_NO, "`why` is free text, which the labels of main leave out."),
        ("", {**MARKS, "prefill": "wrods"}, "neither the items nor the labels of main have a column `wrods`."),
        (
            "",
            {**MARKS, "prefill": "tone"},
            "labels of main do not fit this form: `tone` is not a list of up to 500 spans",
        ),
        (
            "",
            {**PREFILLED_CHOICE, "options": ["Rude", "fine"]},
            "`tone` is not one of Rude, fine, so it cannot prefill the field `tone_2`",
        ),
        (', { item = "words" }', {**MARKS, "prefill": "words"}, "`words` is not a list of up to 500 spans"),
    ],
)
def test_forms_that_no_label_fits_are_refused(tmp_path: Path, shows: str, field: dict[str, Any], said: str) -> None:
    (problem,) = field_of_two_stages(tmp_path, shows, **field)
    assert said in problem


@pytest.mark.parametrize(
    ("shows", "field"),
    [
        (', { item = "words" }, { item = "tone" }', YES_NO),
        (', { item = "tone" }', {**PREFILLED_CHOICE, "options": ["rude", "fine"]}),
        ("", {**MARKS, "prefill": "words"}),
    ],
)
def test_forms_that_labels_fit_pass(tmp_path: Path, shows: str, field: dict[str, Any]) -> None:
    assert not field_of_two_stages(tmp_path, shows, **field)


def test_labels_of_labels_are_checked_too(tmp_path: Path) -> None:
    assert not field_of_two_stages(tmp_path, ', { item = "tone" }', **YES_NO)
    third = LATER.replace('"second"', '"third"').replace('"main"', '"second"').replace("WHERE", '{ right = "no" }')
    third = third.replace("confidence = 0.6, ", "")
    file = tmp_path / "study.toml"
    file.write_text(
        file.read_text() + third.replace('item = "tone"', 'item = "wright"') + field_toml(**{**YES_NO, "name": "sure"})
    )
    _, (problem,) = check_folder(tmp_path)
    assert "neither the items nor the labels of second have a column `wright`. Did you mean `right`?" in str(problem)


def test_where_is_for_labels(tmp_path: Path) -> None:
    write_study(tmp_path)
    file = tmp_path / "study.toml"
    file.write_text(file.read_text().replace("confidence = 0.6, where", 'of = "answers", where'))
    _, problems = check_folder(tmp_path)
    assert '`where` needs `of = "results"`' in str(problems[0])
