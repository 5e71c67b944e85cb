"""Rehearsals are the study itself, done by people who are known: they keep its promises and come out as they must."""

import gc
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from io import StringIO
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from rich.console import Console

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.contract import installed_tasks
from chorale.engine import visit
from chorale.engine.gates import gate_statuses
from chorale.engine.running import Study
from chorale.folder.reading import load_folder
from chorale.folder.reading_plan import reading_plan
from chorale.folder.templates import create_study
from chorale.metrics.judgments import Judgments
from chorale.metrics.score_table import ScoreTable
from chorale.model import UserError
from chorale.present.scoring import score_table
from chorale.present.svg import Axis, Point, point_chart
from chorale.protocol import State
from chorale.rehearsal import Crowd, Forecasts, Performance, Rehearsal, Run, parse_vary, read_crowd, rehearse
from chorale.rehearsal.changes import ChangeCounter
from chorale.rehearsal.forecasting import estimate
from chorale.rehearsal.measuring import measure
from chorale.rehearsal.page import forecast_page
from chorale.rehearsal.preparing import usual_workers
from chorale.rehearsal.simulated import (
    AnswerSheet,
    CrowdSettings,
    KindSettings,
    Mode,
    WorkerModel,
    draw_arrivals,
    draw_crowd,
)
from chorale.rehearsal.simulated.answering import listed_answers
from chorale.rehearsal.simulated.crowd import draw_fitted
from chorale.rehearsal.simulated.fitting import fit_workers
from chorale.rehearsal.tables import forecast_notes, forecast_tables
from chorale.rehearsal.varying import toml_text, variations
from chorale.store import Tx, events, ledger, participations
from chorale.store.gates import verdicts
from chorale.store.responses import all_responses
from examples import examples
from protocol_study import ROUND, write_protocol_study
from serving import PATIENCE_SECONDS
from small_study import write_small_study

T = TypeVar("T")
AT_ONCE = 1_000_000
PERFECT = KindSettings(name="perfect", share=1, ability=(1, 1), dropout=0)
NOISY = KindSettings(name="noisy", share=1, ability=(0.7, 0.7), learning=0, dropout=0)

SPAMMER = KindSettings(name="spammer", share=1, spam="random", dropout=0)


@pytest.fixture(autouse=True)
def same_gold_positions() -> None:
    """Not patched here: a rehearsal has gold at places of its own, the same for the same seed."""


class _OfText(BaseModel):
    answer: str


