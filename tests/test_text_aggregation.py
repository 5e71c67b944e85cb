"""Texts, vectors and masks from several workers: against crowd-kit, and on small and odd data."""

import types
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from scipy.spatial import distance

import chorale
from chorale.metrics.aggregation.chi_square import upper_quantile
from chorale.metrics.aggregation.rover import rover
from chorale.metrics.aggregation.text_vectors import gleu, hashed_tfidf

peers = pytest.importorskip("crowdkit.aggregation")
sentence_gleu = pytest.importorskip("nltk.translate.gleu_score").sentence_gleu
WORDS = ["a", "cat", "dog", "sat", "on", "mat", "the", "x"]


def answers(tasks: int, workers: int, each: int, seed: int, *, ragged: bool = False) -> pd.DataFrame:
    """Workers who get words wrong and leave some out; where ragged, 1 to `each` answer a task."""
    rng = np.random.default_rng(seed)
    rows = []
    for task in range(tasks):
        true = rng.choice(WORDS, size=6)
        for worker in rng.choice(workers, size=rng.integers(1, each + 1) if ragged else each, replace=False):
            words = [str(word if rng.random() < 0.5 + 0.4 * worker / workers else rng.choice(WORDS)) for word in true]
            rows.append((f"t{task:02}", f"w{worker:02}", " ".join(words[: 6 - rng.integers(2)])))
    table = pd.DataFrame(rows, columns=["task", "worker", "output"]).sort_values(["task", "output", "worker"])
    names, codes = np.unique(table["output"], return_inverse=True)
    vectors = hashed_tfidf(list(names), 16) + 0.01 * rng.normal(size=(len(names), 16))
    return table.reset_index(drop=True).assign(embedding=list(vectors[codes]))


def quietly(call: Any, *arguments: Any) -> Any:
    with warnings.catch_warnings(action="ignore"):
        return call(*arguments)


@pytest.fixture
def hrrasa_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pandas 3 makes no numbers of a Series of vectors; crowd-kit 1.4 asks for that, to no effect."""
    module = pytest.importorskip("crowdkit.aggregation.embeddings.hrrasa")

    class Pandas(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            return getattr(pd, name)

        @staticmethod
        def Series(data: Any = None, dtype: Any = None, **more: Any) -> Any:
            return pd.Series(data, **more) if isinstance(data, pd.Series) else pd.Series(data, dtype=dtype, **more)

    monkeypatch.setattr(module, "pd", Pandas("pd"))


@pytest.mark.parametrize("ragged", [False, True])
def test_rasa_is_crowd_kits(ragged: bool) -> None:
    for seed in range(2):
        table = answers(20, 7, 5, seed, ragged=ragged)
        theirs = peers.RASA()
        expected = quietly(theirs.fit_predict, table).sort_index()
        ours = chorale.aggregate.RASA().fit(table)
        np.testing.assert_allclose(ours.skills_, theirs.skills_.sort_index(), rtol=1e-9)
        assert (ours.embeddings_and_outputs_["output"] == expected["output"]).all()
        vectors = np.stack(theirs.aggregated_embeddings_.sort_index().to_numpy())
        np.testing.assert_allclose(np.stack(ours.aggregated_embeddings_.to_numpy()), vectors, atol=1e-12)


@pytest.mark.usefixtures("hrrasa_that_runs")
@pytest.mark.parametrize("ragged", [False, True])
def test_hrrasa_is_crowd_kits_with_gleu_of_words(ragged: bool) -> None:
    """Crowd-kit's own GLEU compares words with letters; given one that compares words, it finds the same."""

    def of_words(first: str, second: str) -> float:
        return float(sentence_gleu([first.split()], second.split()))

    table = answers(20, 7, 4, 5, ragged=ragged)
    theirs = peers.HRRASA(output_similarity=of_words)
    expected = quietly(theirs.fit_predict, table).sort_index()
    ours = chorale.aggregate.HRRASA(calculate_ranks=True).fit(table)
    np.testing.assert_allclose(ours.skills_, theirs.skills_.sort_index(), rtol=1e-9)
    assert (ours.embeddings_and_outputs_["output"] == expected["output"]).all()
    alone = table.groupby("task")["worker"].transform("size") == 1
    assert (ours.ranks_["rank"].isna().to_numpy() == alone.to_numpy()).all()
    # With crowd-kit's own similarity, given to both.
    similarity = pytest.importorskip("crowdkit.aggregation.embeddings.hrrasa").glue_similarity
    as_theirs = chorale.aggregate.HRRASA(output_similarity=similarity).fit(table)
    also = peers.HRRASA()
    quietly(also.fit, table)
    np.testing.assert_allclose(as_theirs.skills_, also.skills_.sort_index(), rtol=1e-9)


