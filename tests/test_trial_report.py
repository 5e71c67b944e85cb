"""What the report says of a trial: the plan, what came of it, and how far the people of each arm got."""

import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.engine import managing
from chorale.engine.advancing import advance
from chorale.engine.gates import close_gate
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.exchange.export import write_export
from chorale.folder.reading import check_folder
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable
from chorale.model import UserError
from chorale.monitor.arm_measures import observations
from chorale.monitor.arm_outcomes import arm_outcomes
from chorale.report import ReportOptions, StudyReport, report_page, study_report
from chorale.report.document import Drawn
from chorale.report.flow import participant_flow
from chorale.store.arms import arm_of, arms_by_worker
from crowd import do, people
from mcq_study import PASSAGE, TWO
from protocol_study import ROUND, write_protocol_study
from svg_pictures import overlapping_texts, texts_outside, words

WRITTEN = {name: value for name, value in TWO.items() if name != "why_2"}
ARMS = ("plain", "other")
STUDY = """\
study = { title = "A trial", contact = "team@example.org", consent = "text.md" }
arms = { names = ["plain", "other"] }
[analysis]
primary = { outcome = "agreement" }
secondary = [{ outcome = "kept", unit = "item", test = "bootstrap", against = "other" }]
registered = "https://osf.io/abcde"
"""
STAGE = """
[[stage]]
name = "write-{arm}"
title = "Writing"
task = "mcq-write"
guidelines = "text.md"
arms = ["{arm}"]
judgments = 1
max_per_worker = 2
items = {{ file = "texts.jsonl" }}
"""
VALIDATION = """
[[stage]]
name = "validation"
title = "Answering"
task = "mcq-validate"
guidelines = "text.md"
judgments = 3
items = { from = ["write-plain", "write-other"], of = "answers", wait = true }
"""


def write_trial(folder: Path, texts: int = 8) -> Path:
    folder.mkdir()
    (folder / "text.md").write_text("Read.\n")
    rows = ({"id": f"t{number}", "passage": f"{PASSAGE} It was {number}."} for number in range(texts))
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "study.toml").write_text(STUDY + "".join(STAGE.format(arm=arm) for arm in ARMS) + VALIDATION)
    return folder


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Study]:
    """Eight people have written about two texts each, and answered what the others wrote."""
    study = open_study(write_trial(tmp_path / "trial"))
    everybody = people(study, 8)
    for person in everybody:
        for arm in ARMS:
            while study.stage(f"write-{arm}").is_for_arm(_arm(study, person.id)) and person.next(f"write-{arm}").lease:
                person.judge(WRITTEN, f"write-{arm}")
    do(study, advance)
    for number, person in enumerate(everybody):
        while (offer := person.next("validation")).lease is not None:
            first = "option2" if (offer.lease.item_key[-1] in "13579") == (number % 3 == 0) else "option1"
            person.submit(offer, {"answer_1": first, "answer_2": "option1" if number % 4 else "invalid"})
    settle_everything(study)
    yield study
    study.close()


def _arm(study: Study, worker_id: int) -> str | None:
    return study.store.read(lambda tx: arm_of(tx, worker_id)).result()


def reported(study: Study, tmp_path: Path, *, arms: bool) -> StudyReport:
    options = ReportOptions(arms=arms)
    (tmp_path / "data").mkdir(exist_ok=True)
    return study_report(study, tmp_path / "trial", tmp_path / "data", options, Resampling(ci=True, resamples=2000))


def exported(study: Study, tmp_path: Path) -> list[dict[str, Any]]:
    write_export(study, "mcq", tmp_path / "mcq.jsonl")
    return [json.loads(line) for line in (tmp_path / "mcq.jsonl").read_text("utf-8").splitlines()]


