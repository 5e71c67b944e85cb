"""Writing, comparing, grading and validating questions: shapes, rules, exports, and a whole trial rehearsed."""

import json
import re
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from chorale.cli import app
from chorale.contract import AnswerError, ItemError, Seeds, Task, installed_tasks
from chorale.contract.answer_words import answer_words
from chorale.engine import offering
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange.export import export_formats, write_export
from chorale.folder.reading import check_folder, load_folder
from chorale.folder.templates import create_study
from chorale.kits.questions.files.columns import INVALID
from chorale.kits.questions.scoring.study import mcq_study, study_questions
from chorale.kits.questions.tasks.grade.rubric import RUBRIC
from chorale.kits.questions.tasks.validate.tables import majority
from chorale.kits.questions.tasks.write.tables import COPIED, GENERIC, LENGTHS, REPEATED, TRIVIAL, flags_of
from chorale.metrics.resampling import Resampling
from chorale.model import Judgment
from chorale.monitor.costs import ArmCosts, CostTerms, study_costs
from chorale.monitor.outcomes import tallies
from chorale.monitor.status import summary
from chorale.monitor.tables import arms_table, cost_lines
from chorale.rehearsal import Crowd, Rehearsal
from chorale.rehearsal.performing import Performance
from chorale.rehearsal.simulated import CrowdSettings, KindSettings
from chorale.report.document import StudyReport
from chorale.report.kit_sections import kit_sections
from chorale.report.page import report_page
from chorale.store import Tx, gates
from chorale.store.arms import arms_by_worker
from chorale.store.schema import worker
from crowd import people

SECRET_NUMBER = offering.secret_number
WRITE, COMPARE, GRADE, VALIDATE = (
    installed_tasks()[f"mcq-{name}"] for name in ("write", "compare", "grade", "validate")
)


def with_options(task: Task, **options: Any) -> Task:
    return task.configured(task.options.model.model_validate(options))


def example(task: Task, number: int = 0) -> tuple[dict[str, Any], Any]:
    return dict(task.examples[number].row), task.examples[number].answer


# Shapes


def test_explanations_are_asked_for_only_where_they_are_wanted() -> None:
    plain = with_options(WRITE)
    _, answer = example(WRITE)
    assert "why_1" in WRITE.form.html and "why_1" not in plain.form.html
    with pytest.raises(AnswerError, match="no other fields"):
        plain.shape.parse_answer(answer)
    bare = {name: value for name, value in answer.items() if not name.startswith("why")}
    assert plain.shape.parse_answer(bare) == bare
    with pytest.raises(AnswerError, match="must be filled in"):
        WRITE.shape.parse_answer(bare)


def test_rubric_and_hints_can_be_switched_off() -> None:
    shown, bare = with_options(WRITE).form.html, with_options(WRITE, rubric=False, hints=False).form.html
    for part in ("mcq-rubric", "mcq-hints", "hints-1"):
        assert part in shown and part not in bare


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"options_1": ["a", "b", "c"]}, "a list of 4 options, but has 3"),
        ({"options_1": ["same", "Same", "c", "d"]}, "same option twice"),
        ({"options_1": ["a", " ", "c", "d"]}, "must not be empty"),
        ({"right_1": "option5"}, "option1"),
        ({"question_1": "x" * 401}, "at most 400 characters"),
        ({"question_3": "One more?"}, "no other fields"),
    ],
)
def test_answers_that_are_no_questions_are_refused_in_plain_words(change: dict[str, Any], told: str) -> None:
    _, answer = example(WRITE)
    with pytest.raises(AnswerError) as refused:
        WRITE.shape.parse_answer({**answer, **change})
    assert told in str(refused.value)


def test_rows_with_more_questions_than_a_page_has_are_refused() -> None:
    for task in (GRADE, VALIDATE, COMPARE):
        row, _ = example(task)
        assert task.shape.parse_row({**row, "question_id": "q", "source": "kept"})["source"] == "kept"
        for more in ({"question_3": "And?"}, {"options_3": ["a", "b"]}, {"right_0": "option1"}):
            with pytest.raises(ItemError, match="a page has 2 questions"):
                task.shape.parse_row({**row, **more})


