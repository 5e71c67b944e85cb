"""Comparison of models with people for `chorale models`: the test, agreement, confusions, items to read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chorale.metrics import Interval, signature
from chorale.metrics.agreement import UnfitLabelError, krippendorff_alpha
from chorale.metrics.agreement.distances import Distance
from chorale.metrics.judgments import Codes, Judgments
from chorale.metrics.reading.judged import ReadJudgments
from chorale.metrics.replacing.alternative import (
    EPSILONS,
    FEWEST_BY_T,
    PASSES,
    Alternative,
    alternative_annotator_test,
    split,
)
from chorale.metrics.replacing.closeness import closeness
from chorale.metrics.replacing.cross import Crossed, confusions, crossed
from chorale.metrics.replacing.planning import MOST_ITEMS, POWER, items_needed
from chorale.metrics.resampling import Resampling
from chorale.metrics.sampling import TOO_FEW
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, shown_interval
from chorale.metrics.signatures import Setting
from chorale.model import Problem, UserError
from chorale.model.plural import plural

_MOST_ROWS = 50
"""Maximum number of rows on the terminal. `--json` has all."""
_PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options for comparing models with people."""

    models: tuple[str, ...]
    by: str | Distance = "accuracy"
    epsilon: float = EPSILONS["crowd"]
    min_items: int = FEWEST_BY_T
    expert: str | None = None
    ranks: bool = False
    """Whether to use ranks for people with few items, as the test's authors recommend."""
    plan: bool = False
    people: bool = False
    confusions: bool = False
    items: bool = False

    @property
    def by_name(self) -> str:
        return getattr(self.by, "__name__", "own") if callable(self.by) else self.by


def score_models(judged: ReadJudgments, options: ModelOptions, resampling: Resampling) -> Score:
    """A score with `winning rate of MODEL` and `advantage probability of MODEL` for every model.

    The scores of the first model are the main scores.
    """
    judgments = judged.judgments
    if options.expert is not None and options.expert not in set(judgments.worker_names) - set(options.models):
        people = ", ".join(name for name in judgments.worker_names if name not in options.models)
        raise UserError(f"{judged.name} has no person {options.expert!r} (--expert). People: {people}.")
    try:
        tests = alternative_annotator_test(
            judgments,
            options.models,
            by=options.by,
            epsilon=options.epsilon,
            min_items=options.min_items,
            expert=options.expert,
            ranks=options.ranks,
        )
        agreed = _Agreed.of(judgments, options, resampling)
    except UnfitLabelError as error:
        fix = "Correct it in the file, or use --by accuracy." if options.by == "rmse" else error.fix
        problem = Problem(judged.name, judged.line_of(error.value), error.message, fix, repr(error.value))
        raise UserError(f"{judged.name} can't be used", [problem]) from None
    except ValueError as error:
        raise UserError(f"{judged.name} can't be used: {error}.") from None
    json: dict[str, Any] = {
        "epsilon": options.epsilon,
        "closeness": options.by_name,
        "models": {one.model: _test_json(one, agreed.with_people[one.model]) for one in tests},
        "agreement": agreed.json(),
    }
    tables = [_test_table(Path(judged.name).name, tests), agreed.table(ci=resampling.ci)]
    values, intervals = _numbers(tests)
    score = Score(
        json,
        tables,
        signature("models", _settings(options, judged, resampling), {judged.source: judged.digest}),
        [*judgments.notes, *_notes(tests, options)],
        values=values,
        intervals=intervals,
    )
    return _with_details(score, judgments, tests, agreed, options)


@dataclass(frozen=True, slots=True)
class _Agreed:
    """Agreement within and across people and models."""

    among_people: tuple[float | None, Interval | None]
    with_people: dict[str, Crossed]
    across: dict[tuple[str, str], tuple[float | None, Interval | None]]
    """Agreement of all pairs of models, and of each with people, with intervals on request."""
    items: dict[tuple[str, str], int]

    @classmethod
    def of(cls, judgments: Judgments, options: ModelOptions, resampling: Resampling) -> "_Agreed":
        people, of_models = split(judgments, options.models)
        near = closeness(people, options.by)
        with_people = {name: crossed(people, labels, near) for name, labels in of_models.items()}
        pairs: dict[tuple[str, str], Crossed] = {(name, _PEOPLE): one for name, one in with_people.items()}
        names = list(of_models)
        for place, name in enumerate(names):
            alone = _of_one(judgments, name)
            to_it = closeness(alone, options.by)
            for other in names[place + 1 :]:
                pairs[name, other] = crossed(alone, of_models[other], to_it)
        across = {pair: (one.value, _interval(one, resampling)) for pair, one in pairs.items()}
        counts = {pair: len(one.items) for pair, one in pairs.items()}
        return cls(_alpha(people, options, resampling), with_people, across, counts)

    def json(self) -> dict[str, Any]:
        value, interval = self.among_people
        return {
            "people": {"alpha": value, "ci": None if interval is None else interval.as_list()},
            "across": [
                {"first": first, "second": second, "items": self.items[first, second], "kappa_x": value}
                | ({} if interval is None else {"ci": interval.as_list()})
                for (first, second), (value, interval) in self.across.items()
            ],
        }

    def table(self, *, ci: bool) -> ScoreTable:
        rows: list[tuple[Cell, ...]] = [(_PEOPLE, "each other", "α", *_cells(*self.among_people, ci=ci), "")]
        for pair, (value, interval) in self.across.items():
            rows.append((*pair, "κx", *_cells(value, interval, ci=ci), self.items[pair]))
        columns = ("who", "compared with", "coefficient", "value#", *(["95% interval#"] if ci else []), "items#")
        return ScoreTable("Agreement beyond chance (κx: between two groups, Wong et al. 2021)", columns, rows)


