"""Aggregation on real files: Snow et al. (2008), and batches of Mechanical Turk and Appen."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.metrics.aggregation.dawid_skene import dawid_skene
from chorale.metrics.aggregation.mace import MaceSettings, mace
from chorale.metrics.aggregation.majority import majority
from chorale.metrics.aggregation.one_coin import one_coin
from chorale.metrics.judgments import Judgments
from chorale.metrics.reading.judgment_files import read_judgments

SHARED = Path(__file__).parents[2] / "shared"
SNOW = SHARED / "data" / "snow2008"
BATCHES = SHARED / "data" / "crowd-batches"
RAW = SHARED / "data" / "crowdtruth"
COLUMNS: Any = {"task": "orig_id", "worker": "!amt_worker_ids", "label": "response"}

pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)


def table_of(judgments: Judgments) -> pd.DataFrame:
    names = {"task": judgments.task_names, "worker": judgments.worker_names, "label": judgments.label_names}
    codes = {"task": judgments.tasks, "worker": judgments.workers, "label": judgments.labels}
    return pd.DataFrame({role: np.array(names[role], dtype=object)[codes[role]] for role in names})


def fitted(name: str, table: pd.DataFrame, **settings: Any) -> Any:
    peers = pytest.importorskip("crowdkit.aggregation")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(peers, name)(**settings).fit(table)


@pytest.mark.parametrize("file", ["rte", "joy"])
@pytest.mark.parametrize(
    ("name", "ours"),
    [("MajorityVote", majority), ("DawidSkene", dawid_skene), ("OneCoinDawidSkene", one_coin)],
)
def test_the_same_as_crowd_kit_on_real_judgments(file: str, name: str, ours: Any) -> None:
    judgments = read_judgments(SNOW / f"{file}.standardized.tsv", **COLUMNS).judgments
    theirs = fitted(name, table_of(judgments))
    result = ours(judgments)
    expected = theirs.probas_.sort_index()[list(result.options)].to_numpy()
    np.testing.assert_allclose(result.probabilities, expected, atol=1e-8)
    # Of equally probable labels crowd-kit takes one or the other.
    top = np.sort(expected, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-6
    labels = np.array([str(label) for label in theirs.labels_.sort_index()])
    assert (labels[clear] == np.array(list(result.labels.values()))[clear]).all()
    assert clear.mean() > 0.6
    if result.iterations is not None:
        np.testing.assert_allclose(result.details["bounds"], theirs.loss_history_, atol=1e-10)


@pytest.mark.slow
def test_mace_on_real_judgments() -> None:
    judgments = read_judgments(SNOW / "rte.standardized.tsv", **COLUMNS).judgments
    table = table_of(judgments).sort_values(["worker", "label", "task"])
    theirs = fitted("MACE", table, n_restarts=1)
    expected = theirs.probas_.sort_index()[["0", "1"]].to_numpy()
    result = mace(judgments, MaceSettings(restarts=1, iterations=50, tolerance=0))
    assert (result.probabilities.argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.99


@pytest.mark.parametrize(
    ("method", "at_least"),
    [
        ("majority", 0.89),
        ("confidence", 0.92),
        ("crowdtruth", 0.92),
        ("dawid-skene", 0.927),
        ("one-coin", 0.92),
        ("mace", 0.92),
        ("glad", 0.92),
        ("wawa", 0.91),
    ],
)
def test_entailment_is_judged_as_well_as_published(method: str, at_least: float) -> None:
    """Majority 0.897 and a model of workers 0.927, say Snow et al. (their ties are broken by chance)."""
    path = str(SNOW / "rte.standardized.tsv")
    columns = [part for role, name in COLUMNS.items() for part in (f"--{role}", name)]
    truth = ["--truth", path, "--truth-task", "orig_id", "--truth-label", "gold"]
    done = CliRunner().invoke(app, ["aggregate", path, *columns, "--method", method, *truth, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["truth"]["n_tasks"] == 800
    assert found["truth"]["accuracy"] >= at_least


@pytest.mark.parametrize("path", sorted(BATCHES.glob("*.gz")), ids=lambda path: path.name)
def test_every_batch_is_read_and_aggregated(path: Path) -> None:
    label, sep = ("Q1", "|") if path.name.startswith("mturk") else ("relations", "\\n")
    columns = ["--label", label, "--sep", sep, "--method", "dawid-skene", "--json"]
    done = CliRunner().invoke(app, ["aggregate", str(path), *columns])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert len(found["labels"]) >= 50
    assert all(0 <= value <= 1 + 1e-9 for row in found["probabilities"].values() for value in row.values())
    assert sum(map(len, found["labels"].values())) > len(found["labels"]) / 2


def test_json_cells_of_a_raw_job_are_read() -> None:
    path = RAW / "person-video-multiple-choice.csv"
    judgments = read_judgments(path, label="selected_answer", sep="json", empty="none").judgments
    assert len(judgments) == 1000
    assert judgments.sets is not None
    assert "Astronaut" in judgments.options
