"""Rehearsals know how good what people write is: grades follow it, and feedback that is right teaches."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import correlation, fmean
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.contract import installed_tasks
from chorale.engine.gates import close_gate, close_ready_gates, survey
from chorale.engine.managing import Act, end_work
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.reading import check_folder, load_folder
from chorale.metrics.resampling import Resampling
from chorale.model import PlannedOutcome, Refusal
from chorale.monitor.arm_measures import compare_arms
from chorale.monitor.arm_outcomes import ArmOutcome, arm_outcomes
from chorale.rehearsal import Crowd, Rehearsal, Run, rehearse
from chorale.rehearsal.measuring import measure
from chorale.rehearsal.performing import Performance
from chorale.rehearsal.requester import close_a_gate
from chorale.rehearsal.simulated import CrowdSettings, KindSettings, ability_at, fair_grade, mistakes_explained
from chorale.report import ReportOptions, study_report
from chorale.store import Tx, events, ledger
from chorale.store.arms import arm_of
from chorale.store.gates import closed_gates
from chorale.store.grades import graded_answers
from chorale.store.messages import all_messages
from chorale.web.pay_words import pay_text
from conftest import ManualClock
from crowd import Person, do, look, people
from writing_study import write_graded_study, write_writing_study

GRADES = ("careful-grades", "quick-grades")


@pytest.fixture(autouse=True)
def same_gold_positions() -> None:
    """Not patched here: there is no gold."""


def writers(careful: float, quick: float, *, learning: float = 0.3) -> Crowd:
    """Half write well and half badly; how well they grade is another matter, and differs by arm."""
    grading = dict(zip(GRADES, ((careful, careful), (quick, quick)), strict=True))
    kinds = tuple(
        KindSettings(name=name, share=1, ability=ability, abilities=grading, learning=learning, dropout=0)
        for name, ability in (("able", (0.8, 0.9)), ("poor", (0.2, 0.4)))
    )
    return Crowd(CrowdSettings(workers=30, per_hour=1_000_000, kind=kinds))


def perform(folder: Path, crowd: Crowd, seed: int = 1) -> tuple[Run, Study, Performance]:
    rehearsal = Rehearsal(load_folder(folder), crowd)
    study, performance = rehearsal.perform(seed)
    run = study.store.read(lambda tx: measure(tx, study, performance, rehearsal.known, seed)).result()
    rehearsal.close()
    return run, study, performance


def grades_and_qualities(study: Study, performance: Performance, stage: str) -> tuple[list[float], list[float]]:
    def graded(tx: Tx) -> list[tuple[float, float]]:
        found = graded_answers(tx, [study.stage(stage).id])
        return [(answer.score, performance.qualities[answer.response_id]) for answer in found]

    pairs = study.store.read(graded).result()
    return [grade for grade, _ in pairs], [quality for _, quality in pairs]


@pytest.mark.slow
def test_grades_follow_the_quality_of_what_was_written_as_far_as_graders_are_able(tmp_path: Path) -> None:
    write_writing_study(tmp_path)
    _, study, performance = perform(tmp_path, writers(0.95, 0.1))
    assert correlation(*grades_and_qualities(study, performance, "careful-practice")) > 0.8
    assert correlation(*grades_and_qualities(study, performance, "quick-practice")) < 0.5
    assert study.store.read(lambda tx: verify(tx, study)).result().differences == []
    # What an arm makes in the end is not graded here: the last that was is told, and where.
    first, second = outcomes = study.store.read(lambda tx: arm_outcomes(tx, study)).result()
    assert first.gain is None and second.gain is not None and first.grade is not None and second.grade is not None
    assert second.gain.value == pytest.approx(second.grade.value - first.grade.value)
    assert second.gain.low < second.gain.value < second.gain.high and second.gain.of == first.grade.of + second.grade.of
    for outcome in outcomes:
        stage = study.stage(f"{outcome.name}-practice")
        grades, _ = grades_and_qualities(study, performance, stage.name)
        assert outcome.grade is not None and outcome.graded_in == stage.settings.title
        assert min(grades) < outcome.grade.low < outcome.grade.value < outcome.grade.high < max(grades)
    assert_the_report_agrees(study, tmp_path, outcomes)
    study.close()


def assert_the_report_agrees(study: Study, folder: Path, outcomes: list[ArmOutcome]) -> None:
    (folder / "data").mkdir()
    report = study_report(study, folder, folder / "data", ReportOptions(charts=False, arms=True), Resampling())
    reported = report.as_json()["analysis"]["outcomes"]["grade"]
    for outcome in outcomes:
        assert outcome.grade is not None
        assert reported["means"][outcome.name] == pytest.approx(outcome.grade.value)
        assert reported["units"][outcome.name] == outcome.grade.of
    planned = PlannedOutcome(outcome="grade")
    [test] = study.store.read(lambda tx: compare_arms(tx, study, planned, Resampling())).result().comparisons
    gain = outcomes[1].gain
    assert gain is not None
    interval = test.compared.interval
    assert (gain.value, gain.low, gain.high) == (test.compared.difference, interval.low, interval.high)


@pytest.mark.slow
def test_feedback_from_accurate_graders_raises_the_quality_of_the_kept_pool_more(tmp_path: Path) -> None:
    write_writing_study(tmp_path)
    gained = []
    for seed in (1, 2):
        run, study, _ = perform(tmp_path, writers(0.95, 0.1), seed)
        study.close()
        stages = {stage.name: stage.quality for stage in run.stages}
        arms = {arm.name: arm for arm in run.arms}
        for arm in arms.values():
            assert arm.quality == stages[f"{arm.name}-final"] and 0 < arm.reached < arm.people
        gained.append(
            [(stages[f"{arm}-final"] or 0) - (stages[f"{arm}-practice"] or 0) for arm in ("careful", "quick")]
        )
    careful, quick = (fmean(column) for column in zip(*gained, strict=True))
    assert careful > quick + 0.1


@pytest.mark.slow
def test_people_learn_from_feedback_that_is_right(tmp_path: Path) -> None:
    write_writing_study(tmp_path)
    kept = {}
    for name, crowd in (
        ("right", writers(1.0, 1.0)),
        ("wrong", writers(0.0, 0.0)),
        ("none", writers(1, 1, learning=0)),
    ):
        _, study, performance = perform(tmp_path, crowd)
        kept[name] = fmean(person.errors.get("form", 1.0) for person in performance.people)
        study.close()
    assert kept["right"] < kept["wrong"] and kept["none"] == 1.0


def test_experts_read_and_send_the_messages_that_wait_for_them(tmp_path: Path) -> None:
    write_writing_study(tmp_path)
    file = tmp_path / "study.toml"
    file.write_text(file.read_text().replace('message = "message.md"', 'message = "message.md"\nreview = true'))
    crowd = writers(1.0, 1.0)
    _, study, performance = perform(tmp_path, crowd)
    messages = study.store.read(all_messages).result()
    assert messages and all(message.sent_at is not None for message in messages)
    assert any((message.sent_at or 0) > message.written_at for message in messages), "reading takes time"
    assert any(person.errors for person in performance.people), "whoever goes on has learned from them"
    assert study.store.read(lambda tx: verify(tx, study)).result().differences == []
    study.close()
    # With no experts, nobody hears anything and nobody learns; the study goes on all the same.
    nobody = Crowd(crowd.settings.model_copy(update={"experts": 0}))
    run, study, performance = perform(tmp_path, nobody)
    assert run.answers and not any(person.errors for person in performance.people)
    assert {message.sent_at for message in study.store.read(all_messages).result()} == {None}
    study.close()


def test_what_a_grade_teaches() -> None:
    assert mistakes_explained(0.4, 0.4) == pytest.approx(0.6)
    assert 0 < mistakes_explained(0.5, 0.4) < mistakes_explained(0.4, 0.4)
    assert mistakes_explained(0.9, 0.4) == 0
    assert ability_at(0.9, 1.0) == 0.9 and ability_at(0.9, 0.0) == pytest.approx(0.45)


@pytest.mark.parametrize("quality", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_a_fair_grade_is_as_near_to_the_quality_as_the_rubric_can_say(quality: float) -> None:
    options = {
        "fields": [
            {"name": name, "kind": "likert", "ask": "?", "levels": 5, "points": [0, 0.25, 0.5, 0.75, 1]}
            for name in ("clear", "hard")
        ]
    }
    form = installed_tasks()["form"]
    task = form.configured(form.options.model.model_validate(options))
    guesses = [{"clear": one, "hard": 6 - one} for one in range(1, 6)]
    assert task.grading.marks is not None
    marks = task.grading.marks(fair_grade(task, guesses, quality)).criteria.values()
    assert fmean(marks) == pytest.approx(quality, abs=0.125)


def test_forecasts_tell_what_comes_of_each_arm(tmp_path: Path) -> None:
    write_writing_study(tmp_path / "study")
    page = tmp_path / "forecast.html"
    command = ["rehearse", str(tmp_path / "study"), "--seeds", "1", "--workers", "16", "--processes", "1"]
    done = CliRunner().invoke(app, [*command, "--json", "--save", "--out", str(page)])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    [variation] = told["variations"]
    assert set(variation["arms"]) == {"careful", "quick"}
    for arm in variation["arms"].values():
        assert arm["cost"]["mean"] > 0 and arm["wage"]["mean"] > 0 and 0 < arm["quality"]["mean"] <= 1
    text = page.read_text("utf-8")
    assert "Forecast by arm" in text
    # No stage has a truth file: the picture goes by what the arms made, and has a point for each.
    picture = text.partition("Quality against cost: quality of answers")[2].partition("</figure>")[0]
    assert picture.count("<circle") == 2 and ">careful<" in picture and ">quick<" in picture
    assert variation["answers_quality_of"] == "mean of the arms" and variation["answers_quality"]["mean"] > 0
    funnel = text.partition("People by stage")[2].partition("</figure>")[0]
    bars = re.findall(r">([a-z-]+): (?:entered|passed)<", funnel)
    order = ["careful-practice", "careful-grades", "careful-trained", "careful-final"]
    assert [bar for bar in bars if bar.startswith("careful")] == order, "a gate stands after what it looks at"
    assert not any("nothing is said about quality" in note for note in told["notes"])
    saved = json.loads((tmp_path / "study" / "forecast.json").read_text("utf-8"))
    assert saved["variations"] == told["variations"]
    CliRunner().invoke(app, [*command, "--vary", "careful-final.judgments=1,2", "--out", str(page), "--force"])
    text = page.read_text("utf-8")
    assert "quality of answers (mean of the arms)" in text and ">2 careful<" in text
    again = CliRunner().invoke(app, [*command, "--save"])
    assert again.exit_code == 2
    # No other name can be given.
    assert " ".join(again.output.split()).endswith("forecast.json already exists. Add --force to overwrite it.")


# Paying graders, and arms that come late


@pytest.fixture
def opened(tmp_path: Path, database: str | None, clock: ManualClock) -> Iterator[Callable[..., Study]]:
    made: list[Study] = []

    def open_one(**changes: Any) -> Study:
        write_writing_study(tmp_path / "study", **changes)
        made.append(open_study(tmp_path / "study", database, clock))
        return made[-1]

    yield open_one
    for study in made:
        study.close()


def write_and_grade(study: Study, *grading: int) -> list[Person]:
    """Everybody writes about the texts of their arm; then some grade, each so many of what the other arm wrote."""
    graders = []
    for person in people(study, 16):
        arm = look(study, partial(arm_of, worker_id=person.id))
        for _ in range(4):
            offer = person.next(f"{arm}-practice")
            person.submit(offer, {"question": "Who left?", "kind": "who", "length": "one"})
        if arm == "quick":
            graders.append(person)
    for person, count in zip(graders, grading, strict=False):
        for _ in range(count):
            offer = person.next("careful-grades")
            person.submit(offer, {"clear": 4, "hard": 3})
    return graders


def finishing(study: Study) -> dict[str, int]:
    lines = look(study, lambda tx: list(ledger.ledger_lines(tx)))
    return {line.worker: line.amount for line in lines if line.cause.startswith("grading:careful-grades:")}


def test_graders_are_paid_for_the_round_when_the_gate_closes(opened: Callable[..., Study]) -> None:
    study = opened(grading_pay="finished = 500\nfinished_from = 2")
    first, *_ = write_and_grade(study, 2, 1)
    assert finishing(study) == {}
    do(study, lambda tx, study: close_gate(tx, study, study.gates["careful-trained"], "test"))
    assert finishing(study) == {first.pseudonym: 500}
    told = "$5.00 when this part closes, if you give at least 2 answers"
    assert pay_text(study.stage("careful-grades").settings, study).endswith(told)
    assert look(study, lambda tx: verify(tx, study)).differences == []


def test_a_round_that_people_grade(opened: Callable[..., Study]) -> None:
    """A grade is the mean of all graders; the gate waits for everybody's; who was dropped is not paid for grading."""
    study = opened()
    first, second, third, *_ = write_and_grade(study)
    graded = ""
    for person, clear in ((first, 1), (second, 2), (third, 5)):
        while (offer := person.next("careful-grades")).lease is not None:
            graded = graded or offer.lease.item_key
            if offer.lease.item_key == graded:
                person.submit(offer, {"clear": clear, "hard": 3})
                break
            person.give_back(offer)
    [answer] = look(study, lambda tx: graded_answers(tx, [study.stage("careful-practice").id]))
    assert answer.criteria == pytest.approx({"clear": (0 + 0.25 + 1) / 3, "hard": 0.5})
    [told] = look(study, lambda tx: events.recent(tx, kinds=("graded",)))
    assert len(told.evidence["by"]) == 3
    gate = study.gates["careful-trained"]
    soon = replace(gate, settings=gate.settings.model_copy(update={"workers": 1, "graded": 1}))
    field = look(study, lambda tx: survey(tx, study, soon))
    assert ([one.worker for one in field.candidates], field.waiting) == ([answer.worker], 7)
    assert do(replace(study, gates={gate.name: soon}), close_ready_gates) == []
    act = Act("ada", "no care", "act-00000001")
    do(study, lambda tx, study: end_work(tx, study, second.pseudonym, study.stage("careful-grades"), act))
    do(study, lambda tx, study: close_gate(tx, study, gate, "test"))
    assert finishing(study) == {first.pseudonym: 500, third.pseudonym: 500}


