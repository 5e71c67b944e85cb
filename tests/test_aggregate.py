"""The aggregators, by hand, by their properties, against crowd-kit, and through the command."""

import inspect
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import chorale.metrics.aggregation as library
from chorale.cli import app
from chorale.metrics.aggregation import Aggregation, MethodOptions, aggregate, trust_from_gold, trust_weighted_share
from chorale.metrics.aggregation.ascent import climb
from chorale.metrics.aggregation.dawid_skene import dawid_skene
from chorale.metrics.aggregation.glad import _Posterior, glad
from chorale.metrics.aggregation.mace import MaceSettings, digamma, mace
from chorale.metrics.aggregation.majority import majority
from chorale.metrics.aggregation.methods import METHODS
from chorale.metrics.aggregation.one_coin import one_coin
from chorale.metrics.aggregation.trust import confidence
from chorale.metrics.aggregation.votes import Votes
from chorale.metrics.aggregation.wawa import wawa
from chorale.metrics.aggregation.worker_evidence import worker_evidence
from chorale.metrics.judgments import Judgments
from chorale.metrics.ordering import order_of

QUICK = settings(deadline=None, max_examples=25)
Rows = list[tuple[str, str, str]]
ROWS = st.lists(
    st.tuples(st.sampled_from("tuvxyz"), st.sampled_from("abcde"), st.sampled_from(["no", "maybe", "yes"])),
    min_size=1,
    max_size=40,
    unique_by=lambda row: row[:2],
)
NAMES = list(METHODS)
# Enough to see what must hold of any number of starts and iterations.
FEW = MethodOptions(restarts=2, iterations=25)


def judged(rows: Rows) -> Judgments:
    return Judgments.from_columns(*map(list, zip(*rows, strict=True)))


def crowd(
    tasks: int = 200, workers: int = 25, labels: int = 3, each: int = 7, seed: int = 0
) -> tuple[pd.DataFrame, "np.ndarray[Any, np.dtype[np.int64]]"]:
    """Workers of accuracy 0.3 to 0.95 who otherwise guess; who they are has nothing to do with the tasks."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(labels, size=tasks)
    accuracy = rng.uniform(0.3, 0.95, workers)
    task = np.repeat(np.arange(tasks), each)
    worker = np.concatenate([rng.choice(workers, size=each, replace=False) for _ in range(tasks)])
    knows = rng.random(len(task)) < accuracy[worker]
    label = np.where(knows, truth[task], rng.integers(labels, size=len(task)))
    return pd.DataFrame({"task": task, "worker": worker, "label": label}), truth


def quietly(function: Callable[..., Any], *arguments: Any) -> Any:
    """Crowd-kit warns about the pandas it is run with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


# By hand


@pytest.mark.parametrize(
    ("size", "bound"), [(100, 7), (5000, 10), (5000, 2**16), (5000, 2**16 + 1), (20_000, 2**40), (9999, 2**60)]
)
def test_places_are_ordered_by_keys_of_any_size(size: int, bound: int) -> None:
    keys = np.random.default_rng(0).integers(bound, size=size)
    keys[::3] = keys[0]
    assert (order_of(keys, bound) == np.argsort(keys, kind="stable")).all()


def test_majority_by_hand() -> None:
    result = majority(judged([("t", "a", "x"), ("t", "b", "y"), ("t", "c", "x"), ("u", "a", "z")]))
    assert result.labels == {"t": "x", "u": "z"}
    assert result.probabilities.tolist() == [[2 / 3, 1 / 3, 0], [0, 0, 1]]
    assert dict(zip(result.workers, result.quality["agreement"].tolist(), strict=True)) == {"a": 1, "b": 0, "c": 1}


@pytest.mark.parametrize("method", ["majority", "confidence", "dawid-skene", "one-coin", "glad"])
def test_two_votes_against_each_other_are_a_tie(method: str) -> None:
    result = aggregate(judged([("t", "a", "yes"), ("t", "b", "no")]), method, MethodOptions(ties="first"))
    assert result.probabilities[0].tolist() == pytest.approx([0.5, 0.5])
    assert result.labels == {"t": "no"}
    assert result.ties == 1


def test_wawa_finds_both_sides_of_a_tie_half_right() -> None:
    split = judged([("t", "a", "yes"), ("t", "b", "no")])
    assert wawa(split).quality["skill"].tolist() == [0.5, 0.5]
    assert wawa(split).probabilities.tolist() == [[0.5, 0.5]]
    assert wawa(split, ties="first").probabilities.tolist() == [[1, 0]]


def test_the_starts_of_mace_are_drawn_from_the_seed() -> None:
    judgments = judged([("t", "a", "yes"), ("t", "b", "no")])
    by_seed = [mace(judgments, MaceSettings(seed=seed)).probabilities.tolist() for seed in (1, 1, 2, 3, 4)]
    assert by_seed[0] == by_seed[1]
    assert len({str(each) for each in by_seed}) > 1


def test_confidence_weighs_by_trust() -> None:
    rows = [("t", "a", "x"), ("t", "b", "x"), ("t", "c", "y"), ("u", "a", "y"), ("u", "c", "x")]
    result = confidence(judged(rows), trust=np.array([0.45, 0.45, 1.0, 0.0, 0.0]))
    assert result.labels == {"t": "y", "u": "x"}
    assert result.probabilities[0].tolist() == pytest.approx([0.9 / 1.9, 1.0 / 1.9])
    assert result.probabilities[1].tolist() == [0.5, 0.5]  # nobody is trusted: every vote counts the same


