"""Designing a form: the study file keeps its comments, mistakes stand beside their settings, and nothing is lost."""

import json
import tomllib
from contextlib import closing
from functools import partial
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fastapi.testclient import TestClient

from chorale.engine.opening import open_study
from chorale.engine.started import changes_refused
from chorale.folder.editing import with_options
from chorale.folder.reading import check_folder
from chorale.folder.templates import create_study
from chorale.model import Refusal, UserError
from chorale.web.design.app import COOKIE, create_design_app
from chorale.web.design.drafts import Designer, Edit
from crowd import Person

KITS = Path(__file__).parent.parent / "src/chorale/kits"
FILES = sorted(KITS.glob("forms/[tg]*/*/study.toml"))
KEY = "a-key-of-somebody"


def _designer(folder: Path) -> Designer:
    return Designer(folder, partial(changes_refused, folder, None))


def _comments(text: str) -> list[str]:
    return sorted(line.partition("#")[2].strip() for line in text.splitlines() if "#" in line)


def _options(text: str) -> tuple[int, dict[str, Any]]:
    stages = tomllib.loads(text)["stage"]
    place = next(number for number, stage in enumerate(stages) if "options" in stage)
    return place, stages[place]["options"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_moving_and_changing_fields_keeps_every_comment(file: Path) -> None:
    text = file.read_text()
    place, options = _options(text)
    assert with_options(text, place, options, {}) == text
    rng = Random(3)
    for _ in range(5):
        order = list(range(len(options["fields"])))
        rng.shuffle(order)
        fields = [{**options["fields"][number]} for number in order]
        fields[0]["ask"] = 'Is it "odd" # or not? \\ \n]]'
        changed = with_options(text, place, {**options, "fields": fields}, {"fields": order})
        wanted = tomllib.loads(text)
        wanted["stage"][place]["options"]["fields"] = fields
        assert tomllib.loads(changed) == wanted
        assert set(_comments(text)) <= set(_comments(changed))


STUDY = """\
[[stage]]
name = "one"
[[stage.options.fields]]
name = "a"
# about b
[[stage.options.fields]]
name = "b"
labels = [
  "x",  # the first
  "y",  # the second
]
[stage.options.fields.shown_if]  # rarely
field = "a"
is = "x"

# The second stage.
[[stage]]
name = "two"
options = { fields = [{ name = "c" }], hosts = [] }  # short
"""


def test_comments_go_with_the_table_below_them() -> None:
    [one, two] = [stage["options"] for stage in tomllib.loads(STUDY)["stage"]]
    moved = with_options(STUDY, 0, {"fields": [one["fields"][1], one["fields"][0]]}, {"fields": [1, 0]})
    assert (
        moved.index("# about b") < moved.index('name = "b"') < moved.index('name = "a"') < moved.index("# The second")
    )
    fewer = with_options(STUDY, 0, {"fields": one["fields"][:1]}, {"fields": [0]})
    assert "about b" not in fewer
    assert "# The second stage.\n[[stage]]" in fewer
    b = {**one["fields"][1], "labels": ["x", "new", "y"], "shown_if": {"field": "a", "is": "z"}}
    changed = with_options(STUDY, 0, {"fields": [one["fields"][0], b]}, {})
    assert '"x",  # the first' in changed
    assert '"y",  # the second' in changed
    assert "# rarely" in changed
    inline = with_options(STUDY, 1, {**two, "fields": [*two["fields"], {"name": "d"}]}, {"fields": [0, None]})
    assert inline.endswith("  # short\n")
    assert tomllib.loads(inline)["stage"][1]["options"]["fields"] == [{"name": "c"}, {"name": "d"}]
    for order in permutations(range(2)):
        crlf = with_options(
            STUDY.replace("\n", "\r\n"), 0, {"fields": [one["fields"][n] for n in order]}, {"fields": order}
        )
        assert "\n" not in crlf.replace("\r\n", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_study(tmp_path / "study", "form")
    return tmp_path / "study"


def _edit(designer: Designer, change: Any = None) -> Edit:
    state = designer.state()
    options = json.loads(json.dumps(state["stages"][0]["options"]))
    if change is not None:
        change(options)
    return Edit(stage="tone", digest=state["digest"], options=options)


def test_a_draft_is_checked_like_the_file_and_writes_nothing(folder: Path) -> None:
    designer = _designer(folder)
    before = designer.text()

    def spoil(options: dict[str, Any]) -> None:
        options["fields"][1]["levels"] = 99
        options["fields"][3]["shown_if"]["is"] = "friendly"

    tried = designer.try_out(_edit(designer, spoil))
    assert [each["at"] for each in tried.problems_in_options()] == [["fields", 1, "levels"]]
    assert tried.other_problems() == []
    assert [str(problem) for problem in tried.read.problems] == [
        str(problem) for problem in check_folder(folder, tried.text)[1]
    ]
    assert designer.version == 0
    assert designer.text() == before
    tried = designer.try_out(_edit(designer, lambda options: options["fields"][0].update(ask="And now?")))
    assert tried.read.problems == []
    assert "And now?" in designer.stage("tone").task.form.html
    assert designer.text() == before


def test_saving_keeps_the_rest_and_refuses_a_file_changed_meanwhile(folder: Path) -> None:
    designer = _designer(folder)
    file = folder / "study.toml"
    file.chmod(0o640)
    before = file.read_text()
    late = _edit(designer, lambda options: options["fields"].pop())
    saved = designer.save(_edit(designer, lambda options: options["fields"][0].update(ask="And now?")))
    assert saved.saved
    assert file.read_text() == before.replace("How does the message sound?", "And now?")
    assert file.stat().st_mode & 0o777 == 0o640
    with pytest.raises(Refusal, match="has changed since you opened it"):
        designer.save(late)
    assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []


def test_a_problem_is_not_saved(folder: Path) -> None:
    designer = _designer(folder)
    before = designer.text()
    tried = designer.save(_edit(designer, lambda options: options["fields"][0].update(kind="colour")))
    assert not tried.saved
    assert tried.problems_in_options()[0]["at"] == ["fields", 0, "kind"]
    assert designer.text() == before


def test_what_people_have_answered_cannot_be_changed(folder: Path) -> None:
    designer = _designer(folder)
    with closing(open_study(folder)) as study:
        person = Person(study, "5f0000000000000000000001")
        offer = person.next("tone")
        person.submit(offer, {"tone": "polite", "ease": 3, "words": []})
    before = designer.text()
    words = _edit(designer, lambda options: options["fields"][0].update(ask="And now?"))
    assert designer.save(words).saved
    shape = _edit(designer, lambda options: options["fields"][1].update(levels=7))
    refused = designer.save(shape)
    assert not refused.saved
    assert "would change after the stage has started" in refused.other_problems()[0]
    assert designer.text() == before.replace("How does the message sound?", "And now?")


def test_other_files_may_follow_the_form_until_people_have_answered(folder: Path) -> None:
    """Gold that names a removed field is reported; the file can be saved, and gold corrected after that."""
    designer = _designer(folder)
    tried = designer.save(_edit(designer, lambda options: options["fields"].pop(1)))
    assert tried.saved
    assert "gold.jsonl" in tried.other_problems()[0]
    assert "ease" not in designer.stage("tone").task.form.html
    assert _designer(folder).state()["stages"][0]["options"]["fields"][1]["name"] == "words"
    create_study(folder.with_name("begun"), "form")
    begun = _designer(folder.with_name("begun"))
    with closing(open_study(begun.directory)) as study:
        person = Person(study, "5f0000000000000000000001")
        person.submit(person.next("tone"), {"tone": "polite", "ease": 3, "words": []})
    before = begun.text()
    assert not begun.save(_edit(begun, lambda options: options["fields"].pop(1))).saved
    assert begun.text() == before


def test_a_folder_that_cannot_be_written_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    designer = _designer(folder)
    edit = _edit(designer, lambda options: options["fields"][0].update(ask="And now?"))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("chorale.web.design.drafts.Path.replace", full)
    before = designer.text()
    with pytest.raises(UserError, match="No space left on device"):
        designer.save(edit)
    assert designer.text() == before
    assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []


def test_only_the_person_at_this_computer_gets_in(folder: Path) -> None:
    client = TestClient(create_design_app(_designer(folder), KEY), base_url="http://127.0.0.1:8010")
    for path in ("/design", "/design/state", "/design/preview/tone", "/tasks/form/form.js"):
        assert client.get(path).status_code == 401, path
    assert client.get("/", params={"key": "another"}).status_code == 401
    assert client.get("/", params={"key": KEY}).status_code == 200
    client.get("/", params={"key": "from another site"})
    assert client.cookies[COOKIE] == KEY, "a link of another site ends no session"
    edit = _edit(_designer(folder), lambda options: options["fields"].pop()).model_dump()
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert client.post("/design/save", json=edit, headers=elsewhere).json()["error"]["code"] == "cross_site"
    page = client.get("/design/preview/tone")
    assert "frame-ancestors 'self'" in page.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in client.get("/design").headers["Content-Security-Policy"]


def test_the_preview_checks_answers_and_keeps_none(folder: Path) -> None:
    client = TestClient(create_design_app(_designer(folder), KEY), base_url="http://127.0.0.1:8010")
    client.get("/", params={"key": KEY})
    assert client.get("/static/sentences.js").status_code == 200
    first = client.post("/design/preview/tone/next", json={}).json()["assignment"]
    assert "message" in first["item"]
    sent = {"key": "key-00000001", "answer": {"tone": "odd"}}
    error = client.post("/design/preview/tone/submit", json=sent).json()["error"]
    assert error["code"] == "invalid_answer"
    assert error["message"].startswith("Invalid answer: ") and "is invalid" not in error["message"]
    sent["answer"] = {"tone": "polite", "ease": 3, "words": []}
    assert client.post("/design/preview/tone/submit", json=sent).json()["status"] == "accepted"
    second = client.post("/design/preview/tone/next", json={}).json()["assignment"]
    assert second["item"] != first["item"]
    assert client.post("/design/preview/other/next", json={}).status_code == 404
    assert client.get("/design/preview/tone/media/study.toml").status_code == 404
    assert not (folder / "study.db").exists()


def test_a_preview_shows_pictures_of_its_items_and_no_other_file(tmp_path: Path) -> None:
    create_study(tmp_path / "study", "gallery/image-boxes")
    (tmp_path / "study/pictures/other.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    client = TestClient(create_design_app(_designer(tmp_path / "study"), KEY), base_url="http://127.0.0.1:8010")
    client.get("/", params={"key": KEY})
    name = client.get("/design/state").json()["stages"][0]["name"]
    item = client.post(f"/design/preview/{name}/next", json={}).json()["assignment"]["item"]
    [address] = [value for value in item.values() if isinstance(value, str) and "/media/" in value]
    assert client.get(address).headers["Content-Type"] == "image/svg+xml"
    assert client.get(address.rpartition("/")[0] + "/other.svg").status_code == 404


def test_a_study_with_problems_is_not_opened(folder: Path) -> None:
    (folder / "study.toml").write_text("format = 1\n")
    with pytest.raises(UserError, match="Correct them first"):
        _designer(folder)


ALL_FILES = sorted(KITS.glob("*/[tg]*/*/study.toml"))
# The trial has many stages, which takes long.
MARKED_FILES = [
    pytest.param(file, marks=pytest.mark.slow) if file.parent.name == "mcq-trial" else file for file in ALL_FILES
]


@pytest.mark.parametrize("file", MARKED_FILES, ids=lambda file: file.parent.name)
def test_every_option_of_every_template_can_be_left_alone_or_removed(file: Path) -> None:
    text = file.read_text()
    for place, stage in enumerate(tomllib.loads(text)["stage"]):
        options = stage.get("options", {})
        assert with_options(text, place, options, {}) == text
        for name in options:
            rest = {key: value for key, value in options.items() if key != name}
            changed = tomllib.loads(with_options(text, place, rest, {}))["stage"][place]
            assert changed.get("options", {}) == rest


def test_options_nested_without_end_are_refused(folder: Path) -> None:
    client = TestClient(create_design_app(_designer(folder), KEY), base_url="http://127.0.0.1:8010")
    client.get("/", params={"key": KEY})
    edit = _edit(_designer(folder), lambda options: options["fields"].pop()).model_dump()
    edit["options"]["deep"] = json.loads("[" * 500 + "]" * 500)
    assert client.post("/design/draft", json=edit).status_code == 422
