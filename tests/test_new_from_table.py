"""`chorale new DIR --from TABLE`: from a table of one's own to a study that passes the check."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from chorale.cli.program import app
from chorale.folder.own_table import read_own_table
from chorale.folder.plan import plan_study, study_notes
from chorale.folder.reading import load_folder

TABLE = 'comment_id,text,source\nc1,"Hello, ""all"" of $you.",forum\nc2,Go away and stay away.,mail\n'


def _new(folder: Path, table: str, *options: str, name: str = "comments.csv") -> Result:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(table, "utf-8")
    command = ["new", str(folder / "study"), "--from", str(folder / name), *options]
    return CliRunner().invoke(app, command)


QUESTION = ("--ask", "Is it [toxic]?", "--labels", 'toxic, not "toxic"')


def test_a_large_table_shows_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, a table of 100 MB showed nothing for more than a minute."""
    shown: list[str] = []

    @contextmanager
    def patiently(activity: str) -> Iterator[Callable[..., None]]:
        shown.append(activity)
        yield lambda *_: None

    for command in ("new", "check"):
        monkeypatch.setattr(f"chorale.cli.{command}.patiently", patiently)
    assert _new(tmp_path, TABLE, *QUESTION).exit_code == 0
    assert shown == ["reading", "finding columns", "writing", "checking"]


def test_a_table_becomes_a_study_that_passes_the_check(tmp_path: Path) -> None:
    made = _new(tmp_path, TABLE, *QUESTION)
    assert made.exit_code == 0, made.output
    assert "2 items, texts from `text`, IDs from `comment_id`" in made.output
    [stage] = load_folder(tmp_path / "study").stages
    assert [item.key for item in stage.items] == ["c1", "c2"]
    assert stage.items[0].payload["text"] == 'Hello, "all" of $you.'
    assert stage.settings.options["fields"][0]["options"] == ["toxic", 'not "toxic"']
    assert stage.settings.options["fields"][0]["ask"] == "Is it [toxic]?"
    assert "Is it \\[toxic\\]?" in stage.guidelines
    checked = CliRunner().invoke(app, ["check", str(tmp_path / "study")])
    assert checked.exit_code == 0, checked.output
    said = " ".join(checked.output.split())
    assert "guidelines.md has placeholders: [when to choose it], [a clear example], [a difficult example]" in said
    assert "Known answers" not in (tmp_path / "study" / "consent.md").read_text("utf-8"), "the study has no gold"


def test_a_new_study_is_checked_at_once(tmp_path: Path) -> None:
    made = _new(tmp_path, TABLE, *QUESTION)
    checked = CliRunner().invoke(app, ["check", str(tmp_path / "study")])
    assert "Estimated cost" in checked.output and checked.output in made.output


def test_simulating_comes_before_the_forecast_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _new(tmp_path, TABLE, *QUESTION)
    monkeypatch.chdir(tmp_path)
    alone = CliRunner().invoke(app, [])
    for output in (made.output, alone.output, (tmp_path / "study" / "README.md").read_text("utf-8")):
        named = re.findall(r"chorale (check|simulate|rehearse|serve)\b", output.partition("Next steps:")[2] or output)
        assert named[:4] == ["check", "simulate", "rehearse", "serve"]


def test_the_pay_per_hour_can_be_computed_by_hand(tmp_path: Path) -> None:
    """Before, the check hid that reading the guidelines counts, so the hourly pay was lower than by hand."""
    _new(tmp_path, TABLE, *QUESTION)
    checked = CliRunner().invoke(app, ["check", str(tmp_path / "study")])
    [row] = re.findall(r"^main .* \$([\d.]+) +([\d.]+) \+ ([\d.]+) +\$([\d.]+)$", checked.output, re.MULTILINE)
    pay, each, guidelines, hourly = map(float, row)
    assert guidelines > 0
    assert hourly == pytest.approx(3600 * pay / (each + guidelines), abs=0.01)
    assert "`expected_seconds` in study.toml + (time to read the guidelines once ÷ answers" in " ".join(
        checked.output.split()
    )