@QUICK
@given(rows=ROWS, weights=st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_confidence_is_what_a_running_study_computes(rows: Rows, weights: list[float]) -> None:
    trust = dict(zip("abcde", weights, strict=True))
    result = confidence(judged(rows), trust=np.array([trust[worker] for _, worker, _ in rows]))
    for task, label in result.labels.items():
        share = trust_weighted_share([(said, trust[worker]) for name, worker, said in rows if name == task])
        assert share is not None
        place = result.tasks.index(task), result.options.index(str(label))
        assert result.probabilities[place] == pytest.approx(share.confidence)


def test_trust_is_accuracy_on_gold() -> None:
    judgments = judged([("g1", "a", "x"), ("g2", "a", "y"), ("g1", "b", "x"), ("t", "c", "x")])
    gold = {"g1": "x", "g2": "x", "unjudged": "y"}
    assert trust_from_gold(judgments, gold).tolist() == [0.5, 0.5, 1.0, 0.75]  # c is trusted like the mean
    assert trust_from_gold(judgments, gold, smoothing=1).tolist() == [0.5, 0.5, 2 / 3, 0.5]
    assert trust_from_gold(judgments, {"g1": "never said"}).tolist() == [0, 0, 0, 0]
    assert trust_from_gold(judgments, {}).tolist() == [1, 1, 1, 1]


def test_wawa_by_hand() -> None:
    rows = [("1", "a", "x"), ("1", "b", "x"), ("1", "c", "y"), ("2", "a", "y"), ("2", "c", "x"), ("3", "c", "x")]
    result = wawa(judged(rows), ties="first")
    # Task 2 is tied at first: x. So a is right once in two, b once in one, c twice in three.
    assert result.quality["skill"].tolist() == pytest.approx([1 / 2, 1, 2 / 3])
    assert result.labels == {"1": "x", "2": "x", "3": "x"}
    assert result.probabilities[1].tolist() == pytest.approx([4 / 7, 3 / 7])


def test_dawid_and_skene_one_iteration_by_hand() -> None:
    result = dawid_skene(judged([("1", "a", "x"), ("1", "b", "x"), ("2", "a", "y"), ("2", "b", "x")]), iterations=1)
    # Shares: task 1 is x, task 2 half and half. So e_a[y|x] = 0.5/1.5 and e_a[y|y] = 1; b says x whatever is true.
    x, y = 0.75 * (0.5 / 1.5), 0.25 * 1.0
    assert result.probabilities[1].tolist() == pytest.approx([x / (x + y), y / (x + y)])
    assert not result.converged


def test_what_is_known_stays_known() -> None:
    rows = [("1", "a", "x"), ("1", "b", "x"), ("2", "a", "x"), ("2", "b", "y")]
    result = dawid_skene(judged(rows), known={"1": "y", "3": "x"})
    assert result.labels["1"] == "y"
    assert result.probabilities[0].tolist() == [0, 1]
    with pytest.raises(ValueError, match="'never said'"):
        dawid_skene(judged(rows), known={"2": "never said"})


def test_a_worker_of_one_label_tells_dawid_and_skene_nothing() -> None:
    result = dawid_skene(judged([("t", "a", "x"), ("u", "b", "y"), ("v", "c", "z")]))
    np.testing.assert_allclose(result.probabilities, np.full((3, 3), 1 / 3))
    assert result.ties == 3


# What holds for all of them


@pytest.mark.parametrize("method", NAMES)
@QUICK
@given(rows=ROWS, order=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(method: str, rows: Rows, order: Any) -> None:
    shuffled = rows.copy()
    order.shuffle(shuffled)
    first, second = aggregate(judged(rows), method, FEW), aggregate(judged(shuffled), method, FEW)
    assert first.labels == second.labels
    assert first.probabilities.tolist() == second.probabilities.tolist()
    assert first.quality.keys() == second.quality.keys()
    for name, values in first.quality.items():
        assert values.tolist() == second.quality[name].tolist()


@pytest.mark.parametrize("method", NAMES)
def test_names_do_not_matter(method: str) -> None:
    table, _ = crowd(tasks=60, workers=12, labels=2)
    options = MethodOptions(tolerance=1e-12, iterations=3000) if method in ("mace", "glad") else MethodOptions()
    first = aggregate(Judgments.from_dataframe(table), method, options)
    renamed = table.assign(worker=-table["worker"], label=["za"[label] for label in table["label"]])
    second = aggregate(Judgments.from_dataframe(renamed), method, options)
    assert first.options == ("0", "1")
    np.testing.assert_allclose(first.probabilities, second.probabilities[:, ::-1], atol=1e-5)


@pytest.mark.parametrize("method", NAMES)
def test_the_unanimous_are_right(method: str) -> None:
    rows = [(f"t{task}", worker, "xyz"[task % 3]) for task in range(30) for worker in "abcde"]
    result = aggregate(judged(rows), method)
    assert result.labels == {f"t{task}": "xyz"[task % 3] for task in range(30)}
    assert result.probabilities.max(axis=1).min() > 0.99


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize(
    "rows",
    [
        [("t", "a", "x")],
        [("t", "a", "x"), ("u", "a", "y"), ("v", "a", "x")],
        [("t", "a", "x"), ("t", "b", "x"), ("u", "a", "x")],
        [("t", "a", "x"), ("u", "b", "y"), ("v", "c", "y"), ("v", "b", "y"), ("u", "a", "y")],
        [("t", worker, "x") for worker in map(str, range(800))],
    ],
    ids=["one judgment", "one worker", "one label", "single judgments", "very many on one task"],
)
def test_little_data_has_an_answer_too(method: str, rows: Rows) -> None:
    result = aggregate(judged(rows), method)
    assert result.labels == {task: label for task, _, label in rows}
    assert np.isfinite(result.probabilities).all()
    np.testing.assert_allclose(result.probabilities.sum(axis=1), 1)
    for values in result.quality.values():
        assert np.isfinite(values).all()


@pytest.mark.parametrize("method", NAMES)
@QUICK
@given(rows=ROWS)
def test_probabilities_are_probabilities(method: str, rows: Rows) -> None:
    result = aggregate(judged(rows), method, FEW)
    assert result.tasks == tuple(sorted({task for task, _, _ in rows}))
    np.testing.assert_allclose(result.probabilities.sum(axis=1), 1)
    assert (result.probabilities >= 0).all()


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "mace", "glad", "wawa"])
def test_knowing_workers_helps(method: str) -> None:
    table, truth = crowd(tasks=600, each=5, labels=4)
    judgments = Judgments.from_dataframe(table)

    def accuracy(result: Aggregation) -> float:
        return float(np.mean([result.labels[str(task)] == str(label) for task, label in enumerate(truth)]))

    assert accuracy(aggregate(judgments, method)) >= accuracy(majority(judgments))