@pytest.mark.usefixtures("hrrasa_that_runs")
def test_text_classes_are_crowd_kits_with_the_same_encoder() -> None:
    table = answers(15, 6, 4, 8).rename(columns={"output": "text"})
    place = {text: row for row, text in enumerate(sorted(set(table["text"])))}
    vectors = hashed_tfidf(list(place), 16)

    def encoder(text: str) -> Any:
        return vectors[place[text]]

    data = table[["task", "worker", "text"]]
    expected = quietly(peers.TextRASA(encoder).fit_predict, data, None).sort_index()
    assert (chorale.aggregate.TextRASA(encoder).fit_predict(data) == expected).all()
    theirs = peers.TextHRRASA(encoder, output_similarity=gleu)
    expected = quietly(theirs.fit_predict, data, None).sort_index()
    assert (chorale.aggregate.TextHRRASA(encoder).fit_predict(data) == expected).all()
    without = chorale.aggregate.TextRASA().fit_predict(pl.DataFrame(data.to_dict("list")))
    assert without.columns == ["task", "text"]
    with pytest.raises(ValueError, match="true_objects require an encoder"):
        chorale.aggregate.TextRASA().fit(data, {"t00": "a cat"})


def test_true_vectors_stay_what_they_are() -> None:
    table = answers(10, 5, 4, 2)
    true = pd.Series({"t00": np.arange(16.0), "t03": np.ones(16)})
    theirs = peers.RASA()
    expected = quietly(theirs.fit_predict, table, true).sort_index()
    ours = chorale.aggregate.RASA().fit(table, true)
    np.testing.assert_allclose(ours.skills_, theirs.skills_.sort_index(), rtol=1e-9)
    assert (ours.embeddings_and_outputs_["output"] == expected["output"]).all()


def test_closest_to_average_is_crowd_kits() -> None:
    table = answers(20, 7, 5, 4)
    expected = quietly(peers.ClosestToAverage(distance=distance.euclidean).fit_predict, table).sort_index()
    ours = chorale.aggregate.ClosestToAverage(distance=distance.euclidean).fit(table)
    assert (ours.embeddings_and_outputs_["output"] == expected["output"]).all()
    two = table.groupby("task").head(2)
    equal = chorale.aggregate.ClosestToAverage(distance=distance.euclidean).fit(two[::-1])
    first = two.groupby("task")["output"].min()
    assert (equal.embeddings_and_outputs_["output"] == first).all()  # both are as close: the first by name


@pytest.mark.parametrize("ragged", [False, True])
def test_rover_is_crowd_kits(ragged: bool) -> None:
    for seed in range(5):
        table = (
            answers(15, 7, 5, seed, ragged=ragged).rename(columns={"output": "text"}).sort_values(["task", "worker"])
        )
        expected = quietly(peers.ROVER(str.split, " ".join).fit_predict, table)
        assert (chorale.aggregate.ROVER().fit_predict(table[::-1]) == expected.sort_index()).all()


def test_rover_of_little() -> None:
    assert rover([["a", "b"]]) == (["a", "b"], 1.0)
    assert rover([[], []]) == ([], 1.0)
    assert rover([["a"], []])[0] == ["a"]  # the longer of a tie
    assert rover([["a", "b"], ["a", "b"], ["a", "c"]])[0] == ["a", "b"]


