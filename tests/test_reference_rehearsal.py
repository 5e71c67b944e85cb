"""Simulated people who were fitted to published judgments err as often as the real ones, and as much together."""

import csv
import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import pytest

from chorale.metrics.judgments import Judgments
from chorale.rehearsal.simulated import WorkerModel, draw_fitted, draw_hardness
from chorale.rehearsal.simulated.fitting import fit_spread, fit_workers

SHARED = Path(__file__).parents[2] / "shared"

pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)
ENOUGH = 7
"""Of ten judgments."""
Rows = list[tuple[str, str, str]]
Said = dict[str, list[str]]


def entailment() -> tuple[Rows, dict[str, str]]:
    with (SHARED / "data" / "snow2008" / "rte.standardized.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    truth = {row["orig_id"]: row["gold"] for row in rows}
    return [(row["orig_id"], row["!amt_worker_ids"], row["response"]) for row in rows], truth


def validations(arm: str) -> tuple[Rows, dict[str, str]]:
    """What ten people answered to a question; its writer's own answer is what is right."""
    with gzip.open(SHARED / "data" / "nangia" / f"{arm}.json.gz", "rt", encoding="utf-8") as file:
        questions = [one for one in json.load(file) if len(one["validation_data"]) >= 10]
    rows = [
        (str(number), said["worker_id"], said["worker_answer"])
        for number, question in enumerate(questions)
        for said in question["validation_data"]
    ]
    return rows, {str(number): question["gold_answer"] for number, question in enumerate(questions)}


def simulated(rows: Rows, truth: dict[str, str], spread: float | None = None) -> tuple[Said, dict[str, str]]:
    """Five crowds like the people of some judgments, who judge the same; as hard as was found if not told otherwise."""
    judgments = Judgments.from_columns(*zip(*rows, strict=True))
    models = fit_workers(judgments, WorkerModel("fitted"))
    spread = fit_spread(judgments, models) if spread is None else spread
    wanted = Counter(task for task, _, _ in rows)
    rng, said, right = Random(1), defaultdict(list), {}
    for crowd in range(5):
        people = draw_fitted(models, 164, rng)
        for task, answer in truth.items():
            hardness = draw_hardness(spread, rng) if spread else None
            right[f"{crowd}:{task}"] = answer
            for person in rng.sample(people, wanted[task]):
                given = person.answer(answer, judgments.options, rng, hardness=hardness)
                said[f"{crowd}:{task}"].append(given)
    return said, right


def said_in(rows: Rows) -> Said:
    said = defaultdict(list)
    for task, _, label in rows:
        said[task].append(label)
    return said


def unanimous(said: Said) -> float:
    return sum(len(set(answers)) == 1 for answers in said.values()) / len(said)


def released(said: Said, truth: dict[str, str]) -> tuple[float, float, float]:
    """How many answers are right, how many items have most of them agree, and how many of those labels are right."""
    right = [one == truth[task] for task, answers in said.items() for one in answers]
    leading = {task: Counter(answers).most_common(1)[0] for task, answers in said.items()}
    agreed = {task: label for task, (label, count) in leading.items() if count >= ENOUGH}
    correct = sum(label == truth[task] for task, label in agreed.items())
    return sum(right) / len(right), len(agreed) / len(said), correct / len(agreed)


def test_answers_and_labels_are_right_as_often_as_the_real_ones() -> None:
    rows, truth = entailment()
    assert released(*simulated(rows, truth)) == pytest.approx(released(said_in(rows), truth), abs=0.02)


@pytest.mark.parametrize("arm", ["", "baseline", "crowd"])
def test_people_err_together_as_the_real_ones_did(arm: str) -> None:
    """How often all agree; a crowd whose items are all as hard as each other agrees on far fewer."""
    rows, truth = validations(arm) if arm else entailment()
    real = unanimous(said_in(rows))
    assert unanimous(simulated(rows, truth)[0]) == pytest.approx(real, abs=0.05)
    assert unanimous(simulated(rows, truth, spread=0)[0]) < real - 0.02