def test_repeated_judgments_may_all_count() -> None:
    judgments = Judgments.from_columns(["t"] * 3, ["a", "a", "b"], ["x", "x", "y"], repeats="all")
    assert majority(judgments).probabilities.tolist() == [[2 / 3, 1 / 3]]
    assert dawid_skene(judgments).labels == {"t": "x"}


def test_an_option_nobody_chose_has_its_place() -> None:
    judgments = judged([("t", "a", "x"), ("t", "b", "x"), ("u", "a", "y")]).with_options(["x", "y", "z"])
    for method in NAMES:
        result = aggregate(judgments, method)
        assert result.options == ("x", "y", "z")
        assert np.isfinite(result.probabilities).all()
        assert "z" not in result.labels.values()


def test_nothing_raises() -> None:
    with pytest.raises(ValueError, match="no judgments"):
        majority(Judgments.from_columns([], [], []))
    with pytest.raises(ValueError, match="unknown method 'median'"):
        aggregate(judged([("t", "a", "x")]), "median")
    with pytest.raises(ValueError, match="'vb' or 'em'"):
        mace(judged([("t", "a", "x")]), MaceSettings(method="other"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one value per judgment"):
        confidence(judged([("t", "a", "x")]), trust=np.ones(2))


def test_names_without_judgments_are_left_out() -> None:
    judgments = judged([("t", "a", "x"), ("u", "b", "y")])
    result = dawid_skene(judgments.taken(np.array([1])))
    assert result.tasks == ("u",)
    assert result.workers == ("b",)


# Multi-label


def test_every_option_is_a_question_of_its_own() -> None:
    judgments = Judgments.from_columns(
        ["t"] * 3 + ["u"] * 2, ["a", "b", "c", "a", "b"], [["x", "y"], ["x"], ["x", "z"], ["y"], ["z"]]
    )
    result = majority(judgments)
    assert result.multiple
    assert result.labels == {"t": ["x"], "u": []}
    assert result.probabilities.tolist() == [[1, 1 / 3, 1 / 3], [0, 0.5, 0.5]]
    assert result.ties == 1


@pytest.mark.parametrize("method", NAMES)
def test_multi_label_is_single_label_per_option(method: str) -> None:
    table, _ = crowd(tasks=40, workers=10, labels=4, each=5)
    sets = [["p", "q"] if label == 0 else ["p"] if label == 1 else ["q"] for label in table["label"]]
    result = aggregate(Judgments.from_columns(table["task"], table["worker"], sets), method, FEW)
    for column, option in enumerate(result.options):
        said = ["yes" if option in one else "no" for one in sets]
        alone = aggregate(Judgments.from_columns(table["task"], table["worker"], said), method, FEW)
        assert result.probabilities[:, column].tolist() == alone.probabilities[:, 1].tolist()


# Against crowd-kit


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("name", "ours"), [("DawidSkene", dawid_skene), ("OneCoinDawidSkene", one_coin)])
def test_the_same_updates_as_crowd_kit(name: str, ours: Any, seed: int) -> None:
    peers = pytest.importorskip("crowdkit.aggregation")
    table, _ = crowd(seed=seed)
    theirs = getattr(peers, name)()
    expected = quietly(theirs.fit_predict_proba, table).sort_index()[[0, 1, 2]].to_numpy()
    result = ours(Judgments.from_dataframe(table.assign(task=table["task"] + 1000)))
    np.testing.assert_allclose(result.probabilities, expected, atol=1e-8)
    np.testing.assert_allclose(result.details["bounds"], theirs.loss_history_, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["vb", "em"])
def test_mace_ends_where_crowd_kit_does(method: Any) -> None:
    peers = pytest.importorskip("crowdkit.aggregation")
    table, _ = crowd(tasks=60, workers=10)
    # Crowd-kit mixes workers and labels up unless they come in the order of their names.
    table = table.sort_values(["worker", "label", "task"]).reset_index(drop=True)
    table["label"] = pd.factorize(table["label"])[0]
    theirs = peers.MACE(n_restarts=1, n_iter=60, method=method)
    expected = quietly(theirs.fit_predict_proba, table).sort_index()[[0, 1, 2]].to_numpy()
    named = table.assign(task=table["task"] + 1000, worker=table["worker"] + 1000)
    result = mace(Judgments.from_dataframe(named), MaceSettings(method=method, iterations=60, tolerance=0))
    np.testing.assert_allclose(result.probabilities, expected, atol=1e-4)
    competence = theirs.spamming_[:, 1] / theirs.spamming_.sum(axis=1)
    np.testing.assert_allclose(result.quality["competence"], competence, atol=1e-4)


@pytest.mark.slow
def test_glad_climbs_higher_than_crowd_kit() -> None:
    peers = pytest.importorskip("crowdkit.aggregation")
    table, _ = crowd(tasks=25, workers=10)
    table = table.assign(task=table["task"] + 1000, worker=table["worker"] + 1000)
    theirs = peers.GLAD()
    labels = quietly(theirs.fit_predict, table).sort_index()
    judgments = Judgments.from_dataframe(table)
    result = glad(judgments)
    reached = np.r_[theirs.alphas_.sort_index(), theirs.betas_.sort_index()]
    assert result.details["log_posterior"] >= _Posterior(Votes.of(judgments))(reached)[0]
    assert np.mean([str(label) == result.labels[str(task)] for task, label in labels.items()]) > 0.95


def test_wawa_is_crowd_kits() -> None:
    """In two steps: its own second step fails with recent versions of scikit-learn."""
    peers = pytest.importorskip("crowdkit.aggregation")
    table, _ = crowd(tasks=101, each=5, labels=2)
    skills = quietly(peers.Wawa().fit, table).skills_
    expected = quietly(peers.MajorityVote().fit_predict_proba, table, skills).sort_index()[[0, 1]].to_numpy()
    result = wawa(Judgments.from_dataframe(table.assign(task=table["task"] + 1000, worker=table["worker"] + 1000)))
    np.testing.assert_allclose(result.quality["skill"], skills.sort_index())
    np.testing.assert_allclose(result.probabilities, expected)


# Numbers


@given(x=st.floats(1e-4, 1e8))
def test_digamma_is_digamma(x: float) -> None:
    assert digamma(np.array([x]))[0] == pytest.approx(special.digamma(x), rel=1e-12, abs=1e-12)


def test_the_gradient_of_glad_is_its_slope() -> None:
    table, _ = crowd(tasks=15, workers=6, each=4)
    votes = Votes.of(Judgments.from_dataframe(table))
    posterior = _Posterior(votes)
    point = np.random.default_rng(0).normal(1, 1, votes.workers + votes.tasks)
    _, gradient = posterior(point)
    for place in range(len(point)):
        step = np.zeros(len(point))
        step[place] = 1e-5
        slope = (posterior(point + step)[0] - posterior(point - step)[0]) / 2e-5
        assert gradient[place] == pytest.approx(slope, abs=1e-5)


def test_climbing_finds_the_top() -> None:
    def hill(point: Any) -> tuple[float, Any]:
        """Rosenbrock's valley, upside down."""
        x, y = point
        value = -((1 - x) ** 2 + 100 * (y - x * x) ** 2)
        return value, np.array([2 * (1 - x) + 400 * x * (y - x * x), -200 * (y - x * x)])

    summit = climb(hill, np.array([-1.2, 1.0]), steps=500, gain=1e-15)
    assert summit.point.tolist() == pytest.approx([1, 1], abs=1e-4)


def test_mace_finds_the_pretender() -> None:
    rng = np.random.default_rng(3)
    rows = [(f"t{task}", worker, "xyz"[task % 3]) for task in range(60) for worker in "abc"]
    rows += [(f"t{task}", "spam", "xyz"[int(rng.integers(3))]) for task in range(60)]
    result = mace(judged(rows))
    competence = dict(zip(result.workers, result.quality["competence"].tolist(), strict=True))
    assert competence["spam"] < 0.3
    assert min(competence[worker] for worker in "abc") > 0.9
    np.testing.assert_allclose(result.details["habits"].sum(axis=1), 1)


# Classes in crowd-kit's manner


SMALL = pd.DataFrame({"task": [7, 7, 7, 8, 8, 8], "worker": list("abcabc"), "label": [1, 1, 0, 0, 0, 0]})
CLASSES = ["MajorityVote", "DawidSkene", "OneCoinDawidSkene", "MACE", "GLAD", "Wawa"]


@pytest.mark.parametrize("name", CLASSES)
def test_pandas_in_pandas_out(name: str) -> None:
    model = getattr(library, name)()
    labels = model.fit_predict(SMALL)
    expected = pd.Series([1, 0], index=pd.Index([7, 8], name="task"), name="agg_label")
    pd.testing.assert_series_equal(labels, expected, check_series_type=False)
    pd.testing.assert_series_equal(model.labels_, expected)
    probabilities = model.fit_predict_proba(SMALL)
    assert probabilities.columns.tolist() == [0, 1]
    assert probabilities.index.name == "task"
    assert probabilities.loc[7, 1] > 0.5
    assert model.fit(SMALL) is model


@pytest.mark.parametrize("name", CLASSES)
def test_polars_in_polars_out(name: str) -> None:
    model = getattr(library, name)()
    assert model.fit_predict(pl.DataFrame(SMALL.to_dict("list"))).rows() == [(7, 1), (8, 0)]
    assert model.probas_.columns == ["task", "0", "1"]
    assert getattr(library, name)().fit_predict(SMALL.to_dict("list")).rows() == [("7", "1"), ("8", "0")]


LOOSELY: Any = {"check_column_type": False, "check_names": False}


@pytest.mark.parametrize("name", ["MajorityVote", "DawidSkene", "OneCoinDawidSkene"])
def test_switching_is_one_import(name: str) -> None:
    peers = pytest.importorskip("crowdkit.aggregation")
    table, _ = crowd(tasks=51, labels=2)
    theirs, ours = getattr(peers, name)(), getattr(library, name)()
    expected = quietly(theirs.fit_predict, table).sort_index()
    pd.testing.assert_series_equal(expected, ours.fit_predict(table), check_series_type=False)
    pd.testing.assert_series_equal(expected, ours.labels_)
    expected = theirs.probas_.sort_index()[[0, 1]]
    pd.testing.assert_frame_equal(expected, ours.probas_, check_exact=False, atol=1e-8)
    if name == "DawidSkene":
        pd.testing.assert_frame_equal(theirs.errors_.sort_index()[[0, 1]], ours.errors_, atol=1e-8, **LOOSELY)
        pd.testing.assert_series_equal(theirs.priors_.sort_index(), ours.priors_, atol=1e-8)
    else:
        pd.testing.assert_series_equal(theirs.skills_.sort_index(), ours.skills_, atol=1e-8)


def test_a_weighted_vote_and_known_labels_as_in_crowd_kit() -> None:
    skills = pd.Series({"a": 0.1, "b": 0.1, "c": 0.9})
    assert library.MajorityVote().fit_predict(SMALL, skills).tolist() == [0, 0]
    with pytest.raises(ValueError, match="default_skill"):
        library.MajorityVote().fit(SMALL, {"a": 1})
    assert library.MajorityVote(default_skill=1).fit_predict(SMALL, {"a": 1}).tolist() == [1, 0]
    assert library.DawidSkene().fit_predict(SMALL, pd.Series({7: 0})).tolist() == [0, 0]


def test_a_table_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"has no columns label .found: task, worker, answer"):
        library.Wawa().fit(SMALL.rename(columns={"label": "answer"}))
    with pytest.raises(ValueError, match="1 judgment has a label but no task"):
        library.Wawa().fit(SMALL.assign(task=[7, None, 7, 8, 8, 8]))
    assert len(library.Wawa().fit_predict(SMALL.assign(label=[1, 1, None, None, None, None]))) == 1


