"""The kit, as it is installed: its promises, and all that it adds to Chorale."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import chorale
from chorale.cli import app
from chorale.contract import AnswerError
from chorale.engine.opening import open_study
from chorale.folder.templates import create_study
from chorale.testing import KIT_CHECKS, TASK_CHECKS, KitCheck, ScriptedWorker, TaskCheck
from chorale_ranking import KIT
from chorale_ranking.rankings import borda_points, borda_ranking, kendall_tau, parse_ranking
from chorale_ranking.task import RANKING

JUDGMENTS = "# a comment\nt1 ann a>b>c\nt1 bob a>c>b\nt1 eve b>a>c\n\nt2 ann c>b>a\nt2 bob c>a>b\n"
GOLD = "i1 a>b>c\ni2 b>c>a\ni3 c>a>b\n"
SYSTEM = "i1 a>b>c\ni2 b>a>c\ni3 a>c>b\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"judgments.txt": JUDGMENTS, "gold.txt": GOLD, "system.txt": SYSTEM}.items():
        Path(name).write_text(text, "utf-8")
    return tmp_path


def run(*arguments: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == status, done.output
    return done.output


def as_json(*arguments: str) -> Any:
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("check", KIT_CHECKS, ids=repr)
def test_the_kit_keeps_its_promises(check: KitCheck) -> None:
    check(KIT)


@pytest.mark.parametrize("check", TASK_CHECKS, ids=repr)
def test_the_task_keeps_its_promises(check: TaskCheck) -> None:
    check(RANKING)


def test_rankings() -> None:
    assert parse_ranking("b > a>c") == ("b", "a", "c")
    for wrong in ("", "a>>b", "a>b>a"):
        with pytest.raises(ValueError, match="is not a ranking"):
            parse_ranking(wrong)
    assert kendall_tau("abc", "abc") == 1
    assert kendall_tau("abc", "cba") == -1
    assert kendall_tau("abc", "acb") == pytest.approx(1 / 3)
    assert borda_ranking(borda_points([("abc", 1), ("bac", 1), ("bca", 0.5)])) == ["b", "a", "c"]


def test_an_answer_has_every_text_once() -> None:
    item = {"texts": {"a": "A", "b": "B", "c": "C"}}
    assert RANKING.shape.parse_answer(["c", "a", "b"], item) == ["c", "a", "b"]
    for wrong in (["a", "b"], ["a", "a", "b"], ["a", "b", "d"]):
        with pytest.raises(AnswerError):
            RANKING.shape.parse_answer(wrong, item)


def test_the_reader_works_wherever_judgments_are_read(files: Path) -> None:
    assert "reader:ranks" in as_json("agreement", "judgments.txt", "--reader", "ranks")["signature"]
    assert chorale.alpha("judgments.txt", reader="ranks").value is not None
    assert "The only choice is ranks." in run("agreement", "judgments.txt", "--reader", "rank", status=2)
    assert "Omit --label" in run("agreement", "judgments.txt", "--reader", "ranks", "--label", "x", status=2)
    Path("judgments.txt").write_text("t1 ann a>b>c\nt1 bob\n", "utf-8")
    assert "judgments.txt:2: " in run("agreement", "judgments.txt", "--reader", "ranks", status=2)


def test_the_method_is_one_of_aggregate(files: Path) -> None:
    result = as_json("aggregate", "judgments.txt", "--reader", "ranks", "--method", "borda", "--ci")
    assert result["labels"] == {"t1": "a", "t2": "c"}
    assert "method:borda" in result["signature"]
    assert "reader:ranks" in result["signature"]
    assert "borda" in run("aggregate", "--help")
    assert "Did you mean borda?" in run("aggregate", "judgments.txt", "--method", "bord", status=2)
    Path("plain.csv").write_text("task,worker,label\nt,ann,a>\n", "utf-8")
    assert "is not a ranking" in run("aggregate", "plain.csv", "--method", "borda", status=2)
    scored = chorale.aggregate.score("judgments.txt", "borda", reader="ranks", truth={"t1": "a", "t2": "b"})
    assert scored.value == 0.5


def test_the_family_has_a_command_and_a_function(files: Path) -> None:
    result = as_json("evaluate", "ranking", "system.txt", "gold.txt", "--ci", "--against", "gold.txt")
    assert result["scores"] == {"tau": pytest.approx(5 / 9), "top-1": pytest.approx(2 / 3)}
    assert set(result["ci"]) == set(result["against"]) == {"tau", "top-1"}
    assert r"\toprule" in run("evaluate", "ranking", "system.txt", "gold.txt", "--latex")
    assert "ranking" in dir(chorale.evaluate)
    score = chorale.evaluate.ranking("system.txt", "gold.txt")
    assert score.value == pytest.approx(5 / 9)
    assert score.interval is not None
    assert score.signature.startswith("ranking|")
    assert "metrics of the kit ranking" in run("evaluate", "--help")


def test_the_command(files: Path) -> None:
    assert "Order the texts" in run("--help")
    result = as_json("rank", "judgments.txt", "--reader", "ranks")
    assert result["rankings"] == {"t1": ["a", "b", "c"], "t2": ["c", "a", "b"]}
    assert "a > b > c" in run("rank", "judgments.txt", "--reader", "ranks")


def test_a_study_from_the_template_goes_all_its_way(files: Path) -> None:
    assert "7 files" in run("new", "study", "--template", "ranking")
    assert "no errors" in run("check", "study")
    forecast = as_json("rehearse", "study", "--seeds", "1", "--workers", "6")
    assert forecast["notes"] is not None
    _answer_all(files / "study")
    for name in ("labels", "jsonl", "ranking-points", "ballots"):
        run("export", "study", "--format", name, "--out", f"{name}.out")
    assert chorale.alpha("ballots.out", reader="ranks").value == 1
    points = Path("ranking-points.out").read_text("utf-8").splitlines()
    assert points[0] == "item,name,text,rank,points"
    assert len(points) == 1 + 8 * 3
    section = as_json("report", "study")["ranking"]
    assert section == {"items": 8, "mean_tau": 1.0}
    run("report", "study", "--out", "report.html")
    assert "Ranked items" in Path("report.html").read_text("utf-8")
    assert "summaries" in run("status", "study")
    run("verify", "study")


def test_wrong_items_are_reported(files: Path) -> None:
    create_study(files / "study", "ranking")
    (files / "study" / "summaries.jsonl").write_text('{"id": "s1", "texts": {"a": "A", "b": "B"}}\n', "utf-8")
    assert "summaries.jsonl:1: " in run("check", "study", status=2)


def _answer_all(folder: Path) -> None:
    """Three workers answer every item as the template's author does."""
    lines = [line for name in ("truth", "gold") for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]
    rows = [json.loads(line) for line in lines]
    right = {json.dumps(row["texts"]): row["answer"] for row in rows}
    study = open_study(folder)
    try:
        for name in ("ann", "bob", "eve"):
            ScriptedWorker(study, name).work("summaries", lambda view: right[json.dumps(view["texts"])])
    finally:
        study.close()