def test_stages_that_pass_questions_on_have_as_many_of_them(tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    create_study(folder, "mcq-trial")
    settings = folder / "study.toml"
    text = settings.read_text("utf-8").replace("justify = true,", "justify = true, questions = 1,")
    settings.write_text(text, "utf-8")
    problems = [str(problem) for problem in check_folder(folder)[1]]
    assert problems
    assert all("does not match the stage 'writing-b' that its items come from" in problem for problem in problems), (
        problems
    )


def test_what_a_grader_got_wrong_is_told_in_words() -> None:
    _, gold = example(GRADE)
    [told] = GRADE.grading.grade({**gold, "reading_2": "again"}, gold).reasons
    assert told == (
        "question 2, “How closely do you need to read the text to answer it?”: answered “Possibly more than once”; "
        "the correct answer is “A few words or a sentence”"
    )


def test_white_space_is_tidied_and_anything_else_kept() -> None:
    _, answer = example(WRITE)
    kept = WRITE.shape.parse_answer({**answer, "question_1": "  Who\n goes \t there? <b> ", "right_1": "option4"})
    assert kept["question_1"] == "Who goes there? <b>"


def test_what_is_written_becomes_items_to_grade_and_validate() -> None:
    row, answer = example(WRITE)
    item = {**row, **answer}
    assert GRADE.shape.parse_item(item)["why_1"] == answer["why_1"]
    seen = VALIDATE.form.view(VALIDATE.shape.parse_item(item))
    assert not any(name.startswith(("right", "why")) for name in seen)
    assert answer["why_1"] not in json.dumps(seen)
    graded = GRADE.form.view(GRADE.shape.parse_item(item))
    assert (graded["right_1"], graded["why_1"]) == ("a", answer["why_1"])
    with pytest.raises(ItemError):
        GRADE.shape.parse_item({name: value for name, value in item.items() if name != "right_2"})


def test_a_page_can_have_one_question_of_three_options() -> None:
    task = with_options(VALIDATE, questions=1, choices=3)
    row = {"passage": "Text.", "question_1": "What?", "options_1": ["a", "b", "c"]}
    assert task.shape.parse_item(row)["question_1"] == "What?"
    assert task.shape.parse_answer({"answer_1": "option3"}) == {"answer_1": "option3"}
    assert "answer_2" not in task.form.html
    with pytest.raises(AnswerError):
        task.shape.parse_answer({"answer_1": "option4"})


def test_the_two_candidates_change_places_from_worker_to_worker() -> None:
    row, _ = example(COMPARE)
    assert COMPARE.form.arrange is not None
    orders = {tuple(COMPARE.form.arrange(row, Seeds.of(1, "quiz", f"w{number}", "i"))["order"]) for number in range(20)}
    assert orders == {("first", "second"), ("second", "first")}
    assert COMPARE.form.view(row)["asked"] == "Which question is less ambiguous?"
    with pytest.raises(ItemError):
        COMPARE.shape.parse_item({**row, "criterion": "longer"})


# Grading and validating


def test_marks_are_points_by_criterion() -> None:
    _, answer = example(GRADE)
    assert GRADE.grading.marks is not None
    marks = GRADE.grading.marks(answer).criteria
    assert (marks["answerable_1"], marks["reading_1"]) == (1.0, 0.75)
    assert marks["creative_1"] == pytest.approx(2 / 3)
    assert (marks["reading_2"], marks["distracting_2"]) == (0.25, 0.0)
    assert GRADE.grading.marks({**answer, "answerable_1": "label"}).criteria["answerable_1"] == 0.5


def test_graders_are_as_far_apart_as_their_levels() -> None:
    _, answer = example(GRADE)
    near, far = ({**answer, "reading_1": level} for level in ("again", "none"))
    assert GRADE.combining.distance(answer, near) == pytest.approx(1 / 4 / 8)
    assert GRADE.combining.distance(answer, far) == pytest.approx(3 / 4 / 8)


def test_validators_are_graded_and_combined_question_by_question() -> None:
    gold = {"answer_1": "option1", "answer_2": INVALID}
    result = VALIDATE.grading.grade({"answer_1": "option2", "answer_2": INVALID}, gold)
    assert result.score == 0.5
    assert result.reasons == ("question 1: answered option b; the correct answer is option a",)
    said = [("option1", "option1"), ("option1", "option2"), ("option3", "option2")]
    combined = VALIDATE.combining.combine(
        [Judgment(f"w{number}", {"answer_1": one, "answer_2": two}, 1.0) for number, (one, two) in enumerate(said)]
    )
    assert combined is not None
    assert combined.answer == {"answer_1": "option1", "answer_2": "option2"}
    assert combined.confidence == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("votes", "right", "answer"),
    [
        (["option1", "option2"], "option1", "option1"),  # two of three
        (["option2", "option2"], "option1", "option2"),  # the writer is overruled
        (["option2", "option3"], "option1", None),  # no majority
        (["invalid", "invalid"], "option1", "invalid"),
        (["option1", "option1", "option2", "option2"], "option3", None),
        ([], None, None),
    ],
)
def test_the_majority_counts_the_writers_vote(votes: list[str], right: str | None, answer: str | None) -> None:
    assert majority(votes, right) == answer