def test_weighing_votes_needs_no_numpy() -> None:
    code = "import sys; from chorale.metrics.aggregation import trust_weighted_share; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# The command


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table, truth = crowd(tasks=80, workers=10)
    table.to_csv("judgments.csv", index=False)
    pd.DataFrame({"task": range(80), "label": truth}).to_csv("truth.csv", index=False)
    return tmp_path


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["aggregate", *arguments])


def told(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def refused(*arguments: str) -> str:
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit)
    return str(done.stderr)


@pytest.mark.parametrize("method", NAMES)
def test_json_has_labels_probabilities_and_workers(method: str, files: Path) -> None:
    found = told("judgments.csv", "--method", method)
    assert found["labels"].keys() == found["probabilities"].keys() == set(map(str, range(80)))
    assert sum(found["probabilities"]["0"].values()) == pytest.approx(1)
    assert set(found["workers"]) == set(map(str, range(10)))
    assert found["workers"]["0"]["judgments"] > 0
    assert f"|method:{method}|" in found["signature"]


def test_crowdtruth_has_its_own_shape(files: Path) -> None:
    found = told("judgments.csv", "--method", "crowdtruth", "--truth", "truth.csv")
    assert set(found["units"]["0"]) >= {"uqs", "uas"}
    assert found["iterations"] > 1
    assert found["truth"]["accuracy"] > 0.6


