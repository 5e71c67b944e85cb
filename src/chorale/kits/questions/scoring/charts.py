"""Charts of a report on questions, as self-contained SVG files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from chorale.files.tables import replacing
from chorale.kits.questions.scoring.written_questions import MOST_WORDS
from chorale.metrics import FloatArray
from chorale.metrics.score_table import ScoreTable
from chorale.model import UserError
from chorale.present.svg import Axis, Bar, Curve, Quartiles, bar_chart, box_chart, curve_chart, standalone

_SHOWN_WORDS = 20
_KINDS = {"right": "correct", "wrong": "wrong"}
"""The kinds of options in the report, with their displayed names."""


def pictures(json: Mapping[str, Any], difficulties: Mapping[str, FloatArray] | None = None) -> dict[str, str]:
    """Charts by file name. `json` is the report with the text analysis."""
    charts = {"answer-lengths.svg": _lengths(json["written"]["files"]), "question-words.svg": _wh_words(json)}
    gaps = [bar for name, one in json["files"].items() for bar in _gaps(name, one)]
    if gaps:
        title = "Accuracy of people minus accuracy of models, where all gold votes agree"
        charts["human-model-gap.svg"] = bar_chart(title, gaps, lambda value: f"{100 * value:.1f}")
    if difficulties:
        charts["difficulty.svg"] = _boxes(difficulties)
    return charts


def lengths_table(json: Mapping[str, Any]) -> ScoreTable:
    """The fractions behind the chart of lengths."""
    files = json["written"]["files"]
    kinds = [(name, kind) for name in files for kind in _KINDS]
    rows = [
        (words, *(files[name]["lengths"][kind][words] for name, kind in kinds)) for words in range(1, _SHOWN_WORDS + 1)
    ]
    return ScoreTable(
        "Fraction of options by number of words",
        ("words#", *(f"{name}, {_KINDS[kind]}#" for name, kind in kinds)),
        rows,
    )


def write_pictures(folder: Path, drawn: Mapping[str, str]) -> None:
    """Writes charts to a folder, which is created if missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, svg in drawn.items():
            with replacing(folder / name) as target:
                target.write_text(standalone(svg), "utf-8")
    except OSError as error:
        raise UserError(f"Cannot write to {folder}: {error.strerror or error}. Choose another location.") from error


def _lengths(files: Mapping[str, Any]) -> str:
    curves = []
    for number, (name, file) in enumerate(files.items()):
        for kind, shown in _KINDS.items():
            shares = file["lengths"][kind]
            points = [(float(words), shares[words]) for words in range(1, min(_SHOWN_WORDS, MOST_WORDS) + 1)]
            curves.append(Curve(f"{name}, {shown}", points, number, dash=int(kind == "wrong")))
    words, shares = Axis("words of an option", zero=True), Axis(shown=lambda share: f"{100 * share:.0f}%", zero=True)
    return curve_chart("Number of words per option", curves, words, shares)


def _wh_words(json: Mapping[str, Any]) -> str:
    bars = []
    for name, file in json["written"]["files"].items():
        for score, value in file["scores"].items():
            if score.startswith("asked by "):
                share = value["value"]
                low, high = value.get("ci") or (share, share)
                bars.append(Bar(f"{name}: {score.removeprefix('asked by ')}", share, low, high))
    return bar_chart("Question words", bars, lambda share: f"{100 * share:.0f}%")


def _gaps(name: str, file: Mapping[str, Any]) -> list[Bar]:
    runs = {run for names in file["runs"].values() for run in names}
    bars = []
    for model, sections in file["gap"].items():
        gap = sections.get("unanimous")
        if gap is not None and model not in runs:
            low, high = gap.get("ci") or gap["interval"]
            bars.append(Bar(f"{name}: {model}", gap["gap"], low, high))
    return bars


def _boxes(groups: Mapping[str, FloatArray]) -> str:
    boxes = []
    for name, values in groups.items():
        low, first, middle, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
        boxes.append(Quartiles(name, float(low), float(first), float(middle), float(third), float(high)))
    return box_chart("Difficulty of questions for models", boxes, Axis("difficulty"))
