"""Answers in rounds: counted, told wherever stages are listed, and never taken for judgments."""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.engine import work
from chorale.engine.clock import Clock
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.monitor.overview import overview
from chorale.monitor.status import RoundStatus, status
from chorale.store import Tx, stages
from chorale.web.app import create_app
from chorale.web.links import setup_link_path
from crowd import do, look, people
from protocol_study import ROUND, write_protocol_study

PASSWORD = "a brass band at dawn"


@pytest.fixture
def trained(tmp_path: Path, database: str | None, clock: Clock) -> Iterator[Study]:
    """Two have finished the round, one of them works; one has answered half, one a question, one has only come."""
    write_protocol_study(tmp_path / "study", gate="threshold = 0.5")
    study = open_study(tmp_path / "study", database, clock)
    for person, many in zip(people(study, 5), (ROUND, ROUND, ROUND // 2, 1, 0), strict=True):
        for _ in range(many):
            person.judge("yes", "training")
    people(study, 1)[0].judge("yes", "work-a")
    yield study
    study.close()


ANSWERS = 2 * ROUND + ROUND // 2 + 1


def test_answers_in_rounds_are_counted_alike_from_answers_and_from_what_was_counted_before(trained: Study) -> None:
    def both(tx: Tx) -> tuple[Any, Any]:
        return stages.stage_tallies(tx, trained.round_sizes), stages.stage_counts(tx)

    quick, slow = look(trained, both)
    assert quick == slow
    training, first, second = slow
    assert (training.answers, training.judgments, training.gold_answers, training.workers) == (ANSWERS, 0, 0, 4)
    assert (first.answers, first.judgments, second.answers) == (1, 1, 0)
    now = look(trained, lambda tx: status(tx, trained))
    assert now.rounds == {"training": RoundStatus(questions=ROUND, finished=2)}
    seen = look(trained, lambda tx: overview(tx, trained))
    assert [view.round for view in seen.stages] == [now.rounds["training"], None, None]
    assert (seen.judgments, seen.answers_in_rounds) == (1, ANSWERS)
    assert look(trained, lambda tx: verify(tx, trained)).differences == []


def test_a_skipped_question_of_a_round_that_comes_again_is_no_skip_any_more(trained: Study) -> None:
    """Before, `verify` found more skips stored than items returned, in every round with a skip."""
    [person] = people(trained, 5)[4:]
    skipped = person.next("training").lease
    assert skipped is not None
    do(trained, work.skip, person.id, skipped.token)
    for _ in range(ROUND - 1):
        person.judge("yes", "training")
    again = person.next("training")
    assert again.lease is not None and again.lease.item_key == skipped.item_key
    person.submit(again)
    assert look(trained, lambda tx: verify(tx, trained)).differences == []


def test_the_console_shows_answers_of_a_round_as_no_judgments(trained: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))
    client = TestClient(create_app(trained))
    client.post(setup_link_path(trained) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
    page = client.get("/console").text
    assert f"plus {ANSWERS} training answers" in page
    assert re.search(rf"<text [^>]*>{ANSWERS} answers</text>", page)
    [row] = re.findall(r'<tr id="stage-training">.*?</tr>', page, re.DOTALL)
    assert ">training round</span>" in row and "2 of 4 people finished" in row
    assert re.search(rf'<td class="num" [^>]*>{ANSWERS} <span class="muted small">training answers</span>', row)
    listed = client.get("/console/workers?stage=training&order=answers&direction=down").text
    assert ">Training answers" in listed and ">Annotations" not in listed
    assert ">Annotations" in client.get("/console/workers?stage=work-a").text
    name = re.findall(r'id="worker-([\w-]+)"', listed)[0]
    told = client.get(f"/console/workers/{name}").text
    assert f"<dt>Training answers</dt><dd>{ROUND}</dd>" in told
    assert "0 of 0" not in client.get("/console/items?stage=training").text
    gold = client.get("/console/gold/training").text
    assert "Confusing items" not in gold and re.search(r">[1-4] of [1-4]</td>", gold), (
        "people have answered its questions"
    )


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_status_and_report_tell_answers_of_a_round_beside_judgments(trained: Study, tmp_path: Path) -> None:
    trained.close()
    folder = tmp_path / "study"

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, [arguments[0], str(folder), *arguments[1:]], env={"COLUMNS": "160"})
        assert done.exit_code == 0, done.output
        return done.stdout

    training, work, _ = json.loads(run("status", "--json"))["stages"]
    assert (training["judgments"], training["answers"]) == (0, ANSWERS)
    assert training["round"] == {"questions": ROUND, "finished": 2}
    assert (work["judgments"], work["answers"], work["round"]) == (1, 1, None)
    text = run("status")
    # What a round does not have stands empty there, and what only a round has elsewhere.
    for line in (rf"training answers\W+{ANSWERS}", r"people who finished training\W+2"):
        assert re.search(rf"{line}\W*$", text, re.MULTILINE), text
    assert re.search(r"annotations\W+1\W+0\W*$", text, re.MULTILINE), text

    report = json.loads(run("report", "--json", "--resamples", "100", "--no-charts"))
    assert report["funnel"]["stages"][0]["answers"] == ANSWERS
    assert report["funnel"]["stages"][0]["round"] == {"questions": ROUND, "finished": 2}
    assert report["methods"]["Design"].startswith("4 people worked on this study")
    assert "The study has 1 annotation." in report["methods"]["Design"]
    assert f"Of 4 people who began training ({ROUND} items), 2 finished it." in report["methods"]["Design"]
    run("report", "--out", str(tmp_path / "report.html"), "--resamples", "100", "--no-charts")
    page = (tmp_path / "report.html").read_text("utf-8")
    [rounds] = re.findall(r"answers there are not annotations.*?</table>", page, re.DOTALL)
    assert re.findall(r"<td[^>]*>([^<]*)</td>", rounds) == ["training", str(ROUND), "4", "2", str(ANSWERS)]
    [others] = re.findall(r"<caption>Items</caption>.*?</table>", page, re.DOTALL)[-1:]
    assert "training" not in others and "work-a" in others


def test_a_study_of_rounds_alone_is_told_without_empty_tables(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_protocol_study(folder, gate="threshold = 0.5")
    settings = folder / "study.toml"
    text = settings.read_text("utf-8")
    work, gate = text.index('[[stage]]\nname = "work-a"'), text.index("[[gate]]")
    settings.write_text(text[:work] + (text[gate:] if gate > work else ""), "utf-8")
    study = open_study(folder)
    [person] = people(study, 1)
    for _ in range(ROUND):
        person.judge("yes", "training")
    study.close()
    told = CliRunner().invoke(app, ["status", str(folder)], env={"COLUMNS": "160"})
    assert "training answers" in told.stdout and "annotations" not in told.stdout, told.output
    options = ["--out", str(tmp_path / "report.html"), "--resamples", "100", "--no-charts"]
    written = CliRunner().invoke(app, ["report", str(folder), *options])
    assert written.exit_code == 0, written.output
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "1 person took part in 1 training round with" in page
    assert "<caption>Items</caption>" not in page and "answers there are not annotations" in page
    assert "annotations in the final stages" not in page