def test_tables_and_latex_are_for_people(files: Path) -> None:
    done = run("judgments.csv")
    assert "Summary (dawid-skene)" in done.stdout
    assert "Workers" in done.stdout
    assert r"\begin{tabular}" in run("judgments.csv", "--latex").stdout


def test_accuracy_with_interval_and_another_method_beside_it(files: Path) -> None:
    found = told("judgments.csv", "--truth", "truth.csv", "--ci", "--against", "majority", "--resamples", "200")
    truth = found["truth"]
    assert truth["n_tasks"] == 80
    low, high = truth["ci"]["accuracy"]
    assert low <= truth["accuracy"] <= high
    compared = truth["against"]
    assert compared["method"] == "majority"
    assert compared["accuracy"]["value"] == truth["accuracy"]
    assert compared["accuracy"]["difference"] == pytest.approx(truth["accuracy"] - compared["accuracy"]["other"])
    assert "|resamples:200|" in found["signature"]
    assert "|seed:1|" in found["signature"]


def test_confidence_takes_trust_from_truth_or_a_column(files: Path) -> None:
    found = told("judgments.csv", "--method", "confidence", "--truth", "truth.csv", "--smoothing", "1")
    assert any("evaluated on the same truth" in note for note in found["notes"])
    assert 0.3 < found["workers"]["0"]["trust"] < 1
    (files / "t.csv").write_text("task,worker,label,sure\nt,a,x,0.9\nt,b,y,0.3\nt,c,y,0.3\n")
    found = told("t.csv", "--method", "confidence", "--trust", "sure")
    assert found["labels"] == {"t": "x"}
    assert found["probabilities"]["t"]["x"] == pytest.approx(0.6)
    assert any("every vote counts equally" in note for note in told("t.csv", "--method", "confidence")["notes"])


def test_sets_come_out_as_lists(files: Path) -> None:
    (files / "m.csv").write_text("task,worker,label\nt,a,x|y\nt,b,x\nt,c,\nu,a,\nu,b,z\n")
    (files / "g.csv").write_text("task,label\nt,x|y\nu,\nv,x\n")
    found = told("m.csv", "--method", "majority", "--sep", "|", "--truth", "g.csv")
    assert found["labels"] == {"t": ["x"], "u": ["z"]}
    assert found["probabilities"]["t"] == {"x": 1, "y": 0.5, "z": 0}
    assert found["truth"] == {"n_tasks": 2, "accuracy": 0, "precision": 0.5, "recall": 0.5, "f1": 0.5}
    named = told("m.csv", "--method", "majority", "--sep", "|", "--empty", "none")
    assert named["labels"] == {"t": ["x"], "u": []}


