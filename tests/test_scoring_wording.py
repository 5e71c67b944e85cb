"""How scoring commands word things: numbers below 0, one and several, values that are almost right."""

from pathlib import Path
from random import Random
from statistics import fmean

import polars as pl
import pytest
from click.testing import CliRunner, Result

from chorale.cli import app
from chorale.metrics import Comparison, Interval
from chorale.metrics.aggregation import DawidSkene, aggregate
from chorale.metrics.aggregation.crowdtruth import crowdtruth
from chorale.metrics.aggregation.dawid_skene import dawid_skene
from chorale.metrics.judgments import Judgments
from chorale.metrics.score_table import ScoreTable, comparison_table, shown_interval
from chorale.model import UserError
from chorale.present.latex import latex_table
from chorale.present.scoring import score_table

LITTLE = "task,worker,label\n" + "".join(f"t{task},{worker},{task % 2}\n" for task in range(5) for worker in "abc")


def chorale(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def little(tmp_path: Path) -> Path:
    path = tmp_path / "little.csv"
    path.write_text(LITTLE)
    return path


# What all scoring commands have


@pytest.mark.parametrize(
    "command",
    [
        *(["evaluate", name] for name in ("frames", "mcq", "qasrl", "rules", "srl")),
        ["aggregate"],
        ["agreement"],
        ["irt"],
    ],
)
def test_every_scoring_command_has_intervals_comparisons_and_both_outputs(command: list[str]) -> None:
    shown = chorale(*command, "--help").stdout
    # No test of two fits of item response theory held in simulations, so nothing is resampled there.
    resampled = () if command == ["irt"] else ("--resamples",)
    for option in ("--ci", "--against", *resampled, "--seed", "--json", "--latex"):
        assert option in shown


# Numbers


def test_intervals_have_a_word_between_their_ends() -> None:
    assert shown_interval(Interval(-0.8562, 0.4)) == "−0.8562 to 0.4000"
    assert shown_interval(Interval(0.25, 0.5), 2) == "0.25 to 0.50"
    assert shown_interval(Interval(-0.00001, 0.5)) == "0.0000 to 0.5000"
    assert shown_interval(None) == ""


def test_latex_sets_numbers_below_zero_as_mathematics() -> None:
    rows = [(-0.5, shown_interval(Interval(-0.8562, -0.4)), -3, "a-b"), (0.5, "0.1000 to 0.4000", 3, "5 − 3")]
    lines = latex_table(ScoreTable("made", ("value#", "95% interval#", "n#", "name"), rows)).splitlines()
    assert r"$-0.5000$ & $-0.8562$ to $-0.4000$ & $-3$ & a-b \\" in lines
    assert r"0.5000 & $0.1000$ to $0.4000$ & 3 & 5 $-$ 3 \\" in lines


def test_tables_for_people_have_the_same_minus_everywhere() -> None:
    table = score_table(ScoreTable("made", ("value#", "how many#"), [(-0.5, -3)]))
    assert [list(map(str, column.cells)) for column in table.columns] == [["−0.5000"], ["−3"]]


def test_columns_of_comparisons_are_spelt_out() -> None:
    compared = Comparison(0.5, 0.6, -0.1, Interval(-0.2, 0.1), 0.3, 0.4)
    assert comparison_table("made", ("a", "b"), {"f1": compared}).columns[-2:] == ("p bootstrap#", "p randomisation#")


# Options


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["agreement", "x.csv", "--metric", "kapa"],
            "'kapa' is not one of alpha, kappa, fleiss, pi, percent, gwet, brennan-prediger, conger, icc,",
        ),
        (["agreement", "x.csv", "--metric", "kapa"], "Did you mean kappa?"),
        (["aggregate", "x.csv", "--method", "dawidskene"], "Did you mean dawid-skene?"),
        (["evaluate", "qasrl", "x", "y", "--average", "mirco"], "Did you mean micro?"),
        (["evaluate", "qasrl", "x", "y", "--iou", "2"], "It must be at most 1."),
        (["aggregate", "x.csv", "--restarts", "0"], "It must be at least 1."),
        (["aggregate", "x.csv", "--restarts", "abc"], "'abc' is not a whole number."),
        (["irt", "x.csv", "--model", "4"], "'4' is not one of 1pl, 2pl, 3pl, graded."),
    ],
)
def test_a_wrong_value_is_told_in_plain_words(arguments: list[str], told: str) -> None:
    said = " ".join(chorale(*arguments, code=2).output.split())
    assert told in said
    for leaked in ("Value error", "Input should", "unable to parse"):
        assert leaked not in said


