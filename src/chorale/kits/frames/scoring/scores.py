"""Scores of a frame disambiguation system, for people and for scripts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from chorale.kits.frames.files.scores import FrameScores
from chorale.kits.frames.metrics.agreement import Constant, FrameAgreement, frame_agreement
from chorale.metrics import Comparison, FloatArray, Interval, signature
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.metrics.signatures import Setting
from chorale.model import Problem, UserError
from chorale.model.plural import plural
from chorale.present.svg import Axis, Curve, curve_chart, stacked, standalone

_MOST_ROWS = 20
"""Maximum number of rows on the terminal. `--json` has all rows."""
_MOST_POINTS = 300
"""Maximum number of points of a curve. More cannot be distinguished in a chart."""
_KINDS = {"tau": "Kendall's tau", "cosine": "cosine"}
_OVER = {"auc": "AUC", "mean": "mean", "w_avg": "w-avg"}


@dataclass(frozen=True, slots=True)
class Named:
    """Frame scores and the file they came from."""

    name: str
    scores: FrameScores


@dataclass(frozen=True, slots=True)
class FrameScoreOptions:
    """Options that can change the scores."""

    top: bool = False
    constant: Constant = "zero"
    initial: bool = False
    """Whether the crowd's scores are those before workers were weighted."""
    columns: Mapping[str, str | None] = field(default_factory=dict)
    """Explicitly set columns, by option."""


def score_frames(
    system: Named,
    gold: Named,
    options: FrameScoreOptions,
    resampling: Resampling,
    *,
    against: Named | None = None,
    with_items: bool = False,
    only: Named | None = None,
) -> Score:
    """Scores a system against the crowd, with requested extras. `only` restricts the sentences to those in a file."""
    gold = restricted(gold, only)
    agreement = _agreement(system, gold, options)
    metric = agreement.metric()
    values = metric.scores(agreement.statistics())
    drawn = resampling.intervals(agreement.statistics(), metric) if resampling.ci else None
    json = _json(agreement, values)
    tables = [_main_table(f"{system.name} against {gold.name}", values, drawn, agreement)]
    if drawn is not None:
        json["ci"] = jsonable(drawn)
    if with_items:
        json["sentences"] = _sentences(agreement)
        tables.append(_worst(agreement))
    inputs = {"pred": system.scores.digest, "gold": gold.scores.digest}
    if only is not None:
        inputs["only"] = only.scores.digest
    notes = [*_notes_on_gold(agreement), *_notes(agreement, options)]
    notes += resampling.notes(agreement.sentences, compared=against is not None)
    tests: dict[str, Comparison] = {}
    if against is not None:
        other = _agreement(against, gold, options)
        tests = resampling.compare(agreement.statistics(), other.statistics(), metric)
        json["against"] = jsonable(tests)
        tables.append(comparison_table("Compared", (system.name, against.name), tests))
        inputs["against"] = against.scores.digest
        notes += [f"{against.name}: {note}" for note in _notes(other, options)]
    settings: dict[str, Setting] = {
        "top": options.top,
        "constant": options.constant,
        "scores": "initial" if options.initial else "final",
        **options.columns,
        **resampling.settings(compared=against is not None),
    }
    line = signature("frames", settings, inputs)
    return Score(json, tables, line, notes, values=values, intervals=drawn or {}, tests=tests)


def restricted(gold: Named, only: Named | None) -> Named:
    """The gold sentences that are also in `only`; all of them if it is None."""
    if only is None:
        return gold
    scores = gold.scores.only(only.scores.sentences)
    if not scores.sentences:
        fix = f"Use a file with sentence IDs of {gold.name}, such as {gold.scores.sentences[0]!r}."
        problem = Problem(
            only.name, None, "has no sentence in common with the gold", fix, repr(only.scores.sentences[0])
        )
        raise UserError("There is nothing to score", [problem])
    return Named(f"{gold.name}, only {only.name}", scores)


def draw_curves(systems: Sequence[Named], gold: Named, options: FrameScoreOptions, only: Named | None = None) -> str:
    """Draws the agreement of several systems with the gold, from the best sentence to the worst, as an SVG file.

    The chart follows Figure 2 of Dumitrache, Aroyo and Welty (2019). The area under a curve divided by the number of
    sentences is the AUC.
    """
    gold = restricted(gold, only)
    names = [Path(one.name).stem for one in systems]
    labels = names if len(set(names)) == len(names) else [one.name for one in systems]
    agreements = [_agreement(one, gold, options) for one in systems]
    panels = []
    for kind, of_sentences in (
        ("Kendall's τ", [agreement.tau for agreement in agreements]),
        ("Cosine", [agreement.cosine for agreement in agreements]),
    ):
        curves = [
            Curve(label, _points(values), number, dash=number)
            for number, (label, values) in enumerate(zip(labels, of_sentences, strict=True))
        ]
        title = f"{kind} of every sentence, in descending order"
        agreement = Axis(shown=lambda value: f"{value:.1f}", zero=True)
        panels.append((title, curve_chart(title, curves, Axis("sentences", zero=True), agreement)))
    return standalone(stacked("Agreement of systems with the crowd by sentence", panels))


