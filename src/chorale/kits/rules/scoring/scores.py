"""Compares resources of inference rules on judged applications."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from chorale.kits.rules.files.rules import JudgedFile, RuleSet
from chorale.kits.rules.metrics.curves import Area, RuleScores, evaluate_rules, rule_statistics, scores_of_applications
from chorale.kits.rules.scoring.applications import Contradictions, Meaningless, Usable, usable_applications
from chorale.kits.rules.scoring.matching import Match, with_lemmas
from chorale.metrics import Clusters, Comparison, Interval, Metric, Statistics, signature
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.metrics.signatures import Setting
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.present.svg import Axis, Curve, curve_chart, standalone

CURVE_COLUMNS = ("resource", "threshold", "precision", "recall")
_MEASURES = ("auc", "precision", "recall", "f1", "threshold", "coverage")
_COUNTS = ("applications", "entailing", "covered", "covered_entailing")
_Of = TypeVar("_Of")
_MOST_POINTS = 2000
_LITTLE = 0.05
"""Fraction of applications below which the coverage of a resource triggers a warning."""
_FEW = 3
"""Curves with at most this many points are drawn with dots and labelled at the last dot."""


@dataclass(frozen=True, slots=True)
class RuleOptions:
    min_confidence: float = 0.7
    """Applications with a lower confidence are left out. Those without a confidence are kept."""
    area: Area = "step"
    at_recall: tuple[float, ...] = (0.1, 0.25, 0.5)
    meaningless: Meaningless = "out"
    pairwise: bool = False
    """Whether all pairs of resources are compared."""
    match: Match = "lemma"
    contradictions: Contradictions = "majority"
    cluster: tuple[str, ...] = ()
    """Clusters for resampling: applications of a `rule`, of a left side `lhs`, or of a right side `rhs`."""


def score_rules(
    resources: Sequence[RuleSet],
    judged: Mapping[str, JudgedFile],
    options: RuleOptions,
    resampling: Resampling,
    *,
    against: RuleSet | None = None,
) -> tuple[Score, dict[str, RuleScores]]:
    """Scores of all resources on the same applications, and the curve of each."""
    _check_names(resources)
    usable = usable_applications(judged, options.min_confidence, options.meaningless, options.contradictions)
    resources, by_lemma = _matched(resources, usable, options)
    against = None if against is None else _matched([against], usable, options)[0][0]
    resampling = replace(resampling, clusters=Clusters.chosen(options.cluster, usable.columns()))
    by_resource = {resource.name: _evaluated(resource, usable, options) for resource in resources}
    drawn = {
        resource.name: _intervals(resource, usable, options, resampling) for resource in resources if resampling.ci
    }
    json: dict[str, Any] = {
        "resources": {
            resource.name: _as_json(resource, by_resource[resource.name], options, drawn.get(resource.name))
            for resource in resources
        },
        "applications": len(usable.applications),
        "entailing": int(usable.entails.sum()),
        "counts": dict(usable.counts),
    }
    notes = [*_notes(resources, usable, by_resource), *by_lemma]
    notes += resampling.notes(list(usable.columns()["rule"]), compared=against is not None or options.pairwise)
    tables = [_main_table(by_resource), _recall_table(by_resource, options), usable.table()]
    if resampling.ci:
        tables.append(_interval_table(by_resource, drawn, options))
        if any(None in _values(scores, options).values() for scores in by_resource.values()):
            notes.append("No interval for precision at a recall that the curve does not reach.")
    inputs = {f"rules/{resource.name}": resource.digest for resource in resources}
    inputs |= {f"judgments{number or ''}": file.digest for number, file in enumerate(judged.values())}
    tests: dict[str, Comparison] = {}
    if against is not None:
        pairs = [(resource, against) for resource in resources]
        compared = _compared(pairs, usable, options, resampling, tables)
        json["against"] = {resource.name: jsonable(compared[resource.name, against.name]) for resource in resources}
        tests = _by_name({first: each for (first, _), each in compared.items()})
        inputs["against"] = against.digest
        notes += against.notes
    if options.pairwise:
        pairs = list(combinations(resources, 2))
        compared = _compared(pairs, usable, options, resampling, tables)
        json["pairwise"] = {f"{first} {second}": jsonable(each) for (first, second), each in compared.items()}
    scored = Score(
        json,
        tables,
        signature("rules", _settings(options, resampling, compared=options.pairwise or against is not None), inputs),
        tuple(dict.fromkeys(notes)),
        values=_by_name({name: _values(scores, options) for name, scores in by_resource.items()}),
        intervals=_by_name(drawn),
        tests=tests,
    )
    return scored, by_resource


def _matched(resources: Sequence[RuleSet], usable: Usable, options: RuleOptions) -> tuple[list[RuleSet], list[str]]:
    """The resources with added scores for matches by lemmas, and a note about each."""
    if options.match == "exact":
        return list(resources), []
    matched, notes = [], []
    for resource in resources:
        with_added, added = with_lemmas(resource, usable.applications)
        matched.append(with_added)
        if added:
            fit = plural(added, "application matches a rule", "applications match a rule")
            notes.append(f"{resource.name}: {fit} only by lemmas. Use --match exact to compare predicates as written.")
    return matched, notes


def _notes(resources: Sequence[RuleSet], usable: Usable, by_resource: Mapping[str, RuleScores]) -> list[str]:
    return [
        *usable.notes,
        *(note for resource in resources for note in resource.notes),
        *(note for resource in resources for note in _covered_little(resource, usable, by_resource[resource.name])),
    ]


def _covered_little(resource: RuleSet, usable: Usable, scores: RuleScores) -> Iterator[str]:
    if scores.coverage >= _LITTLE:
        return
    name = resource.name
    if not scores.covered:
        yield f"{name}: no application matches a rule, so precision, recall, F1 and area are 0 by convention."
    rule, application = min(resource.scores, default=None), usable.applications[0].rule
    written = "" if rule is None else f" ({application.lhs!r} → {application.rhs!r} and {rule.lhs!r} → {rule.rhs!r})"
    yield (
        f"Warning: {name} has a rule for only {scores.covered:,} of {scores.applications:,} applications "
        f"({scores.coverage:.1%}), so its scores are not informative. Check that both files write predicates in the "
        f"same way{written}."
    )


def _settings(options: RuleOptions, resampling: Resampling, *, compared: bool) -> dict[str, Setting]:
    """Options that can change the scores, for the signature."""
    return {
        "area": options.area,
        "min-confidence": options.min_confidence,
        "match": options.match,
        "contradictions": options.contradictions,
        "meaningless": None if options.meaningless == "out" else options.meaningless,
        "at-recall": tuple(f"{recall:g}" for recall in options.at_recall),
        **resampling.settings(compared=compared),
    }


def _by_name(scored: Mapping[str, Mapping[str, _Of]]) -> dict[str, _Of]:
    """Scores of all resources. Names start with the resource if there are several."""
    return {
        score if len(scored) == 1 else f"{name} {score}": value
        for name, scores in scored.items()
        for score, value in scores.items()
    }


def _compared(
    pairs: Iterable[tuple[RuleSet, RuleSet]],
    usable: Usable,
    options: RuleOptions,
    resampling: Resampling,
    tables: list[ScoreTable],
) -> dict[tuple[str, str], dict[str, Comparison]]:
    """Comparisons by pair of names, without precision at a recall that one of them does not reach.

    Adds a table per comparison.
    """
    by_pair = {}
    for pair in pairs:
        (first, metric), (second, _) = (resource_statistics(one, usable, options) for one in pair)
        values = [_values(_evaluated(one, usable, options), options) for one in pair]
        compared = resampling.compare(first, second, metric)
        names = (pair[0].name, pair[1].name)
        by_pair[names] = {name: one for name, one in compared.items() if all(each[name] is not None for each in values)}
        tables.append(comparison_table(" and ".join(names), names, by_pair[names]))
    return by_pair


def _check_names(resources: Iterable[RuleSet]) -> None:
    for name, count in Counter(resource.name for resource in resources).items():
        if count > 1:
            raise UserError(f"Two resources have the same name, {name}. Rename one of the files.")


def _evaluated(resource: RuleSet, usable: Usable, options: RuleOptions) -> RuleScores:
    scores = scores_of_applications(usable.applications, resource.scores)
    return evaluate_rules(scores, usable.entails, area=options.area)


def resource_statistics(
    resource: RuleSet, usable: Usable, options: RuleOptions, *, alone: bool = False
) -> tuple[Statistics, Metric]:
    """One row per application. The scores include the threshold only if the resource is scored `alone`."""
    scores = scores_of_applications(usable.applications, resource.scores)
    items = [str(number) for number in range(len(scores))]
    return rule_statistics(
        items, scores, usable.entails, area=options.area, at_recall=options.at_recall, with_threshold=alone
    )


def _intervals(resource: RuleSet, usable: Usable, options: RuleOptions, resampling: Resampling) -> dict[str, Interval]:
    statistics, metric = resource_statistics(resource, usable, options, alone=True)
    values = _values(_evaluated(resource, usable, options), options)
    return {name: one for name, one in resampling.intervals(statistics, metric).items() if values[name] is not None}


def _values(scores: RuleScores, options: RuleOptions) -> dict[str, float | None]:
    """Every score with an interval, by the name of the interval."""
    at_recall = {f"precision_at_recall_{recall:g}": scores.curve.precision_at(recall) for recall in options.at_recall}
    return {**{name: getattr(scores, name) for name in _MEASURES}, **at_recall}


def _as_json(
    resource: RuleSet, scores: RuleScores, options: RuleOptions, drawn: Mapping[str, Interval] | None
) -> dict[str, Any]:
    json = {
        **{name: getattr(scores, name) for name in (*_MEASURES, *_COUNTS)},
        "rules": resource.rules,
        "points": len(scores.curve.thresholds),
        "precision_at_recall": {f"{recall:g}": scores.curve.precision_at(recall) for recall in options.at_recall},
    }
    return json if drawn is None else {**json, "ci": jsonable(drawn)}


def _main_table(by_resource: Mapping[str, RuleScores]) -> ScoreTable:
    columns = ("resource", "area#", "precision#", "recall#", "F1#", "threshold#", "covered#", "points#")
    rows: list[tuple[Cell, ...]] = []
    for name, scores in by_resource.items():
        threshold = None if scores.threshold is None else f"{scores.threshold:g}"
        at_best = (scores.precision, scores.recall, scores.f1, threshold)
        rows.append((name, scores.auc, *at_best, scores.covered, len(scores.curve.thresholds)))
    first = next(iter(by_resource.values()))
    counts = f"{first.applications:,} judged applications, {first.entailing:,} entailing"
    title = f"{counts}: precision, recall and threshold at the best F1"
    return ScoreTable(title, columns, rows)


def _recall_table(by_resource: Mapping[str, RuleScores], options: RuleOptions) -> ScoreTable:
    rows = [
        (name, *(_reached(scores.curve.precision_at(recall)) for recall in options.at_recall))
        for name, scores in by_resource.items()
    ]
    columns = ("resource", *(f"recall {recall:g}#" for recall in options.at_recall))
    return ScoreTable("Precision at a recall of at least", columns, rows)


def _interval_table(
    by_resource: Mapping[str, RuleScores], drawn: Mapping[str, Mapping[str, Interval]], options: RuleOptions
) -> ScoreTable:
    rows = [
        (name, score.replace("_", " ").replace("auc", "area"), _reached(value), shown_interval(drawn[name].get(score)))
        for name, scores in by_resource.items()
        for score, value in _values(scores, options).items()
    ]
    return ScoreTable("Intervals, over applications", ("resource", "score", "value#", "95% interval#"), rows)


def _reached(value: float | None) -> Cell:
    """Text for an undefined value: precision at a recall that is not reached, or a threshold without rules."""
    return "not reached" if value is None else value


def curve_rows(by_resource: Mapping[str, RuleScores]) -> Iterator[dict[str, Cell]]:
    """The points of the curves."""
    for name, scores in by_resource.items():
        curve = scores.curve
        for values in zip(curve.thresholds, curve.precision, curve.recall, strict=True):
            yield dict(zip(CURVE_COLUMNS, (name, *map(float, values)), strict=True))


def rule_chart(scores: Mapping[str, RuleScores]) -> str:
    """Draws precision over recall, with a line per resource, as an SVG file."""
    curves = []
    for number, (name, score) in enumerate(scores.items()):
        few = len(score.curve.recall) <= _FEW
        label = f"{name} (area {score.auc:.3f})"
        curves.append(Curve(label, _points(score), number, dash=number, dots=few, tag=name if few else ""))
    reached = max((recall for curve in curves for recall, _ in curve.drawn), default=1.0)
    recall = Axis("recall, of all valid applications", low=0, high=min(1.0, reached * 1.05) or 1.0)
    title = "Precision and recall of rules"
    return standalone(curve_chart(title, curves, recall, Axis("precision", low=0, high=1), height=420))


def _points(score: RuleScores) -> Sequence[tuple[float, float]]:
    """A limited number of points, evenly spread over recall, including the first and the last."""
    curve = score.curve
    places = np.arange(len(curve.recall))
    if len(places) > _MOST_POINTS:
        places = np.unique(np.searchsorted(curve.recall, np.linspace(curve.recall[0], curve.recall[-1], _MOST_POINTS)))
    return [(float(curve.recall[place]), float(curve.precision[place])) for place in places]