@pytest.mark.parametrize(
    "lengths", [(5,), (5, 8, 6), (3,) * 20, (4, 5, 6, 5, 400), (4,) * 30 + (9_000,), (80, 120, 300, 100)]
)
def test_every_text_is_paid_at_least_the_minimum_wage(tmp_path: Path, lengths: tuple[int, ...]) -> None:
    """Before, `check` warned about new studies with few texts, or with texts much longer than the others."""
    rows = "".join(f"{number},{'word ' * length}\n" for number, length in enumerate(lengths))
    made = _new(tmp_path, f"id,text\n{rows}", *QUESTION)
    assert made.exit_code == 0, made.output
    folder = load_folder(tmp_path / "study")
    assert [note for note in study_notes(folder) if "an hour" in note or "seconds" in note] == []
    [stage] = plan_study(folder).stages
    assert stage.hourly_wage is not None and stage.hourly_wage >= folder.settings.pay.minimum_hourly


def test_columns_can_be_named(tmp_path: Path) -> None:
    made = _new(tmp_path, TABLE, *QUESTION, "--text", "source", "--id", "text", "--json")
    assert made.exit_code == 0, made.output
    said = json.loads(made.output)
    assert (said["text"], said["id"]) == ("source", "text")
    [stage] = load_folder(tmp_path / "study").stages
    assert [item.key for item in stage.items][1] == "Go away and stay away."


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("x" * 201, "row 2 is not a text of 1 to 200 printable characters"),
        (1.5, "row 2 is not a text of 1 to 200 printable characters"),
        ("a\tb", "row 2 is not a text of 1 to 200 printable characters"),
    ],
)
def test_ids_that_the_check_refuses_are_not_used(tmp_path: Path, value: object, why: str) -> None:
    """Before, the study was made with them and did not pass the check."""
    rows = [{"id": "c1", "text": "Some words."}, {"id": value, "text": "Other words."}]
    made = _new(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), *QUESTION, name="comments.jsonl")
    assert f"(in `id`, {why})" in " ".join(made.output.split())
    assert len(load_folder(tmp_path / "study").stages[0].items) == 2


def test_spaces_around_ids_are_removed(tmp_path: Path) -> None:
    made = _new(tmp_path, "id,text\n c1 ,Some words.\nc2,Other words.\n", *QUESTION)
    assert made.exit_code == 0, made.output
    assert [item.key for item in load_folder(tmp_path / "study").stages[0].items] == ["c1", "c2"]


@pytest.mark.parametrize("text", ["word " * 10_001, {"deep": "x"}])
def test_a_text_that_can_not_be_shown_is_refused_at_once(tmp_path: Path, text: object) -> None:
    rows = [{"id": "c1", "text": "Some words."}, {"id": "c2", "text": text}]
    made = _new(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), *QUESTION, name="comments.jsonl")
    assert made.exit_code == 2 and not (tmp_path / "study").exists()
    assert "row 2 must have a text of at most 50,000 characters in the column `text`" in " ".join(made.output.split())


def test_texts_without_spaces_are_found_and_paid(tmp_path: Path) -> None:
    """Before, a Chinese text was one word: another column was shown, and reading was not paid."""
    text = "你真是个大傻瓜，快走开吧。我们再也不想看到你了。"
    made = _new(tmp_path, f"id,comment,source\n1,{text},a web forum\n2,{text}好,a web forum\n", *QUESTION)
    assert "texts from `comment`" in made.output
    [stage] = load_folder(tmp_path / "study").stages
    short = _new(tmp_path / "short", "id,comment,source\n1,你,forum\n2,好,forum\n", *QUESTION, "--text", "comment")
    assert short.exit_code == 0, short.output
    [other] = load_folder(tmp_path / "short" / "study").stages
    assert (stage.settings.pay.expected_seconds or 0) > (other.settings.pay.expected_seconds or 0) + 4


def test_rows_without_usable_ids_are_numbered(tmp_path: Path) -> None:
    rows = [{"id": "same", "text": f"Comment {number}"} for number in range(12)]
    made = _new(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), *QUESTION, name="comments.jsonl")
    printed = " ".join(made.output.split())
    assert "rows numbered in the new column `row_id` (in `id`, row 2 repeats `same`)" in printed
    assert "To take IDs from a column: --id COLUMN" in printed
    [stage] = load_folder(tmp_path / "study").stages
    assert [item.key for item in stage.items][:2] == ["row-01", "row-02"]


