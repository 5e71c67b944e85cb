"""Inference rules against judged applications: readers, curves, areas, the command."""

import csv
import doctest
import json
import math
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from chorale.cli import app
from chorale.kits.rules.files.rules import Rule, read_judged, read_rules, rule_of
from chorale.kits.rules.metrics.curves import curve_of, evaluate_rules, rule_statistics, scores_of_applications
from chorale.kits.rules.reproduction import PAPER
from chorale.metrics import Statistics, intervals
from chorale.model import UserError
from examples import examples

HEADER = "rule_lhs\trule_rhs\tlhs\trhs\tjudgment\tconfidence"
NONE = math.nan


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def judged_line(lhs: str, rhs: str, judgment: str, confidence: str = "1", what: str = "a b") -> str:
    one, other = what.split()
    return f"{lhs}\t{rhs}\t{one} {lhs} {other}\t{one} {rhs} {other}\t{judgment}\t{confidence}"


# Reading


@pytest.mark.parametrize(
    ("lhs", "rhs", "rule"),
    [
        ("live in", "reside in", Rule("live in", "reside in", False)),
        ("  Live   IN ", "reside in", Rule("live in", "reside in", False)),
        ("kill", "be killed by@R@", Rule("kill", "be killed by", True)),
        ("kill@R@", "murder@R@", Rule("kill", "murder", False)),
        ("kill@R@", "be killed by", Rule("kill", "be killed by", True)),
        ("X kill Y", "Y be killed by X", Rule("kill", "be killed by", True)),
        ("X kill Y", "X murder Y", Rule("kill", "murder", False)),
        ("x ray", "scan", Rule("x ray", "scan", False)),
    ],
)
def test_a_rule_has_one_spelling(lhs: str, rhs: str, rule: Rule) -> None:
    assert rule_of(lhs, rhs) == rule