def test_graders_pay_keeps_to_the_budget(opened: Callable[..., Study]) -> None:
    study = opened(budget="budget = 65000", grading_pay="finished = 9000")
    write_and_grade(study, *[1] * 8)
    with pytest.raises(Refusal, match="budget"):
        do(study, lambda tx, study: close_gate(tx, study, study.gates["careful-trained"], "test"))
    assert finishing(study) == {}


def test_pay_for_grading_that_nothing_ends_is_refused(tmp_path: Path) -> None:
    write_writing_study(tmp_path)
    path = tmp_path / "study.toml"
    path.write_text(path.read_text().replace("top_share = 0.4", "threshold = 0.4"))
    problems = [problem.message for problem in check_folder(tmp_path)[1]]
    assert any("no gate that closes" in message for message in problems), problems


# Too few graders


def test_a_gate_that_closes_without_the_grades_it_waits_for_is_no_finished_run(tmp_path: Path) -> None:
    """Those whom it let pass do all that follows, and still whoever was not decided about is lost to the study."""
    write_writing_study(tmp_path / "study")
    file = tmp_path / "study" / "study.toml"
    name = 'name = "careful-grades"\n'
    # The eight of the other arm grade, and may give 40 of the 96 judgments that the answers ask for.
    text = file.read_text().replace(name, f'{name}max_per_worker = 5\nentry = {{ exclude_contributors = "group" }}\n')
    file.write_text(text.replace("judgments = 2\n", "judgments = 1\n"))
    page = tmp_path / "forecast.html"
    command = ["rehearse", str(tmp_path / "study"), "--seeds", "1", "--workers", "16", "--processes", "1"]
    done = CliRunner().invoke(app, [*command, "--json", "--out", str(page)])
    told = json.loads(done.stdout)
    [variation] = told["variations"]
    ended, other = variation["gates"]["careful-trained"], variation["gates"]["quick-trained"]
    assert ended["undecided"] == ended["ungraded"] and ended["passed"]["mean"] > 0
    lost = int(ended["ungraded"]["mean"])
    assert lost > 1 and other["undecided"]["mean"] == 0
    assert variation["finished"] == 0
    [why] = variation["starved"]
    start = f"in 1 of 1 run, gate careful-trained: it was closed without a decision about {lost} people"
    assert why.startswith(start) and why in told["notes"]
    assert re.search(r"\d+ of 32 items of careful-grades still needed annotations; 8 people had worked there", why)
    assert "Nobody grades an item of a group in which they have worked. Use more groups, plan for more people" in why
    text = page.read_text("utf-8")
    assert start in text and ">careful-trained: no decision<" in text
    assert ">quick-trained: no decision<" not in text
    shown = CliRunner().invoke(app, command)
    assert re.search(r"runs that finished +0 of 1", shown.stdout) and "no decision, grades missing" in shown.stdout