def with_truth(folder: Path, applications: int) -> None:
    """Make the truth of every item known: all are meaningful, and every other one entails."""
    phrases = [f"the crew {verb} the hull {number}" for verb in ("paint", "cover") for number in range(applications)]
    rows = [{"phrase": phrase, "answer": "yes"} for phrase in phrases]
    (folder / "truth1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pairs = [
        {
            "lhs": f"the crew paint the hull {number}",
            "rhs": f"the crew cover the hull {number}",
            "answer": "no" if number % 2 else "yes",
        }
        for number in range(applications)
    ]
    (folder / "truth2.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    text = (folder / "study.toml").read_text()
    for number in (1, 2):
        gold = f'[stage.gold]\nfile = "gold{number}.jsonl"'
        text = text.replace(gold, f'[stage.rehearsal]\ntruth = "truth{number}.jsonl"\n{gold}')
    (folder / "study.toml").write_text(text)


@pytest.fixture
def make_folder(tmp_path: Path) -> Callable[..., Path]:
    def make(applications: int = 6, **changes: Any) -> Path:
        folder = tmp_path / "study"
        write_small_study(folder, applications=applications, **changes)
        with_truth(folder, applications)
        return folder

    return make


def crowd(*kinds: KindSettings, workers: int = 12, per_hour: float = AT_ONCE, **changes: Any) -> Crowd:
    return Crowd(CrowdSettings(workers=workers, per_hour=per_hour, kind=kinds, **changes))


def perform(folder: Path, people: Crowd, seed: int = 1) -> tuple[Run, Study, Performance]:
    rehearsal = Rehearsal(load_folder(folder), people)
    study, performance = rehearsal.perform(seed)
    run = read(study, lambda tx: measure(tx, study, performance, rehearsal.known, seed))
    rehearsal.close()
    return run, study, performance


def read(study: Study, work: Callable[[Tx], T]) -> T:
    return study.store.read(work).result()


def differences(study: Study) -> list[str]:
    return read(study, lambda tx: verify(tx, study)).differences


# A performance


def test_perfect_people_give_perfect_results(make_folder: Callable[..., Path]) -> None:
    run, study, performance = perform(make_folder(share=0.2), crowd(PERFECT))
    first, second = run.stages
    assert run.complete and run.starved == ()
    assert (first.items, first.complete, first.released, first.judgments) == (12, 12, 12, 36)
    assert (second.items, second.complete) == (6, 6)
    assert first.accuracy == second.accuracy == second.released_accuracy == 1.0
    assert (first.dropped, first.left, first.discarded) == (0, 0, 0)
    assert run.answers == first.judgments + second.judgments + first.gold_answers + second.gold_answers
    assert run.active <= run.arrived == 12
    assert {person.exit for person in performance.people} == {"finished"}
    assert differences(study) == []


def test_the_same_seed_is_the_same_run(make_folder: Callable[..., Path]) -> None:
    folder = make_folder(share=0.2, gold=12)
    people = crowd(PERFECT, NOISY, SPAMMER, workers=15, per_hour=120)

    def everything(seed: int) -> tuple[Run, list[Any], list[Any]]:
        run, study, _ = perform(folder, people, seed)
        answers = read(study, lambda tx: list(all_responses(tx)))
        return run, answers, read(study, lambda tx: events.recent(tx, 100_000))

    assert everything(3) == everything(3)
    assert everything(3)[1] != everything(4)[1]


def test_a_seed_is_the_same_run_whatever_ran_before(tmp_path: Path) -> None:
    create_study(tmp_path / "study", "frames")
    # Its stages go by people's quality, of which a study keeps what it has read.
    rehearsal = Rehearsal(load_folder(tmp_path / "study"), crowd(replace_kind(PERFECT, share=2), SPAMMER, workers=16))

    def run(seed: int) -> list[Any]:
        study, _ = rehearsal.perform(seed)
        return read(study, lambda tx: events.recent(tx, 100_000))

    alone = run(2)
    run(1)
    assert run(2) == alone


@pytest.mark.parametrize("seed", [1, 3])
def test_whoever_waits_looks_up_only_what_may_have_changed(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "study"
    # Those who come later train while others wait for the items behind the gate.
    write_protocol_study(folder, gate="threshold = 0.5", items=3)
    slow = replace_kind(PERFECT, name="slow", dropout=0.1, pace=12)
    people = crowd(PERFECT, slow, SPAMMER, workers=20, per_hour=100, look_in_minutes=0.1, patience_hours=2)
    concern = ChangeCounter.concern
    spared = []

    def noted(self: ChangeCounter, person: Any, stages: Any) -> bool:
        changed = concern(self, person, stages)
        spared.append(not changed)
        return changed

    monkeypatch.setattr(ChangeCounter, "concern", noted)
    _, study, _ = perform(folder, people, seed)
    monkeypatch.setattr(ChangeCounter, "concern", lambda *_: True)
    monkeypatch.setattr(ChangeCounter, "are_more_than_answers", lambda *_: True)
    _, looking_always, _ = perform(folder, people, seed)
    assert any(spared) and not all(spared)
    assert read(study, lambda tx: events.recent(tx, 100_000)) == read(
        looking_always, lambda tx: events.recent(tx, 100_000)
    )


@pytest.mark.parametrize(("budget", "ended"), [(None, "finished"), (180, "paused")])
def test_whoever_waits_hears_what_a_look_at_the_start_page_would_tell(
    make_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, budget: int | None, ended: str
) -> None:
    # Few items at a time for many people, judged until they are certain, and some who leave.
    folder = make_folder(8, share=0.1, judgments="{ min = 2, max = 5, until = 0.9 }")
    if budget is not None:
        file = folder / "study.toml"
        file.write_text(file.read_text().replace("[pay]\n", f"[pay]\nbudget = {budget}\n", 1))
    people = crowd(NOISY, replace_kind(NOISY, pace=9, dropout=0.1), workers=25, per_hour=200, look_in_minutes=0.2)
    told: list[str] = []

    def checked(tx: Tx, study: Study, worker_id: int, stages: Sequence[str]) -> visit.PartsNow:
        found = visit.look_for_room(tx, study, worker_id, stages)
        parts = list(visit.parts_for(tx, study, worker_id, stages))
        assert found.still_waiting == all(part.state == "waiting" for part in parts)
        assert found.stage == next((part.stage for part in parts if part.state == "available"), None)
        told.extend(part.state for part in parts)
        return found

    monkeypatch.setattr("chorale.rehearsal.performing.look_for_room", checked)
    for seed in range(4):
        perform(folder, people, seed)
    assert {"waiting", "available", ended} <= {*told} <= {"waiting", "available", "finished", "paused"}


@pytest.mark.parametrize("stages", [1, 2])
def test_whoever_goes_on_with_what_they_waited_for_does_what_the_start_page_would_tell(
    make_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, stages: int
) -> None:
    folder = make_folder(4, judgments="{ min = 2, max = 6, until = 0.99 }")
    file = folder / "study.toml"
    if stages == 1:
        file.write_text(file.read_text().rpartition("[[stage]]")[0])
    # Some come when others have all there is, and read the guidelines when something is free.
    slow = replace_kind(NOISY, pace=9, dropout=0.1)
    people = crowd(NOISY, slow, workers=20, per_hour=200, look_in_minutes=0.1, patience_hours=0.3)

    def answers() -> list[list[Any]]:
        studies = [perform(folder, people, seed)[1] for seed in range(10)]
        return [read(study, lambda tx: list(all_responses(tx))) for study in studies]

    going_on = answers()
    monkeypatch.setattr(Performance, "_look_for_room", lambda self, person: self._look_at(person, person.waits_for))
    assert going_on == answers()


def test_spammers_are_dropped_and_their_work_is_done_again(make_folder: Callable[..., Path]) -> None:
    kinds = (replace_kind(PERFECT, share=2), SPAMMER)
    run, study, performance = perform(make_folder(30, share=0.3, gold=30, after=3), crowd(*kinds, workers=18))
    dropped = {row.worker for row in read(study, participations.participation_summaries) if row.standing == "dropped"}
    assert 1 <= len(dropped) <= 6
    assert run.stages[0].discarded > 0
    assert run.complete
    assert run.stages[0].accuracy is not None and run.stages[0].accuracy > 0.9
    assert differences(study) == []
    spammers = [person for person in performance.people if person.model.mode is Mode.RANDOM]
    assert len(spammers) == 6


def replace_kind(kind: KindSettings, **changes: Any) -> KindSettings:
    return kind.model_copy(update=changes)


def test_more_judgments_are_better_on_a_noisy_crowd(make_folder: Callable[..., Path]) -> None:
    accuracies = []
    for judgments in ("1", "5"):
        folder = make_folder(60, judgments=judgments)
        run, _, _ = perform(folder, crowd(NOISY, workers=16))
        assert run.stages[0].judgments_per_item == int(judgments)
        accuracies.append(run.stages[0].accuracy or 0.0)
    assert accuracies[0] == pytest.approx(0.7, abs=0.12)
    # Five people of 0.7 who vote are right with 0.84.
    assert accuracies[1] == pytest.approx(0.84, abs=0.1)
    assert accuracies[1] > accuracies[0]


def test_cost_is_what_the_ledger_says(make_folder: Callable[..., Path]) -> None:
    run, study, _ = perform(make_folder(share=0.2, pay=7, fee_percent=20), crowd(PERFECT, NOISY))
    lines = read(study, lambda tx: list(ledger.ledger_lines(tx)))
    assert run.cost == sum(line.amount for line in lines) == sum(stage.cost for stage in run.stages)
    assert run.fee == sum(line.amount for line in lines if line.kind == "fee") > 0
    assert run.curve[0][1] >= 0
    assert run.curve[-1][1] == run.cost
    assert [cost for _, cost in run.curve] == sorted(cost for _, cost in run.curve)


def test_people_learn_from_explained_mistakes(make_folder: Callable[..., Path]) -> None:
    keen = replace_kind(NOISY, ability=(0.5, 0.5), learning=0.5)
    _, study, performance = perform(make_folder(30, share=0.4, gold=20, floor=0.0), crowd(keen, workers=8))
    stage = study.stage("meaningful")
    learned = [person.accuracy_in(stage) for person in performance.people if stage.name in person.entered]
    assert max(learned) > 0.74 and min(learned) >= 0.5


def test_people_who_leave_let_their_items_go(make_folder: Callable[..., Path]) -> None:
    fickle = replace_kind(PERFECT, dropout=0.2)
    run, study, performance = perform(make_folder(10), crowd(fickle, PERFECT, workers=24))
    left = [person for person in performance.people if person.exit == "left"]
    assert left
    assert run.complete
    assert sum(stage.left for stage in run.stages) == len(left)
    # They keep what they hold for its half hour; then others had it.
    assert Counter(event.kind for event in read(study, lambda tx: events.recent(tx, 10_000)))["expired"] == len(left)
    assert run.hours > 0.5
    assert differences(study) == []


@pytest.mark.parametrize(
    ("changes", "kinds", "workers", "why"),
    [
        ({}, (PERFECT,), 2, "2 had already done all their work there"),
        ({"meaningful_extra": "max_per_worker = 2"}, (PERFECT,), 5, "5 had reached the limit per person"),
        ({"share": 0.4, "gold": 30, "after": 1, "floor": 1.0}, (SPAMMER,), 6, "were removed there"),
        ({}, (replace_kind(PERFECT, dropout=1),), 4, "4 left early"),
    ],
    ids=["too few people", "a limit", "spammers only", "nobody stays"],
)
def test_a_study_that_starves_ends_and_says_why(
    make_folder: Callable[..., Path], changes: Any, kinds: tuple[KindSettings, ...], workers: int, why: str
) -> None:
    run, study, _ = perform(make_folder(**changes), crowd(*kinds, workers=workers))
    assert not run.complete
    assert run.starved[0].startswith("meaningful: ")
    assert why in run.starved[0]
    assert differences(study) == []


def test_people_come_one_after_the_other(make_folder: Callable[..., Path]) -> None:
    run, _, performance = perform(make_folder(40), crowd(PERFECT, workers=30, per_hour=6))
    came = [person.came_at for person in performance.people if person.came_at is not None]
    assert came == sorted(came)
    # Those who come after all is done are not counted: they were not needed.
    assert run.arrived == sum(moment <= performance.ended_at for moment in came) < 30
    assert run.complete


def test_the_fewest_people_are_found_by_trying(make_folder: Callable[..., Path]) -> None:
    folder = make_folder(judgments="3")
    told = rehearse(folder, seeds=2, workers=12, find_fewest=True, processes=1)
    [forecast] = told.forecasts
    for run in forecast.runs:
        assert run.needed is not None
        assert run.needed >= 3, "so many judgments an item takes"
        for workers, finishes in ((run.needed, True), (run.needed - 1, False)):
            [again] = rehearse(folder, seeds=1, first_seed=run.seed, workers=workers, processes=1).forecasts
            assert bool(again.finished) is finishes
    assert "minimum number of people" in {row[0] for row in forecast_tables(told)[0].rows}
    [unasked] = rehearse(folder, seeds=1, workers=12, processes=1).forecasts
    assert unasked.runs[0].needed is None


def test_people_who_wait_too_long_give_up(make_folder: Callable[..., Path]) -> None:
    slow = replace_kind(PERFECT, name="slow", pace=80)
    folder = make_folder(2, judgments="1")
    run, _, performance = perform(folder, crowd(slow, workers=8, look_in_minutes=1, patience_hours=0.05), seed=5)
    assert sum(person.exit == "gave up" for person in performance.people) >= 4
    assert run.stages[0].complete == 4


def test_those_who_are_cut_off_in_a_round_have_not_finished_it(tmp_path: Path) -> None:
    write_protocol_study(tmp_path / "study", gate="top = 2\nworkers = 2", round_pay="finished = 12")
    run, study, performance = perform(tmp_path / "study", crowd(NOISY, workers=12, per_hour=600))
    training = run.stages[0]
    answered = read(study, lambda tx: participations.participation_summaries(tx, stage_name="training"))
    assert training.finished == sum(row.answered == ROUND for row in answered) >= 2
    assert run.finishing == sum(12 * row.answered // ROUND for row in answered)
    assert training.entered == training.finished + training.cut_off and training.cut_off > 0
    assert all(stage.cut_off == 0 for stage in run.stages[1:])
    assert {person.exit for person in performance.people} == {"finished"}


@pytest.mark.parametrize(
    ("gate", "state"),
    [("threshold = 0.75", "each"), ("top_share = 0.5", "closed"), ("top = 5\nworkers = 10", "closed")],
)
def test_people_go_through_rounds_and_gates(tmp_path: Path, gate: str, state: str) -> None:
    write_protocol_study(tmp_path / "study", gate=gate, round_extra="over_admission = 3")
    run, study, performance = perform(tmp_path / "study", crowd(PERFECT, SPAMMER, workers=24))
    [status] = read(study, lambda tx: gate_statuses(tx, study))
    # A gate that closes decides about everybody who has begun; those without a score are no result of the round.
    with_score = read(study, lambda tx: sum(row.has_score and not row.passed for row in verdicts(tx)))
    assert (status.state, status.passed) == (state, run.gates[0].passed)
    assert run.gates[0].not_passed == with_score <= status.not_passed
    training, first, _ = run.stages
    assert training.entered == 24
    assert run.gates[0].passed >= max(5, first.entered)
    assert run.complete
    if state == "each":
        assert 12 <= run.gates[0].passed < 24, "all who know their things, and some spammers by luck"
        assert first.locked_out == run.gates[0].not_passed
    assert {person.exit for person in performance.people} == {"finished"}
    assert differences(study) == []


def test_nobody_is_trained_beyond_what_the_work_needs(tmp_path: Path) -> None:
    # Eight people for eight judgments in each stage, and half as many more who may fail.
    write_protocol_study(tmp_path / "study")
    run, study, _ = perform(tmp_path / "study", crowd(PERFECT, workers=24, per_hour=6000))
    assert (run.stages[0].entered, run.stages[0].locked_out, run.complete) == (12, 12, True)
    assert differences(study) == []


def test_a_requester_can_be_asked_when_everybody_waits(make_folder: Callable[..., Path]) -> None:
    asked = []

    def advance(study: Study) -> bool:
        asked.append(study.clock())
        return len(asked) < 3

    rehearsal = Rehearsal(load_folder(make_folder()), crowd(PERFECT, workers=2), advance)
    study, _ = rehearsal.perform(1)
    assert len(asked) == 3
    assert asked == sorted(asked)
    study.close()


@settings(max_examples=examples(5, 12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_crowd_comes_to_an_end_and_keeps_the_promises(data: st.DataObject, tmp_path: Path) -> None:
    fraction = st.floats(0, 1)
    applications = data.draw(st.integers(1, 8))
    folder = tmp_path / str(time.monotonic_ns())
    least = data.draw(st.integers(1, 4))
    write_small_study(
        folder,
        applications=applications,
        gold=data.draw(st.integers(2, 10)),
        judgments=data.draw(st.sampled_from([str(least), f"{{ min = {least}, max = {least + 2}, until = 0.8 }}"])),
        share=data.draw(st.sampled_from([0.0, 0.2, 0.5])),
        floor=data.draw(fraction),
        after=data.draw(st.integers(1, 2)),
        fee_percent=data.draw(st.sampled_from([0, 12.5])),
        meaningful_extra=data.draw(st.sampled_from(["", "max_per_worker = 3", "lease_minutes = 1"])),
        entailment_extra=data.draw(
            st.sampled_from(["exclude_contributors = false", "exclude_contributors = true", "exclude_dropped = false"])
        ),
    )
    with_truth(folder, applications)
    kinds = data.draw(
        st.lists(
            st.builds(
                KindSettings,
                name=st.just("anybody"),
                share=st.floats(0.1, 3),
                ability=fraction.map(lambda value: (value, value)),
                carelessness=fraction,
                spam=st.sampled_from([None, None, "random", "first-option", "copy-previous"]),
                learning=fraction,
                dropout=st.sampled_from([0.0, 0.02, 0.3]),
                pace=st.floats(0.1, 20),
                spread=st.floats(0, 2),
            ),
            min_size=1,
            max_size=3,
        )
    )
    people = crowd(
        *kinds,
        workers=data.draw(st.integers(1, 14)),
        per_hour=data.draw(st.sampled_from([AT_ONCE, 2, 100])),
        patience_hours=data.draw(st.sampled_from([0, 1, 72])),
    )
    run, study, performance = perform(folder, people, data.draw(st.integers(0, 9)))
    assert differences(study) == []
    responses = read(study, lambda tx: list(all_responses(tx)))
    assert len(responses) == run.answers
    assert max(Counter((each.worker, each.stage, each.group) for each in responses).values(), default=0) <= 1
    assert all(person.exit is not None or person.waiting_since is not None for person in performance.people)
    assert run.complete == all(stage.complete == stage.items for stage in run.stages)
    study.close()


# Worker models


def test_a_crowd_has_of_every_kind_its_share() -> None:
    kinds = (replace_kind(PERFECT, share=2), NOISY, SPAMMER)
    for size in (1, 7, 40):
        names = Counter(model.name for model in draw_crowd(kinds, size, Random(1)))
        assert sum(names.values()) == size
        assert all(abs(names[kind.name] - size * kind.share / 4) < 1 for kind in kinds)
    assert draw_crowd(kinds, 9, Random(1)) == draw_crowd(kinds, 9, Random(1))


def test_arrivals() -> None:
    assert max(draw_arrivals(3, AT_ONCE, Random(1))) < 1
    moments = draw_arrivals(2000, 60, Random(1))
    assert moments[0] == 0.0
    assert moments == sorted(moments)
    assert moments[-1] / 2000 == pytest.approx(60, rel=0.1)


def test_models_of_spamming_learning_and_confusion() -> None:
    copier = WorkerModel("copier", mode=Mode.COPY_PREVIOUS)
    assert copier.answer("a", ["a", "b"], Random(1), previous="b") == "b"
    assert copier.answer("a", ["a", "b"], Random(1)) in ("a", "b")
    assert WorkerModel("keen", learning=0.5).learned(0.6) == pytest.approx(0.8)
    assert WorkerModel("odd", 0.4, accuracies={"entailment": 0.9}).accuracy_in("entailment", "rules-entailment") == 0.9
    assert WorkerModel("odd", 0.4, accuracies={"rules-entailment": 0.8}).accuracy_in("x", "rules-entailment") == 0.8
    contrary = WorkerModel("contrary", confusion={"a": {"b": 1.0}, "b": {"c": 0.0}})
    assert contrary.answer("a", ["a", "b"], Random(1)) == "b"
    assert contrary.answer("b", ["a", "b"], Random(1)) == "b", "nothing is known of what they say for b"


def test_people_agree_about_what_nobody_knows() -> None:
    task = installed_tasks()["rules-meaningful"]
    sheet = AnswerSheet(task, [({"phrase": "known"}, "no")], "1")
    assert sheet.prospects('{"phrase":"known"}', {"phrase": "known"}) == ("no", ["yes", "no"])
    drawn = {sheet.prospects(str(number), {"phrase": str(number)})[0] for number in range(40)}
    assert drawn == {"yes", "no"}
    again = AnswerSheet(task, [], "1")
    assert again.prospects("7", {"phrase": "7"}) == sheet.prospects("7", {"phrase": "7"})
    cannot_be_listed = replace(task, shape=replace(task.shape, answer_type=_OfText))
    text = AnswerSheet(cannot_be_listed, [({"phrase": "known"}, "a gold text")], "1")
    truth, choices = text.prospects("x", {"phrase": "x"})
    assert truth in choices
    assert "a gold text" in choices


def test_people_are_fitted_to_real_judgments() -> None:
    rng = Random(5)
    rows = []
    for task in range(400):
        truth = "yes" if task % 2 else "no"
        for worker, accuracy in (("good", 0.95), ("fair", 0.8), ("bad", 0.55)):
            said = truth if rng.random() < accuracy else ("no" if truth == "yes" else "yes")
            rows.append((task, worker, said))
        rows.append((task, "always yes", "yes"))
    judgments = Judgments.from_columns(*zip(*rows, strict=True))
    models = fit_workers(judgments, WorkerModel("fitted", pace=0.5))
    always, bad, fair, good = models
    assert good.accuracy > fair.accuracy > bad.accuracy
    assert good.accuracy == pytest.approx(0.95, abs=0.1)
    assert always.confusion["no"]["yes"] > 0.9
    assert always.pace == 0.5
    assert {model.accuracy for model in draw_fitted(models, 50, Random(1))} == {model.accuracy for model in models}


def test_people_are_drawn_by_what_they_did() -> None:
    """Whoever did nine judgments in ten there is nine answers in ten here."""
    rows = [(task, "busy", "no" if task % 3 else "yes") for task in range(900)]
    rows += [(task, f"other {task % 10}", "yes") for task in range(100)]
    drawn = draw_fitted(
        fit_workers(Judgments.from_columns(*zip(*rows, strict=True)), WorkerModel("fitted")), 1000, Random(3)
    )
    assert sum(model.share == 900 for model in drawn) == pytest.approx(900, abs=30)


def test_labels_are_answers_of_a_form_that_asks_one_thing() -> None:
    form = installed_tasks()["form"]
    choice = {"name": "tone", "kind": "choice", "ask": "How?", "options": ["polite", "rude"]}
    one = form.configured(form.options.model.model_validate({"fields": [choice]}))
    answers = [{"tone": "polite"}, {"tone": "rude"}]
    assert listed_answers(one) == answers
    assert AnswerSheet(one, [({}, {"tone": "rude"})], "1").prospects("x", {}) == ({"tone": "rude"}, answers)
    confused = WorkerModel("w", confusion={"rude": {"polite": 1.0}, "polite": {"polite": 1.0}})
    assert confused.answer({"tone": "rude"}, answers, Random(1)) == {"tone": "polite"}
    optional = {**choice, "required": False}
    two = {**choice, "name": "more"}
    for fields in ([optional], [choice, two], [{"name": "why", "kind": "text", "ask": "Why?"}]):
        assert listed_answers(form.configured(form.options.model.model_validate({"fields": fields}))) is None


# The crowd's file


def test_a_crowd_file_says_who_comes(make_folder: Callable[..., Path]) -> None:
    folder = make_folder()
    usual = CrowdSettings(workers=usual_workers(load_folder(folder)))
    assert read_crowd(load_folder(folder)).settings == usual
    (folder / "rehearsal.toml").write_text(
        'workers = 9\nper_hour = 30\n[[kind]]\nname = "all"\nshare = 1\nability = 0.8\n'
        "abilities = { entailment = [0.5, 0.6] }\n"
    )
    found = read_crowd(load_folder(folder))
    assert (found.settings.workers, found.settings.per_hour) == (9, 30)
    assert found.settings.kind[0].ability == (0.8, 0.8)
    assert found.settings.kind[0].abilities == {"entailment": (0.5, 0.6)}
    assert read_crowd(load_folder(folder), workers=3).settings.workers == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workers = 0\n", r"rehearsal\.toml:1: `workers` is below 1 \(found 0\)\. Write a number from 1 up\."),
        ("worker = 3\n", r"rehearsal\.toml:1: there is no setting `worker` here\. Did you mean `workers`\?"),
        ("workers = 3\n[[kind]]\nname = 'a'\n", r"rehearsal\.toml:2: `kind\.share` is missing\. Add it: Relative"),
        (
            "[[kind]]\nname = 'a'\nshare = 1\nability = [0.9, 0.1]\n",
            r"rehearsal\.toml:4: .*above its upper end",
        ),
        ("[[kind]]\nname = 'a'\nshare = 1\nability = [1]\n", r"rehearsal\.toml:4: .*neither a number nor a range"),
        ("[[kind]]\nname = 'a'\nshare = 1\nability = 1.5\n", r"rehearsal\.toml:4: .*is above 1"),
        ("[[kind]]\nname = 'a'\nshare = 1\nspam = 'often'\n", r"rehearsal\.toml:4: .*random"),
        (
            "[[kind]]\nname = 'a'\nshare = 1\n[kind.abilities]\nentailmint = 0.5\n",
            r"rehearsal\.toml:5: there is no such stage or task .*Did you mean `entailment`\?",
        ),
        ("workers = \n", r"rehearsal\.toml:1: is not TOML"),
    ],
)
def test_mistakes_in_the_crowd_file_are_told(make_folder: Callable[..., Path], text: str, message: str) -> None:
    folder = make_folder()
    (folder / "rehearsal.toml").write_text(text)
    with pytest.raises(UserError) as told:
        read_crowd(load_folder(folder))
    assert re.search(message, str(told.value)), told.value


# Variations


def test_all_combinations_are_tried(make_folder: Callable[..., Path]) -> None:
    folder = load_folder(make_folder())
    varied = [
        parse_vary("entailment.judgments=1,2"),
        parse_vary("meaningful.gold.share=0.1,0.2"),
        parse_vary("pay.fee_percent=5"),
        parse_vary("workers=3,9"),
    ]
    found = variations(folder, varied)
    assert len(found) == 8
    assert found[0].values == {
        "entailment.judgments": 1,
        "meaningful.gold.share": 0.1,
        "pay.fee_percent": 5,
        "workers": 3,
    }
    assert found[0].workers == 3
    assert found[-1].label == "entailment.judgments = 2, meaningful.gold.share = 0.2, pay.fee_percent = 5, workers = 9"
    [plain] = variations(folder, [])
    assert (plain.label, plain.settings_text) == ("", folder.settings_text)


def test_values_are_toml(make_folder: Callable[..., Path]) -> None:
    vary = parse_vary("meaningful.judgments={ min = 1, max = 3, until = 0.8 },2")
    assert vary.values == ({"min": 1, "max": 3, "until": 0.8}, 2)
    assert parse_vary("meaningful.title=now,then").values == ("now", "then")
    assert [each.values for each in variations(load_folder(make_folder()), [vary])] == [
        {"meaningful.judgments": value} for value in vary.values
    ]


@given(
    st.recursive(
        st.booleans() | st.integers(-(2**40), 2**40) | st.floats(-1e9, 1e9) | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
)
def test_settings_survive_being_written(value: Any) -> None:
    assert tomllib.loads(toml_text({"value": value})) == {"value": value}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("entailment.judgments", "write a setting and the values to try"),
        ("=1,2", "write a setting and the values to try"),
        ("entailment.judgments=", "write a setting and the values to try"),
        ("entailment.judgments=1,,2", "a value is missing between two commas"),
        ("entailment.judgments=[1", "is not a TOML value"),
        ("entailmant.judgments=1", "there is no stage or table `entailmant`.*Did you mean `entailment`"),
        ("entailment=1", "name a setting of `entailment`"),
        ("entailment.judgmnts=1", "there is no setting `judgmnts` here. Did you mean `judgments`"),
        ("entailment.judgments=0", "makes a study that can't run: .*is below 1"),
        (
            "entailment.judgments=often",
            r"neither a whole number nor a table \(found 'often'\). Write a number, as in 3",
        ),
        ("entailment.judgments=2.5", "neither a whole number nor a table"),
        ("entailment.title.short=1", "`title` is not a table of settings"),
        ("entailment.items.file=other.jsonl", "`file` names a file or a part of the study"),
        ("meaningful.gold.after=100", "the minimum accuracy applies only after 100 gold answers"),
        ("workers=0", "--vary workers=0: 0 is below 1"),
        ("workers=many", "is not a whole number"),
        ("format=2", "there is no stage or table `format`"),
    ],
)
def test_mistakes_in_what_to_vary_are_told(make_folder: Callable[..., Path], option: str, message: str) -> None:
    folder = make_folder(share=0.1)
    done = CliRunner().invoke(app, ["rehearse", str(folder), "--vary", option, "--seeds", "1"])
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert re.search(message, done.stderr), done.stderr


def test_too_much_at_once_is_refused(make_folder: Callable[..., Path]) -> None:
    folder = load_folder(make_folder())
    with pytest.raises(UserError, match="1,000 combinations"):
        variations(
            folder,
            [parse_vary(f"{stage}.judgments=1,2,3,4,5,6,7,8,9,10") for stage in ("meaningful", "entailment")]
            + [parse_vary("pay.fee_percent=1,2,3,4,5,6,7,8,9,10")],
        )
    with pytest.raises(UserError, match="given twice"):
        variations(folder, [parse_vary("workers=1"), parse_vary("workers=2")])


# Forecasts


def test_intervals_hold_the_middle_of_the_runs() -> None:
    assert estimate([]) is None
    found = estimate([float(number) for number in range(101)])
    assert found is not None
    assert (found.mean, found.low, found.high) == (50.0, 5.0, 95.0)


@pytest.fixture(scope="module")
def forecasts(tmp_path_factory: pytest.TempPathFactory) -> Forecasts:
    folder = tmp_path_factory.mktemp("rehearsed") / "study"
    write_small_study(folder, applications=6, share=0.2, texts=("a <b>&amp;</b> hull", 'it\'s a "hull"'))
    return rehearse(folder, seeds=2, workers=14, vary=[parse_vary("entailment.judgments=1,3")], processes=1)


@pytest.mark.slow
def test_a_forecast_is_the_same_in_processes_and_without(make_folder: Callable[..., Path]) -> None:
    folder = make_folder(share=0.2)
    before = sorted(path.name for path in folder.iterdir())
    told: list[tuple[int, int]] = []
    here = rehearse(folder, seeds=3, workers=8, processes=1, progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    elsewhere = rehearse(folder, seeds=3, workers=8, processes=2)
    assert here.as_json() == elsewhere.as_json()
    assert here.seeds == (1, 2, 3)
    assert sorted(path.name for path in folder.iterdir()) == before, "a rehearsal writes nothing"


@pytest.mark.parametrize("usual", [True, False])
def test_nobody_looks_for_garbage_during_a_run_and_after_it_all_is_as_before(
    make_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, usual: bool
) -> None:
    folder, during = make_folder(2), []
    performed = Performance.run

    def run(performance: Performance) -> None:
        during.append(gc.isenabled())
        if len(during) == 2:
            raise RuntimeError("in the middle of it")
        performed(performance)

    monkeypatch.setattr(Performance, "run", run)
    before = gc.isenabled()
    (gc.enable if usual else gc.disable)()
    try:
        rehearse(folder, seeds=1, workers=8)
        assert gc.isenabled() == usual
        with pytest.raises(RuntimeError, match="in the middle"):
            rehearse(folder, seeds=1, workers=8)
        assert gc.isenabled() == usual
    finally:
        (gc.enable if before else gc.disable)()
    assert during == [False, False]


def test_variations_differ_only_in_what_is_varied(forecasts: Forecasts) -> None:
    once, thrice = forecasts.forecasts
    for one, other in zip(once.runs, thrice.runs, strict=True):
        assert one.seed == other.seed
        # People without an item count until the last answer, which later stages can delay.
        before, after = (replace(run.stages[0], found_nothing=0) for run in (one, other))
        assert before == after, "what comes before is as it was"
    per_item = [[run.stages[1].judgments_per_item for run in each.runs] for each in (once, thrice)]
    assert per_item == [[1.0, 1.0], [3.0, 3.0]]
    [table] = forecast_tables(forecasts)
    assert [row[1] for row in table.rows] == ["1", "3"]


def test_the_page_needs_nothing_and_lets_nothing_through(forecasts: Forecasts) -> None:
    odd = replace(forecasts, title='<script>alert("x")</script>')
    page = forecast_page(odd)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<svg") == page.count("</svg>") >= 4
    assert "prefers-color-scheme: dark" in page and "@media print" in page
    lost = [
        any(getattr(run.stages[0], what) for each in forecasts.forecasts for run in each.runs)
        for what in ("dropped", "left")
    ]
    assert [f">meaningful: {what}<" in page for what in ("removed", "left")] == lost, "nobody lost is nothing to see"
    assert ">meaningful: finished<" in page
    assert not re.search(r"(?:src|href)\s*=|url\(|@import", page)


def test_the_command(make_folder: Callable[..., Path], tmp_path: Path) -> None:
    folder = make_folder(share=0.2)
    common = ["rehearse", str(folder), "--seeds", "2", "--workers", "8", "--processes", "1"]
    done = CliRunner().invoke(app, [*common, "--json", "--out", str(tmp_path / "page.html")])
    assert done.exit_code == 0, (done.output, done.exception)
    told = json.loads(done.stdout)
    [variation] = told["variations"]
    assert variation["runs"] == 2
    assert variation["cost"]["low"] <= variation["cost"]["mean"] <= variation["cost"]["high"]
    assert set(variation["stages"]) == {"meaningful", "entailment"}
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!doctype html>")
    shown = CliRunner().invoke(app, [*common, "--seed", "8"])
    assert shown.exit_code == 0
    assert "accepted labels correct" in shown.stdout and "got no item in this stage" in shown.stdout
    assert shown.stdout.startswith("2 simulated runs (seeds 8 to 9) with 8 people.")
    latex = CliRunner().invoke(app, [*common, "--latex", "--vary", "workers=6,8"])
    assert latex.exit_code == 0
    assert r"\begin{tabular}" in latex.stdout
    assert "seeds:1-2" in latex.stdout
    again = CliRunner().invoke(app, [*common, "--out", str(tmp_path / "page.html")])
    assert again.exit_code == 2 and "already exists. Add --force" in again.stderr
    forced = CliRunner().invoke(app, [*common, "--out", str(tmp_path / "page.html"), "--force"])
    assert forced.exit_code == 0 and "Wrote " in forced.stdout
    other = CliRunner().invoke(app, [*common, "--out", str(tmp_path / "page.pdf")])
    assert other.exit_code == 2 and "ends in .html" in other.stderr
    nowhere = CliRunner().invoke(app, [*common, "--out", str(tmp_path / "nowhere" / "page.html")])
    assert nowhere.exit_code == 2
    assert "can't be written" in nowhere.stderr


def test_a_budget_is_never_exceeded_and_a_forecast_says_that_it_was_reached(make_folder: Callable[..., Path]) -> None:
    folder = make_folder(judgments="2")
    whole = rehearse(folder, seeds=1, workers=9, processes=1).forecasts[0].runs[0]
    assert not whole.notes
    vary = [parse_vary(f"pay.budget={whole.cost - 10}")]
    told = rehearse(folder, seeds=2, workers=9, vary=vary, processes=1)
    assert all(0 < run.cost <= whole.cost - 10 and not run.complete for run in told.forecasts[0].runs)
    assert any("the budget was reached" in note for note in forecast_notes(told))


@pytest.mark.slow
def test_a_fitted_crowd(make_folder: Callable[..., Path], tmp_path: Path) -> None:
    file = tmp_path / "judgments.csv"
    rows = ["task,worker,label"]
    rows += [f"{task},w{worker},{'yes' if task % 2 else 'no'}" for task in range(20) for worker in range(4)]
    file.write_text("\n".join(rows) + "\n")
    told = rehearse(make_folder(), seeds=1, workers=9, fit=file, processes=1)
    accuracy = told.forecasts[0].runs[0].stages[0].accuracy
    assert accuracy is not None and accuracy > 0.95
    assert told.notes == ()
    file.write_text("\n".join(rows).replace("yes", "vrai").replace("no", "faux") + "\n")
    unrelated = rehearse(tmp_path / "study", seeds=1, workers=9, fit=file, processes=1)
    assert "(faux, vrai) is an answer in this study" in forecast_notes(unrelated)[0]
    file.write_text("\n".join(rows).replace("worker", "who") + "\n")
    command = ["rehearse", str(tmp_path / "study"), "--seeds", "1", "--processes", "1", "--workers", "9"]
    other = CliRunner().invoke(app, [*command, "--fit", str(file)])
    assert other.exit_code == 2 and "Name the column of workers with --worker" in other.stderr
    # What the message says helps.
    named = CliRunner().invoke(app, [*command, "--fit", str(file), "--worker", "who", "--json"])
    assert named.exit_code == 0 and json.loads(named.stdout)["notes"] == list(forecast_notes(told))
    alone = CliRunner().invoke(app, [*command, "--worker", "who"])
    assert alone.exit_code == 2 and "describe the file of --fit" in alone.stderr
    done = CliRunner().invoke(app, ["rehearse", str(tmp_path / "study"), "--fit", str(tmp_path / "no.csv")])
    assert done.exit_code == 2
    assert "no.csv" in done.stderr


def test_what_a_reader_should_know(make_folder: Callable[..., Path], tmp_path: Path) -> None:
    starved = rehearse(make_folder(), seeds=1, workers=2, processes=1)
    [note] = [note for note in forecast_notes(starved) if "still need annotations" in note]
    assert note.startswith("in 1 of 1 run, meaningful: 12 of 12 items")
    unknown = tmp_path / "unknown"
    write_small_study(unknown, applications=2, gold=4)
    notes = forecast_notes(rehearse(unknown, seeds=1, workers=8, processes=1))
    assert any("no correct answers are known" in note for note in notes)


def test_how_many_earn_too_little_is_told(make_folder: Callable[..., Path]) -> None:
    # Three or four cents for a judgment of ten seconds.
    folder = make_folder(12)
    file = folder / "study.toml"
    file.write_text(file.read_text().replace("[pay]\n", "[pay]\nminimum_hourly = 900\n"))
    kind = '[[kind]]\nname = "{0}"\nshare = {1}\npace = {2}\nspread = 0\ndropout = 0\n'

    def notes(*kinds: tuple[str, int, float], vary: Sequence[str] = ()) -> list[str]:
        (folder / "rehearsal.toml").write_text(
            "workers = 8\nper_hour = 1000000\n" + "".join(kind.format(*one) for one in kinds)
        )
        told = rehearse(folder, seeds=2, processes=1, vary=[parse_vary(option) for option in vary])
        return [note for note in forecast_notes(told) if "your minimum" in note]

    assert notes(("quick", 1, 0.5)) == []
    [all_of_them] = notes(("slow", 1, 2))
    assert re.match(r"100% of people earn less than your minimum of \S+ an hour; the median is \S+\.$", all_of_them)
    [some] = notes(("quick", 3, 0.5), ("slow", 1, 2))
    assert re.match(r"2\d% of people earn less than your minimum of \S+ an hour\.$", some)
    [varied] = notes(("slow", 1, 2), vary=["workers=8,9"])
    assert varied.startswith("in 2 of 2 variations, up to 100% of people earn less")


def test_nobody_is_faster_than_reading_allows(make_folder: Callable[..., Path]) -> None:
    """Otherwise the forecast wage would be of a time that is too short."""
    folder = make_folder(12)
    file = folder / "study.toml"
    file.write_text(re.sub(r"(per_judgment = \d+)", r"\1, expected_seconds = 1", file.read_text()))
    plan = reading_plan(load_folder(folder).stages[0])
    assert plan is not None and plan.mean > 1
    _, study, _ = perform(folder, crowd(PERFECT.model_copy(update={"spread": 0.0})))
    times = {row.duration_ms for row in read(study, lambda tx: list(all_responses(tx))) if row.stage == "meaningful"}
    assert times == {round(plan.mean * 1000)}


def test_truth_that_fits_no_item_is_told(make_folder: Callable[..., Path]) -> None:
    folder = make_folder(applications=2)
    for number in (1, 2):
        file = folder / f"truth{number}.jsonl"
        file.write_text(file.read_text().replace("the crew", "another crew"))
    notes = forecast_notes(rehearse(folder, seeds=1, workers=8, processes=1))
    assert any(note.startswith("no row of truth1.jsonl is about an item of stage meaningful") for note in notes)
    assert not any("no correct answers are known" in note for note in notes)
    checked = CliRunner().invoke(app, ["check", str(folder)])
    assert "before you simulate: no row of truth1.jsonl is about an item" in " ".join(checked.output.split())
    for number in (1, 2):
        file = folder / f"truth{number}.jsonl"
        file.write_text(file.read_text().replace("another crew", "the crew"))
    assert "no row of" not in CliRunner().invoke(app, ["check", str(folder)]).output


def test_the_template_can_be_rehearsed(tmp_path: Path) -> None:
    create_study(tmp_path / "rules", "rules")
    told = rehearse(tmp_path / "rules", seeds=1, processes=1)
    [run] = told.forecasts[0].runs
    assert run.complete
    assert run.stages[1].released_accuracy is not None and run.stages[1].released_accuracy > 0.6


def test_a_small_study_is_not_overrun(tmp_path: Path) -> None:
    create_study(tmp_path / "form", "form")
    folder = load_folder(tmp_path / "form")
    assert usual_workers(folder) == 6
    told = rehearse(tmp_path / "form", seeds=3, processes=1)
    assert told.workers == 6
    right = [run.stages[0].accuracy or 0 for run in told.forecasts[0].runs]
    assert sum(right) / len(right) > 0.7
    assert not any("did not fit" in note for note in forecast_notes(told)), "copiers are no reason to doubt the files"


def test_as_many_come_as_suit_the_study(make_folder: Callable[..., Path]) -> None:
    # Six applications in two parts with three judgments each: six people can do it.
    assert usual_workers(load_folder(make_folder())) == 12
    assert usual_workers(load_folder(make_folder(200))) == 40


def test_people_who_find_nothing_to_do_are_told_apart(make_folder: Callable[..., Path]) -> None:
    run, _, performance = perform(make_folder(1, judgments="1"), crowd(PERFECT, workers=30))
    first = run.stages[0]
    assert first.entered == sum("meaningful" in person.entered for person in performance.people) < 30
    assert first.found_nothing == 30 - first.entered
    assert first.finished == first.entered
    assert run.found_nothing == sum(not person.entered for person in performance.people) > 0


def test_a_study_and_its_only_stage_count_the_same_people_without_an_item(tmp_path: Path) -> None:
    """Before, the stage also counted people who joined after the last answer."""
    create_study(tmp_path / "form", "form")
    run, _, performance = perform(tmp_path / "form", crowd(PERFECT, workers=60, per_hour=20))
    [stage] = run.stages
    assert run.arrived < len(performance.people), "some join after the last answer"
    assert stage.found_nothing == run.found_nothing == run.arrived - run.active


def test_people_who_find_nothing_to_do_are_counted_by_one_rule(tmp_path: Path) -> None:
    """A place where nobody was admitted is no place where they found nothing: the study counts as its stages do."""
    write_protocol_study(tmp_path / "study", gate="threshold = 0.5", items=3, round_extra="over_admission = 1")
    run, _, performance = perform(tmp_path / "study", crowd(PERFECT, workers=30))
    people = [person for person in performance.people if not person.expert]
    for stage in run.stages:
        looked = [person for person in people if person.states.get(stage.name) in (State.FINISHED, State.WAITING)]
        assert stage.found_nothing == sum(stage.name not in person.entered for person in looked)
        assert stage.found_nothing + stage.entered + stage.locked_out <= len(people)
    idle = [person for person in people if not person.entered]
    shut_out = [person for person in idle if {*person.states.values()} == {State.LOCKED}]
    assert shut_out, "training is closed once its work is done"
    assert run.found_nothing == len(idle) - len(shut_out)


# What is shown of a forecast


def test_stages_are_rows_and_rounds_have_no_items(tmp_path: Path) -> None:
    write_protocol_study(tmp_path / "study", judgments="3", round_pay="per_judgment = 2\nfinished = 12")
    told = rehearse(tmp_path / "study", seeds=1, workers=8, processes=1)
    study, *tables = forecast_tables(told)
    assert ("  pay for finished rounds and grading stages", "$0.96") in study.rows
    assert "  bonuses" not in [row[0] for row in study.rows]
    assert ("cost of an accepted label (work-a, work-b)") in [row[0] for row in study.rows]
    [work] = [table for table in tables if table.title.startswith("Work by stage")]
    assert [row[0] for row in work.rows] == ["training", "work-a", "work-b"]
    complete = work.columns.index("items complete#")
    assert [row[complete] for row in work.rows] == ["", "100.0%", "100.0%"]


@pytest.mark.parametrize(
    ("seeds", "columns"),
    [
        (1, ("measure", "in one run#")),
        (2, ("measure", "mean#", "lowest–highest of 2 runs#")),
        (5, ("measure", "mean#", "middle 90% of 5 runs#")),
    ],
)
def test_intervals_need_runs(make_folder: Callable[..., Path], seeds: int, columns: tuple[str, ...]) -> None:
    told = rehearse(make_folder(2), seeds=seeds, workers=8, processes=1)
    assert forecast_tables(told)[0].columns == columns
    page = forecast_page(told)
    # Where there is little room, intervals go on in the next line, each in one piece.
    assert ('<span class="interval">(' in page) == (seeds > 1)
    assert ("One simulated run (seed 1) with 8 people." in page) == (seeds == 1)
    assert ("Intervals contain all runs" in page) == (seeds == 2)


def test_headings_name_the_range_of_tables_that_have_one(tmp_path: Path) -> None:
    write_protocol_study(tmp_path / "study", judgments="3")
    for table in forecast_tables(rehearse(tmp_path / "study", seeds=2, workers=8, processes=1))[1:]:
        has_ranges = any("–" in str(cell) for row in table.rows for cell in row[1:])
        assert table.title.endswith(": means (lowest–highest of 2 runs)" if has_ranges else ": means")


def test_what_did_not_finish_is_marked(make_folder: Callable[..., Path]) -> None:
    told = rehearse(make_folder(2), seeds=2, vary=[parse_vary("workers=2,9")], processes=1)
    [table] = forecast_tables(told)
    assert table.columns[1] == "people available#"
    assert (
        "accepted labels correct (entailment)#" in table.columns
        or "accepted labels correct (meaningful)#" in table.columns
    )
    stopped, done = table.rows
    cost = table.columns.index("cost#")
    assert str(stopped[cost]).endswith("*") and not str(done[cost]).endswith("*")
    assert any(note.startswith("* some runs did not finish") for note in forecast_notes(told))


@pytest.mark.parametrize("width", [60, 100, 160])
def test_no_number_is_cut_where_there_is_little_room(width: int) -> None:
    columns = tuple(f"what is told of it in column {number}#" for number in range(7))
    found = ScoreTable("A table", columns, [("98.1% (96.4%–100.0%)",) * 7])
    paper = StringIO()
    Console(width=width, file=paper).print(score_table(found))
    assert "…" not in paper.getvalue()
    assert width < 160 or paper.getvalue().count("98.1% (96.4%–100.0%)") == 7, "headers give way first"


# The store in memory


# Being interrupted


@pytest.fixture
def long_rehearsal(make_folder: Callable[..., Path], tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A rehearsal that would take minutes, once its processes are at work."""
    folder = make_folder(60, gold=30, share=0.1)
    command = [sys.executable, "-m", "chorale", "rehearse", str(folder), "--seeds", "500", "--processes", "2"]
    with (tmp_path / "told").open("w") as told:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told, text=True)
    until = time.monotonic() + PATIENCE_SECONDS
    # Two of them, and the one that looks after what they share. Importing takes each of the two about a second.
    while sum(processor_seconds(child) > 2 for child in children_of(process.pid)) < 2 and time.monotonic() < until:
        time.sleep(0.1)
    yield process
    process.kill()
    process.wait()


def children_of(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def processor_seconds(pid: int) -> float:
    try:
        user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def all_gone(pids: list[int]) -> bool:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes the way Linux shows them")
@pytest.mark.parametrize("ending", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_an_end_ends_all_of_it(long_rehearsal: subprocess.Popen[str], ending: signal.Signals, tmp_path: Path) -> None:
    children = children_of(long_rehearsal.pid)
    assert len(children) == 3
    long_rehearsal.send_signal(ending)
    assert long_rehearsal.wait(timeout=PATIENCE_SECONDS) != 0
    assert all_gone(children)
    assert "Traceback" not in (tmp_path / "told").read_text()


def test_the_label_of_the_best_point_stands_in_the_picture() -> None:
    drawn = point_chart("Quality", [Point(1, 1, "first"), Point(2, 0.2, "second")], Axis("cost"), Axis())
    assert min(float(y) for y in re.findall(r'<text [^>]*y="([-\d.]+)"', drawn)) >= 10


@pytest.mark.parametrize("others", [1, 4])
def test_labels_of_points_that_are_close_do_not_stand_on_each_other(others: int) -> None:
    close = [Point(5 + 0.01 * number, 0.85 + 0.004 * number, f"justification {number}") for number in range(others + 1)]
    drawn = point_chart("Quality", [*close, Point(200, 0.95, "crowd"), Point(100, 0.7, "expert")], Axis("cost"), Axis())
    found = re.findall(r'<text [^>]*x="([-\d.]+)" y="([-\d.]+)"[^>]*>justification', drawn)
    places = [(float(x), float(y)) for x, y in found]
    assert len(places) == others + 1
    assert all(abs(y - later_y) >= 13 for (_, y), (_, later_y) in combinations(places, 2))


# A run that is kept


def test_a_run_is_kept_as_a_study_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, applications=6, share=0.2, fee_percent=20)
    (folder / "study.db").write_text("the study's own")
    kept = tmp_path / "kept"
    command = ["rehearse", str(folder), "--seed", "5", "--seeds"]
    done = CliRunner().invoke(app, [*command, "2", "--keep", str(kept), "--json"])
    assert done.exit_code == 0, done.output
    shown = CliRunner().invoke(app, [*command, "1", "--keep", str(tmp_path / "b")])
    assert "Saved the run with seed 5" in shown.output and "simulated" in shown.output
    assert (folder / "study.db").read_text() == "the study's own"
    verified = json.loads(CliRunner().invoke(app, ["verify", str(kept), "--json"]).output)
    assert verified["ok"] and verified["checked"]["responses"] > 20
    status = json.loads(CliRunner().invoke(app, ["status", str(kept), "--json"]).output)
    assert status["title"].startswith("Simulated: ")
    # It is the first run of the forecast, to the cent.
    alone = json.loads(CliRunner().invoke(app, [*command, "1", "--json"]).output)
    assert status["spent"] == alone["variations"][0]["cost"]["mean"]
    report = CliRunner().invoke(app, ["report", str(kept), "--out", str(tmp_path / "report.html")])
    assert report.exit_code == 0, report.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--keep", "{study}/inside"], "is the study's own folder or inside it"),
        (["--keep", "{taken}"], "already exists. Name a new folder with --keep"),
        (["--keep", "{other}", "--vary", "workers=8,9"], "Leave out --vary or --keep"),
    ],
)
def test_a_run_is_kept_in_a_new_folder_only(tmp_path: Path, arguments: list[str], said: str) -> None:
    write_small_study(tmp_path / "study", applications=2, gold=4)
    (tmp_path / "taken").mkdir()
    places = {"study": tmp_path / "study", "taken": tmp_path / "taken", "other": tmp_path / "other"}
    done = CliRunner().invoke(
        app, ["rehearse", str(tmp_path / "study"), "--seeds", "1", *(one.format(**places) for one in arguments)]
    )
    assert done.exit_code == 2 and said in " ".join(done.output.split())
    assert not (tmp_path / "other").exists() and sorted(path.name for path in tmp_path.iterdir()) == ["study", "taken"]
