"""The numbers of a report, field by field, computed again from the raw export by other people's libraries."""

import json
from collections.abc import Callable, Sequence
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import f1_score, jaccard_score  # type: ignore[import-untyped]
from sklearn.preprocessing import MultiLabelBinarizer  # type: ignore[import-untyped]

from chorale.exchange.export import write_export
from chorale.folder.reading import load_folder
from chorale.folder.templates import create_study
from chorale.metrics.resampling import Resampling
from chorale.rehearsal import Crowd, Rehearsal
from chorale.rehearsal.simulated import CrowdSettings, KindSettings
from chorale.report import ReportOptions, study_report

MIXED = KindSettings(name="mixed", share=1, ability=(0.55, 0.9), dropout=0)
QUICK = ("sentiment", "toxicity", "preference", "survey", "relations")
SLOW = ("audio-segments", "best-worst", "dialogue", "image-boxes", "translation")
Distance = Callable[[Any, Any], float]


def _frame(study: Any, folder: Path) -> pd.DataFrame:
    """The judgments that count, from the raw export."""
    write_export(study, "jsonl", folder / "raw.jsonl")
    rows = [json.loads(line) for line in (folder / "raw.jsonl").read_text("utf-8").splitlines()]
    frame = pd.DataFrame(rows)
    return frame[(frame["kind"] == "production") & frame["counts"]]


def _labelled(spans: Sequence[dict[str, Any]]) -> set[str]:
    """Tokens with their labels, and with their turns in a dialogue."""
    return {
        f"{span.get('turn', 0)}:{token}:{span.get('label')}"
        for span in spans
        for token in range(span["start"], span["end"])
    }


def _set_f1(left: set[str], right: set[str]) -> float:
    """F1 of two sets, by scikit-learn over what is in either of them."""
    if not left or not right:
        return float(left == right)
    first, second = MultiLabelBinarizer().fit_transform([left, right])
    return float(f1_score(first, second))


def _spans(left: Any, right: Any) -> float:
    return 0.0 if left == right else 1 - _set_f1(_labelled(left), _labelled(right)) or 1 / (1 + len(_labelled(left)))


def _links(value: dict[str, Any]) -> set[str]:
    spans = [json.dumps(span, sort_keys=True) for span in value["spans"]]
    return {json.dumps([spans[one["from"]], one["label"], spans[one["to"]]]) for one in value["relations"]}


def _regions(left: Any, right: Any) -> float:
    """1 less twice the overlap of regions that belong together, over the number of all."""
    if left == right:
        return 0.0
    overlaps = [[_overlap(one, other) if one["label"] == other["label"] else 0.0 for other in right] for one in left]
    return 1 - 2 * _greedy(overlaps) / (len(left) + len(right))


def _greedy(overlaps: list[list[float]]) -> float:
    """The overlap of pairs, the ones that overlap most first."""
    table, total = np.array(overlaps, dtype=float).reshape(len(overlaps), -1), 0.0
    while table.size and table.max() > 0:
        row, column = np.unravel_index(table.argmax(), table.shape)
        total += table[row, column]
        table[row, :] = table[:, column] = 0
    return float(total)


def _overlap(one: dict[str, Any], other: dict[str, Any]) -> float:
    if "width" in one:
        wide = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
        high = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
        shared = max(0.0, wide) * max(0.0, high)
        both = one["width"] * one["height"] + other["width"] * other["height"]
    else:
        shared = max(0.0, min(one["end"], other["end"]) - max(one["start"], other["start"]))
        both = one["end"] - one["start"] + other["end"] - other["start"]
    return float(shared / (both - shared))