def _cells(value: float | None, interval: Interval | None, *, ci: bool) -> tuple[Cell, ...]:
    shown: Cell = "undefined" if value is None else value
    return (shown, shown_interval(interval)) if ci else (shown,)


def _of_one(judgments: Judgments, name: str) -> Judgments:
    return judgments.taken(judgments.workers == judgments.worker_names.index(name))


def _alpha(people: Judgments, options: ModelOptions, resampling: Resampling) -> tuple[float | None, Interval | None]:
    if options.by == "rmse":
        result = krippendorff_alpha(people, level="interval")
    elif options.by == "accuracy":
        result = krippendorff_alpha(people)
    else:
        result = krippendorff_alpha(people, distance=options.by)
    if result.value is None or not resampling.ci:
        return result.value, None
    return result.value, resampling.intervals(*result.statistics())["value"]


def _interval(pair: Crossed, resampling: Resampling) -> Interval | None:
    if not resampling.ci:
        return None
    statistics = pair.statistics() if pair.value is not None else None
    return TOO_FEW if statistics is None else resampling.intervals(*statistics)["value"]


def _test_json(test: Alternative, pair: Crossed) -> dict[str, Any]:
    return {
        "passes": test.passes,
        "winning_rate": test.winning_rate,
        "advantage_probability": test.advantage_probability,
        "ci": test.interval.as_list(),
        "items": len(pair.items),
        "people": [
            {
                "person": rival.person,
                "items": rival.n_items,
                "model_advantage": rival.model_advantage,
                "person_advantage": rival.person_advantage,
                "p": rival.p_value,
                "p_by": rival.p_adjusted,
                "wins": rival.wins,
            }
            for rival in test.rivals
        ],
        "left_out": list(test.left_out),
    }


def _test_table(name: str, tests: Sequence[Alternative]) -> ScoreTable:
    columns = ("model", "may replace people", "winning rate#", "people#", "advantage probability#", "95% interval#")
    rows: list[tuple[Cell, ...]] = []
    for test in sorted(tests, key=lambda one: (-(one.winning_rate or 0), -(one.advantage_probability or 0), one.model)):
        verdict = "can't be tested" if test.passes is None else "yes" if test.passes else "no"
        probability, around = test.advantage_probability, shown_interval(test.interval)
        rows.append((test.model, verdict, test.winning_rate, len(test.rivals), probability, around))
    return ScoreTable(f"Models as replacements for people in {name}", columns, rows, 2)


def _numbers(tests: Sequence[Alternative]) -> tuple[dict[str, float | None], dict[str, Interval]]:
    values: dict[str, float | None] = {}
    for test in tests:
        values[f"winning rate of {test.model}"] = test.winning_rate
        values[f"advantage probability of {test.model}"] = test.advantage_probability
    return values, {f"advantage probability of {one.model}": one.interval for one in tests}


def _settings(options: ModelOptions, judged: ReadJudgments, resampling: Resampling) -> dict[str, Setting]:
    return {
        "models": options.models,
        "closeness": options.by_name,
        "epsilon": options.epsilon,
        "min-items": options.min_items,
        "expert": options.expert,
        "ranks": options.ranks or None,
        **judged.reading,
        **resampling.settings(),
    }