# Flags


def row(**change: Any) -> dict[str, Any]:
    return {
        "question": "Why did the ferry wait?",
        "document": "The ferry waited because the captain saw her running down the hill.",
        "options": ["Somebody was late", "It was broken", "Fog came in", "Nobody had paid"],
        "gold_answer": "option1",
        "justification": "The captain saw her running, which is never called being late.",
        "worker_id": "w1",
        **change,
    }


def test_repetitions_and_empty_explanations_of_one_writer_are_flagged() -> None:
    empty = "You need to read the whole passage to answer the question."
    rows = [
        row(justification=empty),
        row(question="Who was running?", justification=empty + " Indeed."),
        row(worker_id="w2", justification=empty),
        row(worker_id="w3", question="Which of the following is true?", justification=None),
        row(worker_id="w4", options=["A very long and careful phrase", "No", "Yes", "Maybe"]),
        row(worker_id="w4"),
    ]
    flags = flags_of(rows)
    assert flags[0] == [COPIED, TRIVIAL]
    assert flags[1] == [COPIED, TRIVIAL]
    assert flags[2] == [TRIVIAL]  # the same words by somebody else are not theirs again
    assert flags[3] == [GENERIC]
    assert flags[4] == [REPEATED, COPIED, LENGTHS]
    assert flags[5] == [REPEATED, COPIED]


@given(st.text(max_size=300), st.integers(0, 2**32))
def test_made_up_questions_fit_any_passage(passage: str, seed: int) -> None:
    rng = Random(seed)
    assert WRITE.simulating.guess is not None and WRITE.simulating.imitate is not None
    for answer in (
        WRITE.simulating.guess({"passage": passage}, None, rng),
        WRITE.simulating.guess({"passage": passage}, None, None),
    ):
        assert WRITE.shape.parse_answer(answer) == answer
        worse = WRITE.simulating.imitate({"passage": passage}, answer, 0.0, rng)
        assert WRITE.shape.parse_answer(worse) == worse
        assert WRITE.grading.grade(worse, answer).score == 0
        assert WRITE.simulating.imitate({"passage": passage}, answer, 1.0, rng) == answer


# A whole trial


def small(folder: Path) -> Path:
    """The trial with a dozen texts, and two graders where there would be five."""
    create_study(folder, "mcq-trial")
    for path in (folder / "passages").glob("*.jsonl"):
        most = {"final": 6, "tutorial": 2}.get(path.stem, 40)
        path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:most]), "utf-8")
    text = (folder / "study.toml").read_text("utf-8")
    text = text.replace("judgments = 5 ", "judgments = 2 ")
    text = text.replace("items = 250, judgments = 10", "items = 2, judgments = 10")
    for most in (6, 7, 9):
        text = text.replace(f"max_per_worker = {most} ", "max_per_worker = 2 ")
    (folder / "study.toml").write_text(text, "utf-8")
    return folder