def test_rules_with_scores(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.txt", "buy\tpurchase\t0.9", "own\thave\t-2", "buy@R@\tpurchase@R@\t0.5")
    found = read_rules(plain)
    assert found.name == "plain"
    assert found.scored
    assert found.scores == {Rule("buy", "purchase", False): 0.9, Rule("own", "have", False): -2.0}
    assert "1 of 3 rules is a duplicate" in found.notes[0]
    table = write(tmp_path / "table.csv", "score,lhs,rhs", '0.9,buy,"purchase"', "-2,own,have")
    assert read_rules(table).scores == found.scores
    lines = write(
        tmp_path / "lines.jsonl",
        json.dumps({"rule_lhs": "buy", "rule_rhs": "purchase", "score": 0.9}),
        json.dumps({"rule_lhs": "own", "rule_rhs": "have", "score": -2}),
    )
    assert read_rules(lines).scores == found.scores
    named = write(tmp_path / "named.tsv", "LHS\tRHS\tScore", "buy\tpurchase\t0.9", "own\thave\t-2")
    assert read_rules(named).scores == found.scores


def test_rules_without_scores_count_alike(tmp_path: Path) -> None:
    found = read_rules(write(tmp_path / "set.txt", "buy\tpurchase", "own\thave"))
    assert set(found.scores.values()) == {1.0}
    assert not found.scored
    assert "a single point" in found.notes[0]


def test_typed_rules_say_by_their_types_which_argument_is_which(tmp_path: Path) -> None:
    found = read_rules(
        write(
            tmp_path / "typed.txt",
            "<contain::food::metal>\t->\t<be found in::metal::food>",
            "<hold::box::toy>\t->\t<keep::box::toy>",
            "<cause::event::event>\t-R>\t<be due to::event::event>",
            "<cause::event::event>\t->\t<lead to::event::event>",
        )
    )
    assert set(found.scores) == {
        Rule("contain", "be found in", True),
        Rule("hold", "keep", False),
        Rule("cause", "be due to", True),
        Rule("cause", "lead to", False),
    }


def test_judged_applications_in_three_formats(tmp_path: Path) -> None:
    paper = read_judged(
        write(tmp_path / "paper.txt", HEADER, judged_line("buy", "own@R@", "Yes", "0.81"), judged_line("a", "b", "no"))
    )
    assert [(one.rule, one.entails, one.confidence) for one in paper.applications] == [
        (Rule("buy", "own", True), True, 0.81),
        (Rule("a", "b", False), False, 1.0),
    ]
    assert paper.applications[1].phrases == ("a a b", "a b b")
    plain = read_judged(write(tmp_path / "plain.csv", "lhs,rhs,judgment", "buy,own,1", '"a","b",FALSE'))
    assert [(one.rule, one.entails, one.confidence, one.phrases) for one in plain.applications] == [
        (Rule("buy", "own", False), True, None, None),
        (Rule("a", "b", False), False, None, None),
    ]
    levy_holt = read_judged(
        write(
            tmp_path / "dev.txt",
            "someone, owns, a car\tAnn, bought, the car\tTrue",
            "the car, was bought by, Ann\tAnn, bought, a cars\tTrue",
            "x, was, y\tz, is, w\tFalse",
        )
    )
    assert [(one.rule, one.entails) for one in levy_holt.applications] == [
        (Rule("bought", "owns", False), True),
        (Rule("bought", "was bought by", True), True),
        (Rule("is", "was", False), False),
    ]
    assert "in 1 application it" in levy_holt.notes[0]


def test_the_export_of_the_rules_study_is_read(tmp_path: Path) -> None:
    file = write(tmp_path / "applications.tsv", HEADER, 'win\tplay\tan "a" win b\tan "a" play b\tYes\t0.8333')
    (found,) = read_judged(file).applications
    assert (found.rule, found.phrases) == (Rule("win", "play", False), ('an "a" win b', 'an "a" play b'))


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([HEADER], "has no rows"),
        ([HEADER, "a\tb\tc"], ":2: has a different number of cells than the header (found '3')"),
        ([HEADER, judged_line("a", "b", "maybe")], ":2: has a judgment that is neither yes nor no (found 'maybe')"),
        ([HEADER, judged_line("a", "b", "maybe")], "A table with a header can also have Meaningless."),
        ([HEADER, judged_line("a", "b", "Yes", "2")], ":2: has a confidence that is not between 0 and 1 (found '2')"),
        ([HEADER, judged_line("a", "b", "Yes", "nan")], ":2: has a confidence that is not between 0 and 1"),
        ([HEADER, "\tb\ta b\ta b\tYes\t1"], ":2: has no predicate on one side"),
        (["rule_lhs\tjudgment", "a\tYes"], "has no column 'rule_rhs'"),
        (["one, two\ta, b, c\tTrue"], ":1: is not an argument, predicate and argument (found 'one, two')"),
        (["a, b, c\td, e, f"], ":1: is not a judged application"),
        ([""], "is empty"),
    ],
)
def test_bad_judgments_are_told_with_their_line(tmp_path: Path, lines: list[str], told: str) -> None:
    with pytest.raises(UserError) as caught:
        read_judged(write(tmp_path / "judged.txt", *lines))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["a\tb\tc"], ":1: has a score that is not a number (found 'c')"),
        (["a\tb\tinf"], ":1: has a score that is not a number (found 'inf')"),
        (["a\tb", "a"], ":2: is not a rule"),
        (["a\tb", "\tb"], ":2: has no predicate"),
        (["<a::x>\t->\t<b::x::y>"], ":1: has no typed predicate next to the arrow (found '<a::x>')"),
        (["a\tb"] + ["a"] * 80, ":51: is not a rule"),
    ],
)
def test_bad_rules_are_told_with_their_line(tmp_path: Path, lines: list[str], told: str) -> None:
    with pytest.raises(UserError) as caught:
        read_rules(write(tmp_path / "rules.txt", *lines))
    assert told in str(caught.value)
    assert len(caught.value.problems) <= 50


