"""A form is described once, and used in training and work."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from chorale.engine.opening import open_study
from chorale.folder.reading import check_folder, load_folder
from chorale.model import UserError
from crowd import Person
from test_form import field_toml

STUDY = """\
study = { title = "Comments", contact = "team@example.org", consent = "text.md" }

[[stage]]
name = "training"
title = "Practice"
task = "form"
guidelines = "text.md"
round = { file = "training.jsonl" }
options_from = "main"

[[gate]]
name = "trained"
stage = "training"
threshold = 0.5

[[stage]]
name = "main"
title = "Comments"
task = "form"
guidelines = "text.md"
items = { file = "items.jsonl" }
entry = { qualifications = ["trained"] }

[[stage.options.shows]]
item = "text"

"""
TONE = field_toml(name="tone", kind="choice", ask="How does it sound?", options=["kind", "rude"])


def _study(folder: Path, text: str) -> Path:
    (folder / "study.toml").write_text(text)
    (folder / "text.md").write_text("Read.\n")
    row = {"id": "a", "text": "Good morning."}
    (folder / "items.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "training.jsonl").write_text(
        json.dumps({**row, "answer": {"tone": "kind"}, "explanation": "Why."}) + "\n"
    )
    return folder


def _problems(folder: Path, text: str) -> list[tuple[str, str, str]]:
    _, problems = check_folder(_study(folder, text))
    lines = text.splitlines()
    return [(lines[(problem.line or 1) - 1], problem.message, problem.fix) for problem in problems]


def test_a_stage_takes_its_options_from_a_later_one(tmp_path: Path) -> None:
    training, main = load_folder(_study(tmp_path, STUDY + TONE)).stages
    assert training.options == main.options
    assert training.settings.options == main.settings.options
    assert [field.name for field in training.task.shape.fields] == ["tone"]


def test_options_of_its_own_replace_those_of_the_same_name(tmp_path: Path) -> None:
    own = 'options_from = "main"\noptions = { shows = [{ item = "text", label = "For practice" }] }'
    training, main = load_folder(_study(tmp_path, STUDY.replace('options_from = "main"', own) + TONE)).stages
    assert training.settings.options["shows"][0]["label"] == "For practice"
    assert main.settings.options["shows"] == [{"item": "text"}]
    assert training.settings.options["fields"] == main.settings.options["fields"]


@pytest.mark.parametrize(
    ("named", "message", "fix"),
    [
        ("mian", "there is no such stage", "Did you mean `main`?"),
        ("training", "is the stage itself", "Use one of: `main`."),
        ("other", "takes its own options from another stage", "Use one of: `main`."),
        ("rules", "is a stage with another task (`rules-meaningful`)", "Use one of: `main`."),
    ],
)
def test_a_stage_that_has_no_options_to_give_is_refused(tmp_path: Path, named: str, message: str, fix: str) -> None:
    head, tail = STUDY.split("[[gate]]")
    other = head.partition("\n\n")[2]
    more = "".join(
        (
            other.replace("training", "other", 1),
            other.replace("training", "rules", 1)
            .replace('"form"', '"rules-meaningful"')
            .replace('options_from = "main"\n', "")
            .replace("training.jsonl", "rules.jsonl"),
        )
    )
    (tmp_path / "rules.jsonl").write_text("")
    text = head.replace('"main"', f'"{named}"') + more + "[[gate]]" + tail + TONE
    [(line, said, advice)] = [each for each in _problems(tmp_path, text) if each[0].startswith("options_from")]
    assert (line, advice) == (f'options_from = "{named}"', fix)
    assert message in said


def test_a_mistake_in_shared_options_is_reported_once_where_it_stands(tmp_path: Path) -> None:
    wrong = TONE.replace('"choice"', '"radio"')
    [(line, message, _)] = _problems(tmp_path, STUDY + wrong)
    assert line == 'kind = "radio"'
    assert "`stage.options.fields.kind` is not one of the allowed values" in message


def test_options_that_do_not_go_together_are_reported_where_they_were_added(tmp_path: Path) -> None:
    own = 'options_from = "main"\noptions = { colour = "red" }'
    [(line, message, _)] = _problems(tmp_path, STUDY.replace('options_from = "main"', own) + TONE)
    assert (line, message) == ('options = { colour = "red" }', "there is no setting `colour` here")


REASON = field_toml(name="reason", kind="long_text", ask="Why?")
HIDDEN = 'options_from = "main"\noptions = { hidden = ["reason"] }'


def test_a_stage_hides_a_field_of_the_form_it_shares(tmp_path: Path) -> None:
    folder = _study(tmp_path, STUDY.replace('options_from = "main"', HIDDEN) + TONE + REASON)
    known = {"answer": {"tone": "kind", "reason": "It greets."}, "explanation": "Why."}
    (folder / "training.jsonl").write_text(json.dumps({"id": "a", "text": "Good morning.", **known}) + "\n")
    training, main = load_folder(folder).stages
    assert [field.name for field in training.task.shape.fields] == ["tone"]
    assert [field.name for field in main.task.shape.fields] == ["tone", "reason"]
    assert 'data-field="reason"' not in training.task.form.html
    assert "Why?" not in training.task.form.html
    assert "Why?" in main.task.form.html
    # Gold of what is not asked is left out, so that stages can share their gold.
    assert training.gold[0].answer == {"tone": "kind"}
    assert training.task.grading.grade({"tone": "kind"}, training.gold[0].answer).score == 1
    assert training.task.shape.parse_answer({"tone": "rude"}) == {"tone": "rude"}
    assert all("reason" not in table.columns for table in training.task.exports)


@pytest.mark.parametrize(
    ("hidden", "said"),
    [
        ('["colour"]', "is not a field of the form"),
        ('["tone", "reason"]', "hides every field"),
        ('["tone"]', "hides `tone`, which decides whether `reason` is asked"),
    ],
)
def test_hiding_what_cannot_be_hidden_is_refused(tmp_path: Path, hidden: str, said: str) -> None:
    reason = field_toml(name="reason", kind="text", ask="Why?") + 'shown_if = { field = "tone", is = "rude" }\n'
    own = f'options_from = "main"\noptions = {{ hidden = {hidden} }}'
    problems = _problems(tmp_path, STUDY.replace('options_from = "main"', own) + TONE + reason)
    assert any(said in message for _, message, _ in problems), problems


def test_what_a_stage_asks_stays_once_people_have_answered(tmp_path: Path) -> None:
    """Hiding a field changes what answers can be, also where the form stands in another stage."""
    folder = _study(tmp_path, STUDY + TONE + REASON)
    (folder / "training.jsonl").write_text(
        json.dumps({"id": "t", "text": "Hello.", "answer": {"tone": "kind"}, "explanation": "Why."}) + "\n"
    )
    with closing(open_study(folder)) as study:
        person = Person(study, "ada")
        person.submit(person.next("training"), {"tone": "kind", "reason": "It greets."})
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace('options_from = "main"', HIDDEN))
    with pytest.raises(UserError, match="answers of stage 'training' would change after the stage has"):
        open_study(folder)