def _notes(tests: Sequence[Alternative], options: ModelOptions) -> list[str]:
    notes = [
        f"A model may replace people if it wins against at least {PASSES:.0%} of them (ε = {options.epsilon:g}, q = "
        "0.05; Calderon et al. 2025)."
    ]
    other = "another person" if options.expert is None else "the expert"
    left_out = sorted({person for one in tests for person in one.left_out})
    if left_out:
        people = plural(len(left_out), "person is", "people are")
        notes.append(f"{people} not compared: fewer than {options.min_items} items with the model and {other}.")
    if any(one.passes is None for one in tests):
        fewest = "at least two people, preferably three or more"
        if options.expert is not None:
            fewest = "at least one person besides the expert, preferably more"
        notes.append(
            f"The test requires {fewest}. Each must have judged {options.min_items} items that the model and {other} "
            "also judged. Lower --min-items, or collect more judgments."
        )
    elif min(len(one.rivals) for one in tests) < 3 and options.expert is None:
        notes.append(
            "The test is designed for three or more people. If one of them is an expert, --expert NAME compares the "
            "model and the others with the labels of that expert."
        )
    if options.ranks and any(rival.n_items < FEWEST_BY_T for one in tests for rival in one.rivals):
        notes.append(
            f"People with fewer than {FEWEST_BY_T} items are tested with Wilcoxon's signed-rank test. This "
            "test lets models win too often: with 15 to 29 items and ε = 0.1, in 20 to 42% of studies instead of 5%."
        )
    return notes


def _with_details(
    score: Score, judgments: Judgments, tests: Sequence[Alternative], agreed: _Agreed, options: ModelOptions
) -> Score:
    people, of_models = split(judgments, options.models)
    if options.people:
        score = score.extended({}, [_people_table(tests)])
    if options.plan:
        needed = {one.model: items_needed(one.rivals, options.epsilon) if one.rivals else None for one in tests}
        rows = [(model, f"more than {MOST_ITEMS:,}" if count is None else count) for model, count in needed.items()]
        table = ScoreTable("Items needed", ("model", f"items per person to pass {POWER:.0%} of the time#"), rows)
        score = score.extended({"items_needed": needed}, [table])
    if options.confusions:
        counts = {name: confusions(people, labels) for name, labels in of_models.items()}
        json = {name: [dict(zip(_CONFUSED, row, strict=True)) for row in rows] for name, rows in counts.items()}
        score = score.extended({"confusions": json}, [_confusions_table(name, rows) for name, rows in counts.items()])
    if options.items:
        listed = _items(people, of_models, agreed)
        score = score.extended({"items": listed}, [_items_table(listed)])
    return score


def _people_table(alternatives: Sequence[Alternative]) -> ScoreTable:
    columns = ("model", "person", "items#", "model advantage#", "person advantage#", "p#", "p, BY#", "model wins")
    rows: list[tuple[Cell, ...]] = []
    for alternative in alternatives:
        for rival in alternative.rivals:
            sides = (rival.model_advantage, rival.person_advantage)
            tests = (rival.p_value, rival.p_adjusted, "yes" if rival.wins else "no")
            rows.append((alternative.model, rival.person, rival.n_items, *sides, *tests))
    return ScoreTable("Models against each person", columns, rows)


_CONFUSED = ("people", "model", "judgments")


def _confusions_table(name: str, rows: Sequence[tuple[str, str, int]]) -> ScoreTable:
    different = [row for row in rows if row[0] != row[1]]
    title = f"Differences between the labels of people and {name}" + _most(len(different))
    return ScoreTable(title, ("people's label", f"label of {name}", "judgments#"), different[:_MOST_ROWS])


def _most(rows: int) -> str:
    return f": the {_MOST_ROWS} most frequent of {rows:,} (--json has all)" if rows > _MOST_ROWS else ""


def _items(people: Judgments, of_models: dict[str, Codes], agreed: _Agreed) -> list[dict[str, Any]]:
    """Items ordered by the distance of models from people, largest first."""
    summed: dict[str, list[float]] = {}
    for pair in agreed.with_people.values():
        for item, distance in zip(pair.items, pair.distances.tolist(), strict=True):
            summed.setdefault(item, []).append(distance)
    said: dict[str, list[str]] = {}
    for task, label in zip(people.tasks.tolist(), people.labels.tolist(), strict=True):
        said.setdefault(people.task_names[task], []).append(people.label_names[label])
    order = sorted(summed, key=lambda item: (-float(np.mean(summed[item])), item))
    code = {name: place for place, name in enumerate(people.task_names)}
    return [
        {
            "item": item,
            "distance": float(np.mean(summed[item])),
            "people": sorted(said[item]),
            "models": {
                name: people.label_names[labels[code[item]]]
                for name, labels in of_models.items()
                if labels[code[item]] >= 0
            },
        }
        for item in order
    ]


def _items_table(listed: Sequence[dict[str, Any]]) -> ScoreTable:
    rows: list[tuple[Cell, ...]] = [
        (one["item"], one["distance"], _tallied(one["people"]), _tallied(one["models"].values()))
        for one in listed[:_MOST_ROWS]
    ]
    title = "Items on which models are farthest from people" + (
        f": {_MOST_ROWS} of {len(listed):,} (--json has all)" if len(listed) > _MOST_ROWS else ""
    )
    return ScoreTable(title, ("item", "distance#", "people's labels", "models' labels"), rows, 2)


def _tallied(labels: Any) -> str:
    counts: dict[str, int] = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{label} ×{count}" if count > 1 else label for label, count in ordered)