@settings(max_examples=examples(30, 150))
@given(
    st.lists(st.lists(st.sampled_from(["", "a", "X a Y", "@R@", "->", "<a::b::c>", "Yes", "1", "nan", "judgment"]))),
    st.text(max_size=30),
    st.sampled_from(["f.txt", "f.tsv", "f.csv", "f.jsonl", "f.gz"]),
)
def test_readers_read_or_refuse_whatever_they_are_given(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], tail: str, name: str
) -> None:
    text = "\n".join("\t".join(row) for row in rows) + tail
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(text.encode("utf-8", "replace"))
    for read in (read_rules, read_judged):
        try:
            read(path)
        except UserError as error:
            assert error.problems


@pytest.mark.parametrize("module", ["kits.rules.files.rules", "kits.rules.metrics.curves", "text.lemmas"])
def test_examples_in_the_code_come_out_as_shown(module: str) -> None:
    done = doctest.testmod(import_module(f"chorale.{module}"))
    assert done.attempted
    assert not done.failed


# Measures


def test_a_curve_by_hand() -> None:
    """Four valid applications, one of them without a rule. Ties come together."""
    scores = np.array([0.9, 0.8, 0.8, 0.5, 0.1, NONE, NONE])
    entails = np.array([True, False, True, True, False, True, False])
    curve = curve_of(scores, entails)
    assert curve.thresholds.tolist() == [0.9, 0.8, 0.5, 0.1]
    assert curve.precision == pytest.approx(np.array([1, 2 / 3, 3 / 4, 3 / 5]))
    assert curve.recall == pytest.approx(np.array([1 / 4, 2 / 4, 3 / 4, 3 / 4]))
    found = evaluate_rules(scores, entails)
    assert found.auc == pytest.approx((1 + 2 / 3 + 3 / 4) / 4)
    trapezoid = (1 + (1 + 2 / 3) / 2 + (2 / 3 + 3 / 4) / 2) / 4
    assert evaluate_rules(scores, entails, area="trapezoid").auc == pytest.approx(trapezoid)
    assert (found.precision, found.recall, found.f1, found.threshold) == pytest.approx((3 / 4, 3 / 4, 3 / 4, 0.5))
    assert (found.applications, found.entailing, found.covered, found.covered_entailing) == (7, 4, 5, 3)
    assert found.coverage == pytest.approx(5 / 7)
    assert curve.precision_at(0.5) == pytest.approx(3 / 4)
    assert curve.precision_at(0.2) == 1
    assert curve.precision_at(0.8) is None


def test_average_precision_equals_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(6)
    scores = np.round(rng.normal(size=400), 1)
    entails = rng.random(400) < 1 / (1 + np.exp(-scores))
    found = evaluate_rules(scores, entails)
    assert found.auc == pytest.approx(metrics.average_precision_score(entails, scores))


def test_the_area_above_half_is_that_of_published_curves_on_levy_holt() -> None:
    """By scikit-learn's curve, of whose points those count that have a precision above 0.5, but for its last one."""
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(6)
    scores = np.round(rng.normal(size=400), 1)
    entails = rng.random(400) < 1 / (1 + np.exp(1.5 - scores))
    precision, recall = (each[:-1] for each in metrics.precision_recall_curve(entails, scores)[:2])
    kept = precision > 0.5
    assert 0 < kept.sum() < len(kept)
    expected = metrics.auc(recall[kept], precision[kept])
    assert evaluate_rules(scores, entails, area="above-half").auc == pytest.approx(expected)
    one_point = evaluate_rules(np.ones(4), np.array([True, True, True, False]), area="above-half")
    assert one_point.auc == 0


