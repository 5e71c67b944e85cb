"""300 comments with a class, a span, a scale and a reason: every number about them is that of a field.

What Chorale says is compared with what pandas and krippendorff make of the same answers.
"""

import json
from collections.abc import Iterator
from itertools import combinations
from statistics import fmean
from typing import Any

import krippendorff
import pandas as pd
import pytest

from chorale.engine.running import Study
from chorale.metrics.resampling import Resampling
from chorale.report import ReportOptions, study_report
from chorale.store.responses import counted_responses
from comments_study import CLASSES, COMMENTS, PEOPLE, comments_study
from crowd import look


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    opened = comments_study(tmp_path_factory.mktemp("comments"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def answers(study: Study) -> pd.DataFrame:
    """Every answer, with a column for each field."""
    given = look(study, lambda tx: list(counted_responses(tx, "main")))
    frame = pd.DataFrame([{"item": row.item, "worker": row.worker, **row.answer} for row in given])
    assert len(frame) == COMMENTS * PEOPLE
    return frame.sort_values(["item", "worker"])


@pytest.fixture(scope="module")
def report(study: Study, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("report")
    found = study_report(study, folder, folder, ReportOptions(charts=False), Resampling(False))
    return {section.name: section.json for section in found.sections}


def alpha(answers: pd.DataFrame, field: str, level: str, values: list[Any]) -> float:
    coded = answers.assign(code=answers[field].map(values.index))
    table = coded.pivot(index="worker", columns="item", values="code").to_numpy(dtype=float)
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement=level))


def tokens(spans: list[dict[str, Any]]) -> frozenset[tuple[int, str]]:
    return frozenset((token, span["label"]) for span in spans for token in range(span["start"], span["end"]))


def apart(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> float:
    first, second = tokens(left), tokens(right)
    return 1 - 2 * len(first & second) / (len(first) + len(second)) if first or second else 0.0


def alpha_of_spans(answers: pd.DataFrame) -> float:
    """By the definition: 1 − the mean distance within items over that between all answers."""
    kinds = answers["spans"].map(json.dumps)
    values = {text: json.loads(text) for text in kinds.unique()}
    counts = kinds.value_counts()
    n = len(kinds)
    expected = sum(
        2 * counts[left] * counts[right] * apart(values[left], values[right])
        for left, right in combinations(counts.index, 2)
    ) / (n * (n - 1))
    within = answers.groupby("item")["spans"].apply(
        lambda given: sum(apart(left, right) for left, right in combinations(given, 2)) * 2 / (len(given) - 1)
    )
    return 1 - float(within.sum()) / n / expected


def test_agreement_is_that_of_each_field(report: dict[str, Any], answers: pd.DataFrame) -> None:
    found = {one["question"]: (one["coefficient"], one["value"]) for one in report["agreement"]["coefficients"]}
    assert found == {
        "main: class": ("Krippendorff's α, nominal", pytest.approx(alpha(answers, "class", "nominal", [*CLASSES]))),
        "main: spans": ("Krippendorff's α, spans (own distance)", pytest.approx(alpha_of_spans(answers))),
        "main: severity": (
            "Krippendorff's α, ordinal",
            pytest.approx(alpha(answers, "severity", "ordinal", [1, 2, 3, 4, 5])),
        ),
    }
    assert found["main: class"][1] > 0.85, "the class is agreed on, whatever the reasons say"
    near = {one["field"]: one["value"] for one in report["agreement"]["by_distance"]}
    pairs = [pair for _, given in answers.groupby("item")["severity"] for pair in combinations(given, 2)]
    assert near["severity"] == pytest.approx(fmean(1 - abs(left - right) / 4 for left, right in pairs))
    assert set(near) == {"class", "spans", "severity"}


def test_unanimous_and_confidence_are_those_of_each_field(report: dict[str, Any], answers: pd.DataFrame) -> None:
    found = {one["field"]: one for one in report["disagreement"]["unanimous"]}
    for field, name in (("class", "class"), ("severity", "severity")):
        same = (answers.groupby("item")[field].nunique() == 1).sum()
        assert found[name]["unanimous"] == same
    same = (answers.assign(spans=answers["spans"].map(json.dumps)).groupby("item")["spans"].nunique() == 1).sum()
    assert (found["spans"]["unanimous"], found["spans"]["items"]) == (same, COMMENTS)
    shares = answers.groupby("item")["class"].agg(lambda given: given.value_counts(normalize=True).max())
    fields = {one["field"]: one for one in report["fields"]["compared"]}
    assert fields["class"]["confidence"] == pytest.approx(float(shares.mean()))
    assert fields["class"]["accepted"] == (shares >= 0.7).sum()
    assert fields["class"]["unanimous"] == found["class"]["unanimous"] > 200
    assert all(one["decides"] for one in fields.values())


def test_a_worker_is_compared_with_the_result_of_each_field(report: dict[str, Any], answers: pd.DataFrame) -> None:
    # Ties are decided for the first by name here, where they are drawn there: they share the same number of answers.
    shares = answers.groupby("item")["class"].transform(lambda given: given == given.mode()[0])
    fields = {one["field"]: one for one in report["fields"]["compared"]}
    expected = shares.groupby(answers["worker"]).mean().mean()
    assert fields["class"]["as_the_result"] == pytest.approx(float(expected), abs=1e-9)


def test_free_text_is_counted_and_never_compared(report: dict[str, Any], answers: pd.DataFrame) -> None:
    (written,) = report["fields"]["text"]
    assert (written["field"], written["answers"], written["people"]) == ("reason", COMMENTS * PEOPLE, PEOPLE)
    assert written["different"] == answers["reason"].nunique()
    assert written["clusters"] == [], "nobody wrote what somebody else did"
    compared = [one["field"] for one in (*report["agreement"]["by_distance"], *report["fields"]["compared"])]
    assert "reason" not in compared and "main: reason" not in [
        one["question"] for one in report["aggregation"]["methods"]
    ]