def _points(values: FloatArray) -> list[tuple[float, float]]:
    """Values in descending order, without sentences where they are undefined."""
    ordered = np.sort(values[~np.isnan(values)])[::-1]
    if not len(ordered):
        return []
    places = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST_POINTS)).round().astype(np.intp))
    return [(float(place + 1), float(ordered[place])) for place in places]


def _agreement(system: Named, gold: Named, options: FrameScoreOptions) -> FrameAgreement:
    if not set(system.scores.sentences) & set(gold.scores.sentences):
        fix = f"Use the sentence IDs of {gold.name}, such as {gold.scores.sentences[0]!r}."
        example = repr(system.scores.sentences[0])
        raise UserError(
            "There is nothing to score",
            [Problem(system.name, None, "has no sentence in common with the gold", fix, example)],
        )
    return frame_agreement(gold.scores, system.scores, top=options.top, constant=options.constant)


def _json(agreement: FrameAgreement, values: dict[str, float]) -> dict[str, Any]:
    scores: dict[str, Any] = {kind: {over: values.get(f"{kind}_{over}") for over in _OVER} for kind in _KINDS}
    return {
        **scores,
        "n_sentences": len(agreement.sentences),
        "n_candidates": int(agreement.candidates.sum()),
        "n_constant": int(agreement.constant.sum()),
        "n_without_score": agreement.without_score,
        "n_outside": agreement.outside,
        "n_unknown": agreement.unknown,
    }


def _notes_on_gold(agreement: FrameAgreement) -> list[str]:
    notes = []
    if agreement.quality is None:
        notes.append("No weighted average: the gold has no sentence quality (column sqs) for some or all sentences.")
    elif not agreement.quality.any():
        notes.append("The weighted average is 0 by definition, because every sentence has quality 0.")
    if len(agreement.sentences) == 1:
        notes.append("With a single sentence, the AUC is its score.")
    return notes


def _notes(agreement: FrameAgreement, options: FrameScoreOptions) -> list[str]:
    notes = []
    constant = int(agreement.constant.sum())
    if constant:
        then = "tau is 0" if options.constant == "zero" else "only the cosine counts"
        sentences = plural(constant, "sentence has", "sentences have")
        notes.append(f"{sentences} the same score for all candidates: {then}.")
    if agreement.without_score:
        sentences = plural(agreement.without_score, "sentence has", "sentences have")
        notes.append(f"{sentences} no candidate with a score: the cosine is 0.")
    if agreement.outside:
        scores = plural(agreement.outside, "score", "scores")
        notes.append(f"{scores} left out: the frame is not a candidate of the sentence.")
    if agreement.unknown:
        notes.append(f"{plural(agreement.unknown, 'sentence', 'sentences')} left out: not in the gold.")
    return notes


def _main_table(
    title: str, values: dict[str, float], drawn: dict[str, Interval] | None, agreement: FrameAgreement
) -> ScoreTable:
    columns = ("score", "over sentences", "value#", *(["95% interval#"] if drawn else []))
    rows: list[tuple[Cell, ...]] = [
        (named, shown, values[name], *([shown_interval(drawn[name])] if drawn else []))
        for kind, named in _KINDS.items()
        for over, shown in _OVER.items()
        if (name := f"{kind}_{over}") in values
    ]
    return ScoreTable(f"{title}, {plural(len(agreement.sentences), 'sentence', 'sentences')}", columns, rows)


def _sentences(agreement: FrameAgreement) -> dict[str, dict[str, float | None]]:
    of_all = zip(agreement.sentences, agreement.tau.tolist(), agreement.cosine.tolist(), strict=True)
    return {name: {"tau": None if np.isnan(tau) else tau, "cosine": cosine} for name, tau, cosine in of_all}


def _worst(agreement: FrameAgreement) -> ScoreTable:
    order = np.lexsort((agreement.tau, agreement.cosine))[:_MOST_ROWS]
    rows = [
        (
            agreement.sentences[place],
            int(agreement.candidates[place]),
            None if np.isnan(agreement.tau[place]) else float(agreement.tau[place]),
            float(agreement.cosine[place]),
        )
        for place in order.tolist()
    ]
    title = "Sentences"
    if len(rows) < len(agreement.sentences):
        title += f": the worst {len(rows)} of {len(agreement.sentences):,} (--json has all)"
    return ScoreTable(title, ("sentence", "candidates#", "tau#", "cosine#"), rows)