@given(
    st.lists(
        st.tuples(st.one_of(st.just(NONE), st.integers(-3, 3).map(float)), st.booleans()), min_size=1, max_size=25
    ),
    st.sampled_from(["step", "trapezoid"]),
    st.randoms(use_true_random=False),
)
def test_the_measures_are_what_their_definitions_say(
    applications: list[tuple[float, bool]], area: Any, random: Any
) -> None:
    valid = sum(entails for _, entails in applications)
    points = []
    for threshold in sorted({score for score, _ in applications if not math.isnan(score)}, reverse=True):
        taken = [entails for score, entails in applications if score >= threshold]
        points.append((sum(taken) / len(taken), sum(taken) / valid if valid else 0.0))
    expected, before = 0.0, (points[0][0] if points else 0.0, 0.0)
    for point in points:
        height = point[0] if area == "step" else (point[0] + before[0]) / 2
        expected += (point[1] - before[1]) * height
        before = point
    best = max((2 * p * r / (p + r) if p + r else 0.0 for p, r in points), default=0.0)
    mixed = random.sample(applications, len(applications))
    scores = np.array([score for score, _ in mixed])
    entails = np.array([entails for _, entails in mixed])
    found = evaluate_rules(scores, entails, area=area)
    assert found.auc == pytest.approx(expected)
    assert found.f1 == pytest.approx(best)
    assert 0 <= found.auc <= 1
    statistics, metric = rule_statistics([str(number) for number in range(len(mixed))], scores, entails, area=area)
    again = metric.scores(statistics)
    measures = {"auc": found.auc, "precision": found.precision, "recall": found.recall, "f1": found.f1}
    assert again == pytest.approx({**measures, "coverage": found.coverage})
    drawn = [random.randrange(len(mixed)) for _ in range(12)]
    resample = metric.scores(Statistics(tuple(map(str, range(12))), statistics.rows[drawn]))
    direct = evaluate_rules(scores[drawn], entails[drawn], area=area)
    assert (resample["auc"], resample["f1"]) == pytest.approx((direct.auc, direct.f1))


def test_perfect_rules_score_one_and_intervals_hold_them() -> None:
    scores, entails = np.array([3.0, 2.0, 1.0, NONE]), np.array([True, True, True, False])
    found = evaluate_rules(scores, entails)
    assert (found.auc, found.f1, found.recall) == (1, 1, 1)
    drawn = intervals(*rule_statistics(list("abcd"), scores, entails), resamples=100)
    assert not drawn["auc"].is_known


def test_nothing_covered_and_nothing_valid_are_zero() -> None:
    nothing = evaluate_rules(np.array([NONE, NONE]), np.array([True, False]))
    assert (nothing.auc, nothing.f1, nothing.threshold, nothing.coverage) == (0, 0, None, 0)
    invalid = evaluate_rules(np.array([1.0, NONE]), np.array([False, False]))
    assert (invalid.auc, invalid.recall, invalid.f1) == (0, 0, 0)
    with pytest.raises(ValueError, match="do not match"):
        evaluate_rules(np.array([1.0]), np.array([True, False]))


def test_a_rule_fits_only_with_its_arguments_the_same_way_round(tmp_path: Path) -> None:
    file = write(tmp_path / "judged.tsv", HEADER, judged_line("a", "b", "Yes"), judged_line("a", "b@R@", "Yes"))
    scores = scores_of_applications(read_judged(file).applications, {Rule("a", "b", True): 0.5})
    assert math.isnan(scores[0])
    assert scores[1] == 0.5


# The command