def _distance(settings: dict[str, Any]) -> Distance:
    """The distance of a field, written anew from what docs/form.md says of its kind."""
    match settings["kind"]:
        case "choice" | "pair" | "text":
            return lambda left, right: float(left != right)
        case "likert":
            return lambda left, right: abs(left - right) / _steps(settings)
        case "slider" | "number":
            whole = settings.get("max", 100) - settings.get("min", 0)
            return lambda left, right: abs(left - right) / whole
        case "date":
            ends = [date.fromisoformat(settings[name]) for name in ("earliest", "latest") if name in settings]
            days = (ends[1] - ends[0]).days if len(ends) == 2 else 365
            return lambda left, right: min(1, abs((date.fromisoformat(left) - date.fromisoformat(right)).days) / days)
        case "matrix":
            return _matrix(settings)
        case "choices":
            return lambda left, right: 1 - _jaccard(set(left), set(right))
        case "ranking":
            return lambda left, right: (1 - kendalltau([left.index(each) for each in right], range(len(left)))[0]) / 2
        case "best_worst":
            return lambda left, right: (float(left["best"] != right["best"]) + (left["worst"] != right["worst"])) / 2
        case "turn_choice":
            return _turns
        case "relations":
            return lambda left, right: 0.0 if left == right else _relations(left, right)
        case "boxes" | "segments":
            return _regions
    return _spans


def _matrix(settings: dict[str, Any]) -> Distance:
    steps = _steps(settings)
    return lambda left, right: float(np.mean([abs(left[row] - right[row]) / steps for row in left]))


def _steps(settings: dict[str, Any]) -> int:
    labels = len(settings.get("labels", ()))
    return int(settings.get("levels", labels if labels > 2 else 5)) - 1


def _jaccard(left: set[str], right: set[str]) -> float:
    if not left or not right:
        return float(left == right)
    first, second = MultiLabelBinarizer().fit_transform([left, right])
    return float(jaccard_score(first, second))


def _masi(left: set[str], right: set[str]) -> float:
    """1 less the Jaccard index by how one set lies in the other."""
    monotone = 1 if left == right else 2 / 3 if left <= right or right <= left else 1 / 3 if left & right else 0
    return 1 - _jaccard(left, right) * monotone


def _turns(left: Any, right: Any) -> float:
    table = pd.DataFrame([{each["turn"]: each["value"] for each in value} for value in (left, right)])
    return float((table.iloc[0] != table.iloc[1]).mean())


def _relations(left: Any, right: Any) -> float:
    """1 less the mean of the F1 of labelled tokens and of relations; of tokens alone where nobody drew relations."""
    measures = [_set_f1(_labelled(left["spans"]), _labelled(right["spans"]))]
    if _links(left) or _links(right):
        measures.append(_set_f1(_links(left), _links(right)))
    return 1 - float(np.mean(measures)) or 1e-6


def _alpha(values: pd.DataFrame, distance: Distance) -> float:
    """Krippendorff's α by its definition, for any distance."""
    units = [unit for _, unit in values.groupby("item")["value"] if len(unit) > 1]
    every = [value for unit in units for value in unit]
    observed = sum(2 * sum(distance(*pair) for pair in combinations(unit, 2)) / (len(unit) - 1) for unit in units)
    expected = 2 * sum(distance(*pair) for pair in combinations(every, 2)) / (len(every) - 1)
    return 1 - observed / expected if expected else 1.0


def _by_library(values: pd.DataFrame, level: Literal["nominal", "ordinal", "interval"]) -> float:
    codes = values["value"] if level == "interval" else pd.Series(pd.factorize(values["value"])[0], values.index)
    table = values.assign(code=codes).pivot_table(index="worker", columns="item", values="code", aggfunc="first")
    return float(krippendorff.alpha(reliability_data=table.to_numpy(dtype=float), level_of_measurement=level))


