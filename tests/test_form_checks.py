"""`chorale check` on a form: which column is the ID, one message for one cause, and what should be looked at."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.cli.program import app
from chorale.engine.opening import open_study
from chorale.folder.plan import study_notes
from chorale.folder.reading import check_folder, load_folder
from chorale.store.items import all_items
from comments_study import write_comments_study
from crowd import look
from test_form import ONE, field_toml, write_form_study


def rename(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


def test_the_ids_of_a_round_are_to_be_renamed(tmp_path: Path) -> None:
    """Before, `items.id` was suggested, which a round does not have."""
    row = {"message_id": "t1", "text": "Go away.", "answer": {"one": "a"}, "explanation": "It is."}
    write_form_study(tmp_path, ONE, rows=json.dumps(row) + "\n")
    rename(tmp_path / "study.toml", "items = {", "round = {")
    told = "\n".join(map(str, check_folder(tmp_path)[1]))
    assert "Rename the column `message_id`." in told and "items.id" not in told


def test_the_column_of_ids_can_be_named(tmp_path: Path) -> None:
    write_comments_study(tmp_path, count=60)
    rename(tmp_path / "comments.csv", "id,text", "comment_id,text")
    _, problems = check_folder(tmp_path)
    assert [str(one) for one in problems] == [
        'comments.csv:1: no column named "id" (found: comment_id, text, source). Set items.id = "comment_id", or '
        "rename the column."
    ]
    rename(tmp_path / "study.toml", 'file = "comments.csv"', 'file = "comments.csv", id = "comment_id"')
    study = open_study(tmp_path)
    (first, *_) = look(study, lambda tx: [item for item in all_items(tx, "main") if not item.is_gold])
    assert first.key == "c000" and "comment_id" not in first.payload
    study.close()


def test_a_misspelt_column_of_ids_is_reported_with_those_there_are(tmp_path: Path) -> None:
    write_comments_study(tmp_path, count=5)
    rename(tmp_path / "study.toml", 'file = "comments.csv"', 'file = "comments.csv", id = "sourc"')
    _, (told,) = check_folder(tmp_path)
    assert 'no column named "sourc" (found: id, text, source). Set items.id = "source"' in str(told)


def test_a_missing_column_of_ids_in_rows_of_json_is_reported_with_those_there_are(tmp_path: Path) -> None:
    asking = '[stage.options]\nshows = [{ item = "text" }]\n' + ONE
    rows = [{"text": "Text 1"}, {"text": "Text 2", "commentID": "c2"}]
    write_form_study(tmp_path, asking, rows="".join(json.dumps(row) + "\n" for row in rows))
    _, (told,) = check_folder(tmp_path)
    assert str(told) == (
        'items.jsonl:1: no column named "id" (found: text, commentID). Set items.id = "commentID", or '
        "rename the column."
    )
    (tmp_path / "items.jsonl").write_text(
        json.dumps({"text": "x", **{f"column{number}": "x" for number in range(30)}}), "utf-8"
    )
    _, (told,) = check_folder(tmp_path)
    assert "column18 and 11 more). Add a column with a unique ID for every row" in str(told)


def test_one_mistake_in_many_rows_is_one_message_with_a_count(tmp_path: Path) -> None:
    rows = "".join(json.dumps({"text": f"Text {number}"}) + "\n" for number in range(51))
    rows += json.dumps({"id": "last", "text": "Text 51"}) + "\n"
    write_form_study(tmp_path, "[stage.options]\n" + 'shows = [{ item = "text" }]\n' + ONE, rows=rows)
    _, (told,) = check_folder(tmp_path)
    assert str(told).startswith("items.jsonl:1: `id` is missing in 51 rows (lines 1, 2, 3, …).")


def test_lines_that_are_not_toml_do_not_hide_the_other_mistakes(tmp_path: Path) -> None:
    write_form_study(tmp_path, ONE.replace('kind = "choice"', 'kind = "radio"'), extra="judgments = 0")
    path = tmp_path / "study.toml"
    rename(path, 'title = "The only stage"', "title = The only stage")
    rename(path, "[[stage]]", "[[stage]")
    rename(path, 'guidelines = "text.md"', 'guidelines = "gone.md"')
    told = "\n".join(str(one) for one in check_folder(tmp_path)[1])
    lines = path.read_text("utf-8").splitlines()
    place = {text: number for number, text in enumerate(lines, 1)}
    assert f"study.toml:{place['title = The only stage']}: is not TOML" in told
    assert f"study.toml:{place['[[stage]']}: is not TOML" in told
    assert "gone.md" in told and "`stage.options.fields.kind` is not one of" in told and "`stage.judgments" in told
    assert "`stage.title` is missing" not in told, "its line is there, and is reported"


@pytest.mark.parametrize("text", ["你真是个大傻瓜，走开。", "静かにしてください。", "กรุณาเงียบหน่อย"])
def test_a_text_without_spaces_is_warned_of(tmp_path: Path, text: str) -> None:
    spans = field_toml(name="spans", kind="spans", ask="Which?", item="text")
    write_form_study(tmp_path, spans, rows=json.dumps({"id": "a", "text": text}) + "\n")
    (note,) = (one for one in study_notes(load_folder(tmp_path)) if "spaces between words" in one)
    assert note.startswith("only: in 1 item `text` has no spaces between words, so spans are marked by character")
    for fine in ("Don't shout, please!", "لا تصرخ في وجهي من فضلك", ["你", "真", "是", "个", "大", "傻瓜"]):
        write_form_study(tmp_path, spans, rows=json.dumps({"id": "a", "text": fine}) + "\n")
        assert not any("spaces between words" in one for one in study_notes(load_folder(tmp_path)))


def feedback_to(folder: Path, row: dict[str, Any]) -> Any:
    """The feedback to a worker whose whole answer to a gold row is wrong."""
    task = load_folder(folder).stages[0].task
    assert task.explaining.feedback is not None
    gold = task.shape.parse_gold(row["answer"])
    return task.explaining.feedback({"left": row["left"]}, {"one": "b", "why": "No."}, gold)


def test_gold_in_free_text_is_warned_of(tmp_path: Path) -> None:
    """Before, the note promised that workers see the gold of a field that is not graded."""
    fields = ONE + field_toml(name="why", kind="text", ask="Why?")
    row = {"id": "g", "left": "x", "answer": {"one": "a", "why": "Because."}, "explanation": "It is."}
    write_form_study(tmp_path, fields, gold=json.dumps(row) + "\n", rows=json.dumps({"id": "i", "left": "x"}) + "\n")
    (note,) = (one for one in study_notes(load_folder(tmp_path)) if "`why`" in one)
    assert note.startswith("only: 1 gold answer has `why`, a text: an answer is correct if it is one of the gold texts")
    assert note.endswith('set gold = "none" on the field: workers then do not see the gold text either.')
    assert "Because." in str(feedback_to(tmp_path, row))
    fields = ONE + field_toml(name="why", kind="text", ask="Why?", gold="none")
    write_form_study(tmp_path, fields, gold=json.dumps(row) + "\n", rows=json.dumps({"id": "i", "left": "x"}) + "\n")
    (note,) = (one for one in study_notes(load_folder(tmp_path)) if "`why`" in one)
    assert note.startswith("only: 1 gold answer has `why`, which is not graded.")
    assert "Because." not in str(feedback_to(tmp_path, row))


def test_gold_that_grades_nothing_is_a_mistake(tmp_path: Path) -> None:
    """Whatever somebody answered had all of it right."""
    fields = ONE + field_toml(name="why", kind="text", ask="Why?", gold="none")
    row = {"id": "g", "left": "x", "answer": {"why": "Because."}, "explanation": "It is."}
    write_form_study(tmp_path, fields, gold=json.dumps(row) + "\n", rows=json.dumps({"id": "i", "left": "x"}) + "\n")
    _, (problem,) = check_folder(tmp_path)
    assert "must have an answer to a graded field: `why` has gold" in str(problem)


def test_a_wrong_form_does_not_hide_errors_in_the_items(tmp_path: Path) -> None:
    """Before, the items were not read until the form was right."""
    rows = json.dumps({"id": "i1", "text": "Go."}) + "\n"
    write_form_study(tmp_path, ONE.replace('"choice"', '"chioce"'), rows=f'{rows}{rows}{{"id": "i2", "text":\n')
    told = [str(one) for one in check_folder(tmp_path)[1]]
    assert any("'chioce'" in one for one in told)
    assert any("items.jsonl:2: `id` is already used in line 1" in one for one in told)
    assert any("items.jsonl:3: is not JSON" in one for one in told)


def test_a_dialogue_without_turns_to_answer_is_pointed_out(tmp_path: Path) -> None:
    """Before, nobody could answer such an item, and nothing said so."""
    asked = field_toml(
        name="help", kind="turn_choice", ask="Helpful?", item="talk", options=["a", "b"], speakers=["bot"]
    )
    talks = {"i1": ["user"], "i2": ["user", "bot"]}
    rows = [{"id": key, "talk": [{"speaker": name, "text": "Hello"} for name in names]} for key, names in talks.items()]
    write_form_study(tmp_path, asked, rows="".join(json.dumps(row) + "\n" for row in rows))
    notes = "\n".join(study_notes(load_folder(tmp_path)))
    assert "in 1 item `talk` has no turn of bot, so nobody can answer `help`" in notes


@pytest.mark.parametrize(("judgments", "told"), [(1, "1 worker who completes"), (2, "2 workers who complete")])
def test_the_number_of_workers_is_a_sentence(tmp_path: Path, judgments: int, told: str) -> None:
    write_form_study(tmp_path, ONE, rows='{"id": "i1", "text": "Go."}\n', extra=f"judgments = {judgments}")
    checked = CliRunner().invoke(app, ["check", str(tmp_path)])
    assert f"Needs at least {told}" in " ".join(checked.output.split())