def test_labels_are_written_to_files(files: Path) -> None:
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.parquet"):
        assert run("judgments.csv", "--method", "wawa", "--out", name).exit_code == 0
    table = pd.read_csv("a.csv")
    assert list(table.columns) == ["task", "label", "confidence", "p:0", "p:1", "p:2"]
    assert table[["p:0", "p:1", "p:2"]].sum(axis=1).tolist() == pytest.approx([1] * 80)
    assert pl.read_parquet("a.parquet")["label"].to_list() == table["label"].astype(str).tolist()
    first = json.loads((files / "a.jsonl").read_text().splitlines()[0])
    assert first["probabilities"][first["label"]] == first["confidence"]
    assert "--force" in refused("judgments.csv", "--out", "a.csv")
    assert run("judgments.csv", "--out", "a.csv", "--force").exit_code == 0
    assert ".parquet" in refused("judgments.csv", "--out", "a.xlsx")
    assert "no folder" in refused("judgments.csv", "--out", "nowhere/a.csv")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["judgments.csv", "--label", "lable"], "Did you mean --label 'label'?"),
        (["judgments.csv", "--against", "majority"], "--truth"),
        (["judgments.csv", "--against", "majorty"], "neither a method"),
        (["judgments.csv", "--against", "other.csv"], "nothing to compare"),
        (["judgments.csv", "--method", "majority", "--iterations", "3"], "--iterations only applies to"),
        (["judgments.csv", "--method", "glad", "--restarts", "3"], "--restarts only applies to mace"),
        (["judgments.csv", "--open"], "--open only applies to crowdtruth"),
        (["judgments.csv", "--trust", "label"], "--trust only applies to confidence"),
        (["judgments.csv", "--method", "crowdtruth", "--open", "--options", "0,1,2"], "no list of options"),
        (
            ["judgments.csv", "--options", "0,1"],
            "judgments.csv: has labels that are not among the options (found '2'). Add them to --options",
        ),
        (
            ["judgments.csv", "--truth", "judgments.csv", "--truth-label", "worker"],
            "has a different worker than an earlier row for the same task",
        ),
        (["none.csv"], "none.csv: does not exist"),
        (["judgments.csv", "--truth", "other.csv"], "No judged task is in the truth"),
    ],
)
def test_mistakes_are_told(arguments: list[str], expected: str, files: Path) -> None:
    (files / "other.csv").write_text("task,worker,label\nx,nobody,1\n")
    assert expected in refused(*arguments)


@pytest.mark.parametrize("method", NAMES)
def test_without_a_truth_there_are_intervals_and_another_file(method: str, files: Path) -> None:
    judgments = pd.read_csv("judgments.csv")
    judgments[judgments["task"] % 5 > 0].assign(label=lambda rows: rows["label"].where(rows["worker"] > 3, 0)).to_csv(
        "other.csv", index=False
    )
    options = ["--method", method, "--ci", "--resamples", "200", "--against", "other.csv"]
    found = told("judgments.csv", *options)
    compared = found["against"]
    assert compared["file"] == "other.csv"
    if method == "crowdtruth":
        unit, worker = found["units"]["1"], found["workers"]["1"]
        assert unit["ci"]["uqs"][0] <= unit["uqs"] <= unit["ci"]["uqs"][1]
        assert worker["ci"]["wqs"][0] <= worker["wqs"] <= worker["ci"]["wqs"][1]
        assert compared["uqs"]["common"] == 64
        for typical in ("means", "medians"):
            for name in ("uqs", "wqs", "wwa", "wua", "aqs"):
                low, high = found[typical]["ci"][name]
                assert low < found[typical][name] < high
        assert any("Minimum and maximum have none" in note for note in found["notes"])
        return
    shares = found["ci"]["probabilities"]
    assert set(shares) == {"0", "1", "2"}
    assert all(0 <= low <= high <= 1 for low, high in shares.values())
    assert compared["mean certainty"]["difference"] == pytest.approx(
        compared["mean certainty"]["value"] - compared["mean certainty"]["other"]
    )
    assert method != "majority" or compared["probability of 0"]["difference"] < 0
    without = {"confidence": ["Workers' trust"], "mmsr": ["Workers' accuracy"], "glad": ["Workers' ability"]}.get(
        method, []
    )
    for worker in found["workers"].values():
        assert ("ci" in worker) == (not without)
        for quality, (low, high) in worker.get("ci", {}).items():
            assert low <= worker[quality] <= high
    assert [note.partition(" has no interval")[0] for note in found["notes"] if "has no interval" in note] == without
    assert any("requires at least 5 of them." in note for note in found["notes"])
    shown = run("judgments.csv", *options).stdout
    assert "Intervals" in shown
    assert "Compared" in shown


def test_another_file_is_held_against_the_same_truth(files: Path) -> None:
    judgments = pd.read_csv("judgments.csv")
    judgments[judgments["task"] > 9].to_csv("other.csv", index=False)
    found = told("judgments.csv", "--truth", "truth.csv", "--against", "other.csv", "--resamples", "200")
    compared = found["truth"]["against"]
    assert compared["method"] == "other.csv"
    assert compared["accuracy"]["difference"] == pytest.approx(0, abs=0.05)
    assert any("Left out of the comparison" in note for note in found["notes"])