def test_numbers_leave_the_columns_of_the_table_as_they_are(tmp_path: Path) -> None:
    rows = [{"id": "same", "row_id": "", "text": f"Comment {number}"} for number in range(2)]
    made = _new(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), *QUESTION, name="comments.jsonl")
    assert "new column `row_id_2`" in made.output
    written = [json.loads(line) for line in (tmp_path / "study" / "items.jsonl").read_text().splitlines()]
    assert written == [{**row, "row_id_2": f"row-{number}"} for number, row in enumerate(rows, 1)]
    [stage] = load_folder(tmp_path / "study").stages
    assert [item.key for item in stage.items] == ["row-1", "row-2"]


@pytest.mark.parametrize(("same", "warns"), [(3, True), (2, False)])
def test_texts_that_many_rows_share_are_pointed_out(tmp_path: Path, same: int, warns: bool) -> None:
    """Tables from other programs have NA where somebody wrote nothing."""
    rows = [f"{number},{'NA' if number < same else f'Comment number {number}'}" for number in range(10)]
    said = " ".join(_new(tmp_path, "\n".join(["id,text", *rows]) + "\n", *QUESTION).output.split())
    assert ("3 of the 10 texts are the same: 'NA'. Each is paid for. Remove the rows" in said) == warns


@pytest.mark.parametrize(
    ("table", "doubtful"),
    [
        ("1,Hello there friend\n2,Go away now\n", "'1'"),
        ("Hello there friend\nGo away now\n", "'Hello there friend'"),
        ("Aircraft Make Model,Number of Engines\nA long comment about it,2\n", None),
        ("What do you think of it?,name\nNot much,Ada\n", None),
        (TABLE, None),
    ],
)
def test_a_table_without_a_header_is_pointed_out(tmp_path: Path, table: str, doubtful: str | None) -> None:
    said = " ".join(_new(tmp_path, table, *QUESTION).output.split())
    assert ("was read as column names" in said) == (doubtful is not None)
    assert doubtful is None or f"such as {doubtful}. If this row is data, add a row of column names" in said


def test_a_first_row_that_is_too_long_for_names_is_refused(tmp_path: Path) -> None:
    comment = "Somehow I was blessed with friends who write me more words than any column is named with. " * 2
    refused = _new(tmp_path, f"1\t2.7\t{comment}\n2\t1.4\tYay. Another good interview.\n", *QUESTION, name="it.tsv")
    assert refused.exit_code == 2
    said = " ".join(refused.stderr.split())
    assert "it.tsv: the column name 'Somehow I was" in said
    assert "is too long (179 characters; the maximum is 100)" in said
    assert "add a row of column names above it" in said


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_csv_file_may_have_other_separators(tmp_path: Path, separator: str) -> None:
    made = _new(tmp_path, separator.join(("id", "text")) + "\n" + separator.join(("1", "Hello, you")) + "\n", *QUESTION)
    assert "1 item, texts from `text`, IDs from `id`" in made.output


@pytest.mark.parametrize("name", ["comments.xlsx", "COMMENTS.XLSX", "comments.csv"])
def test_a_spreadsheet_is_to_be_saved_as_csv(tmp_path: Path, name: str) -> None:
    refused = _new(tmp_path, "PK\x03\x04\x00\x00", *QUESTION, name=name)
    assert refused.exit_code == 2
    assert "Save it as CSV (in Excel: “CSV UTF-8”)." in " ".join(refused.stderr.split())


@pytest.mark.parametrize("name", ["id", "answer", "explanation", "pieces", "rendered"])
def test_columns_that_studies_use_themselves_are_not_shown(tmp_path: Path, name: str) -> None:
    table = f"{name},short\nMuch longer than the other,one\nAnd long here too,two\n"
    refused = _new(tmp_path, table, *QUESTION, "--text", name)
    assert refused.exit_code == 2
    assert f"the column `{name}` can't be shown to people" in " ".join(refused.stderr.split())
    made = _new(tmp_path, table, *QUESTION)
    assert made.exit_code == 0 and "texts from `short`" in made.output
    assert CliRunner().invoke(app, ["check", str(tmp_path / "study")]).exit_code == 0
    alone = _new(tmp_path / "alone", f"{name}\nSome text\n", *QUESTION)
    assert "Rename the column" in " ".join(alone.stderr.split())


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        (TABLE, (), "--ask and --labels missing"),
        (TABLE, ("--ask", "What?"), "--labels missing"),
        (TABLE, ("--ask", "What?", "--labels", "one"), "must have 2 to 50 labels (found 1)"),
        (TABLE, ("--ask", "What?", "--labels", "one,one"), "repeats 'one'"),
        (TABLE, ("--ask", " ", "--labels", "a,b"), "--ask must be one line of 1 to 200 characters"),
        (TABLE, (*QUESTION, "--text", "txet"), "found: comment_id, text, source). Did you mean `text`?"),
        (TABLE, (*QUESTION, "--id", "none"), "`none` for --id (found: comment_id, text, source). Name one of these"),
        (TABLE + "c1,Again.,forum\n", (*QUESTION, "--id", "comment_id"), "row 3 repeats `c1`"),
        (TABLE + "c3,,forum\n", QUESTION, "1 row has no value in the column `text` (first: row 3)"),
        ("text\n", QUESTION, "has no rows"),
        (TABLE, (*QUESTION, "--scripts-only"), "Leave out --template, --html, --csv and --scripts-only"),
        ("a,a\n1,2\n", QUESTION, "can't be read"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    tmp_path: Path, table: str, options: tuple[str, ...], said: str
) -> None:
    made = _new(tmp_path, table, *options)
    assert made.exit_code == 2
    assert said in " ".join(made.stderr.split())
    assert not (tmp_path / "study").exists()


