"""`chorale new` asks for what it needs in a terminal, takes flags elsewhere, and never guesses a template."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chorale.cli.program import app
from chorale.folder.own_table import read_own_table
from chorale.folder.reading import load_folder
from chorale.metrics.reading.judged import Reading, judged_in
from chorale.model import Problem, UserError
from chorale.model.problems import condensed

TABLE = "comment_id,text,source\nc1,Hello all of you.,forum\nc2,Go away and stay away.,mail\n"


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("chorale.cli.new.can_ask", lambda: True)
    (tmp_path / "texts.csv").write_text(TABLE)


def typed(*lines: str, options: tuple[str, ...] = ()) -> Result:
    return CliRunner().invoke(app, ["new", *options], input="".join(f"{line}\n" for line in lines))


@pytest.mark.usefixtures("ask")
def test_every_question_leads_to_a_study_from_a_table() -> None:
    made = typed("mine", "1", "nowhere.csv", "texts.csv", "", "Is it toxic?", "yes, no")
    assert made.exit_code == 0, made.output
    assert "'nowhere.csv' does not exist" in made.output
    assert "[text]" in made.output, "the column with the longest texts is offered"
    [stage] = load_folder(Path("mine")).stages
    assert stage.settings.options["fields"][0]["options"] == ["yes", "no"]
    assert "chorale simulate mine" in made.output


@pytest.mark.usefixtures("ask")
def test_what_no_study_can_be_made_with_is_asked_for_again() -> None:
    Path("full").mkdir()
    Path("full", "notes.txt").touch()
    made = typed("full", "texts.csv", "mine", "1", "texts.csv", "", "Is it toxic?", "toxic", "yes, yes,", "yes, no")
    assert made.exit_code == 0, made.output
    assert made.output.count("already exists. Choose another name.") == 2
    assert made.output.count("At least two different answers are needed") == 2
    assert load_folder(Path("mine")).stages


@pytest.mark.usefixtures("ask")
def test_whoever_types_nothing_is_told_what_to_type() -> None:
    made = typed("mine", "1", "", ".", "texts.csv", "", "", "Is it toxic?", "", "yes, no")
    assert made.exit_code == 0, made.output
    for told in (
        "Type the name of a file, for example: texts.csv",
        "'.' is a folder. Type the name of a file.",
        "Type the question that people answer about every row.",
        "At least two different answers are needed",
    ):
        assert made.output.count(told) == 1, made.output


@pytest.mark.usefixtures("ask")
def test_templates_are_listed_with_their_titles() -> None:
    made = typed("mine", "2", "no-such", "form")
    assert made.exit_code == 0, made.output
    assert "How polite is this message?" in made.output
    assert "Created mine from the template `form`" in made.output


@pytest.mark.usefixtures("ask")
def test_a_layout_and_its_batch_file_are_asked_for() -> None:
    Path("layout.html").write_text("<p>${text}</p><input name='a' type='text'>")
    made = typed("mine", "3", "layout.html", "texts.csv")
    assert made.exit_code == 0, made.output
    assert load_folder(Path("mine")).stages


@pytest.mark.usefixtures("ask")
def test_what_flags_name_is_not_asked_for() -> None:
    made = typed(options=("mine", "--from", "texts.csv", "--text", "text", "--ask", "Toxic?", "--labels", "yes,no"))
    assert made.exit_code == 0, made.output
    assert "Choose" not in made.output


@pytest.mark.usefixtures("ask")
def test_nothing_is_asked_of_programs_and_nothing_is_left_behind() -> None:
    refused = typed(options=("mine", "--json"))
    assert refused.exit_code == 2
    assert "--from texts.csv" in refused.stderr and "--template NAME" in refused.stderr
    ended = typed("mine", "1")
    assert ended.exit_code == 1, "the input ended in the middle"
    assert not Path("mine").exists()


def test_without_a_terminal_no_template_is_guessed(tmp_path: Path) -> None:
    refused = CliRunner().invoke(app, ["new", str(tmp_path / "mine")])
    assert refused.exit_code == 2
    assert "Nothing to start the study from" in refused.stderr
    assert not (tmp_path / "mine").exists()
    assert "DIR is missing" in CliRunner().invoke(app, ["new"]).stderr


@pytest.mark.parametrize(
    "table",
    [
        "id,score\n1,0.5\n2,0.75\n",
        "comment_id,url\nx1,https://example.org/a\nx2,https://example.org/b\n",
        "id,hash\n1,3f2b8c1e0d4a4f6b9a7e1c2d3e4f5a6b\n",
    ],
)
def test_a_table_without_texts_offers_no_column(tmp_path: Path, table: str) -> None:
    (tmp_path / "table.csv").write_text(table)
    read = read_own_table(tmp_path / "table.csv")
    assert read.likely_text() is None
    with pytest.raises(UserError, match=r"no column looks like text \(found: .*--text COLUMN"):
        read.text_column(None)


def _checked(folder: Path) -> str:
    done = CliRunner().invoke(app, ["check", str(folder)])
    assert done.exit_code == 2
    return " ".join(done.stderr.split())


def test_check_without_a_study_suggests_what_fits(tmp_path: Path) -> None:
    nothing = _checked(tmp_path)
    assert all(door in nothing for door in ("--from texts.csv", "--template NAME", "--html FILE --csv FILE"))
    assert "rules" not in nothing
    (tmp_path / "texts.csv").write_text(TABLE)
    assert f"--from {tmp_path / 'texts.csv'}" in _checked(tmp_path)
    assert f"chorale new my-study --from {tmp_path / 'texts.csv'}" in _checked(tmp_path / "texts.csv")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.toml").touch()
    assert "Studies in this folder: study." in _checked(tmp_path)


@pytest.mark.parametrize(
    "header", ["id;text", '"id";"text"', '"id";text', "\n\nid;text", "sep=;\nid;text", '\n"sep=;"\n\nid;text']
)
def test_a_table_may_have_semicolons_as_excel_writes_them(tmp_path: Path, header: str) -> None:
    content = f'{header}\n1;Hello, you\n2;"one; two\nthree"\n'
    (tmp_path / "table.csv").write_text(content, "utf-8-sig")
    rows = read_own_table(tmp_path / "table.csv").rows
    assert [dict(row) for row in rows] == [
        {"id": "1", "text": "Hello, you"},
        {"id": "2", "text": "one; two\nthree"},
    ]


@pytest.mark.parametrize("header", ['id,"a;b"', "id,a;b", '"a;b"'])
def test_a_semicolon_in_a_column_name_does_not_separate_columns(tmp_path: Path, header: str) -> None:
    cells = "1" + ",2" * header.count(",")
    (tmp_path / "table.csv").write_text(f"{header}\n{cells}\n")
    assert "a;b" in read_own_table(tmp_path / "table.csv").columns


def test_a_comma_in_a_column_name_does_not_separate_columns(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("id;text, as written;kind\n1;Hello, you;a\n")
    assert [dict(row) for row in read_own_table(tmp_path / "table.csv").rows] == [
        {"id": "1", "text, as written": "Hello, you", "kind": "a"}
    ]


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        # More commas than semicolons in the header, and in some rows.
        ("id;text, title, or both;kind\n1;Hello, you, and you;a\n2;Hello;b\n", ["id", "text, title, or both", "kind"]),
        ('id;"text, title, or; both";kind\n1;"Hello; you";a\n', ["id", "text, title, or; both", "kind"]),
        ("id;x,y;kind\n1;0,5;a\n2;1,5;b\n", ["id", "x,y", "kind"]),
        # A row with too many cells is an error of that row alone.
        ("id,text;note,kind\n1,a,b\n2,c,d\n", ["id", "text;note", "kind"]),
        ("sep=,\nid,a;b;c\n1,2;3;4\n", ["id", "a;b;c"]),
        ("sep=|\nid|a,b\n1|2,3\n", ["id", "a,b"]),
    ],
)
def test_the_separator_is_the_one_that_divides_all_rows_alike(tmp_path: Path, content: str, columns: list[str]) -> None:
    (tmp_path / "table.csv").write_text(content)
    assert list(read_own_table(tmp_path / "table.csv").columns) == columns
    labels = tmp_path / "labels.csv"
    labels.write_text("sep=;\nunit, or item, if any;who;label\n1;a;x\n1;b;x\n2;a;y\n2;b;z\n")
    reading = Reading(task="unit, or item, if any", worker="who", label="label")
    assert len(judged_in(labels, reading).judgments) == 4


def test_one_cause_is_one_line_with_a_count_and_what_was_found() -> None:
    rows = [Problem("a.csv", line, "is not a label", "Use one of: a, b.", f"'{line % 2}'") for line in range(2, 9)]
    other = Problem("a.csv", 3, "has no text", "Add it.")
    assert list(map(str, condensed([*rows, other]))) == [
        "a.csv:2: is not a label in 7 rows (lines 2, 3, 4, …) (found '0', '1'). Use one of: a, b.",
        "a.csv:3: has no text. Add it.",
    ]


def test_wages_that_the_guidelines_bring_below_the_minimum_are_noted(tmp_path: Path) -> None:
    runner = CliRunner()
    runner.invoke(app, ["new", str(tmp_path / "study"), "--template", "form"])
    before = runner.invoke(app, ["check", str(tmp_path / "study")]).output
    assert "less than $12.00 an hour" not in before
    (tmp_path / "study" / "guidelines.md").write_text("word " * 4000)
    after = runner.invoke(app, ["check", str(tmp_path / "study")]).output
    assert "1 stage pays less than $12.00 an hour (pay.minimum_hourly) if the time to read the guidelines" in after
    assert "no problems found" not in after


def test_a_study_that_names_no_platform_gets_no_notes_about_one(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text(TABLE)
    new = ["new", str(tmp_path / "study"), "--from", str(tmp_path / "texts.csv"), "--ask", "Toxic?", "--labels", "a,b"]
    runner = CliRunner()
    assert runner.invoke(app, new).exit_code == 0
    assert "rolific" not in runner.invoke(app, ["check", str(tmp_path / "study")]).output
    settings = tmp_path / "study" / "study.toml"
    settings.write_text(f'{settings.read_text()}\n[arrival]\npanel = "prolific"\n')
    assert "links from prolific are not signed" in runner.invoke(app, ["check", str(tmp_path / "study")]).output
