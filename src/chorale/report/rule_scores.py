"""Resources of inference rules side by side, on applications that people have judged."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chorale.evaluate.rules import Area, RuleScores, evaluate_rules, rule_statistics, scores_of_applications
from chorale.formats.rule_files import JudgedApplication, JudgedFile, RuleSet
from chorale.formats.source import MOST_PROBLEMS
from chorale.formats.wording import many
from chorale.model import Problem, UserError
from chorale.report.drawing import Drawing
from chorale.report.scoring import Cell, Scored, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.scores import Interval, Metric, Statistics, signature
from chorale.scores.signature import Setting

CURVE_COLUMNS = ("resource", "threshold", "precision", "recall")


@dataclass(frozen=True, slots=True)
class RuleOptions:
    min_confidence: float = 0.7
    """Applications judged with less confidence are left out; those without any confidence are not."""
    area: Area = "step"
    at_recall: tuple[float, ...] = (0.1, 0.25, 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class Usable:
    """The applications that count, and what was left out."""

    applications: tuple[JudgedApplication, ...]
    notes: tuple[str, ...]

    @property
    def entails(self) -> NDArray[np.bool_]:
        return np.array([application.entails for application in self.applications], dtype=np.bool_)


def usable_applications(files: Mapping[str, JudgedFile], min_confidence: float) -> Usable:
    """Of all files together: confident enough, and each once. One that was judged both ways is a mistake."""
    notes = [note for file in files.values() for note in file.notes]
    kept: list[JudgedApplication] = []
    told: dict[Any, tuple[bool, str]] = {}
    problems: list[Problem] = []
    unsure = repeated = 0
    for name, file in files.items():
        for application in file.applications:
            if application.confidence is not None and application.confidence < min_confidence:
                unsure += 1
                continue
            key = (application.rule, application.phrases)
            if application.phrases is not None and key in told:
                before, where = told[key]
                if before == application.entails:
                    repeated += 1
                else:
                    problems.append(_both_ways(application, name, where))
                continue
            told[key] = (application.entails, name)
            kept.append(application)
    if problems:
        raise UserError("The judged applications contradict each other", problems[:MOST_PROBLEMS])
    if unsure:
        notes.append(f"{many(unsure, 'application', 'applications')} left out: confidence below {min_confidence:g}.")
    if repeated:
        again = many(repeated, "application left out: it is", "applications left out: they are")
        notes.append(f"{again} there already, judged the same.")
    if not kept:
        raise UserError("No judged application is left. Lower --min-confidence, or check the files.")
    if not any(application.entails for application in kept):
        notes.append("No application was judged as entailing: recall, F1 and area are 0 by convention.")
    return Usable(tuple(kept), tuple(notes))


def score_rules(
    resources: Sequence[RuleSet],
    judged: Mapping[str, JudgedFile],
    options: RuleOptions,
    drawing: Drawing,
    *,
    against: RuleSet | None = None,
) -> tuple[Scored, list[dict[str, Cell]]]:
    """All resources on the same applications; and the points of their curves."""
    _check_names(resources)
    usable = usable_applications(judged, options.min_confidence)
    found = {one.name: _evaluated(one, usable, options) for one in resources}
    drawn = {one.name: _intervals(one, usable, options, drawing) for one in resources} if drawing.ci else {}
    json: dict[str, Any] = {
        "resources": {one.name: _as_json(one, found[one.name], options, drawn.get(one.name)) for one in resources},
        "applications": len(usable.applications),
        "entailing": int(usable.entails.sum()),
    }
    notes = [*usable.notes, *(note for one in resources for note in one.notes)]
    notes += [
        f"{name}: no application has a rule of it, so precision, recall, F1 and area are 0 by convention."
        for name, one in found.items()
        if not one.covered
    ]
    tables = [_main_table(found, drawn), _recall_table(found, options)]
    inputs = {**{f"rules/{one.name}": one.digest for one in resources}, **_judged_digests(judged)}
    if against is not None:
        json["against"] = {}
        for one in resources:
            compared = drawing.compare(*_paired((one, against), usable, options))
            json["against"][one.name] = jsonable(compared)
            tables.append(comparison_table(f"{one.name} and {against.name}", (one.name, against.name), compared))
        inputs["against"] = against.digest
        notes += against.notes
    settings: dict[str, Setting] = {
        "area": options.area,
        "min-confidence": options.min_confidence,
        "at-recall": tuple(f"{recall:g}" for recall in options.at_recall),
    }
    settings |= drawing.settings(compared=against is not None)
    scored = Scored(json, tables, signature("rules", settings, inputs), tuple(dict.fromkeys(notes)))
    return scored, list(_curve_rows(found))


def _both_ways(application: JudgedApplication, name: str, where: str) -> Problem:
    lhs, rhs = application.phrases or ("", "")
    message = "has an application that was judged both ways" + (f" (see {where})" if where != name else "")
    return Problem(name, None, message, "Keep one of the two.", f"{lhs!r} → {rhs!r}")


def _check_names(resources: Iterable[RuleSet]) -> None:
    seen: set[str] = set()
    for one in resources:
        if one.name in seen:
            raise UserError(f"Two resources have the same name, {one.name}. Rename one of the files.")
        seen.add(one.name)


def _evaluated(resource: RuleSet, usable: Usable, options: RuleOptions) -> RuleScores:
    scores = scores_of_applications(usable.applications, resource.scores)
    return evaluate_rules(scores, usable.entails, area=options.area)


def _statistics(resource: RuleSet, usable: Usable, options: RuleOptions) -> tuple[Statistics, Metric]:
    scores = scores_of_applications(usable.applications, resource.scores)
    items = [str(number) for number in range(len(scores))]
    return rule_statistics(items, scores, usable.entails, area=options.area)


def _paired(
    resources: tuple[RuleSet, RuleSet], usable: Usable, options: RuleOptions
) -> tuple[Statistics, Statistics, Metric]:
    (first, metric), (second, _) = (_statistics(one, usable, options) for one in resources)
    return first, second, metric


def _intervals(resource: RuleSet, usable: Usable, options: RuleOptions, drawing: Drawing) -> dict[str, Interval]:
    statistics, metric = _statistics(resource, usable, options)
    return drawing.intervals(statistics, metric)


def _as_json(
    resource: RuleSet, found: RuleScores, options: RuleOptions, drawn: Mapping[str, Interval] | None
) -> dict[str, Any]:
    json = {
        "auc": found.auc,
        "precision": found.precision,
        "recall": found.recall,
        "f1": found.f1,
        "threshold": found.threshold,
        "coverage": found.coverage,
        "applications": found.applications,
        "entailing": found.entailing,
        "covered": found.covered,
        "covered_entailing": found.covered_entailing,
        "rules": len(resource.scores),
        "points": len(found.curve.thresholds),
        "precision_at_recall": {f"{recall:g}": found.curve.precision_at(recall) for recall in options.at_recall},
    }
    return json if drawn is None else {**json, "ci": jsonable(drawn)}


def _main_table(found: Mapping[str, RuleScores], drawn: Mapping[str, Mapping[str, Interval]]) -> ScoreTable:
    columns: tuple[str, ...] = (
        "resource",
        "area#",
        "precision#",
        "recall#",
        "F1#",
        "threshold#",
        "covered#",
        "points#",
    )
    rows: list[tuple[Cell, ...]] = []
    for name, one in found.items():
        threshold = None if one.threshold is None else f"{one.threshold:g}"
        measures = (one.auc, one.precision, one.recall, one.f1, threshold, one.covered, len(one.curve.thresholds))
        rows.append((name, *measures))
    if drawn:
        columns = (*columns[:2], "95% interval#", *columns[2:])
        rows = [(*row[:2], shown_interval(drawn[str(row[0])]["auc"]), *row[2:]) for row in rows]
    first = next(iter(found.values()))
    title = f"{first.applications:,} judged applications, {first.entailing:,} entailing; precision to F1 at the best F1"
    return ScoreTable(title, columns, rows)


def _recall_table(found: Mapping[str, RuleScores], options: RuleOptions) -> ScoreTable:
    rows = [(name, *(one.curve.precision_at(recall) for recall in options.at_recall)) for name, one in found.items()]
    columns = ("resource", *(f"recall {recall:g}#" for recall in options.at_recall))
    return ScoreTable("Precision at a recall of at least", columns, rows)


def _curve_rows(found: Mapping[str, RuleScores]) -> Iterator[dict[str, Cell]]:
    for name, one in found.items():
        curve = one.curve
        for values in zip(curve.thresholds, curve.precision, curve.recall, strict=True):
            yield dict(zip(CURVE_COLUMNS, (name, *map(float, values)), strict=True))


def _judged_digests(judged: Mapping[str, JudgedFile]) -> dict[str, str]:
    return {f"judgments{number or ''}": file.digest for number, file in enumerate(judged.values())}
