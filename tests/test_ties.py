"""Tasks where no label leads: no label is favoured for its name, the rule can be chosen, and ties are counted."""

import csv
import json
import random
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from sqlalchemy import delete

import chorale
from chorale.aggregate import DawidSkene, MajorityVote, Wawa
from chorale.cli import app
from chorale.engine.combining import label_of
from chorale.engine.opening import open_study
from chorale.engine.started import started_study
from chorale.metrics.aggregation.majority import majority
from chorale.metrics.aggregation.methods import METHODS, MethodOptions, aggregate
from chorale.metrics.judgments import Judgments
from chorale.model import Judgment
from chorale.store.schema import setting
from small_study import write_small_study

LABELS = ("a", "b", "c", "d", "e")
TIED = [("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t2", "ann", "dog"), ("t2", "bob", "dog")]


def uniform(tasks: int, votes: int = 4) -> Judgments:
    """Votes at random: every label is as frequent as every other."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, len(LABELS), tasks * votes).astype(np.int32)
    task, worker = (
        (np.arange(tasks * votes) // votes).astype(np.int32),
        np.tile(np.arange(votes, dtype=np.int32), tasks),
    )
    names = tuple(f"t{number}" for number in range(tasks))
    return Judgments(task, worker, labels, names, tuple("wxyz"[:votes]), LABELS, LABELS)


def shares(labels: dict[str, Any]) -> list[float]:
    given = [label for label in labels.values() if label is not None]
    return [given.count(label) / len(given) for label in LABELS]


def test_no_label_gets_more_tasks_for_its_name() -> None:
    """Of 200,000 such tasks the first label in the alphabet once got 42,711, the last 37,574."""
    judgments = uniform(20_000)
    by_name = shares(majority(judgments, ties="first").labels)
    assert by_name[0] - by_name[-1] > 0.03, "the bias that going by name has"
    result = majority(judgments)
    labels = result.labels
    given = shares(labels)
    # Five standard errors of a share of one fifth.
    assert max(abs(share - 0.2) for share in given) < 5 * (0.2 * 0.8 / 20_000) ** 0.5
    # Of the tied tasks alone, too.
    tied = {task: labels[task] for task, is_tied in zip(result.tasks, result.tied, strict=True) if is_tied}
    assert len(tied) == result.ties > 5_000
    assert max(abs(share - 0.2) for share in shares(tied)) < 5 * (0.2 * 0.8 / len(tied)) ** 0.5


def test_the_draw_depends_on_seed_and_task_and_on_nothing_else() -> None:
    rows = [(f"t{task}", worker, label) for task in range(200) for worker, label in (("a", "x"), ("b", "y"))]
    mixed = random.Random(3).sample(rows, len(rows))

    def labels(rows: list[tuple[str, str, str]], seed: int = 1) -> dict[str, Any]:
        columns = zip(*rows, strict=True)
        return aggregate(Judgments.from_columns(*columns), "majority", MethodOptions(seed=seed)).labels

    drawn = labels(rows)
    assert labels(mixed) == drawn
    assert labels(rows[:100]) == {task: drawn[task] for task in list(drawn) if int(task[1:]) < 50}
    other = labels(rows, seed=2)
    assert 60 < sum(other[task] != drawn[task] for task in drawn) < 140


@pytest.mark.parametrize("method", [*METHODS, "crowdtruth"])
def test_every_method_follows_the_rule(method: str) -> None:
    judgments = Judgments.from_columns(*zip(*[("t1", "ann", "cat"), ("t1", "bob", "dog")], strict=True))
    by_rule = {
        rule: aggregate(judgments, method, MethodOptions(ties=rule, restarts=1 if method == "mace" else None))
        for rule in ("first", "random", "abstain", "all")
    }
    if method == "mace":
        return  # a random start leads it to either label
    if method in ("wawa", "zero-based-skill"):
        by_rule.pop("first")  # the first label's voter is the better one then
    assert {result.ties for result in by_rule.values()} == {1}
    expected = {"first": "cat", "abstain": None, "all": ["cat", "dog"]}
    for rule, result in by_rule.items():
        if rule in expected:
            assert result.labels == {"t1": expected[rule]}
        else:
            assert result.labels["t1"] in ("cat", "dog")


def test_the_command_says_how_many_ties_there_are_and_what_it_did(tmp_path: Path) -> None:
    file = tmp_path / "j.csv"
    file.write_text("task,worker,label\n" + "".join(f"{','.join(row)}\n" for row in TIED), encoding="utf-8")
    labels, said = {}, {}
    for rule in ("first", "random", "abstain", "all"):
        out = tmp_path / f"{rule}.csv"
        arguments = ["aggregate", str(file), "--method", "majority", "--ties", rule, "--out", str(out), "--json"]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        assert f"|ties:{rule}|" in found["signature"]
        (said[rule],) = [note for note in found["notes"] if "tied" in note]
        with out.open(encoding="utf-8", newline="") as opened:
            labels[rule] = found["labels"]["t1"], next(csv.DictReader(opened))["label"]
    assert all(note.startswith("1 task is tied (50.0%): ") for note in said.values())
    assert labels["first"] == ("cat", "cat")
    assert labels["random"][0] == labels["random"][1] in ("cat", "dog")
    assert labels["abstain"] == (None, "")
    assert labels["all"] == (["cat", "dog"], "cat|dog")
    assert "seed 1" in said["random"]


@pytest.mark.parametrize(("rule", "accuracy"), [("first", 1.0), ("abstain", 0.5), ("all", 0.75)])
def test_accuracy_counts_ties_for_what_they_are(rule: Any, accuracy: float) -> None:
    scored = chorale.aggregate.score(TIED, "majority", truth={"t1": "cat", "t2": "dog"}, ties=rule)
    assert scored.value == accuracy
    assert any("1 tied task has no label and counts as wrong" in note for note in scored.notes) is (rule == "abstain")


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("estimator", [MajorityVote, DawidSkene, Wawa])
def test_the_classes_take_the_rule(library: Any, estimator: Any) -> None:
    table = library.DataFrame(
        dict(zip(("task", "worker", "label"), map(list, zip(*TIED[:2], strict=True)), strict=True))
    )

    def label(**options: Any) -> Any:
        found = estimator(**options).fit_predict(table)
        column = found.tolist() if library is pd else found["agg_label"].to_list()
        return column[0]

    assert label(ties="abstain") is None
    assert list(label(ties="all")) == ["cat", "dog"]
    assert label() == label(ties="random", ties_seed=1)
    assert len({label(ties_seed=seed) for seed in range(20)}) == 2
    if estimator is not Wawa:
        assert label(ties="first") == "cat"


def test_sets_take_an_option_of_exactly_half_only_if_all_are_wanted() -> None:
    half = [("t", "ann", ["x", "y"]), ("t", "bob", ["x"])]
    expected_by_rule: dict[Any, list[str]] = {"random": ["x"], "abstain": ["x"], "first": ["x"], "all": ["x", "y"]}
    for rule, expected in expected_by_rule.items():
        scored = chorale.aggregate.score(half, "majority", ties=rule)
        assert scored.as_json()["labels"] == {"t": expected}
        assert any(note.startswith("1 task is tied") for note in scored.notes)


# In a running study


def split(*answers: str) -> list[Judgment]:
    return [Judgment(f"w{number}", answer, 1.0) for number, answer in enumerate(answers)]


def test_a_study_draws_between_tied_answers_and_settles_them_alike_every_time(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_small_study(folder)
    with closing(open_study(folder)) as study:
        stage = next(iter(study.stages.values()))
        assert stage.tie_seed == study.settings.study.seed
        drawn = [label_of(stage, f"item {number}", split("no", "yes")) for number in range(400)]
        assert {each.confidence for each in drawn if each} == {0.5}
        answers = [each.answer for each in drawn if each]
        assert 150 < answers.count("no") < 250
        again = label_of(stage, "item 7", split("no", "yes")[::-1])
        assert again == drawn[7]
        clear = label_of(stage, "item 7", split("no", "yes", "no"))
        assert clear is not None and clear.answer == "no"
    with started_study(folder, None) as study:
        stage = next(iter(study.stages.values()))
        assert [label_of(stage, f"item {number}", split("no", "yes")) for number in range(400)] == drawn


def test_a_study_from_before_ties_were_drawn_keeps_its_labels(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_small_study(folder)
    with closing(open_study(folder)) as study:
        study.store.do(lambda tx: tx.execute(delete(setting).where(setting.c.key == "ties")))
    for opened in (closing(open_study(folder)), started_study(folder, None)):
        with opened as study:
            stage = next(iter(study.stages.values()))
            assert stage.tie_seed is None
            labels = [label_of(stage, f"item {number}", split("yes", "no")) for number in range(20)]
            assert {each.answer for each in labels if each} == {"no"}
