"""`chorale.aggregate`: the estimators on any kind of data, and what their labels say about themselves."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from crowdkit.aggregation import DawidSkene as CrowdKitDawidSkene
from crowdkit.aggregation import MajorityVote as CrowdKitMajorityVote

import chorale
from chorale import UserError

_RANDOM = np.random.default_rng(5)
_TRUE = _RANDOM.integers(3, size=40)
TRIPLES = [
    (f"t{task:02}", f"w{worker}", "abc"[label if _RANDOM.random() < 0.5 + worker / 12 else _RANDOM.integers(3)])
    for task, label in enumerate(_TRUE)
    for worker in _RANDOM.choice(6, size=4, replace=False)
]
TRUTH = {f"t{task:02}": "abc"[label] for task, label in enumerate(_TRUE)}
COLUMNS = {name: [triple[place] for triple in TRIPLES] for place, name in enumerate(("task", "worker", "label"))}
PANDAS = pd.DataFrame(COLUMNS)
ALL = ["DawidSkene", "GLAD", "MACE", "MMSR", "MajorityVote", "OneCoinDawidSkene", "Wawa", "ZeroBasedSkill"]
OTHERS = [
    *(
        "KOS",
        "BradleyTerry",
        "NoisyBradleyTerry",
        "ClosestToAverage",
        "RASA",
        "HRRASA",
        "TextRASA",
        "TextHRRASA",
    ),
    *("ROVER", "SegmentationMajorityVote", "SegmentationEM", "SegmentationRASA"),
]
"""For two labels, for comparisons, vectors, texts and masks."""


@pytest.mark.parametrize("ours", ["DawidSkene", "MajorityVote"])
def test_labels_are_crowd_kits_and_know_their_interval_and_signature(ours: str) -> None:
    theirs = {"DawidSkene": CrowdKitDawidSkene, "MajorityVote": CrowdKitMajorityVote}[ours]
    with warnings.catch_warnings(action="ignore"):
        expected = theirs().fit_predict(PANDAS).sort_index()
    labels = getattr(chorale.aggregate, ours)().fit_predict(PANDAS)
    agree = (expected == labels).mean()
    assert isinstance(labels, pd.Series)
    assert agree == 1 if ours == "DawidSkene" else agree > 0.8  # ties of a majority go elsewhere
    assert 0 < labels.interval.low < labels.score.value < labels.interval.high <= 1
    assert labels.signature.startswith("aggregate|method:")
    assert list(labels.to_pandas().columns) == labels.to_polars().columns == ["task", "agg_label", "confidence"]
    assert type(labels.head(3)) is pd.Series


@pytest.mark.parametrize("name", ALL)
def test_every_estimator_takes_every_kind_of_data(name: str, tmp_path: Path) -> None:
    pl.DataFrame(COLUMNS).write_csv(tmp_path / "judgments.csv")
    kinds: dict[str, Any] = {
        "polars": pl.DataFrame(COLUMNS),
        "dict": COLUMNS,
        "triples": TRIPLES,
        "rows": [dict(zip(COLUMNS, triple, strict=True)) for triple in TRIPLES],
        "path": str(tmp_path / "judgments.csv"),
    }
    expected = getattr(chorale.aggregate, name)().fit_predict(PANDAS)
    for kind, data in kinds.items():
        labels: Any = getattr(chorale.aggregate, name)().fit_predict(data)
        assert pl.DataFrame in type(labels).__mro__, kind
        assert labels["agg_label"].to_list() == expected.tolist(), kind
        assert labels.interval.low <= labels.score.value <= labels.interval.high, kind
        assert ("|file:" in labels.signature) == (kind == "path")
        assert labels.to_polars().columns == ["task", "agg_label", "confidence"]
        assert list(labels.to_pandas().columns) == ["task", "agg_label", "confidence"]


def test_signatures_tell_parameters_and_inputs_apart() -> None:
    estimator = chorale.aggregate.DawidSkene
    lines = {
        estimator().fit_predict(PANDAS).signature,
        estimator(n_iter=7).fit_predict(PANDAS).signature,
        estimator().fit_predict(PANDAS, true_labels={"t00": "a"}).signature,
        estimator().fit_predict(PANDAS[1:]).signature,
        chorale.aggregate.MajorityVote(default_skill=1.0).fit_predict(PANDAS, skills={"w0": 0.2}).signature,
        chorale.aggregate.MajorityVote(default_skill=1.0).fit_predict(PANDAS).signature,
    }
    assert len(lines) == 6
    assert estimator().fit(PANDAS).score_.signature in lines


def test_the_score_of_a_method_is_that_of_the_command() -> None:
    found = chorale.aggregate.score(PANDAS, "one-coin", truth=TRUTH, against="majority", resamples=200)
    right = np.mean([found.as_json()["labels"][task] == label for task, label in TRUTH.items()])
    assert found.name == "accuracy"
    assert found.value == pytest.approx(right)
    assert found.interval is not None
    assert found.interval.low <= right <= found.interval.high
    assert found.test is not None
    assert found.test.first == found.value
    assert "mean certainty" in found.values
    crowdtruth = chorale.aggregate.score(TRIPLES, "crowdtruth", resamples=100)
    assert crowdtruth.name == "mean UQS"
    assert crowdtruth.interval is not None
    beside = chorale.aggregate.score(TRIPLES, "wawa", against=TRIPLES[:100], ci=False)
    assert "against" in beside.as_json()


def test_labels_show_themselves_in_a_notebook_without_markup_of_the_data() -> None:
    data = [("<i>t", "<b>w", "<u>x"), ("<i>t", "v", "<u>x"), ("s", "v", "y")]
    shown = chorale.aggregate.Wawa().fit_predict(data)._repr_html_()
    assert "aggregate|method:wawa" in shown
    assert not any(tag in shown for tag in ("<i>", "<b>", "<u>"))


def test_how_it_fails() -> None:
    with pytest.raises(UserError, match=r"Unknown method 'dawid'.*Did you mean dawid-skene"):
        chorale.aggregate.score(TRIPLES, "dawid")
    with pytest.raises(UserError, match="truth must be a path or a mapping"):
        chorale.aggregate.score(TRIPLES, truth=3)
    with pytest.raises(UserError, match="No judged task is in the truth"):
        chorale.aggregate.score(TRIPLES, truth={"x": "a"})
    with pytest.raises(UserError, match="it is empty"):
        chorale.aggregate.DawidSkene().fit_predict([])
    with pytest.raises(ValueError, match="the table has no columns label"):
        chorale.aggregate.DawidSkene().fit_predict(PANDAS[["task", "worker"]])
    with pytest.raises(UserError, match='no column named "label"'):
        chorale.aggregate.DawidSkene().fit_predict({"task": ["a"], "worker": ["b"]})


def test_a_truth_file_may_have_other_columns(tmp_path: Path) -> None:
    file = tmp_path / "truth.csv"
    file.write_text("unit,said\nt1,cat\nt2,cat\n")
    said = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t2", "ann", "cat"), ("t2", "bob", "cat")]
    score = chorale.aggregate.score(said, "majority", truth=file, truth_task="unit", truth_label="said", ci=False)
    assert score.value == 1
    assert "truth-task:unit|truth-label:said" in score.signature
    with pytest.raises(UserError, match="`truth_task` and `truth_label` name columns of a file"):
        chorale.aggregate.score(said, "majority", truth={"t1": "cat"}, truth_task="unit")


def test_what_there_is_is_shown() -> None:
    assert [name for name in dir(chorale.aggregate) if name[0] != "_"] == sorted([*ALL, *OTHERS, "score"])


def test_tasks_that_a_method_leaves_out_are_noted() -> None:
    rows = [(task, worker, "x" if task < 3 else "y") for task in range(6) for worker in "ab"]
    judgments = [*rows, (6, "a", "x")]
    truth = {str(task): "x" for task in range(7)}
    found = chorale.aggregate.score(judgments, "crowdtruth", truth=truth, against="majority", resamples=100)
    assert "Left out of the accuracy: 1 task of the truth that was not aggregated." in found.notes
    assert "Left out of the comparison: 1 task in only one of the two results." in found.notes