def test_nothing_is_guessed_where_nothing_is_near() -> None:
    assert "Did you mean" not in chorale("agreement", "x.csv", "--metric", "zzz", code=2).output


# Notes


@pytest.mark.parametrize(("ties", "told"), [(1, "1 task is tied"), (2, "2 tasks are tied")])
def test_one_and_several_have_their_own_words(tmp_path: Path, ties: int, told: str) -> None:
    path = tmp_path / "ties.csv"
    path.write_text("task,worker,label\n" + "".join(f"t{n},a,x\nt{n},b,y\n" for n in range(ties)))
    assert told in chorale("aggregate", path, "--method", "majority").stderr


def test_a_matrix_of_errors_from_little_data_is_noted(little: Path) -> None:
    assert "Workers judged only 5.0 tasks each on average" in chorale("aggregate", little).stderr
    assert "each on average" not in chorale("aggregate", little, "--method", "one-coin").stderr


@pytest.mark.parametrize(("labels", "noted"), [(2, False), (5, True)])
def test_more_labels_need_more_judgments_a_worker(labels: int, noted: bool) -> None:
    """Workers of equal skill, 40 judgments each: with five labels, the probabilities are far above the accuracy."""
    random = Random(3)
    truth = [random.randrange(labels) for _ in range(300)]
    votes = [
        (str(task), str((task * 3 + vote) % 22), str(right if random.random() < 0.6 else random.randrange(labels)))
        for task, right in enumerate(truth)
        for vote in range(3)
    ]
    result = dawid_skene(Judgments.from_columns(*zip(*votes, strict=True)))
    assert any("may be far too high" in note for note in result.notes) is noted
    if noted:
        accuracy = fmean(result.labels[str(task)] == str(right) for task, right in enumerate(truth))
        assert result.probabilities.max(axis=1).mean() > accuracy + 0.1


def test_with_enough_judgments_a_worker_nothing_is_noted() -> None:
    many = [(f"t{task}", worker, str(task % 2)) for task in range(20) for worker in "abc"]
    assert dawid_skene(Judgments.from_columns(*zip(*many, strict=True))).notes == ()
    assert len(dawid_skene(Judgments.from_columns(*zip(*many[:-3], strict=True))).notes) == 1


# From Python


def test_crowdtruth_is_a_method_like_the_others() -> None:
    judgments = Judgments.from_columns(["u", "u", "u", "v"], ["ann", "bob", "cy", "cy"], ["cat", "cat", "dog", "dog"])
    result = aggregate(judgments, "crowdtruth")
    assert result.labels == {"u": "cat"}
    assert result.quality["wqs"].tolist() == crowdtruth(judgments).wqs.tolist()
    assert any("single judgment" in note for note in result.notes)
    assert result.converged
    with pytest.raises(ValueError, match="Did you mean crowdtruth"):
        aggregate(judgments, "crowd-truth")


def test_tables_may_be_dicts_of_columns_and_what_holds_no_judgments_is_refused_with_advice() -> None:
    columns = {"task": [1, 1, 1, 2], "worker": ["a", "b", "c", "a"], "label": ["x", "x", "y", "y"]}
    as_table = DawidSkene().fit_predict(pl.DataFrame(columns))
    assert DawidSkene().fit_predict(columns)["agg_label"].to_list() == as_table["agg_label"].to_list()
    with pytest.raises(UserError, match=r"rows have different or unknown types. Pass a path, a table"):
        DawidSkene().fit_predict(columns["label"])
