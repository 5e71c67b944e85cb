"""Simulated people who were fitted to published judgments err as often as the real ones."""

import csv
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import pytest

from chorale.formats.judgments import Judgments
from chorale.simulate import WorkerModel
from chorale.simulate.fitting import draw_fitted, fit_workers

SHARED = Path(__file__).parents[2] / "shared"

pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)
ENOUGH = 7
"""Of ten judgments."""


def released(said: dict[str, list[str]], truth: dict[str, str]) -> tuple[float, float, float]:
    """How many answers are right, how many items have most of them agree, and how many of those labels are right."""
    right = [one == truth[task] for task, answers in said.items() for one in answers]
    leading = {task: Counter(answers).most_common(1)[0] for task, answers in said.items()}
    agreed = {task: label for task, (label, count) in leading.items() if count >= ENOUGH}
    correct = sum(label == truth[task] for task, label in agreed.items())
    return sum(right) / len(right), len(agreed) / len(said), correct / len(agreed)


def test_answers_and_labels_are_right_as_often_as_the_real_ones() -> None:
    with (SHARED / "data" / "snow2008" / "rte.standardized.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    truth = {row["orig_id"]: row["gold"] for row in rows}
    real, simulated = defaultdict(list), defaultdict(list)
    for row in rows:
        real[row["orig_id"]].append(row["response"])
    columns = [[row[name] for row in rows] for name in ("orig_id", "!amt_worker_ids", "response")]
    rng = Random(1)
    for crowd in range(5):
        people = draw_fitted(fit_workers(Judgments.from_columns(*columns), WorkerModel("fitted")), 164, rng)
        for task, right in truth.items():
            for person in rng.sample(people, 10):
                simulated[f"{crowd}:{task}"].append(person.answer(right, ["0", "1"], rng))
    found = released(simulated, {f"{crowd}:{task}": right for crowd in range(5) for task, right in truth.items()})
    assert found == pytest.approx(released(real, truth), abs=0.04)