def test_planned_comparisons_are_those_of_the_exported_data(trial: Study, tmp_path: Path) -> None:
    found = reported(trial, tmp_path, arms=True).as_json()["analysis"]
    kept: dict[str, list[bool]] = defaultdict(list)
    agreed: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in exported(trial, tmp_path):
        votes = ["invalid" if one["unanswerable"] else one["worker_answer"] for one in row["validation_data"]]
        everybody = [*votes, row["gold_answer"]]
        most = max(sorted(set(everybody)), key=everybody.count)
        good = 2 * everybody.count(most) > len(everybody) and most != "invalid"
        kept[row["protocol"]].append(good)
        if good:
            mine = agreed[row["protocol"], row["worker_id"]]
            mine[0] += votes.count(most) / len(votes)
            mine[1] += 1
    for arm in ARMS:
        assert found["outcomes"]["kept"]["means"][arm] == pytest.approx(sum(kept[arm]) / len(kept[arm]))
    sides = {arm: [(sums[0], sums[1]) for (of, _), sums in agreed.items() if of == arm] for arm in ARMS}
    observed = mean(sides["other"]) - mean(sides["plain"])
    [test] = found["outcomes"]["agreement"]["tests"]
    assert test["difference"] == pytest.approx(observed)
    assert (test["arm"], test["against"]) == ("other", "plain")
    # Every way to deal the writers out to two arms of these sizes.
    everyone = [*sides["other"], *sides["plain"]]
    dealt = list(combinations(range(len(everyone)), len(sides["other"])))
    extreme = 0
    for chosen in dealt:
        ours = [everyone[place] for place in chosen]
        theirs = [everyone[place] for place in range(len(everyone)) if place not in chosen]
        extreme += abs(mean(ours) - mean(theirs)) >= abs(observed) - 1e-12
    assert test["p"] == pytest.approx(extreme / len(dealt), abs=0.05)
    assert [one["against"] for one in found["outcomes"]["kept"]["tests"]] == ["other"]
    assert "tests" not in found["outcomes"]["retained"] and found["outcomes"]["retained"]["means"]["plain"] == 1


def test_the_methods_name_the_test_of_every_planned_outcome(trial: Study, tmp_path: Path) -> None:
    page = " ".join(report_page(reported(trial, tmp_path, arms=False)).split())
    for planned in (
        "compared with the arm plain in the outcome “agreement”, by permutation tests over workers, with bootstrap",
        "compared with the arm other in the outcome “kept”, by bootstrap tests over items, with bootstrap intervals",
    ):
        assert f"As planned, the other arms were {planned}" in page


def test_people_of_an_arm_that_shares_all_its_stages_are_retained_if_they_answered_anywhere(tmp_path: Path) -> None:
    folder = write_trial(tmp_path / "trial")
    file = folder / "study.toml"
    file.write_text(file.read_text().replace('arms = ["plain"]', 'arms = ["plain", "other"]'))
    study = open_study(folder)
    try:
        for person in people(study, 8):
            person.judge(WRITTEN, f"write-{_arm(study, person.id)}")
        settle_everything(study)
        means = reported(study, tmp_path, arms=True).as_json()["analysis"]["outcomes"]["retained"]["means"]
        console = study.store.read(lambda tx: arm_outcomes(tx, study)).result()
    finally:
        study.close()
    assert means == {"plain": 1, "other": 1}
    assert {one.name: one.staying.value for one in console if one.staying} == means