def test_a_gate_whose_people_wait_for_grades_is_closed_last(opened: Callable[..., Study]) -> None:
    """Whom the others let through may be just those who could give the grades."""
    study = opened()
    gates = {
        name: replace(gate, settings=gate.settings.model_copy(update={"graded": 1}))
        for name, gate in study.gates.items()
    }
    assert list(gates) == ["careful-trained", "quick-trained"]
    study = replace(study, gates=gates)
    everybody = people(study, 16)
    arms = {person.id: look(study, partial(arm_of, worker_id=person.id)) for person in everybody}
    careful, quick = ([person for person in everybody if arms[person.id] == arm] for arm in ("careful", "quick"))
    for person, arm in ((careful[0], "careful"), (quick[0], "quick")):
        person.judge({"question": "Who left?", "kind": "who", "length": "one"}, f"{arm}-practice")
    for person in (*careful[2:4], *quick[2:3]):
        for grading in GRADES:
            person.judge({"clear": 4, "hard": 3}, grading)
    careful[1].judge({"question": "Who came?", "kind": "who", "length": "one"}, "careful-practice")
    fields = [look(study, partial(survey, study=study, gate=gate)) for gate in gates.values()]
    assert [(len(field.candidates), field.waiting) for field in fields] == [(1, 1), (1, 0)]
    assert close_a_gate(study)
    assert look(study, closed_gates) == {"quick-trained"}
    assert close_a_gate(study)
    assert look(study, closed_gates) == {"quick-trained", "careful-trained"}
    assert not close_a_gate(study)


def test_a_stage_for_experts_starves_for_want_of_experts(tmp_path: Path) -> None:
    write_graded_study(tmp_path)
    (tmp_path / "rehearsal.toml").write_text("experts = 0\n")
    [forecast] = rehearse(tmp_path, seeds=1, workers=6, processes=1).forecasts
    [run] = forecast.runs
    reasons = {reason.partition(":")[0]: reason for reason in run.starved}
    assert reasons["careful-grades"].endswith("no expert joins: set `experts` in rehearsal.toml to 1 or more.")
    assert re.search(r"Of 6 people, [^.]*\b3 were not in its arm", reasons["careful-final"])
    # Three judgments of everything are more than two experts can give.
    (tmp_path / "rehearsal.toml").write_text("experts = 2\nexpert_ability = 1\n")
    [forecast] = rehearse(tmp_path, seeds=1, workers=6, processes=1).forecasts
    [why] = [reason for reason in forecast.runs[0].starved if reason.startswith("careful-grades:")]
    assert why.endswith("Of 2 experts, 2 had already done all their work there.")
