"""Messages state facts and give advice that works when it is followed."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chorale.cli import app
from chorale.model.extras import need
from chorale.model.problems import UserError

TABLE = "comment_id,text\n" + "".join(f"c{number},This is comment number {number}.\n" for number in range(8))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    table = tmp_path / "comments.csv"
    table.write_text(TABLE)
    done = run("new", tmp_path / "study", "--from", table, "--ask", "Is it kind?", "--labels", "yes,no")
    assert done.exit_code == 0, done.output
    return tmp_path / "study"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def changed(study: Path, before: str, after: str) -> str:
    """What `check` prints after a change of the study file."""
    settings = study / "study.toml"
    text = settings.read_text()
    assert before in text
    settings.write_text(text.replace(before, after))
    done = run("check", study)
    assert done.exit_code == 2, done.output
    return " ".join(done.stderr.split())


def test_a_question_without_options_is_refused(study: Path) -> None:
    said = changed(study, 'options = ["yes", "no"]', "options = []")
    assert "`stage.options.fields.options` leaves no choice (found []). Add at least two options." in said


def test_an_unknown_currency_is_explained_without_a_regular_expression(study: Path) -> None:
    said = changed(study, 'currency = "USD"', 'currency = "dollars"')
    assert "is not a currency code (found 'dollars'). Write three capital letters, such as USD, EUR or GBP." in said


def test_too_little_gold_is_counted_and_explained(study: Path) -> None:
    (study / "gold.jsonl").write_text('{"id": "g", "text": "Thanks!", "answer": {"label": "yes"}}\n')
    said = changed(study, "# [stage.gold]\n# file =", "[stage.gold]\nfile =")
    assert "gold.jsonl has 1 row, but the minimum accuracy applies only after 4 gold answers (`after`)" in said
    assert "Whether workers read it depends on `feedback`." in said


def test_gold_that_cannot_be_made_is_not_suggested(study: Path) -> None:
    assert run("simulate", study).exit_code == 0
    copy = f"{study}-simulated"
    listed = run("gold", copy)
    assert "main: no gold" in listed.stdout and "--promote" not in listed.stdout
    refused = run("gold", copy, "--promote-unanimous")
    assert refused.exit_code == 2 and "can only be added before people start" in " ".join(refused.stderr.split())


def test_a_folder_is_not_called_a_missing_file(tmp_path: Path) -> None:
    said = run("new", tmp_path / "new", "--from", tmp_path, "--ask", "Is it?", "--labels", "yes,no").stderr
    assert "is a folder, not a file. Name a .csv, .tsv, .jsonl or .json file" in " ".join(said.split())


def test_a_missing_cluster_column_is_set_with_its_own_option(tmp_path: Path) -> None:
    table = tmp_path / "judgments.csv"
    table.write_text("task,worker,label\na,v,yes\na,w,no\nb,v,yes\nb,w,yes\n")
    said = run("agreement", table, "--cluster", "writer", "--ci").stderr
    assert "has no column 'writer'" in said and "with --cluster." in said and "--label" not in said


def test_missing_packages_are_listed_in_a_sentence() -> None:
    with pytest.raises(UserError, match=r"This needs nothing_a, nothing_b and nothing_c\. Install them: pip install "):
        need("nothing_a", "nothing_b", "nothing_c")
    with pytest.raises(UserError, match=r"This needs nothing_a\. Install it: pip install nothing_a"):
        need("nothing_a")


def test_mistakes_in_texts_are_announced_with_one_colon(tmp_path: Path) -> None:
    texts = tmp_path / "texts.csv"
    texts.write_text(TABLE)
    said = run("prepare", "best-worst", texts, "--out", tmp_path / "items.jsonl").stderr
    assert "has 8 mistakes:\n" in said and "::" not in said


def test_a_file_without_labels_is_refused_in_one_sentence(tmp_path: Path) -> None:
    table = tmp_path / "judgments.csv"
    table.write_text("task,worker,label\na,v,\nb,w,\n")
    assert ".)" not in run("aggregate", table).stderr


def test_a_change_that_is_not_in_force_yet_is_named_before_advice_to_make_it(study: Path) -> None:
    assert run("invite", study).exit_code == 0
    assert run("mail", study).stderr == "chorale: study.toml has no mail server. Add [mail] with host and sender.\n"
    settings = study / "study.toml"
    settings.write_text(settings.read_text() + '\n[mail]\nhost = "127.0.0.1"\nport = 1\nsender = "a@example.org"\n')
    said = run("mail", study).stderr
    assert "study.toml has changed since the site was last started. Restart `chorale serve " in said
    assert "With the earlier settings: study.toml has no mail server." in said


def test_an_id_is_named_like_its_column(study: Path) -> None:
    with (study / "items.jsonl").open("a") as items:
        items.write('{"comment_id": "c0", "text": "Once more."}\n')
    said = " ".join(run("check", study).stderr.split())
    assert "`comment_id` is already used in line 1 (found 'c0'). Give every row a unique `comment_id`." in said


def test_a_template_is_not_ignored_next_to_a_table(study: Path) -> None:
    table = study.parent / "comments.csv"
    asked = ("--template", "rules", "--from", table, "--ask", "Is it kind?", "--labels", "yes,no")
    refused = run("new", study.parent / "other", *asked)
    assert refused.exit_code == 2 and "Leave out --template" in refused.stderr


def test_a_missing_reason_is_named_with_its_option(study: Path) -> None:
    assert run("team", study, "--invite", "Anna").exit_code == 0
    assert "--deactivate needs a reason (--reason)" in run("team", study, "--deactivate", "Anna").stderr