def _check_agreement(name: str, values: pd.DataFrame, settings: dict[str, Any], sections: dict[str, Any]) -> None:
    distance = _distance(settings)
    units = [list(unit) for _, unit in values.groupby("item")["value"] if len(unit) > 1]
    pairs = [1 - distance(*pair) for unit in units for pair in combinations(unit, 2)]
    [scored] = [one for one in sections["agreement"]["by_distance"] if one["field"] == name]
    assert (scored["items"], scored["pairs"]) == (len(units), len(pairs))
    assert scored["value"] == pytest.approx(float(np.mean(pairs)))
    [coefficient] = [one for one in sections["agreement"]["coefficients"] if one["question"].endswith(f": {name}")]
    [compared] = [one for one in sections["fields"]["compared"] if one["field"] == name]
    frozen = values["value"].map(lambda value: json.dumps(value, sort_keys=True))
    several = values.assign(value=frozen).groupby("item")["value"].agg(["count", "nunique"])
    assert compared["unanimous"] == int(((several["count"] > 1) & (several["nunique"] == 1)).sum())
    if coefficient["value"] is None or frozen.nunique() == 1:
        return
    match compared["scale"]:
        case "nominal":
            alpha = _by_library(values, "nominal")
        case "interval":
            alpha = _by_library(values, "interval")
        case "ordinal":
            alpha = _by_library(values, "ordinal")
        case "set":
            alpha = _alpha(values, lambda left, right: _masi(set(left), set(right)))
        case _:
            alpha = _alpha(values, distance)
    assert coefficient["value"] == pytest.approx(alpha, abs=1e-9), (name, coefficient)


def _check_text(values: pd.DataFrame, written: dict[str, Any]) -> None:
    texts = values["value"]
    assert (written["answers"], written["different"]) == (len(texts), texts.nunique())
    assert written["people"] == values["worker"].nunique()
    assert written["words"] == (texts.str.split().str.len().median() if len(texts) else None)


def _check(name: str, folder: Path) -> None:
    create_study(folder / "study", f"gallery/{name}")
    loaded = load_folder(folder / "study")
    rehearsal = Rehearsal(loaded, Crowd(CrowdSettings(workers=24, kind=(MIXED,), patience_hours=500)))
    study, _ = rehearsal.perform(3)
    try:
        frame = _frame(study, folder)
        (folder / "data").mkdir()
        report = study_report(study, folder / "study", folder / "data", ReportOptions(), Resampling(ci=False))
    finally:
        study.close()
        rehearsal.close()
    sections = {section.name: section.json for section in report.sections}
    checked = 0
    for settings in loaded.settings.stage[0].options["fields"]:
        column = settings["name"]
        given = frame.assign(value=frame["answer"].map(lambda answer, name=column: answer.get(name)))
        given = given[given["value"].notna()]
        if [one for one in sections["fields"]["text"] if one["field"] == column]:
            [written] = [one for one in sections["fields"]["text"] if one["field"] == column]
            _check_text(given, written)
        elif [one for one in sections["agreement"]["by_distance"] if one["field"] == column]:
            _check_agreement(column, given, settings, sections)
            checked += 1
    assert checked, "no field was compared"


@pytest.mark.parametrize("name", QUICK)
def test_the_numbers_of_a_gallery_study_are_those_of_other_libraries(tmp_path: Path, name: str) -> None:
    _check(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_the_numbers_of_every_gallery_study_are_those_of_other_libraries(tmp_path: Path, name: str) -> None:
    _check(name, tmp_path)


def test_the_check_notices_a_wrong_number(tmp_path: Path) -> None:
    values = pd.DataFrame({"item": ["a", "a", "b", "b"], "worker": ["x", "y"] * 2, "value": ["p", "p", "q", "p"]})
    sections = {
        "agreement": {
            "by_distance": [{"field": "f", "items": 2, "pairs": 2, "value": 0.5}],
            "coefficients": [{"question": "main: f", "value": 0.0}],
        },
        "fields": {"compared": [{"field": "f", "scale": "nominal", "unanimous": 1}], "text": []},
    }
    _check_agreement("f", values, {"kind": "choice"}, sections)
    sections["agreement"]["coefficients"][0]["value"] = 0.01
    with pytest.raises(AssertionError):
        _check_agreement("f", values, {"kind": "choice"}, sections)
