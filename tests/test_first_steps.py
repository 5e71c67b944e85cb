"""`chorale` alone names the few commands that make sense in the folder, and they are commands."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from chorale.cli.program import app


def _alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, [])
    assert done.exit_code == 0
    named = re.findall(r"^  chorale ([\w-]+)", done.output, re.MULTILINE)
    assert set(named) <= set(app.list_commands())
    assert "`chorale --help` lists all commands" in done.output
    return done.output.splitlines()


def test_where_there_is_no_study_it_says_how_to_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    output = _alone(tmp_path, monkeypatch)
    assert any(line.startswith("  chorale new my-study --from texts.csv ") for line in output)


def test_beside_a_table_it_names_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my comments.csv").touch()
    command = "  chorale new my-study --from 'my comments.csv' "
    [line] = [line for line in _alone(tmp_path, monkeypatch) if line.startswith(command)]
    assert line.endswith("the table in this folder")
    assert not any("texts.csv" in line for line in _alone(tmp_path, monkeypatch))
    (tmp_path / "answers.jsonl").touch()
    [line] = [line for line in _alone(tmp_path, monkeypatch) if " --from answers.jsonl " in line]
    assert line.endswith("or another table in this folder")


def test_in_a_study_it_names_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "study.toml").touch()
    output = _alone(tmp_path, monkeypatch)
    assert any(line.startswith("  chorale serve . ") for line in output)
    assert not any("export" in line for line in output)
    (tmp_path / "study.db").touch()
    assert any(line.startswith("  chorale export . ") for line in _alone(tmp_path, monkeypatch))


def test_beside_studies_it_lists_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        (tmp_path / f"s{number}").mkdir()
        (tmp_path / f"s{number}" / "study.toml").touch()
    output = _alone(tmp_path, monkeypatch)
    assert output[0] == "7 studies in this folder: s0, s1, s2, s3, s4, …"
    assert any(line.startswith("  chorale check s0 ") for line in output)


def test_a_command_does_not_print_them() -> None:
    done = CliRunner().invoke(app, ["check", "missing"])
    assert done.exit_code == 2
    assert "lists all commands" not in done.output