@pytest.mark.usefixtures("hrrasa_that_runs")
@pytest.mark.parametrize("name", ["RASA", "HRRASA", "ClosestToAverage"])
@pytest.mark.parametrize(
    "rows",
    [
        [("t", "a", "x", [1.0, 0.0])],
        [("t", "a", "x", [1.0, 0.0]), ("t", "b", "x", [1.0, 0.0]), ("t", "c", "x", [1.0, 0.0])],
        [("t", "a", "x", [1.0, 0.0]), ("t", "b", "y", [0.0, 1.0])],
        [("t", "a", "x", [1.0, 0.0]), ("u", "a", "y", [0.0, 1.0])],
        [("t", "a", "x", [0.0, 0.0]), ("t", "b", "y", [0.0, 0.0])],
    ],
    ids=["one answer", "unanimous", "a tie", "one worker", "zeros"],
)
def test_small_and_odd_data_have_answers(name: str, rows: list[Any]) -> None:
    table = pd.DataFrame(rows, columns=["task", "worker", "output", "embedding"])
    found = getattr(chorale.aggregate, name)().fit_predict(table)
    assert found.loc["t", "output"] == "x"


def test_vectors_must_be_of_one_length() -> None:
    rows = {"task": [1, 1], "worker": ["a", "b"], "output": ["x", "y"], "embedding": [[1.0], [1.0, 2.0]]}
    with pytest.raises(ValueError, match="all of the same length"):
        chorale.aggregate.RASA().fit(rows)


def test_quantiles_and_gleu_are_those_of_scipy_and_nltk() -> None:
    for share in (0.0005, 0.025, 0.3, 0.9):
        for degrees in (1, 2, 3, 10, 100, 3000):
            assert upper_quantile(share, degrees) == pytest.approx(stats.chi2.isf(share, degrees), rel=1e-11)
    for first in answers(4, 5, 4, 0)["output"]:
        for second in answers(3, 5, 4, 1)["output"]:
            assert gleu(first, second) == pytest.approx(sentence_gleu([first.split()], second.split()))


def masks(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows: list[tuple[int, int, Any]] = []
    for task in range(6):
        true = rng.random((9, 11)) < 0.4
        for worker in range(rng.integers(1, 7)):
            rows.append((task, worker, true ^ (rng.random(true.shape) < rng.uniform(0.02, 0.4))))
    rows += [(6, 0, np.zeros((3, 3), bool)), (7, 0, np.ones((3, 3), bool)), (7, 1, np.ones((3, 3), bool))]
    return pd.DataFrame(rows, columns=["task", "worker", "segmentation"])


@pytest.mark.parametrize("name", ["SegmentationMajorityVote", "SegmentationEM", "SegmentationRASA"])
def test_masks_are_crowd_kits(name: str) -> None:
    for seed in range(4):
        table = masks(seed)
        expected = quietly(getattr(peers, name)().fit_predict, table)
        ours = getattr(chorale.aggregate, name)().fit_predict(table)
        assert list(ours.index) == list(expected.index)
        assert all((ours[task] == expected[task]).all() for task in expected.index)


def test_masks_with_skills_are_crowd_kits() -> None:
    table = masks(0)
    skills = pd.Series({0: 0.9, 1: 0.2, 2: 0.7, 3: 0.5, 4: 0.4})
    options: Any = {"default_skill": 0.1, "on_missing_skill": "value"}
    expected = quietly(peers.SegmentationMajorityVote(**options).fit_predict, table, skills)
    ours = chorale.aggregate.SegmentationMajorityVote(**options).fit_predict(table, skills)
    assert all((ours[task] == expected[task]).all() for task in expected.index)
    with pytest.raises(ValueError, match="worker 2 has no skill"):
        chorale.aggregate.SegmentationMajorityVote().fit(table, skills[:2])
    other = pd.DataFrame({"task": [1, 1], "worker": [1, 2], "segmentation": [[[1]], [[1, 0]]]})
    with pytest.raises(ValueError, match="the masks of task 1 must have the same size"):
        chorale.aggregate.SegmentationEM().fit(other)
