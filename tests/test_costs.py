"""What a study costs, in the terms papers report; and what status, exports and check say about protocols."""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.engine.gates import close_gate
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange.export import write_export
from chorale.folder.plan import plan_study
from chorale.folder.reading import load_folder
from chorale.folder.templates import create_study
from chorale.metrics.score_table import ScoreTable
from chorale.monitor.costs import Spending, arm_costs, cost_terms, study_costs
from chorale.monitor.status import status
from chorale.monitor.tables import cost_lines
from chorale.protocol import draw_arm
from chorale.rehearsal import Crowd, Rehearsal
from chorale.rehearsal.measuring import measure
from chorale.rehearsal.simulated import CrowdSettings, KindSettings
from chorale.report.costs import costs_section
from chorale.store import events
from chorale.store.arms import arms_by_worker
from conftest import ManualClock
from crowd import do, look, people
from protocol_study import ROUND, write_protocol_study
from test_protocols import ARMS, train

ROUNDS = frozenset({"training"})


def test_costs_are_told_with_and_without_training_and_excluded_work() -> None:
    spent = [
        Spending("a", "training", 100, 20, 0),
        Spending("a", "work", 200, 40, 0),
        Spending("b", "work", 100, 20, 50),
    ]
    terms = cost_terms(spent, ROUNDS, released=6, answers=12)
    assert (terms.cost, terms.training, terms.discarded) == (480, 120, 60)
    assert (terms.per_result, terms.per_result_without_training, terms.per_result_without_discarded) == (80, 60, 50)
    assert (terms.per_answer, terms.per_answer_without_training, terms.per_answer_without_discarded) == (40, 30, 25)


def test_lines_about_costs_name_only_what_was_spent() -> None:
    training, work = Spending("a", "training", 100, 20, 0), Spending("b", "work", 200, 40, 50)
    both = "without training and excluded annotations"
    label = "Cost per accepted label: {} (cost of all stages ÷ 6 accepted labels in the final stages)"
    annotation = "Cost per annotation: {} (cost of all stages ÷ 12 annotations in the final stages)"
    terms = cost_terms([training, work], ROUNDS, released=6, answers=12)
    assert cost_lines(terms, "USD") == [
        "Of the total, training cost $1.20 and excluded annotations cost $0.60.",
        f"{label.format('$0.60')}; $0.40 without training; $0.30 {both}.",
        f"{annotation.format('$0.30')}; $0.20 without training; $0.15 {both}.",
    ]
    assert cost_lines(cost_terms([work], ROUNDS, released=6, answers=12), "USD")[:2] == [
        "Of the total, excluded annotations cost $0.60.",
        f"{label.format('$0.40')}; $0.30 without excluded annotations.",
    ]
    assert cost_lines(cost_terms([training], ROUNDS, released=0, answers=0), "USD") == [
        "Of the total, training cost $1.20."
    ]


def test_where_nothing_came_of_it_there_is_no_cost_of_one() -> None:
    terms = cost_terms([], ROUNDS, released=0, answers=0)
    assert (terms.cost, terms.per_result, terms.per_answer_without_discarded) == (0, None, None)


@pytest.fixture
def study(tmp_path: Path, clock: ManualClock) -> Iterator[Study]:
    write_protocol_study(
        tmp_path / "study",
        arms=ARMS,
        arms_of=('"left"', '"right"'),
        gate='top_share = 1.0\nbonus = 10\npromote = { to = "grader", top_share = 0.25 }',
        round_pay="per_judgment = 2\nfinished = 12",
        pay="minimum_hourly = 2000\nfee_percent = 20",
    )
    opened = open_study(tmp_path / "study", None, clock)
    everyone = people(opened, 4)
    for number, person in enumerate(everyone):
        train(person, 4 - number)
    do(opened, close_gate, opened.gates["trained"], "the test")
    for person in everyone:
        for stage in ("work-a", "work-b"):
            while (offer := person.next(stage)).lease is not None:
                clock.pass_minutes(1)
                person.submit(offer, "yes", ms=1000)
    yield opened
    opened.close()


