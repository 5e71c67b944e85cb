"""What `chorale status` and the console tell of stages and gates: also why nothing is given out, and what to do."""

import json
import re
from dataclasses import replace
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console
from starlette.testclient import TestClient

from chorale.cli import app as cli
from chorale.engine.control import set_stage_state
from chorale.engine.gates import close_gate, gate_statuses
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.templates import create_study
from chorale.model import Refusal, StageState
from chorale.monitor.overview import overview
from chorale.monitor.status import Status, status, summary
from chorale.monitor.tables import stages_table
from chorale.store import arms, gates
from chorale.web.console.overview import alarm_links
from chorale.web.links import OWNER, VIEWER
from conftest import ManualClock
from crowd import Person, do, look, people
from protocol_study import write_protocol_study
from test_console_gates import as_owner
from test_protocols import Maker, make, train
from writing_study import write_graded_study

__all__ = ["make"]

TIGHT: dict[str, Any] = {"pay": "budget = 264", "gate": "top_share = 1.0\nbonus = 100"}
"""Enough for two of three who pass: each has earned 8, and gets 100."""


def told(folder: Path, *options: str) -> str:
    result = CliRunner().invoke(cli, ["status", str(folder), *options])
    assert result.exit_code == 0, result.output
    return result.output


def stages_of(study: Study) -> dict[str, dict[str, Any]]:
    return {stage["name"]: stage for stage in look(study, lambda tx: summary(tx, study))["stages"]}


def status_with_budget(study: Study, budget: int) -> Status:
    pay = study.settings.pay.model_copy(update={"budget": budget})
    tight = replace(study, settings=study.settings.model_copy(update={"pay": pay}))
    return look(tight, lambda tx: status(tx, tight))


# Stages


def test_what_a_gate_has_ended_is_not_open(make: Maker) -> None:
    study = make(gate="top_share = 1.0")
    train(Person(study, "a"), 4)
    assert (stages_of(study)["training"]["state"], stages_of(study)["training"]["ended_by"]) == ("open", [])
    do(study, close_gate, study.gates["trained"], "the test")
    found = stages_of(study)
    assert (found["training"]["state"], found["training"]["ended_by"]) == ("ended", ["trained"])
    assert (found["work-a"]["state"], found["work-a"]["ended_by"]) == ("open", [])
    assert look(study, lambda tx: status(tx, study)).conditions["training"].words == "ended by gate trained"
    page = as_owner(study).get("/console").text
    assert '<span class="badge">Ended</span><br><span class="muted small">by gate trained</span>' in page
    assert 'id="state-training"' not in page and 'id="state-work-a"' in page, "nothing is left to be paused"


