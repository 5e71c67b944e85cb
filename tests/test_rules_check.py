"""An expert judges a sample of the rule applications that the crowd judged; the report compares the two."""

import json
import re
from pathlib import Path

from click.testing import CliRunner

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.engine.entering import arrive_as_expert, consent
from chorale.engine.managing import Act, end_work
from chorale.engine.opening import open_study
from chorale.engine.settling import settle_everything
from chorale.engine.work import Offer
from chorale.folder.plan import plan_study
from chorale.folder.reading import load_folder
from chorale.model import ItemState
from chorale.store.items import all_items
from conftest import ManualClock
from crowd import Person, do, look, people, work_through
from small_study import write_small_study

STAGE = """
[[stage]]
name = "check"
title = "Expert check"
task = "rules-check"
guidelines = "guidelines.md"
items = { from = "entailment" }
judgments = 1
release_confidence = 0
entry = { qualifications = ["expert"] }
"""
APPLICATIONS = 12


def number_of(offer: Offer) -> int:
    return int(str((offer.view or {})["rhs"]).rsplit(" ", 1)[1])


def expert_says(number: int) -> str:
    return "yes" if number % 2 else "no"


def crowd_says(worker: int, number: int) -> str:
    """All are wrong about number 0, one of three about 1 to 3, and two of three about 4 and 5."""
    wrong = number == 0 or (number <= 3 and worker == 0) or (4 <= number <= 5 and worker <= 1)
    return expert_says(number + wrong)


def test_the_report_compares_the_crowd_with_the_expert(tmp_path: Path) -> None:
    write_small_study(tmp_path, applications=APPLICATIONS)
    (tmp_path / "study.toml").write_text((tmp_path / "study.toml").read_text() + STAGE)
    study = open_study(tmp_path, clock=ManualClock())
    try:
        work_through(people(study, 6), lambda *_: "yes")
        crowd = people(study, 3)
        seen: list[dict[str, object]] = []

        def crowd_answer(person: Person, offer: Offer) -> str:
            return crowd_says(crowd.index(person), number_of(offer))

        def expert_answer(_: Person, offer: Offer) -> str:
            seen.append(offer.view or {})
            return expert_says(number_of(offer))

        assert work_through(crowd, crowd_answer, "entailment") == 3 * APPLICATIONS
        assert work_through(crowd, expert_answer, "check") == 0, "the crowd has no part in the check"
        expert = Person(study, "expert")
        expert.id = do(study, arrive_as_expert, "ada").id
        do(study, consent, expert.id)
        assert work_through([expert], expert_answer, "check") == APPLICATIONS
        assert all(set(view) == {"lhs", "rhs"} for view in seen)
        assert look(study, lambda tx: verify(tx, study)).differences == []
    finally:
        study.close()
    done = CliRunner().invoke(app, ["report", str(tmp_path), "--json", "--resamples", "200", "--no-charts"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    when = "at a confidence of 0.7 or more in meaningful and entailment, and at any confidence in check"
    assert f"accepted {when}." in " ".join(report["methods"].values())
    words = report["protocol"]["stages"]["check"]
    assert "Items come from the labels of entailment." in words, "whatever their confidence"
    found = report["rules"]["checks"]["check"]
    majority = {n: max(("yes", "no"), key=[crowd_says(w, n) for w in range(3)].count) for n in range(APPLICATIONS)}
    for name, numbers in (
        ("all", range(12)),
        ("label accepted", [0, *range(6, 12)]),
        ("unanimous", [0, *range(6, 12)]),
    ):
        both = [(majority[n], expert_says(n)) for n in numbers]
        agreement = sum(crowd_label == label for crowd_label, label in both) / len(both)
        by_chance = (
            sum(
                [crowd_label for crowd_label, _ in both].count(label) * [of for _, of in both].count(label)
                for label in ("yes", "no")
            )
            / len(both) ** 2
        )
        assert found[name]["items"] == len(both)
        assert found[name]["agreement"] == agreement
        assert abs(found[name]["kappa"] - (agreement - by_chance) / (1 - by_chance)) < 1e-12
        assert found[name]["false_positive_share"] == both.count(("yes", "no")) / len(both)
        assert found[name]["false_negative_share"] == both.count(("no", "yes")) / len(both)


def test_answers_to_a_task_with_one_question_stand_beside_their_stage(tmp_path: Path) -> None:
    """The column was empty, since only the questions of forms have names."""
    write_small_study(tmp_path, applications=4)
    stage = STAGE.replace('from = "entailment"', 'from = "entailment", sample = 0.99')
    assert "sample" in stage
    (tmp_path / "study.toml").write_text((tmp_path / "study.toml").read_text() + stage)
    study = open_study(tmp_path, clock=ManualClock())
    try:
        work_through(people(study, 6), lambda *_: "yes")
        work_through(people(study, 3), lambda *_: "yes", "entailment")
        expert = Person(study, "expert")
        expert.id = do(study, arrive_as_expert, "ada").id
        do(study, consent, expert.id)
        assert work_through([expert], lambda *_: "no", "check")
    finally:
        study.close()
    out = tmp_path / "report.md"
    done = CliRunner().invoke(app, ["report", str(tmp_path), "--out", str(out), "--resamples", "100", "--no-charts"])
    assert done.exit_code == 0, done.output
    assert "| check | no |" in out.read_text("utf-8")


def test_the_expert_checks_what_the_crowd_has_finished(tmp_path: Path) -> None:
    """While the crowd still works, the database is as `verify` expects it; a reopened application comes back."""
    write_small_study(tmp_path, applications=4)
    (tmp_path / "study.toml").write_text((tmp_path / "study.toml").read_text() + STAGE)
    study = open_study(tmp_path, clock=ManualClock())

    def checked() -> list[str]:
        settle_everything(study)
        assert look(study, lambda tx: verify(tx, study)).differences == []
        items = look(study, lambda tx: list(all_items(tx, "check")))
        return [item.key for item in items if item.state != ItemState.WITHDRAWN]

    try:
        work_through(people(study, 6), lambda *_: "yes")
        first, second, *others = people(study, 5)
        assert work_through([first, second], lambda *_: "yes", "entailment") == 2 * 4 and checked() == []
        assert work_through(others[:1], lambda *_: "no", "entailment") == 4 and len(checked()) == 4
        act = Act("maya", "the test", "end-the-work")
        do(study, end_work, first.pseudonym, study.stage("entailment"), act)
        assert checked() == []
        assert work_through(others[1:], lambda *_: "yes", "entailment") == 4 and len(checked()) == 4
    finally:
        study.close()


def test_the_templates_check_needs_only_its_signs_taken_out(tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    assert CliRunner().invoke(app, ["new", str(folder), "--template", "rules"]).exit_code == 0
    text = (folder / "study.toml").read_text("utf-8")
    before, check = text.split("# [[stage]]\n")
    (folder / "study.toml").write_text(f"{before}[[stage]]\n{re.sub('^# ?', '', check, flags=re.MULTILINE)}", "utf-8")
    check_plan = plan_study(load_folder(folder)).stages[-1]
    assert (check_plan.name, check_plan.task, check_plan.items) == ("check", "rules-check", 30)