def test_what_workers_qualities_rest_on_gives_them_again(files: Path) -> None:
    judgments = Judgments.from_dataframe(pd.read_csv("judgments.csv"))
    assert worker_evidence(judgments, "glad", aggregate(judgments, "glad")) is None
    for method in ("majority", "wawa", "dawid-skene", "one-coin", "mace"):
        result = aggregate(judgments, method)
        evidence = worker_evidence(judgments, method, result)
        assert evidence is not None
        rows = [evidence.rows(place) for place in range(len(result.workers))]
        again = [float(evidence.metric.formula(each.sum(axis=0))["quality"]) for each in rows]
        np.testing.assert_allclose(again, next(iter(result.quality.values())), atol=2e-3)


@pytest.mark.parametrize("smoothing", ["0", "3"])
def test_trust_from_gold_is_drawn_over_the_gold_that_was_met(smoothing: str, files: Path) -> None:
    truth = pd.read_csv("truth.csv")
    truth[truth["task"] < 30].to_csv("gold.csv", index=False)
    Path("with-late.csv").write_text(Path("judgments.csv").read_text("utf-8") + "70,late,1\n", "utf-8")
    options = ["--method", "confidence", "--truth", "gold.csv", "--smoothing", smoothing, "--ci", "--resamples", "200"]
    found = told("with-late.csv", *options)
    widths = []
    for name, worker in found["workers"].items():
        assert ("ci" in worker) == (name != "late")
        if name != "late":
            low, high = worker["ci"]["trust"]
            assert low - 1e-9 <= worker["trust"] <= high + 1e-9
            widths.append(high - low)
    assert max(widths) > 0
    assert "1 worker has no gold answers, so their gold accuracy (trust) has no interval." in found["notes"]