def test_stages_that_gates_have_ended_are_folded_in_a_long_overview(
    make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make(gate="top_share = 1.0")
    train(Person(study, "a"), 4)
    do(study, close_gate, study.gates["trained"], "the test")
    short = as_owner(study).get("/console").text
    assert "ended-stages" not in short and short.index('id="stage-training"') < short.index('id="stage-work-a"')
    monkeypatch.setattr("chorale.web.console.frame.MOST_TABS", 1)
    page = as_owner(study).get("/console").text
    folded = page.index('<details id="ended-stages"><summary>Stages ended by gates <span class="badge">1</span>')
    assert page.index('id="stage-work-a"') < folded < page.index('id="stage-training"')
    assert page.count('<tr id="stage-') == short.count('<tr id="stage-')


def test_what_was_paused_and_then_ended_is_ended(make: Maker) -> None:
    study = make(gate="top_share = 1.0")
    train(Person(study, "a"), 4)
    do(study, set_stage_state, study.stage("training"), StageState.PAUSED, "the test")
    assert stages_of(study)["training"]["state"] == "paused"
    do(study, close_gate, study.gates["trained"], "the test")
    assert stages_of(study)["training"]["state"] == "ended"


def test_what_a_gate_has_ended_wants_nobody(tmp_path: Path, clock: ManualClock) -> None:
    write_graded_study(tmp_path)(study := open_study(tmp_path, clock=clock))
    [(_, arm)] = look(study, arms.arms_by_worker).items()

    def starved() -> set[str]:
        found = look(study, lambda tx: overview(tx, study)).alarms
        return {name for alarm in found if alarm.kind == "starved" for name in alarm.stages}

    clock.pass_minutes(100)
    assert f"{arm}-practice" in starved()
    do(study, close_gate, study.gates[f"{arm}-trained"], "the test")
    assert not {f"{arm}-practice", f"{arm}-grades"} & starved()
    study.close()


def test_a_study_is_finished_when_only_what_gates_ended_has_items_left(tmp_path: Path) -> None:
    write_graded_study(tmp_path)(study := open_study(tmp_path))
    for gate in study.gates.values():
        do(study, close_gate, gate, "the test")
    found = look(study, lambda tx: overview(tx, study))
    assert found.phase == "running"
    found.stages[:] = [stage for stage in found.stages if not stage.counts.name.endswith("-final")]
    assert any(stage.counts.complete < stage.counts.items for stage in found.stages)
    assert found.phase == "finished"
    study.close()


def test_what_the_budget_has_stopped_is_not_open(make: Maker) -> None:
    study = make(pay="budget = 40\nfee_percent = 0", items=2, gate="threshold = 0.0")
    first, second, third = people(study, 3)
    for person in (first, second, third):
        train(person, 4)
    assert {stage["state"] for stage in stages_of(study).values()} == {"open"}
    for stage in ("work-a", "work-b"):
        while (offer := first.next(stage)).lease is not None:
            first.submit(offer)
    while (offer := second.next("work-a")).lease is not None:
        second.submit(offer)
    # Nor can anybody begin the round, which has no items to complete.
    assert Person(study, "late").next("training").status == "paused"
    assert {stage["state"] for stage in stages_of(study).values()} == {"stopped"}
    do(study, set_stage_state, study.stage("work-b"), StageState.PAUSED, "the test")
    assert stages_of(study)["work-b"]["state"] == "paused"
    page = as_owner(study).get("/console").text
    assert page.count("Stopped: budget") == 2 and "The budget does not cover another item" in page


def test_no_money_is_missed_for_what_a_gate_has_ended(tmp_path: Path) -> None:
    write_graded_study(tmp_path)(study := open_study(tmp_path))
    [(_, arm)] = look(study, arms.arms_by_worker).items()
    do(study, close_gate, study.gates[f"{arm}-trained"], "the test")
    stopped = status_with_budget(study, look(study, lambda tx: status(tx, study)).spent).stopped
    assert f"{arm}-practice" not in stopped and f"{arm}-final" in stopped
    study.close()


def test_a_round_wants_no_money_when_all_is_done(make: Maker) -> None:
    study = make(items=1, gate="threshold = 0.0")
    first, second = people(study, 2)
    for person in (first, second):
        train(person, 4)
    for person in (first, second):
        for stage in ("work-a", "work-b"):
            person.judge(stage=stage)
    spent = look(study, lambda tx: status(tx, study)).spent
    assert status_with_budget(study, spent).stopped == ()


# Tables


@pytest.mark.parametrize("width", [80, 100, 140])
def test_many_stages_have_a_row_each_and_every_number_is_whole(tmp_path: Path, width: int) -> None:
    create_study(tmp_path / "trial", "mcq-trial")
    study = open_study(tmp_path / "trial")
    now = look(study, lambda tx: status(tx, study))
    study.close()
    paper = StringIO()
    Console(width=width, file=paper).print(stages_table(now, "USD"))
    lines = paper.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    for stage in now.stages:
        beginning = [line.split() for line in lines if re.match(rf"{stage.name}\s", line)]
        assert beginning and beginning[0][1] == "open"
        assert beginning[-1][-1] == "$0.00"
        assert stage.name in now.rounds or f"0 of {stage.items}" in paper.getvalue()


def test_few_stages_have_a_column_each(make: Maker) -> None:
    study = make()
    paper = StringIO()
    Console(width=80, file=paper).print(stages_table(look(study, lambda tx: status(tx, study)), "USD"))
    header, _, state, *_ = paper.getvalue().splitlines()
    assert header.split() == ["stage", "training", "work-a", "work-b"]
    assert state.split() == ["state", "open", "open", "open"]


# Gates


def lacking(study: Study) -> int:
    [found] = look(study, lambda tx: gate_statuses(tx, study))
    return found.lacking


def test_a_gate_says_how_much_is_missing_and_that_is_enough(make: Maker, tmp_path: Path, database: str | None) -> None:
    study = make(**TIGHT)
    for person in people(study, 3):
        train(person, 4)
    [found] = look(study, lambda tx: gate_statuses(tx, study))
    assert (found.state, found.lacking) == ("open", 3 * 8 + 3 * 100 - 264)
    with pytest.raises(
        Refusal, match=r"exceed the budget by \$0\.60\. Raise `pay\.budget` in study\.toml to 324 or more"
    ):
        do(study, close_gate, study.gates["trained"], "the test")
    for budget, missing in ((323, 1), (324, 0)):
        write_protocol_study(tmp_path / "study", **{**TIGHT, "pay": f"budget = {budget}"})
        again = open_study(tmp_path / "study", database)
        assert lacking(again) == missing
        if not missing:
            assert len(do(again, close_gate, again.gates["trained"], "the test")) == 3
        again.close()
    assert look(study, gates.closed_gates) == {"trained"}
    assert lacking(study) == 0


def test_status_tells_of_a_gate_that_cannot_close(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, **TIGHT)
    study = open_study(tmp_path)
    for person in people(study, 3):
        train(person, 4)
    study.close()
    page = told(tmp_path)
    assert "open, beyond the budget" in page
    assert "The gate trained can't close: its payments would exceed the budget by $0.60." in page
    assert "Raise `pay.budget` in study.toml to 324 or more ($3.24) and start the site again." in page
    [gate] = json.loads(told(tmp_path, "--json"))["gates"]
    assert (gate["state"], gate["lacking"]) == ("open", 60)


def test_the_console_tells_of_a_gate_that_cannot_close(make: Maker) -> None:
    study = make(**TIGHT)
    first, second, third = people(study, 3)
    for person in (first, second):
        train(person, 4)
    assert look(study, lambda tx: overview(tx, study)).alarms == []
    owner: TestClient = as_owner(study)
    assert "can't close" not in unescape(owner.get("/console/gates").text)
    train(third, 4)
    [alarm] = [one for one in look(study, lambda tx: overview(tx, study)).alarms if one.kind == "gate"]
    assert (alarm.stages, alarm.serious) == (("training",), True)
    assert [path for path, _ in alarm_links(alarm, OWNER)] == ["/console/gates", "/console/ledger"]
    assert [path for path, _ in alarm_links(alarm, VIEWER)] == ["/console/ledger"]
    for path in ("/console", "/console/gates"):
        page = " ".join(unescape(owner.get(path).text).split())
        assert "The gate trained can't close: its payments would exceed the budget by $0.60" in page
        assert "Raise <code>pay.budget</code> in study.toml to 324 or more" in page
    assert re.search(r'type="submit" disabled>Yes, close gate trained', page)
