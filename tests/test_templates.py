"""The templates are whole studies: they pass the check, open, have the papers' numbers, and can be done to the end."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from chorale import web
from chorale.audit.verify import verify
from chorale.engine import entering
from chorale.engine.clock import Clock
from chorale.engine.gates import close_gate
from chorale.engine.offering import STATUSES
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.visit import visit
from chorale.folder.plan import plan_study, study_notes
from chorale.folder.reading import check_folder, load_folder
from chorale.folder.templates import create_study, template_names
from chorale.model import GateSettings, StageSettings, StudySettings
from chorale.rehearsal import Crowd, Rehearsal, Run
from chorale.rehearsal.measuring import measure
from chorale.rehearsal.simulated import CrowdSettings, KindSettings
from chorale.store import gates, ledger, messages
from chorale.store.items import all_items
from crowd import Person, do, look, people
from small_study import write_small_study

GOOD = KindSettings(name="good", share=1, ability=(0.9, 1.0), dropout=0)


@pytest.mark.parametrize("template", template_names())
def test_a_template_opens_and_somebody_can_begin(tmp_path: Path, clock: Clock, template: str) -> None:
    create_study(tmp_path / "study", template)
    assert check_folder(tmp_path / "study")[1] == []
    study = open_study(tmp_path / "study", None, clock)
    try:
        person = Person(study, "a")
        found = look(study, lambda tx: visit(tx, study, person.id))
        assert found is not None
        first = next(part for part in found.stages if part.state == "available")
        assert person.next(first.stage.name).status == "item"
    finally:
        study.close()


@pytest.mark.parametrize("template", template_names())
def test_every_wage_of_a_template_is_checked(tmp_path: Path, template: str) -> None:
    create_study(tmp_path / "study", template)
    settings = tmp_path / "study" / "study.toml"
    # The template that has no least wage of its own would be checked against one.
    settings.write_text(re.sub(r"^# minimum_hourly = \d+", "minimum_hourly = 500", settings.read_text(), flags=re.M))
    folder = load_folder(tmp_path / "study")
    assert folder.settings.pay.minimum_hourly > 0
    assert [note for note in study_notes(folder) if "can't be compared" in note] == []
    assert [note for note in study_notes(folder) if "time to read the guidelines counts" in note] == []


@pytest.mark.parametrize("template", template_names())
def test_consent_mentions_that_work_may_end_early(tmp_path: Path, template: str) -> None:
    create_study(tmp_path / "study", template)
    folder = load_folder(tmp_path / "study")
    removes = any(
        stage.gold is not None or (stage.quality is not None and stage.quality.floor is not None)
        for stage in folder.settings.stage
    )
    assert (" ends early for you" in " ".join(folder.consent.split())) == removes


def rehearsed(folder: Path, workers: int, seed: int = 1) -> Run:
    rehearsal = Rehearsal(load_folder(folder), Crowd(CrowdSettings(workers=workers, kind=(GOOD,), patience_hours=500)))
    study, performance = rehearsal.perform(seed)
    try:
        run = study.store.read(lambda tx: measure(tx, study, performance, rehearsal.known, seed)).result()
        assert study.store.read(lambda tx: verify(tx, study)).result().differences == []
    finally:
        study.close()
        rehearsal.close()
    return run


# QA-SRL


@pytest.fixture
def qasrl(tmp_path: Path) -> Path:
    create_study(tmp_path / "qasrl", "qasrl")
    return tmp_path / "qasrl"


def stage_of(settings: StudySettings, name: str) -> StageSettings:
    return next(stage for stage in settings.stage if stage.name == name)


def gate_of(settings: StudySettings, name: str) -> GateSettings:
    return next(gate for gate in settings.gate if gate.name == name)


def test_qasrl_has_the_numbers_of_the_paper(qasrl: Path) -> None:
    folder = load_folder(qasrl)
    settings = folder.settings
    sizes = {content.settings.name: len(content.gold) for content in folder.stages}
    assert (sizes["round-1"], sizes["round-2"]) == (15, 15)
    assert (gate_of(settings, "invited").top, gate_of(settings, "trained").top) == (30, 11)
    writing, together = stage_of(settings, "writing"), stage_of(settings, "consolidation")
    assert (writing.judgments.min, writing.judgments.max, writing.pay.per_judgment) == (2, 2, 5)
    assert writing.pay.parts is not None and writing.pay.parts.beyond == 2
    assert list(writing.pay.parts.amounts) == sorted(set(writing.pay.parts.amounts))
    assert together.items is not None and together.items.of == "together"
    assert together.entry.exclude_contributors
    assert (together.judgments.max, together.pay.per_judgment) == (1, 5)
    assert together.pay.parts is not None and (together.pay.parts.beyond, together.pay.parts.amounts) == (0, (3,))
    monitoring = stage_of(settings, "monitoring")
    assert monitoring.items is not None and monitoring.items.sample == 0.01
    assert monitoring.entry.qualifications == ("expert",)


@pytest.mark.slow
def test_qasrl_is_rehearsed_to_the_end(qasrl: Path) -> None:
    run = rehearsed(qasrl, workers=36)
    assert run.starved == ()
    stages = {stage.name: stage for stage in run.stages}
    assert stages["writing"].judgments == 50
    assert (stages["consolidation"].items, stages["consolidation"].complete) == (25, 25)
    assert {gate.name: gate.undecided for gate in run.gates} == {"invited": 0, "round-1-passed": 0, "trained": 0}


def test_the_feedback_shows_on_the_sentence_what_was_missed(qasrl: Path, clock: Clock) -> None:
    study = open_study(qasrl, None, clock)
    expert = {tuple(row["tokens"]): row["answer"] for row in rows(qasrl / "rounds" / "round-1.jsonl")}
    try:
        person = Person(study, "a")
        study.store.write(lambda tx: gates.grant(tx, person.id, "invited", 0)).result()
        while (offer := person.next("round-1")).view is not None:
            # Everything right, except that nobody says when.
            answer = [one for one in expert[tuple(offer.view["tokens"])] if not one["question"].startswith("When")]
            outcome = person.submit(offer, answer)
            missed = [one["status"] for one in (outcome.details or {"arguments": []})["arguments"]]
            assert ("missed" in missed) == (answer != expert[tuple(offer.view["tokens"])])
        [message] = look(study, lambda tx: messages.messages_to(tx, person.id))
    finally:
        study.close()
    asked = r"Missed: When does someone grow something? My aunt grows tomatoes on her balcony \[every summer\]\."
    assert asked in message.body
    assert r"My aunt \[grows\] tomatoes" in message.body
    assert "You have passed this training round" in message.body


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


# The trial


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    create_study(tmp_path / "trial", "mcq-trial")
    return tmp_path / "trial"


def test_the_trial_has_the_numbers_of_the_paper(trial: Path) -> None:
    folder = load_folder(trial)
    settings, items = folder.settings, {content.settings.name: content.items for content in folder.stages}
    assert settings.arms is not None
    assert settings.arms.names == ("baseline", "justification", "crowd", "expert")
    assert settings.pay.minimum_hourly == 1500
    paid = {name: stage_of(settings, f"writing-{name}").pay.per_judgment for name in "abcd"}
    assert paid == {"a": 350, "b": 400, "c": 350, "d": 350}
    quizzes = [stage_of(settings, f"quiz-{number}") for number in (1, 2)]
    assert [quiz.round and quiz.round.feedback for quiz in quizzes] == ["at once", "later"]
    tutorial, passed = stage_of(settings, "tutorial"), gate_of(settings, "tutorial-passed")
    assert (tutorial.max_per_worker, tutorial.judgments.max) == (2, 150)
    paid_for_tutorial = 2 * tutorial.pay.per_judgment + sum(quiz.pay.finished for quiz in quizzes)
    assert paid_for_tutorial == 450, "350 in the paper, which is below the minimum with the time to read the guidelines"
    assert passed.stage == ("quiz-2", "tutorial")
    assert (passed.top_share, passed.bonus, list(passed.criteria)) == (0.6, 150, ["answerable"])
    assert stage_of(settings, "tutorial-grades").judgments.max == 3
    for number, bonus in ((1, 500), (2, 700), (3, 1000)):
        for arm in "cd":
            gate = gate_of(settings, f"round-{number}-{arm}-passed")
            grades = stage_of(settings, f"round-{number}-{arm}-grades")
            assert (gate.top_share, gate.bonus, 2 * gate.graded) == (0.8, bonus, 4)
            by_experts = arm == "d" or number == 1
            assert grades.judgments.max == (3 if by_experts else 5)
            assert grades.entry.qualifications == ("expert" if by_experts else "grader",)
            assert (grades.pay.per_judgment, grades.pay.finished) == ((0, 0) if by_experts else (2 * 50, 500))
            # Half an hour of experts for everybody: two pairs, three experts.
            assert grades.pay.expected_seconds == (30 * 60 / (2 * 3) if by_experts else 240)
            assert grades.items is not None and grades.items.per_worker == (2 if by_experts else None)
            assert 400 <= 2 * len(items[f"round-{number}-{arm}"]) <= 500
            promoted = gate.promote.top_share if gate.promote else None
            assert promoted == (0.2 if (number, arm) == (1, "c") else None)
    check, validation = stage_of(settings, "validators"), stage_of(settings, "validation")
    assert (gate_of(settings, "validator").threshold, check.pay.finished) == (0.6, 270), "250 in the paper"
    assert validation.sources == ("writing-a", "writing-b", "writing-c", "writing-d")
    assert validation.arms == ()
    assert (validation.judgments.min, validation.judgments.max, validation.pay.per_judgment) == (2, 2, 75)
    sample, gold = validation.judgments.sample, validation.gold
    assert sample is not None and (2 * (sample.items or 0), sample.judgments) == (500, 10)
    assert gold is not None and (gold.share, gold.floor) == (0.1, 0.5)
    assert gold.bonus is not None and (gold.bonus.right, gold.bonus.of, gold.bonus.amount) == (3, 4, 50)


def test_arms_of_the_trial_differ_only_by_design(trial: Path) -> None:
    folder = load_folder(trial)
    writing = [stage for stage in folder.settings.stage if stage.task == "mcq-write"]
    same = (trial / "guidelines" / "writing.md").read_text("utf-8")
    assert "grade" not in same and "| Question | Good? |" in same
    for stage in writing:
        extra = {name: value for name, value in stage.options.items() if name not in ("rubric", "hints")}
        assert (stage.options["rubric"], stage.options["hints"]) == (False, False)
        assert extra == ({"justify": True} if stage.name == "writing-b" else {})
        added = (trial / stage.guidelines).read_text("utf-8").removeprefix(same)
        graded = stage.name.startswith(("round-", "tutorial"))
        asked = "## Explain each question" if stage.name == "writing-b" else "## Your questions are graded" * graded
        assert added.count("## ") == (1 if asked else 0) and added.lstrip().startswith(asked)
        assert ("grade" in added) == graded
        assert not stage.entry.exclude_dropped, "who is removed from validation may still write"
    quizzes = [stage for stage in folder.settings.stage if stage.task == "mcq-compare"]
    assert len(quizzes) == 2 and not any(stage.entry.exclude_dropped for stage in quizzes), "and do the tutorial"
    # The tutorial's message has points and the average only, and its guidelines promise no more.
    assert "worst" not in (trial / "messages" / "tutorial.md").read_text("utf-8")
    assert "weakest" not in (trial / "guidelines" / "graded.md").read_text("utf-8")
    validation = stage_of(folder.settings, "validation")
    assert validation.gold is not None and validation.gold.feedback == "none"
    assert validation.items is not None and validation.items.wait


def test_guidelines_of_quizzes_ask_nobody_to_write(trial: Path) -> None:
    asked = [
        (stage.settings.task, " ".join(stage.guidelines.split("## ")[1].split())) for stage in load_folder(trial).stages
    ]
    assert all("write two questions about it" in words for task, words in asked if task == "mcq-write")
    quizzes = [words for task, words in asked if task == "mcq-compare"]
    assert len(quizzes) == 2
    assert all("see two questions about it" in words and "write two" not in words for words in quizzes)


def test_every_rubric_of_the_trial_is_the_same(trial: Path) -> None:
    contents = [content for content in load_folder(trial).stages if content.settings.grades]
    assert len(contents) == 7
    assert len({json.dumps(content.settings.options, sort_keys=True) for content in contents}) == 1


def test_nobody_is_shown_what_only_experts_do(trial: Path, clock: Clock) -> None:
    study = open_study(trial, clock=clock)
    try:
        person = Person(study, "a")
        expert = do(study, lambda tx, study: entering.arrive_as_expert(tx, study, "grace"))
        theirs = look(study, lambda tx: visit(tx, study, person.id))
        experts = look(study, lambda tx: visit(tx, study, expert.id))
        assert theirs is not None and experts is not None
        graded_by_experts = {"tutorial-grades", "round-1-c-grades", "round-3-d-grades"}
        assert not graded_by_experts & {part.stage.name for part in theirs.stages}
        assert graded_by_experts <= {part.stage.name for part in experts.stages}
    finally:
        study.close()


def test_the_work_page_has_words_for_whatever_can_be_said_in_the_place_of_an_item() -> None:
    script = (Path(web.__file__).parent / "static" / "work.js").read_text("utf-8")
    rests = script.partition("const RESTS = {")[2].partition("};")[0]
    assert {status for status in STATUSES.values() if f"{status}: {{" not in rests} == {"item"}


def test_only_experts_may_work_for_nothing(trial: Path) -> None:
    settings = trial / "study.toml"
    settings.write_text(settings.read_text("utf-8").replace("per_judgment = 145,", "per_judgment = 0,"), "utf-8")
    [problem] = check_folder(trial)[1]
    assert "pays $0.00 an hour" in problem.message


def test_the_trial_tells_no_story_twice_and_nobody_gets_a_text_twice_in_a_round(trial: Path) -> None:
    told: dict[str, set[str]] = {}
    for path in (*trial.glob("passages/*.jsonl"), *trial.glob("rounds/*.jsonl"), *trial.glob("gold/*.jsonl")):
        told[path.name] = {row["passage"] for row in rows(path)}
    texts = [text for each in told.values() for text in each]
    words = [set(re.findall(r"[a-z]{4,}", text.lower())) for text in texts]
    alike = [
        (texts[here][:60], texts[there][:60])
        for here, there in combinations(range(len(texts)), 2)
        if len(words[here] & words[there]) > 0.4 * min(len(words[here]), len(words[there]))
    ]
    assert alike == []
    assert {name: len(told[name]) for name in ("round-1.jsonl", "round-2.jsonl", "round-3.jsonl", "final.jsonl")} == {
        "round-1.jsonl": 12,
        "round-2.jsonl": 36,
        "round-3.jsonl": 36,
        "final.jsonl": 30,
    }
    for stage in load_folder(trial).stages:
        if stage.settings.name.startswith("round-") and stage.items:
            assert 200 <= len(stage.items) <= 250, "400 to 500 questions"
            assert len({item.group for item in stage.items}) >= (stage.settings.max_per_worker or 99)


def test_seven_graders_are_enough_for_the_crowd_arm_although_they_write_too(trial: Path) -> None:
    """Nobody grades a text that they have written about. So graders must leave most texts to others."""
    stages = {stage.settings.name: stage for stage in load_folder(trial).stages}
    for name in ("round-2-c", "round-3-c"):
        texts = len({item.group for item in stages[name].items})
        grading = stages[f"{name}-grades"].settings
        assert grading.entry.exclude_contributors == "group"
        left = 7 * (1 - (stages[name].settings.max_per_worker or texts) / texts)
        assert left > grading.judgments.min, "of seven graders, on average, for each text"


def test_check_says_which_items_are_still_the_templates(trial: Path) -> None:
    [note] = [note for note in study_notes(load_folder(trial)) if "the template's items" in note]
    assert note.startswith(
        "passages/final.jsonl (items: 30), passages/tutorial.jsonl (items: 2), passages/round-1.jsonl (items: 228), "
    )
    for path in trial.glob("passages/*.jsonl"):
        own = [{"id": f"{path.stem}-{number}", "passage": f"Our own text {number}."} for number in range(60)]
        path.write_text("".join(json.dumps(row) + "\n" for row in own), "utf-8")
    assert not [note for note in study_notes(load_folder(trial)) if "the template's items" in note]


def test_check_counts_the_sample_of_every_arm_and_says_what_is_missing(trial: Path) -> None:
    [short] = [note for note in study_notes(load_folder(trial)) if "samples 250 items" in note]
    assert "30 from writing-a, 30 from writing-b, 30 from writing-c, 30 from writing-d" in short
    path = trial / "passages" / "final.jsonl"
    path.write_text("".join(json.dumps({"id": f"f{n}", "passage": f"Text {n}."}) + "\n" for n in range(300)))
    folder = load_folder(trial)
    assert not [note for note in study_notes(folder) if " samples " in note]
    validation = next(stage for stage in plan_study(folder).stages if stage.name == "validation")
    assert validation.judgments == 2 * 4 * 300 + (10 - 2) * 4 * 250


def test_check_warns_where_nobody_can_see_enough_gold_to_be_removed(tmp_path: Path) -> None:
    # Whoever does everything answers nearly two gold items, which is not two.
    write_small_study(tmp_path, applications=4, gold=4, share=0.3, after=2)
    notes = study_notes(load_folder(tmp_path))
    [note] = [note for note in notes if "hardly anybody in stages meaningful, entailment" in note]
    assert "gives about 1.8 gold answers" in note and "applies after 2 (gold.after)" in note
    assert not [note for note in notes if "few people in stage" in note], "one note for one cause"
    write_small_study(tmp_path, applications=4, gold=4, share=0.3, after=1)
    assert not [note for note in study_notes(load_folder(tmp_path)) if "hardly anybody in stage" in note]


def test_check_warns_while_gold_can_remove_hardly_anybody(trial: Path) -> None:
    [note] = [note for note in study_notes(load_folder(trial)) if "few people in stage" in note]
    assert "in stage validation" in note and "after 4 (gold.after)" in note
    path = trial / "passages" / "final.jsonl"
    path.write_text("".join(json.dumps({"id": f"f{n}", "passage": f"Text {n}."}) + "\n" for n in range(750)))
    [note] = [note for note in study_notes(load_folder(trial)) if "few people in stage" in note]
    assert "Add items or gold" in note, "scarce gold is shown less often"
    # Ten texts and four arms: somebody who answers all pairs gets four to five gold pairs, which are nine questions.
    path.write_text("".join(json.dumps({"id": f"f{n}", "passage": f"Text {n}."}) + "\n" for n in range(10)))
    text = (trial / "study.toml").read_text()
    (trial / "study.toml").write_text(text.replace("after = 4 ", "after = 8 "))
    assert not [note for note in study_notes(load_folder(trial)) if "hardly anybody" in note], "gold counts by question"
    (trial / "study.toml").write_text(text.replace("after = 4 ", "after = 10 "))
    [note] = [note for note in study_notes(load_folder(trial)) if "hardly anybody" in note]
    assert "gives about 8.8 gold answers" in note
    path.write_text("".join(json.dumps({"id": f"f{n}", "passage": f"Text {n}."}) + "\n" for n in range(750)))
    (trial / "study.toml").write_text(text.replace('feedback = "none" ', 'reuse = true\nfeedback = "none" '))
    assert not [note for note in study_notes(load_folder(trial)) if "few people in stage" in note]


@pytest.mark.parametrize("template", template_names())
def test_nobody_fails_at_a_gate_of_a_template_without_a_message(tmp_path: Path, template: str) -> None:
    create_study(tmp_path / "study", template)
    for gate in load_folder(tmp_path / "study").settings.gate:
        can_fail = gate.threshold != 0 or gate.top is not None or gate.top_share is not None
        assert gate.message is not None or not can_fail, gate.name


def test_gold_is_expected_between_all_phrases_not_once_for_a_group(tmp_path: Path) -> None:
    folder = tmp_path / "phrases"
    create_study(folder, "rules")
    path = folder / "applications.jsonl"
    path.write_text(
        "".join(
            json.dumps({"id": f"a{n}", "rule_lhs": "X", "rule_rhs": "Y", "lhs": f"l{n // 8}", "rhs": f"r{n}"}) + "\n"
            for n in range(800)
        )
    )
    phrases, people = 900, 27  # a group has nine phrases, each for three people
    few = [note for note in study_notes(load_folder(folder)) if "few people in stage meaningful can be removed" in note]
    gold = len((folder / "gold" / "meaningful.jsonl").read_text().splitlines())
    assert 3 * gold / people >= 4 and gold < phrases / 9, "scarce, and still four for everybody"
    assert few == []


def small(trial: Path) -> Path:
    """The trial with a dozen texts, and two graders where there would be five."""
    for path in (trial / "passages").glob("*.jsonl"):
        most = {"final": 8, "tutorial": 2}.get(path.stem, 40)
        path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:most]), "utf-8")
    text = (trial / "study.toml").read_text("utf-8")
    text = text.replace("judgments = 5 ", "judgments = 2 ").replace(
        "items = 250, judgments = 10", "items = 2, judgments = 4"
    )
    for most in (6, 7, 9):
        text = text.replace(f"max_per_worker = {most} ", "max_per_worker = 2 ")
    (trial / "study.toml").write_text(text, "utf-8")
    return trial


@pytest.mark.slow
def test_the_trial_is_rehearsed_to_the_end(trial: Path) -> None:
    run = rehearsed(small(trial), workers=64)
    assert run.starved == ()
    stages = {stage.name: stage for stage in run.stages}
    assert {stages[f"writing-{arm}"].complete for arm in "abcd"} == {8}
    assert stages["validation"].items == 32
    # Two judgments for all, and four for two of each arm.
    assert stages["validation"].judgments == 2 * 32 + 4 * 2 * 2
    assert {gate.name: gate.undecided for gate in run.gates if gate.undecided} == {}
    passed = {gate.name: (gate.passed, gate.passed + gate.not_passed) for gate in run.gates}
    assert passed["tutorial-passed"][0] >= round(0.6 * passed["tutorial-passed"][1])
    assert all(passed[f"round-{n}-{arm}-passed"][0] >= 1 for n in (1, 2, 3) for arm in "cd")


# What the templates needed of the engine

FORM = """\
[study]
title = "A small study of forms"
contact = "team@example.org"
consent = "consent.md"
seed = 3
[arrival]
worker_pattern = "[A-Za-z0-9-]{1,64}"
[[stage]]
name = "writing"
title = "Writing"
task = "form"
guidelines = "guidelines.md"
judgments = 2
items = { file = "items.jsonl" }
pay = { per_judgment = 5, parts = { beyond = 1, amounts = [2, 3] } }
[stage.options]
shows = [{ item = "sentence" }]
fields = [
  { name = "question_1", kind = "text", ask = "A question", part = true },
  { name = "question_2", kind = "text", ask = "Another", part = true, required = false },
  { name = "question_3", kind = "text", ask = "Another", part = true, required = false },
  { name = "where", kind = "spans", ask = "The answer", item = "sentence", min = 0 },
]
[[stage]]
name = "later"
title = "Later"
task = "form"
guidelines = "guidelines.md"
judgments = 1
LATER
"""
TOGETHER = """\
items = { from = "writing", of = "together" }
[stage.options]
shows = [{ item = "question_1_1" }, { item = "where_1", optional = true }, { item = "question_1_2" }]
fields = [{ name = "fine", kind = "choice", ask = "Fine?", options = ["yes", "no"] }]
"""
GRADING = """\
items = { from = "writing", of = "answers" }
grades = true
[stage.options]
shows = [{ item = "question_1" }, { item = "where", optional = true }]
fields = [{ name = "fine", kind = "choice", ask = "Fine?", options = ["yes", "no"], points = [1, 0] }]
[[gate]]
name = "passed"
stage = "writing"
top_share = 1.0
"""
Maker = Callable[[str], Study]


@pytest.fixture
def make(tmp_path: Path, database: str | None, clock: Clock) -> Iterator[Maker]:
    made: list[Study] = []

    def open_one(later: str) -> Study:
        folder = tmp_path / "forms"
        folder.mkdir()
        (folder / "consent.md").write_text("You agree.\n")
        (folder / "guidelines.md").write_text("Write.\n")
        (folder / "items.jsonl").write_text('{"id": "i1", "sentence": "The cat slept all day."}\n')
        (folder / "study.toml").write_text(FORM.replace("LATER\n", later))
        made.append(open_study(folder, database, clock))
        return made[-1]

    yield open_one
    for study in made:
        study.close()


def said(text: str, *more: str) -> dict[str, Any]:
    further = {f"question_{number}": each for number, each in enumerate(more, 2)}
    return {"question_1": text, **further, "where": [{"start": 0, "end": 2}]}


def payloads(study: Study, stage: str) -> list[dict[str, Any]]:
    found = look(study, lambda tx: list(all_items(tx, stage)))
    return [dict(item.payload) for item in found if item.state != "withdrawn"]


def differences(study: Study) -> list[str]:
    return look(study, lambda tx: verify(tx, study)).differences


def test_answers_to_an_item_come_together_in_one(make: Maker) -> None:
    study = make(TOGETHER)
    first, second, third = people(study, 3)
    first.submit(first.next("writing"), said("Who slept?"))
    assert payloads(study, "later") == []
    second.submit(second.next("writing"), said("What slept?", "When?"))
    [item] = payloads(study, "later")
    assert (item["question_1_1"], item["question_1_2"], item["question_2_2"]) == ("Who slept?", "What slept?", "When?")
    assert item["where_1"] == "The cat"
    # Neither of the writers consolidates it.
    assert [person.next("later").status for person in (first, second, third)] == ["wait", "wait", "item"]
    assert differences(study) == []


def test_filled_in_parts_of_a_form_are_paid_by_number(make: Maker) -> None:
    study = make(TOGETHER)
    first, second = people(study, 2)
    first.submit(first.next("writing"), said("Who slept?"))
    second.submit(second.next("writing"), said("Who slept?", "When?", "How long?"))
    earned = {line.worker: 0 for line in look(study, lambda tx: list(ledger.ledger_lines(tx)))}
    for line in look(study, lambda tx: list(ledger.ledger_lines(tx))):
        earned[line.worker] += line.amount
    assert earned == {first.pseudonym: 5, second.pseudonym: 5 + 2 + 3}
    assert differences(study) == []


def test_answers_are_graded_as_they_come_and_a_closed_round_wants_no_more(make: Maker) -> None:
    study = make(GRADING)
    first, grader = people(study, 2)
    first.submit(first.next("writing"), said("Who slept?"))
    [item] = payloads(study, "later")
    assert (item["question_1"], item["where"]) == ("Who slept?", "The cat")
    offer = grader.next("later")
    assert offer.status == "item"
    grader.submit(offer, {"fine": "yes"})
    assert grader.next("later").status == "wait"
    [verdict] = do(study, close_gate, study.gates["passed"], "the test")
    assert (verdict.worker, verdict.score) == (first.pseudonym, 1.0)
    assert grader.next("writing").status == "locked"
    assert differences(study) == []


def test_finishing_a_round_counts_for_the_wage(trial: Path) -> None:
    text = (trial / "study.toml").read_text("utf-8")
    assert check_folder(trial)[1] == []
    (trial / "study.toml").write_text(re.sub(r"finished = 270", "finished = 240", text), "utf-8")
    [problem] = check_folder(trial)[1]
    assert "pays $14.40 an hour" in str(problem)