def perform(
    folder: Path, *, experts: float, graders: float, seed: int, workers: int = 70
) -> tuple[Study, Performance, Rehearsal]:
    writer = KindSettings(
        name="writer",
        share=1,
        ability=(0.1, 0.95),
        abilities={"mcq-grade": (graders, graders), "mcq-compare": (0.8, 0.8), "mcq-validate": (0.95, 0.95)},
        dropout=0,
    )
    settings = CrowdSettings(workers=workers, kind=(writer,), expert_ability=(experts, experts), patience_hours=500)
    rehearsal = Rehearsal(load_folder(folder), Crowd(settings))
    study, performance = rehearsal.perform(seed)
    return study, performance, rehearsal


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a finished trial exports."""
    folder = tmp_path_factory.mktemp("trial")
    study, _, rehearsal = perform(small(folder / "study"), experts=1.0, graders=0.8, seed=4, workers=40)
    try:
        formats = export_formats(study)
        for name in (
            *("mcq", "jsonl", "ledger", "mcq-grades-round-1-d-grades"),
            *("mcq-written-writing-b", "mcq-written-round-1-d", "mcq-written-round-2-d"),
        ):
            stage = {"mcq": "mcq-validation"}.get(name, name)
            suffix = "jsonl" if "grades" not in name and name != "ledger" else "csv"
            assert stage in formats
            write_export(study, stage, folder / f"{name}.{suffix}")
        report = study.store.read(
            lambda tx: mcq_study(tx, study, Resampling(resamples=100), expert_hourly=4000)
        ).result()
        assert report is not None
        (folder / "report.json").write_text(json.dumps(report.as_json()))
        found = study.store.read(lambda tx: study_questions(tx, study, Resampling(resamples=100))).result()
        assert found is not None
        rounds = {one.name: len(one.questions) for one in found.rounds}
        assert rounds.keys() == {
            "crowd and expert: tutorial",
            *(f"{arm}: round-{n}-{letter}" for n in (1, 2, 3) for arm, letter in (("crowd", "c"), ("expert", "d"))),
        }
        (folder / "rounds.json").write_text(json.dumps(rounds))
        for name, with_arms in (("blind", False), ("open", True)):
            page = study.store.read(
                lambda tx: kit_sections(tx, study, Resampling(resamples=100), (), with_arms=with_arms)  # noqa: B023
            ).result()[0]
            (folder / f"{name}.html").write_text(report_page(StudyReport("T", "", page, {})))
        costs = study.store.read(lambda tx: study_costs(tx, study)).result()
        (folder / "costs.json").write_text(json.dumps(asdict(costs)))
        numbers = study.store.read(lambda tx: summary(tx, study, arms=True)).result()
        (folder / "arms.json").write_text(json.dumps(numbers["arms"]))
        (folder / "tallies.json").write_text(json.dumps(study.store.read(lambda tx: tallies(tx, study)).result()))
    finally:
        study.close()
        rehearsal.close()
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_export_has_the_columns_of_the_released_data(exported: Path) -> None:
    found = [one for one in lines(exported / "mcq.jsonl") if one["protocol"] is not None]
    assert len(found) == 4 * 6 * 2
    assert {one["protocol"] for one in found} == {"baseline", "justification", "crowd", "expert"}
    one = next(one for one in found if one["protocol"] == "justification")
    assert one["justification"] and one["passage_index"] in (1, 2)
    assert one["worker_id"].startswith("w-")
    assert one["worker_id"] not in [vote["worker_id"] for vote in one["validation_data"]]
    assert one["validation_way"] == len(one["validation_data"]) >= 2
    assert sorted({one["validation_way"] for one in found}) == [2, 10]
    written = lines(exported / "mcq-written-writing-b.jsonl")
    assert {each["question_id"] for each in written} == {
        each["question_id"] for each in found if each["protocol"] == "justification"
    }
    assert all("flags" in each for each in written)


def test_a_result_of_the_study_is_a_question_that_is_kept(exported: Path) -> None:
    """An item is a passage with several questions, of which some are kept."""
    costs = json.loads((exported / "costs.json").read_text())
    [kept] = [
        tally["kept"] for tally in json.loads((exported / "tallies.json").read_text()).values() if "kept" in tally
    ]
    assert (costs["results"], costs["unit"]) == (kept, "kept question")
    assert costs["per_result"] == costs["cost"] / kept
    lines_shown = cost_lines(CostTerms(**costs), "USD")
    assert any(
        line.startswith("Cost per kept question: ") and f" ÷ {kept:,} kept questions" in line for line in lines_shown
    )


def test_a_result_of_an_arm_is_a_question_of_its_writers_that_is_kept(exported: Path) -> None:
    """A passage is one accepted label in the arm's own stage, and two questions of which some are kept."""
    kept = Counter(row["protocol"] for row in lines(exported / "mcq.jsonl") if row["majority"] not in (None, "invalid"))
    costs = json.loads((exported / "arms.json").read_text())["costs"]
    assert {arm: one["results"] for arm, one in costs.items()} == {arm: kept[arm] for arm in costs}
    assert sum(one["results"] for one in costs.values()) == json.loads((exported / "costs.json").read_text())["results"]
    assert [one["results"] for one in costs.values()] != [one["answers"] for one in costs.values()]
    assert all(one["unit"] == "kept question" for one in costs.values())
    assert all(one["per_result"] == one["cost"] / one["results"] for one in costs.values())
    own = {arm: CostTerms(**one) for arm, one in costs.items()}
    whole = ArmCosts(own, own["baseline"], {}, dict.fromkeys(own, 0))
    assert [column.header for column in arms_table({}, whole, "USD").columns][3:5] == [
        "kept questions",
        "cost per kept question",
    ]