def test_a_study_tells_what_came_of_its_money(study: Study) -> None:
    terms = look(study, lambda tx: study_costs(tx, study))
    # Four workers had 20 for the round and 10 for passing; sixteen judgments paid 3 each.
    assert terms.training == 4 * 36
    assert terms.cost - terms.training == pytest.approx(16 * 3 * 1.2, abs=2)
    assert (terms.results, terms.answers, terms.discarded) == (16, 16, 0)
    by_arm = look(study, lambda tx: arm_costs(tx, study))
    # Everybody did the same round, for the sake of what their own arm does afterwards.
    assert sum(one.cost for one in by_arm.own.values()) == terms.cost and by_arm.shared.cost == 0
    assert [(one.answers, one.training) for one in by_arm.own.values()] == [(8, 72), (8, 72)]
    assert terms.per_answer == terms.cost / 16


def write_trial(folder: Path, *, arms: str = "") -> None:
    """Two arms write, one of them after training that experts grade; everybody may qualify, and validate it all."""
    folder.mkdir(parents=True)
    (folder / "consent.md").write_text("You agree to take part.\n")
    (folder / "guidelines.md").write_text("Write with care.\n")
    for name in ("practice", "final"):
        rows = [{"id": f"{name}-{number}", "text": f"The {name} ferry left at {number}."} for number in range(4)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    known = [{"id": f"r{n}", "text": f"A bell {n}.", "question": "What rang?", "answer": {"ok": "yes"}} for n in (1, 2)]
    known = [{**row, "explanation": "A bell rang."} for row in known]
    (folder / "round.jsonl").write_text("".join(json.dumps(row) + "\n" for row in known))
    write = 'shows = [{ item = "text" }]\nfields = [{ name = "question", kind = "text", ask = "Ask" }]'
    shows = 'shows = [{ item = "text" }, { item = "question" }]\n'
    rubric = 'fields = [{ name = "hard", kind = "likert", ask = "Hard?", levels = 3, points = [0, 0.5, 1] }]'
    judge = 'fields = [{ name = "ok", kind = "choice", ask = "Can it be answered?", options = ["yes", "no"] }]'
    written = 'items = { from = ["writing-a", "writing-b"], of = "answers" }'
    stages = [
        ("writing-a", 'items = { file = "final.jsonl" }\narms = ["plain"]\njudgments = 1', 350, write),
        ("practice", 'items = { file = "practice.jsonl" }\narms = ["taught"]\njudgments = 20', 100, write),
        (
            "grading",
            'items = { from = "practice", of = "answers" }\ngrades = true\njudgments = 1\n'
            'entry = { qualifications = ["expert"] }',
            30,
            shows + rubric,
        ),
        (
            "writing-b",
            'items = { file = "final.jsonl" }\narms = ["taught"]\njudgments = 1\n'
            'entry = { qualifications = ["taught-well"] }',
            350,
            write,
        ),
        ("validators", 'round = { file = "round.jsonl" }', 25, shows + judge),
        (
            "validation",
            f'{written}\njudgments = 2\nentry = {{ qualifications = ["validator"] }}\n{arms}',
            75,
            shows + judge,
        ),
    ]
    (folder / "study.toml").write_text(
        '[study]\ntitle = "A trial"\ncontact = "team@example.org"\nconsent = "consent.md"\nseed = 3\n'
        '[pay]\nfee_percent = 20\n[arms]\nnames = ["plain", "taught"]\n'
        + "".join(
            f'[[stage]]\nname = "{name}"\ntitle = "{name}"\ntask = "form"\nguidelines = "guidelines.md"\n{rest}\n'
            f"pay = {{ per_judgment = {pay}, expected_seconds = 60 }}\n[stage.options]\n{options}\n"
            for name, rest, pay, options in stages
        )
        + '[[gate]]\nname = "taught-well"\nstage = "practice"\ngraded = 4\ntop_share = 0.5\nbonus = 500\n'
        + '[[gate]]\nname = "validator"\nstage = "validators"\nthreshold = 0\n'
    )


@pytest.mark.parametrize("arms", ["", 'arms = ["plain", "taught"]'])
def test_what_arms_share_is_told_apart_and_no_money_is_lost(tmp_path: Path, arms: str) -> None:
    write_trial(tmp_path / "study", arms=arms)
    kind = KindSettings(name="able", share=1, ability=(0.9, 0.9), dropout=0)
    rehearsal = Rehearsal(load_folder(tmp_path / "study"), Crowd(CrowdSettings(workers=12, per_hour=1e6, kind=(kind,))))
    study, performance = rehearsal.perform(1)
    run = look(study, lambda tx: measure(tx, study, performance, rehearsal.known, 1))
    terms, costs, stages = look(
        study, lambda tx: (study_costs(tx, study), arm_costs(tx, study), status(tx, study).stages)
    )
    spent = {stage.name: stage.paid + stage.fees for stage in stages}
    assert all(spent.values()), spent
    plain, taught = costs.own["plain"], costs.own["taught"]
    # A pair of questions is paid 3.50 in both arms, whatever those who wrote it were paid for validating.
    assert plain.cost == spent["writing-a"] and plain.training == 0 and plain.answers == 4
    assert plain.per_answer == plain.per_answer_without_training == pytest.approx(420, abs=1)
    assert plain.paid_per_answer == taught.paid_per_answer_without_training == 350
    # Experts who grade the training of an arm are in none, and are paid for its sake.
    assert taught.training == spent["practice"] + spent["grading"]
    assert taught.cost == taught.training + spent["writing-b"]
    assert taught.paid_per_answer == (taught.cost - taught.fees) / 4 > 350
    assert costs.shared_stages == {name: spent[name] for name in ("validators", "validation")}
    assert costs.shared.cost == sum(costs.shared_by.values()) == sum(costs.shared_stages.values())
    every = [*costs.own.values(), costs.shared]
    assert sum(one.cost for one in every) == terms.cost == sum(spent.values())
    assert sum(one.fees for one in every) == terms.fees and sum(one.training for one in every) == terms.training
    for arm in run.arms:
        own = costs.own[arm.name]
        assert (arm.cost, arm.cost_per_answer, arm.shared) == (own.cost, own.per_answer, costs.shared_by[arm.name])
        assert arm.cost_without_training == own.per_answer_without_training
    section = look(study, lambda tx: costs_section(tx, study, status(tx, study), terms, with_arms=True))
    assert section.json["shared"]["stages"] == costs.shared_stages
    table = next(part for part in section.parts if isinstance(part, ScoreTable))
    assert table.columns == ("cost", "amount#")
    without = replace(terms, results=0, per_result=None, per_result_without_training=None)
    section = look(study, lambda tx: costs_section(tx, study, status(tx, study), without, with_arms=False))
    table = next(part for part in section.parts if isinstance(part, ScoreTable))
    assert [row for row in table.rows if not row[1]] == [], "no cost per result without results"
    study.close()
    rehearsal.close()


def test_what_is_paid_before_arms_are_drawn_is_shared(tmp_path: Path, clock: ManualClock) -> None:
    drawn = '[arms]\nnames = ["left", "right"]\nafter = "trained"\n'
    write_protocol_study(tmp_path, arms=drawn, arms_of=('"left"', '"right"'), gate="threshold = 0.5")
    study = open_study(tmp_path, None, clock)
    everyone = people(study, 3)
    for number, person in enumerate(everyone):
        train(person, 4 if number else 0)
    costs = look(study, lambda tx: arm_costs(tx, study))
    assert costs.shared_stages == {"training": costs.shared.cost} and costs.shared.cost == 3 * 8
    assert sum(costs.shared_by.values()) == 2 * 8, "who did not pass is in no arm"
    study.close()


def test_status_names_the_stages_that_pay_too_little(study: Study) -> None:
    now = look(study, lambda tx: status(tx, study))
    assert now.below_in == ()
    write = "UPDATE participation SET worked_ms = worked_ms * 100 WHERE stage_id = 2"
    do(study, lambda tx, _: tx.exec_driver_sql(write))
    assert look(study, lambda tx: status(tx, study)).below_in == ("work-a",)


def shown(study: Study, folder: Path, *options: str) -> str:
    study.close()
    done = CliRunner().invoke(app, ["status", str(folder), *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_status_shows_gates_and_costs_and_no_arms(study: Study, tmp_path: Path) -> None:
    told = json.loads(shown(study, tmp_path / "study", "--json"))
    [gate] = told["gates"]
    assert (gate["name"], gate["state"], gate["passed"]) == ("trained", "closed", 4)
    assert told["costs"]["answers"] == 16
    assert "arms" not in told
    page = shown(study, tmp_path / "study")
    assert "trained" in page
    assert "Cost per annotation: $" in page
    assert "left" not in page


def test_looking_at_the_arms_is_written_down(study: Study, tmp_path: Path) -> None:
    assert "left" in shown(study, tmp_path / "study", "--arms")
    told = json.loads(shown(study, tmp_path / "study", "--arms", "--json"))
    assert told["arms"]["workers"] == {"left": 2, "right": 2}
    assert told["arms"]["shared"]["cost"] == 0
    assert sum(arm["cost"] for arm in told["arms"]["costs"].values()) == told["spent"]
    table = shown(study, tmp_path / "study", "--arms").partition("workers  ")[2]
    assert re.search(r"shared by arms +\$0\.00", table) and re.search(r"total +\$\d", table)
    again = open_study(tmp_path / "study")
    looked = look(again, lambda tx: events.recent(tx, kinds=("arms shown",)))
    assert [event.evidence["by"] for event in looked] == ["the command line"] * 3
    again.close()


def test_arms_that_are_not_there_are_told(tmp_path: Path) -> None:
    write_protocol_study(tmp_path / "study")
    open_study(tmp_path / "study").close()
    done = CliRunner().invoke(app, ["status", str(tmp_path / "study"), "--arms"])
    assert done.exit_code == 2
    assert "has no arms" in done.output


def rows(study: Study, format_name: str, folder: Path) -> list[dict[str, str]]:
    path = folder / f"{format_name}.csv"
    write_export(study, format_name, path)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_qualifications_grades_and_messages_can_be_exported(study: Study, tmp_path: Path) -> None:
    qualified = rows(study, "qualifications", tmp_path)
    assert sorted(row["qualification"] for row in qualified) == ["grader", *["trained"] * 4]
    assert {row["gate"] for row in qualified} == {"trained"}
    assert max(float(row["score"]) for row in qualified) == 1.0
    graded = rows(study, "grades", tmp_path)
    assert len(graded) == 4 * ROUND
    assert {(row["source"], row["stage"]) for row in graded} == {("gold", "training")}
    written = rows(study, "messages", tmp_path)
    assert len(written) == 4
    assert all(row["body"].startswith("You had") and row["state"] == "sent" for row in written)


def test_exports_have_the_arm_where_there_are_arms(study: Study, tmp_path: Path) -> None:
    arms = look(study, arms_by_worker)
    drawn = rows(study, "arms", tmp_path)
    assert {row["worker"]: row["arm"] for row in drawn} == arms
    assert [int(row["number"]) for row in drawn] == list(range(len(arms)))
    rule = study.settings.arms
    assert rule is not None
    assert len({row["seed"] for row in drawn}) == 1
    for row in drawn:
        again = draw_arm(rule, int(row["seed"]), row["stratum"], int(row["number"]))
        assert (again.arm, str(again.block)) == (row["arm"], row["block"])
    assert all(row["arm"] == arms[row["worker"]] for row in rows(study, "csv", tmp_path))
    by_stage = {"work-a": "left", "work-b": "right"}
    assert all(row["arm"] == by_stage[row["stage"]] for row in rows(study, "labels", tmp_path))
    write_export(study, "jsonl", tmp_path / "all.jsonl")
    assert "arm" in json.loads((tmp_path / "all.jsonl").read_text().splitlines()[0])
    write_export(study, "parquet", tmp_path / "all.parquet")


def test_without_arms_there_is_no_such_column(tmp_path: Path) -> None:
    write_protocol_study(tmp_path / "study")
    study = open_study(tmp_path / "study")
    train(people(study, 1)[0], 4)
    assert "arm" not in rows(study, "csv", tmp_path)[0]
    study.close()


def test_check_counts_rounds_and_bonuses_for_those_who_will_come(tmp_path: Path) -> None:
    write_protocol_study(
        tmp_path,
        gate="top_share = 0.5\nworkers = 10\nbonus = 100",
        round_pay="per_judgment = 2\nfinished = 12\nexpected_seconds = 10",
    )
    plan = plan_study(load_folder(tmp_path))
    [training, *_] = plan.stages
    assert (training.per_worker, training.workers, training.cost) == (20, 10, 200)
    # With five words of guidelines, once.
    assert training.hourly_wage == round(20 * 3600 / (4 * 10 + 5 * 60 / 238))
    [gate] = plan.gates
    assert (gate.passing, gate.cost) == (5, 500)
    assert plan.cost == 200 + 500 + 16 * 3
    page = CliRunner().invoke(app, ["check", str(tmp_path)]).output
    assert "Training costs per worker: training $0.20 (10 workers)" in " ".join(page.split())
    assert "5 of 10 pass" in " ".join(page.split())


@pytest.mark.parametrize(
    ("changes", "workers"),
    [
        # Two parts of one thing: two people.
        ({"gate": "threshold = 0.75"}, 2),
        ({"gate": "threshold = 0.75", "judgments": "3"}, 6),
        ({"gate": "threshold = 0.75\nworkers = 40"}, 40),
        ({"gate": "top_share = 0.25"}, 8),
        ({"gate": "threshold = 0.75", "arms": ARMS, "arms_of": ('"left"', '"right"')}, 4),
        ({"gate": "threshold = 0.75", "arms": ARMS + "weights = [1, 3]", "arms_of": ('"left"', '"right"')}, 8),
        ({"gate": "threshold = 0.75", "entry": 'qualifications = ["expert"]'}, 1),
    ],
)
def test_check_counts_training_for_as_many_as_the_study_takes(
    tmp_path: Path, changes: dict[str, Any], workers: int
) -> None:
    write_protocol_study(tmp_path, round_pay="per_judgment = 2\nfinished = 12", **changes)
    plan = plan_study(load_folder(tmp_path))
    assert (plan.stages[0].workers, plan.stages[0].cost) == (workers, workers * 20)
    assert plan.workers == workers
    page = " ".join(CliRunner().invoke(app, ["check", str(tmp_path)]).output.split())
    assert "Training costs up to $0.20 for each additional person." in page


def test_check_takes_nobodys_expectation_for_a_need(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, gate="threshold = 0.75\nexpected = 50")
    page = " ".join(CliRunner().invoke(app, ["check", str(tmp_path)]).output.split())
    assert "Planned for 50 workers who join." in page and "at least 50 workers" not in page


def test_check_notes_a_budget_that_runs_out(tmp_path: Path) -> None:
    # As few as can do the study cost 1.64; so many as are expected to come cost more than there is.
    write_protocol_study(tmp_path, gate="threshold = 0.75\nbonus = 50\nexpected = 5", pay="budget = 200")
    page = " ".join(CliRunner().invoke(app, ["check", str(tmp_path)]).output.split())
    assert "the budget of $2.00 does not cover the estimated $3.38" in page


def test_a_round_has_as_many_items_as_everybody_gets(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, round_extra="size = 3")
    training = plan_study(load_folder(tmp_path)).stages[0]
    assert (training.items, training.gold_items) == (3, 3)


def test_nothing_is_said_of_parts_where_there_are_none(tmp_path: Path) -> None:
    create_study(tmp_path / "form", "form")
    assert "two items of the same group" not in CliRunner().invoke(app, ["check", str(tmp_path / "form")]).output
    create_study(tmp_path / "rules", "rules")
    assert "two items of the same group" in " ".join(
        CliRunner().invoke(app, ["check", str(tmp_path / "rules")]).output.split()
    )