def chorale(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["evaluate", "rules", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def chorale_json(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(chorale(*arguments, "--json").stdout)
    return found


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    good = write(tmp_path / "good.txt", "a\tb\t0.9", "c\td\t0.8", "e\tf\t0.2", "g\th\t0.1")
    bad = write(tmp_path / "bad.tsv", "lhs\trhs\tscore", "a\tb\t1", "e\tf\t5", "g\th\t4")
    judged = write(
        tmp_path / "judged.txt",
        HEADER,
        judged_line("a", "b", "Yes"),
        judged_line("a", "b", "Yes", "0.9", "m n"),
        judged_line("c", "d", "Yes", "0.7"),
        judged_line("e", "f", "No"),
        judged_line("g", "h", "No", "0.75"),
        judged_line("g", "h", "Yes", "0.69", "p q"),
        judged_line("i", "j", "Yes"),
    )
    return good, bad, judged


def test_json_has_the_promised_shape(files: tuple[Path, Path, Path]) -> None:
    good, bad, judged = files
    found = chorale_json(good, bad, judged)
    assert list(found["resources"]) == ["good", "bad"]
    of_good, of_bad = found["resources"]["good"], found["resources"]["bad"]
    assert of_good["auc"] == pytest.approx(3 / 4)
    assert (of_good["precision"], of_good["recall"], of_good["f1"]) == pytest.approx((1, 3 / 4, 6 / 7))
    assert (of_good["covered"], of_good["applications"], of_good["entailing"]) == (5, 6, 4)
    assert of_good["precision_at_recall"] == {"0.1": 1.0, "0.25": 1.0, "0.5": 1.0}
    assert of_good["threshold"] == 0.8
    assert of_bad["auc"] == pytest.approx(2 / 4 * 2 / 4)
    assert of_bad["precision_at_recall"]["0.5"] == 0.5
    assert found["notes"] == ["1 application left out: confidence below 0.7."]
    assert found["signature"].startswith(
        "rules|area:step|min-confidence:0.7|match:lemma|contradictions:majority|at-recall:0.1,0.25,0.5|rules/good:"
    )
    assert chorale_json(good, judged, "--min-confidence", "0")["resources"]["good"]["applications"] == 7
    assert chorale_json(good, judged, "--min-confidence", "0.8")["resources"]["good"]["applications"] == 4
    recalls = chorale_json(good, judged, "--at-recall", "0.3,1")["resources"]["good"]["precision_at_recall"]
    assert recalls == {"0.3": 1.0, "1": None}
    shown = CliRunner().invoke(app, ["evaluate", "rules", str(good), str(judged), "--at-recall", "0.3,1"]).stdout
    assert "not reached" in shown


def test_the_area_and_the_order_of_rows(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    good, bad, judged = files
    lines = judged.read_text("utf-8").splitlines()
    turned = write(tmp_path / "turned.txt", lines[0], *reversed(lines[1:]))
    for options in (["--area", "step"], ["--area", "trapezoid"]):
        one, other = (
            chorale_json(bad, file, "--ci", "--resamples", 100, *options)["resources"]["bad"]
            for file in (judged, turned)
        )
        assert one == other
        assert one["ci"]["auc"][0] <= one["auc"] <= one["ci"]["auc"][1]
    step, trapezoid = (
        chorale_json(bad, judged, "--area", area)["resources"]["bad"]["auc"] for area in ("step", "trapezoid")
    )
    assert trapezoid == pytest.approx(2 / 4 * (2 / 4 + 0) / 2)
    assert step == pytest.approx(2 / 4 * 2 / 4)
    assert chorale_json(good, judged)["resources"]["good"]["auc"] > step


def test_judgments_in_several_files(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    good, _, judged = files
    lines = judged.read_text("utf-8").splitlines()
    first = write(tmp_path / "first.txt", *lines[:4])
    second = write(tmp_path / "second.txt", lines[0], *lines[3:])
    found = chorale_json(good, first, "--also", second)
    assert found["resources"] == chorale_json(good, judged)["resources"]
    assert "1 application left out as a duplicate with the same judgment." in found["notes"]


def test_the_curve_is_written(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    good, bad, judged = files
    target = tmp_path / "curve.csv"
    told = chorale(good, bad, judged, "--curve", target).stdout
    assert "Wrote 7 points" in told
    with target.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["resource"] for row in rows] == ["good"] * 4 + ["bad"] * 3
    assert float(rows[0]["recall"]) == 0.5
    assert float(rows[3]["precision"]) == pytest.approx(3 / 5)
    assert "can't be written" in chorale(good, judged, "--curve", tmp_path / "no" / "curve.csv", code=2).stderr


def test_another_resource_is_compared(files: tuple[Path, Path, Path]) -> None:
    good, bad, judged = files
    found = chorale_json(good, judged, "--against", bad, "--resamples", 200)
    compared = found["against"]["good"]["auc"]
    assert compared["difference"] == pytest.approx(3 / 4 - 1 / 4)
    assert 0 < compared["p_randomisation"] <= 1
    assert "|against:" in found["signature"]
    assert "good and bad" in chorale(good, judged, "--against", bad, "--resamples", 100).stdout
    assert "\\begin{tabular}" in chorale(good, judged, "--latex").stdout


def test_every_number_has_an_interval_and_a_comparison(files: tuple[Path, Path, Path]) -> None:
    good, bad, judged = files
    options = ["--ci", "--resamples", 300, "--at-recall", "0.25,0.5,1"]
    found = chorale_json(good, judged, *options, "--against", bad)
    one = found["resources"]["good"]
    scores = {"auc", "precision", "recall", "f1", "threshold", "coverage"}
    assert set(one["ci"]) == {*scores, "precision_at_recall_0.25", "precision_at_recall_0.5"}
    for name in scores:
        low, high = one["ci"][name] or (one[name], one[name])
        assert low <= one[name] <= high
    compared = found["against"]["good"]
    assert compared["precision_at_recall_0.5"]["difference"] == pytest.approx(1.0 - 0.5)
    assert "threshold" not in compared
    assert "precision_at_recall_1" not in compared
    assert any("does not reach" in note for note in found["notes"])
    assert "precision at recall 0.25" in chorale(good, judged, *options).stdout


def test_resources_are_compared_by_rank_whatever_their_scales(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    good, bad, judged = files
    scaled = write(tmp_path / "scaled.txt", "a\tb\t-1", "c\td\t-2", "e\tf\t-300", "g\th\t-4000")
    one, other = (
        chorale_json(file, judged, "--against", bad, "--resamples", 100)["against"] for file in (good, scaled)
    )
    assert list(one.values()) == list(other.values())


def test_mistakes_are_told(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    good, _, judged = files
    assert "Give at least one file of rules" in chorale(judged, code=2).stderr
    assert "does not exist" in chorale(good, tmp_path / "none.txt", code=2).stderr
    twin = tmp_path / "twin"
    twin.mkdir()
    same_name = write(twin / "good.txt", "a\tb")
    assert "same name, good" in chorale(good, same_name, judged, code=2).stderr
    assert "--at-recall takes fractions" in chorale(good, judged, "--at-recall", "half", code=2).stderr
    assert "--at-recall takes fractions" in chorale(good, judged, "--at-recall", "2", code=2).stderr
    torn = write(tmp_path / "torn.txt", HEADER, judged_line("a", "b", "No"))
    told = chorale(good, judged, "--also", torn, "--contradictions", "refuse", code=2).stderr
    assert re.search(r"torn\.txt:2: has an application with the opposite judgment in \S+:2", told)
    unsure = write(tmp_path / "unsure.txt", HEADER, judged_line("a", "b", "No", "0.1"))
    assert "Lower --min-confidence" in chorale(good, unsure, code=2).stderr
    others = write(tmp_path / "others.txt", HEADER, judged_line("y", "z", "No"))
    notes = chorale_json(good, others)["notes"]
    assert any("no application matches a rule" in note for note in notes)
    assert any("No application was judged as entailing" in note for note in notes)


def test_predicates_match_by_lemma_with_their_arguments_the_same_way_round(tmp_path: Path) -> None:
    rules = write(
        tmp_path / "rules.txt",
        "be use in\tbe find in\t0.5",
        "be used in\tbe found in\t0.4",
        "be kill by\tkill@R@\t0.9",
        "found\town\t0.3",
        "is\thas\t0.2",
        "be\thave\t0.8",
    )
    judged = write(
        tmp_path / "judged.txt",
        HEADER,
        judged_line("is used in", "are found in", "Yes"),
        judged_line("was killed by", "kill@R@", "Yes"),
        judged_line("was killed by", "kill", "No"),
        judged_line("founded", "owns", "Yes"),
        judged_line("is", "has", "Yes"),
    )
    found = chorale_json(rules, judged)
    assert found["resources"]["rules"]["covered"] == 4, "all but the one with its arguments the other way round"
    assert any(note.startswith("rules: 3 applications match a rule only by lemmas") for note in found["notes"])
    exact = chorale_json(rules, judged, "--match", "exact")
    assert exact["resources"]["rules"]["covered"] == 1
    assert "|match:exact|" in exact["signature"]
    points = tmp_path / "points.csv"
    chorale(rules, judged, "--curve", points)
    thresholds = [float(row["threshold"]) for row in csv.DictReader(points.read_text("utf-8").splitlines())]
    assert thresholds == [0.9, 0.5, 0.3, 0.2], "as written goes before lemmas, and of those the highest score counts"


def test_learned_rules_match_by_lemma(tmp_path: Path) -> None:
    learned = write(tmp_path / "learned.tsv", "lhs\trhs\tscore\tmethod", "own\thave\t0.5\tdirt", "sell\tbuy\t0.4\tdirt")
    judged = write(tmp_path / "judged.txt", HEADER, judged_line("owns", "has", "Yes"))
    found = chorale_json(learned, judged)["resources"]["learned"]
    assert (found["covered"], found["rules"]) == (1, 2)


def test_applications_judged_both_ways(tmp_path: Path) -> None:
    rules = write(tmp_path / "rules.txt", "a\tb\t0.9", "c\td\t0.8")
    judged = write(
        tmp_path / "judged.txt",
        HEADER,
        *(judged_line("a", "b", judgment) for judgment in ("No", "Yes", "Yes")),
        *(judged_line("c", "d", judgment) for judgment in ("No", "Yes")),
        judged_line("e", "f", "Yes"),
    )
    found = chorale_json(rules, judged)
    assert (found["applications"], found["entailing"]) == (2, 2)
    assert found["counts"]["left out: judged both ways equally often"] == 1
    assert any("2 applications were judged both ways: the majority" in note for note in found["notes"])
    both = chorale_json(rules, judged, "--contradictions", "both")
    assert (both["applications"], both["entailing"]) == (5, 3)
    refused = chorale(rules, judged, "--contradictions", "refuse", code=2).stderr
    assert refused.count("with the opposite judgment in an earlier line in 2 rows (lines 3, 6)") == 1


def test_hardly_any_coverage_is_a_warning(tmp_path: Path) -> None:
    rules = write(tmp_path / "rules.txt", "a\tb\t0.9")
    lines = [judged_line(f"w{number}", "b", "Yes") for number in range(30)]
    few = write(tmp_path / "few.txt", HEADER, judged_line("a", "b", "Yes"), *lines)
    warned = [note for note in chorale_json(rules, few)["notes"] if note.startswith("Warning: ")]
    assert len(warned) == 1
    assert "rules has a rule for only 1 of 31 applications (3.2%)" in warned[0]
    enough = write(tmp_path / "enough.txt", HEADER, judged_line("a", "b", "Yes"), *lines[:10])
    assert not any(note.startswith("Warning: ") for note in chorale_json(rules, enough)["notes"])


# The paper


def test_the_papers_cells_come_from_files_like_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "zeichner"
    folder.mkdir()
    write(folder / "zeichner_entailingAnnotations.txt", HEADER, judged_line("a", "b", "Yes"))
    rows: Sequence[str] = [
        judged_line("a", "b", "No", "1", "m n"),
        judged_line("c", "d", "No", "0.8"),
        judged_line("e", "f", "No", "1"),
    ]
    write(folder / "zeichner_nonEntailingAnnotations.txt", HEADER, *rows)
    write(folder / "berant-typed-rules.txt", "<a::x::x>\t->\t<b::x::x>")
    steps: list[tuple[int, int]] = []
    cells = {
        cell.name: cell for cell in PAPER.cells(PAPER.data(tmp_path), lambda done, total: steps.append((done, total)))
    }
    assert (cells["annotated in all"].ours, cells["entailing"].ours) == (4, 1)
    assert cells["not entailing, by Task 2"].ours == 2
    assert cells["not entailing, meaningless right side"].ours == 1
    assert cells["Berant, typed: precision"].ours == 0.5
    assert "does not exist" in cells["Berant, untyped (TNCF, λ 0.1): area"].reason
    assert all(cell.reason for cell in cells.values() if cell.ours is None)
    assert steps[-1] == (4, 4)
    with pytest.raises(UserError, match="has no file zeichner/"):
        list(PAPER.cells(PAPER.data(folder), lambda done, total: None))


def test_judgments_can_be_named_and_every_two_resources_compared(
    files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    good, bad, judged = files
    picture = tmp_path / "curves.svg"
    named = chorale_json(good, bad, "--judgments", judged, "--pairwise", "--resamples", 200, "--chart", picture)
    assert named["resources"] == chorale_json(good, bad, judged)["resources"]
    compared = named["pairwise"]["good bad"]["auc"]
    assert compared["difference"] == pytest.approx(3 / 4 - 1 / 4)
    svg = picture.read_text("utf-8")
    assert svg.startswith("<?xml")
    assert "good (area 0.750)" in svg
    assert named["counts"] == {
        "entailing": 4,
        "not entailing": 2,
        "left side meaningless, left out": 0,
        "left out: confidence too low": 1,
        "left out: duplicate": 0,
        "left out: judged both ways equally often": 0,
    }
    assert "already exists" in chorale(good, judged, "--chart", picture, code=2).output


def test_meaningless_left_sides_are_left_out_or_counted(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    good, _, judged = files
    more = write(tmp_path / "more.txt", HEADER, judged_line("a", "b", "Meaningless", "0.9", "x y"))
    out = chorale_json(good, "--judgments", judged, "--judgments", more)
    assert (out["applications"], out["resources"]["good"]["auc"]) == (6, pytest.approx(3 / 4))
    assert "1 application left out: the left side is meaningless." in out["notes"]
    counted = chorale_json(good, "--judgments", judged, "--also", more, "--meaningless", "count")
    # Down to 0.9: two valid of three; to 0.8: three of four. Of four valid ones 2/4 · 2/3 + 1/4 · 3/4.
    assert counted["resources"]["good"]["auc"] == pytest.approx(2 / 4 * 2 / 3 + 1 / 4 * 3 / 4)
    assert counted["counts"]["left side meaningless, counted as not entailing"] == 1
    assert "|meaningless:count|" in counted["signature"]


def test_learned_rules_of_several_methods_are_several_resources(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    judged = files[2]
    learned = write(
        tmp_path / "learned.tsv", "lhs\trhs\tscore\tmethod", "a\tb\t0.5\tdirt", "c\td\t0.4\tdirt", "a\tb\t0.9\tbinc"
    )
    found = chorale_json(learned, judged)["resources"]
    assert [(name, one["rules"], one["covered"]) for name, one in found.items()] == [
        ("learned:binc", 1, 2),
        ("learned:dirt", 2, 3),
    ]
    assert "has several resources" in chorale(files[0], judged, "--against", learned, code=2).output
    wrong = write(tmp_path / "wrong.tsv", "lhs\trhs\tscore\tmethod", "a\tb\thigh\tdirt")
    assert "wrong.tsv:2: has a score that is not a number" in chorale(wrong, judged, code=2).output


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        (
            {"lhs": ["a", "a"], "rhs": ["b", "c"], "score": ["0.5", "high"]},
            ":2: has a row that is not a rule with a score",
        ),
        ({"lhs": ["a"], "rhs": ["b"], "score": [math.nan]}, ":1: has a row that is not a rule with a score"),
        ({"lhs": ["a", None], "rhs": ["b", "c"], "score": [1.0, 1.0]}, ":2: has a row that is not a rule with a score"),
        ({"lhs": [" "], "rhs": ["b"]}, ":1: has a row that is not a rule with a score"),
        ({"lhs": ["a"]}, "has no column 'rhs'"),
    ],
)
def test_rules_in_parquet_are_rules_whoever_wrote_them(
    columns: dict[str, list[Any]], told: str, files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    path = tmp_path / "other.parquet"
    pl.DataFrame(columns).write_parquet(path)
    refused = chorale(path, files[2], code=2)
    assert told in refused.output
    pl.DataFrame({"lhs": ["a"], "rhs": ["b"]}).write_parquet(path)
    assert chorale_json(path, files[2])["resources"]["other"]["covered"] == 2