def test_difficulty_is_told_by_arm_and_by_round(exported: Path) -> None:
    names = ("mcq", "mcq-written-round-1-d", "mcq-written-round-2-d")
    questions = [row for name in names for row in lines(exported / f"{name}.jsonl") if row["protocol"] is not None]
    assert json.loads((exported / "rounds.json").read_text())["expert: round-1-d"] == sum(
        "/" in row["question_id"] for row in lines(exported / "mcq-written-round-1-d.jsonl")
    )
    rows = ["question_id,model,answer"]
    for place, row in enumerate(questions):
        right = int(row["gold_answer"].removeprefix("option"))
        for number in range(8):
            # The first question about a text is easy, the second is too hard for most.
            able = number >= (2 if row["passage_index"] == 1 else 6) or (place + number) % 5 == 0
            rows.append(f"{row['question_id']},{'abcdefgh'[number]},option{right if able else right % 4 + 1}")
    (exported / "predictions.csv").write_text("\n".join(rows) + "\n")
    writers = [row for row in lines(exported / "mcq.jsonl") if row["protocol"] is not None]
    (exported / "written.jsonl").write_text("".join(json.dumps(row) + "\n" for row in writers))
    command = ["evaluate", "mcq", str(exported / "written.jsonl"), "--by-arm", "--json", "--resamples", "100"]
    command += [part for name in names[1:] for part in ("--round", str(exported / f"{name}.jsonl"))]
    refused = CliRunner().invoke(app, command)
    assert (refused.exit_code, "--round requires --irt" in refused.output) == (2, True)
    command += ["--irt", "--predictions", str(exported / "predictions.csv"), "--pictures", str(exported / "by-round")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert list(found["irt"]["files"]) == ["baseline", "crowd", *names[1:], "expert", "justification"]
    assert found["files"].keys() == {"baseline", "crowd", "expert", "justification"}, "rounds are no arms"
    hard = [one["difficulty"] for name, one in found["irt"]["questions"].items() if name.endswith("/2")]
    easy = [one["difficulty"] for name, one in found["irt"]["questions"].items() if name.endswith("/1")]
    assert fmean(hard) > fmean(easy) + 0.5
    picture = (exported / "by-round" / "difficulty.svg").read_text("utf-8")
    assert all(f">{name}<" in picture for name in found["irt"]["files"])


def test_a_report_has_the_rubric_and_the_lengths_of_options(exported: Path) -> None:
    blind, told = ((exported / f"{name}.html").read_text("utf-8") for name in ("blind", "open"))
    for page in (blind, told):
        assert all(words in page for one in RUBRIC for words in (one.ask, *one.levels.values()))
    assert "Number of words per option" in told and "baseline, correct" in told
    assert "baseline" not in blind


def test_what_a_study_exports_can_be_evaluated(exported: Path) -> None:
    command = ["evaluate", "mcq", str(exported / "mcq.jsonl"), "--written", "--json", "--resamples", "100"]
    tallied = json.loads((exported / "tallies.json").read_text())["mcq-validation"]
    assert sum(tallied.values()) == 48
    command += ["--grades", str(exported / "mcq-grades-round-1-d-grades.csv")]
    command += ["--responses", str(exported / "jsonl.jsonl"), "--ledger", str(exported / "ledger.csv")]
    done = CliRunner().invoke(app, [*command, "--expert-hourly", "4000", "--pictures", str(exported / "pictures")])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["files"]["mcq"]["human"]["resampled"]["accuracy"] > 0.5
    assert found["written"]["files"]["mcq"]["explanations"]["count"] == 12
    # Experts who never err agree on everything.
    assert found["grades"]["all"]["creative"]["alpha"] == 1
    costs = found["costs"]
    assert costs["baseline"]["per_question"] == costs["baseline"]["per_question_after_training"] == 1.75
    assert costs["justification"]["per_question"] == 2
    for arm in ("crowd", "expert"):
        after, whole, all_in = (costs[arm][f"per_question{name}"] for name in ("_after_training", "", "_with_experts"))
        assert after == 1.75 < whole < all_in
    # A report straight from the database says the same, arm by arm.
    report = json.loads((exported / "report.json").read_text())
    assert report["costs"] == costs
    by_arm = json.loads(CliRunner().invoke(app, [*command[:4], "--by-arm", *command[4:7]]).stdout)
    assert report["files"] == by_arm["files"]
    assert report["written"] == by_arm["written"]
    drawn = {path.name for path in (exported / "pictures").iterdir()}
    assert {"answer-lengths.svg", "question-words.svg"} <= drawn


def test_a_studys_folder_can_be_evaluated_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "text.md").write_text("Read.\n")
    (folder / "passages.jsonl").write_text(json.dumps({"id": "p1", "passage": "The tram stops for nobody."}) + "\n")
    (folder / "study.toml").write_text(
        """\
study = { title = "Questions", contact = "team@example.org", consent = "text.md" }
[[stage]]
name = "practice"
title = "Practise"
task = "mcq-write"
guidelines = "text.md"
judgments = 1
items = { file = "passages.jsonl" }
[[stage]]
name = "write"
title = "Write"
task = "mcq-write"
guidelines = "text.md"
judgments = 1
items = { file = "passages.jsonl" }
[[stage]]
name = "answer"
title = "Answer"
task = "mcq-validate"
guidelines = "text.md"
judgments = 2
items = { from = "write", of = "answers" }
"""
    )
    study = open_study(folder)
    try:
        writer, *validators = people(study, 3)
        bare = {name: value for name, value in example(WRITE)[1].items() if not name.startswith("why")}
        writer.submit(writer.next("practice"), bare, key="key-00000002")
        writer.submit(writer.next("write"), bare)
        assert writer.next("answer").status == "wait"  # nobody answers their own
        assert CliRunner().invoke(app, ["evaluate", "mcq", str(folder)]).exit_code == 2
        for validator in validators:
            validator.submit(validator.next("answer"), {"answer_1": "option1", "answer_2": "option2"})
    finally:
        study.close()
    done = CliRunner().invoke(app, ["evaluate", "mcq", str(folder), "--json", "--resamples", "100"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["files"]["write"]["kept"] == 2
    assert found["written"]["files"]["write"]["scores"]["words of a question"]["value"] > 3
    # What can be asked of files can be asked of a folder.
    written = tmp_path / "mcq.jsonl"
    done = CliRunner().invoke(app, ["export", str(folder), "--format", "mcq", "--out", str(written)])
    assert done.exit_code == 0, done.output
    practised = tmp_path / "practised.jsonl"
    done = CliRunner().invoke(app, ["export", str(folder), "--format", "mcq-written-practice", "--out", str(practised)])
    assert done.exit_code == 0, done.output
    ids = [one["question_id"] for path in (practised, written) for one in lines(path)]
    predictions = tmp_path / "predictions.csv"
    predictions.write_text("question_id,model,answer\n" + "".join(f"{one},m,option1\n" for one in ids))
    command = ["evaluate", "mcq", str(folder), "--predictions", str(predictions), "--irt", "--ties", "wrong", "--json"]
    asked = CliRunner().invoke(app, [*command, "--pictures", str(tmp_path / "pictures"), "--resamples", "100"])
    assert asked.exit_code == 0, asked.output
    more = json.loads(asked.stdout)
    assert more["files"]["write"]["models"]["m"]["all"]["accuracy"] == 0.5
    assert "ties:wrong" in more["signature"] and set(more["irt"]["questions"]) == set(ids)
    assert list(more["irt"]["files"]) == ["practice", "write"], "what nobody answers is a round"
    assert (tmp_path / "pictures" / "difficulty.svg").is_file()
    without = CliRunner().invoke(app, [one for one in command if one != "--irt"] + ["--resamples", "100"])
    assert without.exit_code == 0 and "practice" not in json.loads(without.stdout)["files"], without.output
    refused = CliRunner().invoke(app, [*command[:3], "--grades", str(predictions)])
    assert refused.exit_code == 2 and "can only be used with files" in refused.output


def worker_ids(tx: Tx) -> dict[str, int]:
    """By pseudonym."""
    return {str(name): int(number) for name, number in tx.execute(select(worker.c.pseudonym, worker.c.id))}


def without_validation(folder: Path) -> Path:
    """The trial as it ships up to the final writing: what comes after changes nothing about who is kept."""
    create_study(folder, "mcq-trial")
    settings = folder / "study.toml"
    text = settings.read_text("utf-8").partition("# Validation, for people of all arms")[0]
    # What is planned are outcomes of validation.
    settings.write_text(re.sub(r"\[analysis\]\nprimary = .*\nsecondary = .*\n", "", text), "utf-8")
    return folder


def pools(study: Study, performance: Performance) -> dict[str, float]:
    """By arm: how much more skilled those are who are left after three rounds, by now, than those who began were."""
    held = study.store.read(lambda tx: list(gates.qualifications(tx))).result()
    arms = study.store.read(arms_by_worker).result()
    ids = study.store.read(worker_ids).result()
    everybody = {person.worker_id: person for person in performance.people}
    found = {}
    for arm, letter in (("crowd", "c"), ("expert", "d")):
        began = [everybody[ids[name]].model.accuracy for name, other in arms.items() if other == arm]
        kept = [everybody[ids[one.worker]] for one in held if one.name == f"round-3-{letter}-passed"]
        found[arm] = fmean(person.accuracy_in(study.stage(f"writing-{letter}")) for person in kept) - fmean(began)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_feedback_from_accurate_graders_raises_the_kept_pool_more_than_that_from_noisy_ones(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests share one secret. Here runs with the same seed must differ in their graders alone.
    monkeypatch.setattr(offering, "secret_number", SECRET_NUMBER)
    folder = without_validation(tmp_path / "study")
    rises = {}
    # Experts grade all rounds of the expert arm, promoted workers two of the crowd arm.
    for name, experts, graders in (
        ("accurate", 0.95, 0.95),
        ("noisy experts", 0.05, 0.95),
        ("noisy crowd", 0.95, 0.05),
    ):
        study, performance, rehearsal = perform(folder, experts=experts, graders=graders, seed=seed, workers=150)
        try:
            rises[name] = pools(study, performance)
        finally:
            study.close()
            rehearsal.close()
    assert rises["accurate"]["expert"] > rises["noisy experts"]["expert"] + 0.05, rises
    assert rises["accurate"]["crowd"] > rises["noisy crowd"]["crowd"] + 0.005, rises


def test_messages_quote_questions_as_a_reader_sees_them() -> None:
    task = installed_tasks()["mcq-write"]
    assert task.explaining.quote is not None
    written = {"question_1": "Who came?", "options_1": ["Ann", "Ben"], "right_1": "option2"}
    assert task.explaining.quote({}, written) == "“Who came?” (a) Ann; (b, correct) Ben"


def test_the_activity_log_shows_answers_in_words() -> None:
    """Before, it showed names such as `answer_1: option1` and `reading_1: whole`."""
    words = {}
    for name in ("mcq-write", "mcq-validate", "mcq-grade"):
        task = installed_tasks()[name]
        row, answer = example(task)
        [item] = task.shape.expand(task.shape.parse_row(row), "key")
        words[name] = answer_words(task, item.payload, answer)
        assert not re.search(r"option\d|\w_\d", words[name]), words[name]
    assert words["mcq-validate"].startswith("question 1: option a “")
    assert "reading: the whole text" in words["mcq-grade"]