def test_who_is_removed_from_the_validation_has_done_the_work_of_their_arm(tmp_path: Path) -> None:
    """Validating is part of no arm, unlike a stage from a file that all arms share."""
    folder = write_trial(tmp_path / "trial", texts=2)
    file = folder / "study.toml"
    shared = STAGE.format(arm="all").replace('arms = ["all"]\n', "")
    file.write_text(file.read_text() + shared)
    study = open_study(folder)
    try:
        everybody = people(study, 4)
        for person in everybody:
            person.judge(WRITTEN, f"write-{_arm(study, person.id)}")
        do(study, advance)
        for person, stage in ((everybody[0], "validation"), (everybody[1], "write-all")):
            person.judge({"answer_1": "option1", "answer_2": "option1"} if stage == "validation" else WRITTEN, stage)
            act = managing.Act("maya", "the test", f"drop-{stage}")
            do(study, managing.end_work, person.pseudonym, study.stage(stage), act)
        retained = reported(study, tmp_path, arms=True).as_json()["analysis"]["outcomes"]["retained"]["means"]
        console = study.store.read(lambda tx: arm_outcomes(tx, study)).result()
        lost = _arm(study, everybody[1].id)
    finally:
        study.close()
    assert retained == {arm: 0.5 if arm == lost else 1 for arm in ARMS}
    assert {one.name: one.dropped for one in console} == {arm: int(arm == lost) for arm in ARMS}
    assert {one.name: one.staying.value for one in console if one.staying} == retained


def mean(units: list[tuple[float, float]]) -> float:
    return sum(value for value, _ in units) / sum(of for _, of in units)


def test_arms_stay_hidden_until_somebody_asks(trial: Study, tmp_path: Path) -> None:
    report = reported(trial, tmp_path, arms=False)
    assert report.as_json()["analysis"]["outcomes"] == {} and report.as_json()["flow"] is None
    page = report_page(report)
    assert "registered at https://osf.io/abcde" in page and "primary: fraction of validators" in page
    assert "not planned" in report_page(reported(trial, tmp_path, arms=True))


def test_table_1_has_a_column_for_every_arm(trial: Study, tmp_path: Path) -> None:
    report = reported(trial, tmp_path, arms=True)
    tables = [part for section in report.sections for part in section.parts if isinstance(part, ScoreTable)]
    [table] = [table for table in tables if table.title == "Human and model performance by arm, in percent"]
    assert table.columns[2:] == tuple(f"{arm}#" for arm in ARMS), "in the order of the study file"
    found = report.as_json()["questions"]["files"]
    [row] = [row for row in table.rows if tuple(row[:2]) == ("all kept", "N (mean over samples)")]
    for column, cell in zip(table.columns[2:], row[2:], strict=True):
        assert cell == f"{found[column.removesuffix('#')]['kept']:.1f}"