def test_too_many_labels_are_refused_before_the_memory_is_full(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.metrics.scoring.aggregating.MOST_CELLS", 100)
    assert "too many different labels to aggregate (found 3 labels of 80 tasks)" in refused("judgments.csv")


def test_what_was_decided_is_said(files: Path) -> None:
    (files / "r.csv").write_text("task,worker,label\nt,a,x\nt,a,y\nt,b,x\nu,a,\n")
    notes = told("r.csv", "--method", "majority")["notes"]
    assert any("more than once" in note for note in notes)
    assert any("no label" in note for note in notes)
    assert any("1 task is tied (100.0%): a random tied label is used" in note for note in notes)
    assert told("r.csv", "--method", "majority", "--repeats", "all")["probabilities"]["t"]["x"] == pytest.approx(2 / 3)
    done = run("judgments.csv", "--iterations", "1")
    assert "without convergence" in done.stderr


# Drop-in for crowd-kit


@pytest.mark.parametrize("name", CLASSES)
def test_every_parameter_of_crowd_kit_stands_at_its_place(name: str) -> None:
    peers = pytest.importorskip("crowdkit.aggregation")
    for method in ("__init__", "fit", "fit_predict", "fit_predict_proba"):
        theirs = list(inspect.signature(getattr(getattr(peers, name), method)).parameters)
        given = inspect.signature(getattr(getattr(library, name), method)).parameters.values()
        ours = [one.name for one in given if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        if name == "Wawa" and method == "__init__":
            continue
        assert ours == theirs, method


def test_arguments_without_meaning_are_refused() -> None:
    for refused in (
        lambda: library.DawidSkene(initial_error_strategy="forget"),  # type: ignore[arg-type]
        lambda: library.OneCoinDawidSkene(100, 1e-5, "forget"),  # type: ignore[arg-type]
        lambda: library.DawidSkene().fit(SMALL, None, SMALL),
        lambda: library.DawidSkene(initial_error_strategy="assign").fit(SMALL, None, SMALL.head(1)),
        lambda: library.GLAD(labels_priors={0: 0.5, 1: -1}).fit(SMALL),
        lambda: library.GLAD(alphas_priors_mean={"nobody": 1.0}).fit(SMALL),
        lambda: library.MajorityVote(on_missing_skill="forget"),  # type: ignore[arg-type]
        lambda: library.MajorityVote(on_missing_skill="value"),
    ):
        with pytest.raises(ValueError, match=r"initial_error|labels_priors|priors_mean|on_missing_skill"):
            refused()


@pytest.mark.parametrize("name", ["DawidSkene", "OneCoinDawidSkene", "MACE", "GLAD"])
def test_numbers_that_mean_nothing_are_refused(name: str) -> None:
    for wrong in ({"n_iter": -1}, {"n_iter": 0}, {"n_iter": 2.5}, {"tol": -1e-3}, {"tol": float("nan")}):
        with pytest.raises(ValueError, match="must be"):
            getattr(library, name)(**wrong)
    with pytest.raises(ValueError, match="iterations must be at least 1"):
        aggregate(judged([("t", "a", "x"), ("t", "b", "x")]), "dawid-skene", MethodOptions(iterations=0))


def initial_errors(data: pd.DataFrame, labels: int) -> pd.DataFrame:
    """Counts from elsewhere: workers with even numbers were good, the others were not."""
    workers = sorted(data["worker"].unique())
    index = pd.MultiIndex.from_product([workers, range(labels)], names=["worker", "label"])
    rows = [
        [(20 if number % 2 == 0 else 4) if said == true else 3 for true in range(labels)]
        for number, _ in enumerate(workers)
        for said in range(labels)
    ]
    return pd.DataFrame(rows, index=index, columns=range(labels))


@pytest.mark.parametrize("strategy", ["assign", "addition"])
@pytest.mark.parametrize("rounds", [1, 30])
def test_initial_errors_count_as_in_crowd_kit(strategy: Any, rounds: int) -> None:
    peers = pytest.importorskip("crowdkit.aggregation")
    data, _ = crowd(tasks=60, workers=12, each=4)
    initial = initial_errors(data, 3)
    if strategy == "addition":
        initial = initial[:20]
    theirs = quietly(peers.DawidSkene(rounds, 1e-9, strategy).fit, data, None, initial)
    ours = library.DawidSkene(rounds, 1e-9, strategy).fit(data, initial_error=initial)
    plain = library.DawidSkene(rounds, 1e-9).fit(data)
    expected = theirs.probas_.loc[ours.probas_.index, ours.probas_.columns]
    np.testing.assert_allclose(ours.probas_, expected, atol=1e-8)
    assert rounds > 1 or not np.allclose(ours.probas_, plain.probas_, atol=1e-3)
    given = pl.from_pandas(initial.rename(columns=str).reset_index())
    again = library.DawidSkene(rounds, 1e-9, strategy).fit(pl.from_pandas(data), initial_error=given)
    np.testing.assert_allclose(again.probas_.drop("task").to_numpy(), ours.probas_, atol=1e-12)


@pytest.mark.slow
def test_priors_of_glad_count_as_in_crowd_kit() -> None:
    peers = pytest.importorskip("crowdkit.aggregation")
    data, _ = crowd(tasks=40, workers=10, each=4, labels=2)
    given = {
        "labels_priors": pd.Series({0: 0.85, 1: 0.1, 2: 0.05}),
        "alphas_priors_mean": pd.Series({worker: 0.5 + 0.1 * at for at, worker in enumerate(data["worker"].unique())}),
        "betas_priors_mean": pd.Series({task: 0.4 + 0.01 * task for task in data["task"].unique()}),
    }
    theirs = quietly(peers.GLAD(n_iter=40, tol=-1e9, m_step_max_iter=50, m_step_tol=1e-9, **given).fit, data)
    ours = library.GLAD(**given).fit(data)
    expected = theirs.probas_.loc[ours.probas_.index, ours.probas_.columns]
    np.testing.assert_allclose(ours.probas_, expected, atol=2e-3)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_.loc[ours.alphas_.index], atol=2e-2)
    assert list(ours.priors_.index) == [0, 1, 2]


def test_priors_of_glad_move_the_answers() -> None:
    rows = pd.DataFrame({"task": [1, 1, 2, 2], "worker": list("abab"), "label": ["x", "y", "x", "x"]})
    for label in ("x", "y"):
        other = {"x": "y", "y": "x"}[label]
        found = library.GLAD(labels_priors={label: 0.9, other: 0.1}).fit(rows)
        assert found.labels_[1] == label
    able = library.GLAD(alphas_priors_mean={"a": 0.1, "b": 3.0}).fit(rows)
    assert able.labels_[1] == "y"
    three = library.GLAD(labels_priors={"x": 1, "y": 1, "z": 1}).fit(rows)
    assert list(three.probas_.columns) == ["x", "y", "z"]
    assert library.GLAD(betas_priors_mean={1: 1.0, 2: 4.0}).fit(rows).betas_[2] > 3


def test_workers_without_a_skill_may_be_ignored() -> None:
    vote = library.MajorityVote(on_missing_skill="ignore")
    table = pl.DataFrame({"task": [1, 1, 1], "worker": ["a", "b", "c"], "label": ["x", "y", "y"]})
    assert vote.fit_predict(table, {"a": 1.0}).rows() == [(1, "x")]
    with pytest.raises(ValueError, match="no judgments of workers with a skill"):
        vote.fit(table, {"d": 1.0})


def test_wawa_knows_workers_again() -> None:
    with pytest.raises(ValueError, match="call fit before predict"):
        library.Wawa().predict(SMALL)
    table = pl.DataFrame({"task": [1, 1, 1, 2, 2], "worker": list("abcab"), "label": list("xxyxx")})
    fitted = library.Wawa().fit(table)
    other = pl.DataFrame({"task": [7, 7], "worker": ["a", "c"], "label": ["p", "q"]})
    assert fitted.predict(other).rows() == [(7, "p")]
    assert fitted.predict_proba(other).rows() == [(7, 1.0, 0.0)]


def test_arrow_tables_keep_their_types_and_labels_may_be_called_like_columns() -> None:
    arrow = pytest.importorskip("pyarrow")
    table = {"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": ["task", "task", "worker"]}
    found = library.DawidSkene().fit(arrow.table(table))
    assert found.labels_.rows() == [(1, "task"), (2, "worker")]
    assert found.probas_.columns == ["task", "task_", "worker_"]
    assert found.probas_["task"].to_list() == [1, 2]


def test_nan_is_no_label_in_polars_either() -> None:
    table = pl.DataFrame({"task": [1, 1], "worker": [1, 2], "label": [1.0, float("nan")]})
    assert library.MajorityVote().fit_predict_proba(table).columns == ["task", "1.0"]


def test_a_method_that_cannot_compare_so_many_workers_is_an_error_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chorale.metrics.aggregation.mmsr._MOST_WORKERS", 2)
    file = tmp_path / "votes.csv"
    file.write_text("task,worker,label\n" + "".join(f"t{n % 2},w{n},a\n" for n in range(6)), "utf-8")
    done = CliRunner().invoke(app, ["aggregate", str(file), "--method", "mmsr"])
    assert done.exit_code == 2
    assert (
        "--method mmsr can't be used" in done.output
        and "at most 2 workers, not 6. Use a different method." in " ".join(done.output.split())
    )