def test_options_of_a_table_need_one(tmp_path: Path) -> None:
    made = CliRunner().invoke(app, ["new", str(tmp_path / "study"), "--ask", "What?"])
    assert made.exit_code == 2
    assert "Add --from FILE" in made.stderr
    missing = CliRunner().invoke(app, ["new", str(tmp_path / "study"), "--from", str(tmp_path / "no.csv")])
    assert "no such file" in missing.stderr


printable = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20)


@given(printable, st.lists(printable.filter(lambda label: "," not in label), min_size=2, max_size=4, unique=True))
def test_any_question_and_labels_make_a_study(
    tmp_path_factory: pytest.TempPathFactory, ask: str, labels: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("study")
    made = _new(folder, TABLE, f"--ask={ask}", f"--labels={','.join(labels)}")
    assert made.exit_code == 0, made.output
    [stage] = load_folder(folder / "study").stages
    assert stage.settings.options["fields"][0]["options"] == labels


def test_the_longest_texts_are_what_people_read(tmp_path: Path) -> None:
    (tmp_path / "table.tsv").write_text("paid\tlong\tid\n1\tsome words here\tx\n0\t\ty\n")
    table = read_own_table(tmp_path / "table.tsv")
    assert (table.text_column(None), table.id_column(None)) == ("long", "id")


def test_ids_and_addresses_are_not_what_people_read(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(
        "comment_id,url,word\n"
        "3f2b8c1e-0d4a-4f6b-9a7e-1c2d3e4f5a6b,https://example.org/a/long/address,big cat\n"
        "9c8b7a6f-5e4d-4c3b-8a29-180f7e6d5c4b,https://example.org/another/address,small dog\n"
    )
    table = read_own_table(tmp_path / "table.csv")
    assert (table.text_column(None), table.id_column(None)) == ("word", "comment_id")


def test_an_hour_pays_the_minimum_with_reading_the_guidelines(tmp_path: Path) -> None:
    rows = "".join(f"c{number},airport\n" for number in range(200))
    _new(tmp_path, f"comment_id,text\n{rows}", *QUESTION)
    [stage] = json.loads(CliRunner().invoke(app, ["check", str(tmp_path / "study"), "--json"]).output)["stages"]
    assert stage["hourly_wage"] >= 1200


def test_an_old_spreadsheet_is_recognised_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "comments.csv").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(100))
    command = ["new", str(tmp_path / "study"), "--from", str(tmp_path / "comments.csv"), *QUESTION]
    assert "is a spreadsheet" in " ".join(CliRunner().invoke(app, command).stderr.split())


@pytest.mark.parametrize("column", ["id", "ID", "tweet_ID", "review-id", "Review ID", "reviewId", "ReviewID"])
def test_columns_named_like_ids_are_taken(tmp_path: Path, column: str) -> None:
    made = _new(tmp_path, f"{column},text\na1,Hello to you.\na2,Go away.\n", *QUESTION)
    assert f"IDs from `{column}`" in made.output


def test_printed_commands_work_for_a_folder_with_a_space(tmp_path: Path) -> None:
    made = _new(tmp_path / "my own", TABLE, *QUESTION)
    for command in ("check", "simulate", "rehearse", "serve"):
        assert f"chorale {command} '{tmp_path / 'my own' / 'study'}'" in " ".join(made.output.split())