def test_the_flow_counts_everybody_once(trial: Study, tmp_path: Path) -> None:
    report = reported(trial, tmp_path, arms=True)
    flow = report.as_json()["flow"]
    assert (flow["arrived"], flow["consented"], flow["in_an_arm"]) == (8, 8, 8)
    for arm in ARMS:
        assert flow["arms"][arm] == [
            {"step": arm, "assigned": 4},
            {"step": f"write-{arm}", "began": 4},
            {"step": "analysed", "people": 4, "answers": 8},
        ]
    [drawn] = [part for section in report.sections if section.name == "flow" for part in section.parts[:1]]
    assert isinstance(drawn, Drawn)
    assert not overlapping_texts(drawn.svg) and not texts_outside(drawn.svg)
    assert {"8 people", "4 assigned", "4 began"} <= set(words(drawn.svg))
    assert f"{ARMS[0]}: {ARMS[0]}, 4 assigned; write-{ARMS[0]}, 4 began; analysed, 4 people, 8 answers." in drawn.svg


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('outcome = "agreement"', 'outcome = "agrement"', "Did you mean `agreement`"),
        ('against = "other"', 'against = "another"', "Did you mean `other`"),
        ('arms = { names = ["plain", "other"] }\n', "", "no arms to compare"),
        ('{ outcome = "kept",', '{ outcome = "agreement",', "planned twice"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused(tmp_path: Path, old: str, new: str, why: str) -> None:
    folder = write_trial(tmp_path / "trial")
    text = (folder / "study.toml").read_text()
    if not new:
        text = text.replace('arms = ["plain"]\n', "").replace('arms = ["other"]\n', "")
    (folder / "study.toml").write_text(text.replace(old, new))
    problems = [str(problem) for problem in check_folder(folder)[1]]
    assert len(problems) == 1 and why in problems[0]


def test_a_plan_stays_once_somebody_is_in_an_arm(trial: Study, tmp_path: Path) -> None:
    trial.close()
    file = tmp_path / "trial" / "study.toml"
    file.write_text(file.read_text().replace('outcome = "agreement"', 'outcome = "gold"'))
    with pytest.raises(UserError, match=r"analysis\.primary\.outcome"):
        open_study(tmp_path / "trial")
    refused = CliRunner().invoke(app, ["check", str(tmp_path / "trial")])
    assert refused.exit_code == 2 and "analysis.primary.outcome" in refused.output
    file.write_text(file.read_text().replace("secondary = ", "# "))
    restored = 'Restore [{ outcome = "kept", unit = "item", test = "bootstrap", against = "other" }].'
    refused = CliRunner().invoke(app, ["check", str(tmp_path / "trial")])
    assert restored in " ".join(refused.output.split())


def test_gold_of_arms_leaves_out_quizzes_that_only_one_arm_has(tmp_path: Path) -> None:
    """Before, an arm's own quizzes raised its gold accuracy."""
    second = """
[[stage]]
name = "second"
title = "Second"
task = "rules-meaningful"
guidelines = "guidelines.md"
round = { file = "round.jsonl", feedback = "later" }
"""
    arms = '[arms]\nnames = ["one", "two"]'
    write_protocol_study(
        tmp_path, gate="threshold = 0", message=None, arms=arms, arms_of=('"one"', '"two"'), entry="", extra=second
    )
    file = tmp_path / "study.toml"
    file.write_text(file.read_text().replace('name = "training"\n', 'name = "training"\narms = ["one"]\n', 1))
    study = open_study(tmp_path)
    for person in people(study, 2):
        if _arm(study, person.id) == "one":
            for _ in range(ROUND):
                person.judge("no", "training")
        person.judge("yes", "second")
    observed = study.store.read(lambda tx: observations(tx, study, "gold")).result()
    study.close()
    assert {(one.arm, one.item, one.of) for one in observed} == {("one", "second", 1), ("two", "second", 1)}


def test_people_counted_at_a_gate_are_those_who_began_its_stage(tmp_path: Path) -> None:
    second = """
[[stage]]
name = "second"
arms = ["one", "two"]
title = "Second"
task = "rules-meaningful"
guidelines = "guidelines.md"
round = { file = "round.jsonl", feedback = "later" }
[[gate]]
name = "both"
stage = ["training", "second"]
top_share = 1
"""
    write_protocol_study(
        tmp_path,
        gate="threshold = 0",
        message=None,
        arms='[arms]\nnames = ["one", "two"]',
        arms_of=('"one"', '"two"'),
        entry="",
        extra=second,
    )
    settings = (tmp_path / "study.toml").read_text()
    trained = 'name = "training"\narms = ["one", "two"]\n'
    (tmp_path / "study.toml").write_text(settings.replace('name = "training"\n', trained, 1))
    study = open_study(tmp_path)
    thorough, early = people(study, 2)
    for person, stages in ((thorough, ("training", "second")), (early, ("training",))):
        for stage in stages:
            for _ in range(ROUND):
                person.judge("yes", stage)
    do(study, close_gate, study.gates["both"], "the test")
    arms = study.store.read(arms_by_worker).result()
    flow = study.store.read(lambda tx: participant_flow(tx, study, arms)).result()
    for person, began in ((thorough, 1), (early, 0)):
        counts = {step.name: step.counts for step in flow[_arm(study, person.id) or ""]}
        assert counts["training"] == {"began": 1} and counts["second"] == {"began": began}
        assert counts["both"] == {"passed": began, "did not pass": 0}
    study.close()
