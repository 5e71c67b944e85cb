"""Item response models for the command line: items, responders, and notes on the fit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS
from chorale.files.tables import write_csv
from chorale.metrics import FloatArray, Interval, signature
from chorale.metrics.irt import (
    GUESS_RATE,
    MOST_CATEGORIES,
    GuessingPrior,
    IrtFit,
    IrtIntervals,
    IrtModel,
    MarginalFit,
    VariationalFit,
    fit_irt,
    fit_variational,
    irt_intervals,
    item_fit,
    item_information,
    item_weights,
)
from chorale.metrics.reading.responses import ResponseTable
from chorale.metrics.resampling import Resampling
from chorale.metrics.sampling import Progress
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, shown_interval
from chorale.metrics.scoring.irt_notes import fit_notes, interval_notes
from chorale.metrics.signatures import Setting
from chorale.model import Problem, UserError

_MOST_ROWS = 20
"""Maximum number of rows on the terminal. `--json` and `--out` have all."""
ITEM_COLUMNS = (
    "item",
    "test",
    "difficulty",
    "discrimination",
    "guessing",
    "difficulty_sd",
    "log_discrimination_sd",
    "logit_guessing_sd",
    "right",
    "mean_answer",
    "answers",
)
"""Columns of items, depending on the model. Graded answers are not correct or wrong, and have a mean."""
MARGINAL_COLUMNS = ("information", "fit", "fit_degrees", "fit_p", "fit_p_adjusted", "thresholds")
"""Additional columns with marginal maximum likelihood."""
IrtMethod = Literal["marginal", "variational"]
_PARAMETERS = ("difficulty", "discrimination", "guessing")
_HEADERS = {"fit_p_adjusted": "fit p (Holm)", "mean_answer": "mean answer"}
_NONE = Resampling()
_ABILITIES = np.linspace(-3, 3, 7)
"""Abilities at which the test information is reported, in standard deviations of the responders' abilities."""


@dataclass(frozen=True, slots=True)
class IrtOptions:
    model: IrtModel = "3pl"
    method: IrtMethod = "marginal"
    guess_rate: float = GUESS_RATE
    guessing_prior: GuessingPrior = "fitted"
    starts: int = 1
    seed: int = 1


def score_irt(
    table: ResponseTable,
    options: IrtOptions,
    progress: Callable[[int, int], None] | None = None,
    *,
    resampling: Resampling = _NONE,
    against: ResponseTable | None = None,
) -> tuple[Score, list[dict[str, Any]]]:
    """The score, and one row per item for `--out`.

    Its scores are `difficulty of ITEM`, `discrimination of ITEM`, `guessing of ITEM` and `ability of RESPONDER`; the
    difficulty of the first item is the main score.
    """
    if options.method == "variational":
        if resampling.ci:
            raise UserError(
                "--method variational has no intervals, because it underestimates standard deviations. Omit --ci or "
                "--method."
            )
        if options.model == "graded":
            raise UserError("--method variational only fits 1pl, 2pl and 3pl. Omit --method for --model graded.")
    fit = _fitted(table, options, progress)
    items = _items(table, fit)
    json = _json(table, fit, items)
    around = irt_intervals(fit) if resampling.ci and isinstance(fit, MarginalFit) else None
    if around is not None:
        for place, row in enumerate(items):
            ends = {name: getattr(around, name)[:, place].tolist() for name in _PARAMETERS}
            if fit.model == "graded":
                finite = np.isfinite(around.thresholds[0, place])
                ends["thresholds"] = around.thresholds[:, place, finite].T.tolist()
            json["items"][row["item"]]["ci"] = ends
        for place, name in enumerate(table.responders):
            json["responders"][name]["ci"] = {"ability": around.ability[:, place].tolist()}
    tables = _tables(table, items, fit, around)
    notes = fit_notes(table, fit)
    if around is not None:
        notes += interval_notes(table, options.model, options.guess_rate)
    if against is not None:
        json["against"], remarks = _compared(table, fit, against, options, resampling.progress, tables)
        notes += remarks
    values, intervals = _numbers(table, fit, around)
    text = _signature(table, options, resampling, against)
    return Score(json, tables, text, notes, values=values, intervals=intervals), items


def _json(table: ResponseTable, fit: IrtFit, items: list[dict[str, Any]]) -> dict[str, Any]:
    json: dict[str, Any] = {
        "model": fit.model,
        "items": {row["item"]: {key: row[key] for key in row if key != "item"} for row in items},
        "responders": {
            name: {"ability": float(mean), "ability_sd": float(sd)}
            for name, mean, sd in zip(table.responders, fit.ability.mean, fit.ability.sd, strict=True)
        },
        "converged": fit.converged,
    }
    if isinstance(fit, MarginalFit):
        information = item_information(fit, fit.unit * _ABILITIES).sum(axis=0)
        json |= {
            "log_likelihood": fit.log_likelihood,
            "reliability": fit.reliability,
            "information": dict(zip((f"{one:g}" for one in fit.unit * _ABILITIES), information.tolist(), strict=True)),
        }
    if isinstance(fit, VariationalFit):
        json |= {
            "bound": fit.bound,
            "bounds": {f"{sigma:g}": bound for sigma, bound in fit.bounds.items()},
            "sigma_alpha": fit.sigma_alpha,
            "guessing_centre": fit.guessing_centre,
            "guessing_spread": fit.guessing_spread,
            "starts": list(fit.starts),
        }
    return json


def _numbers(
    table: ResponseTable, fit: IrtFit, around: IrtIntervals | None
) -> tuple[dict[str, float | None], dict[str, Interval]]:
    """Every score by name, with its interval."""
    values: dict[str, float | None] = {}
    intervals: dict[str, Interval] = {}
    fixed = _fixed(fit.model)
    kinds = [(name, table.items) for name in _PARAMETERS if name not in fixed] + [("ability", table.responders)]
    for kind, names in kinds:
        fitted = getattr(fit, kind)
        for place, name in enumerate(names):
            values[f"{kind} of {name}"] = float((fitted if isinstance(fitted, np.ndarray) else fitted.mean)[place])
            if around is not None:
                ends = getattr(around, kind)[:, place]
                intervals[f"{kind} of {name}"] = Interval(float(ends[0]), float(ends[1]))
    return values, intervals


def _fixed(model: IrtModel) -> tuple[str, ...]:
    """The parameters that a model does not fit."""
    return {"1pl": ("discrimination", "guessing"), "2pl": ("guessing",), "graded": ("guessing",), "3pl": ()}[model]


def _check_categories(table: ResponseTable) -> None:
    problems = []
    for item, test, column in zip(table.items, table.tests, table.matrix.T, strict=True):
        answers = len(np.unique(column[~np.isnan(column)]))
        if answers > MOST_CATEGORIES:
            message = f"has {answers:,} different answers to an item, but --model graded allows {MOST_CATEGORIES}"
            fix = "Round the answers, or remove the item."
            problems.append(Problem(table.sources[test].name, None, message, fix, shortened(item)))
    if problems:
        raise UserError("The responses can't be used", problems[:MOST_PROBLEMS])


def _fitted(table: ResponseTable, options: IrtOptions, progress: Callable[[int, int], None] | None) -> IrtFit:
    if options.model == "graded":
        _check_categories(table)
    if options.method == "marginal":
        return fit_irt(table.matrix, model=options.model, guess_rate=options.guess_rate, progress=progress)
    return fit_variational(
        table.matrix,
        model=options.model,
        weights=item_weights(table.tests),
        guessing_prior=options.guessing_prior,
        starts=options.starts,
        seed=options.seed,
        progress=progress,
    )


def _compared(
    table: ResponseTable,
    fit: IrtFit,
    against: ResponseTable,
    options: IrtOptions,
    progress: Progress | None,
    tables: list[ScoreTable],
) -> tuple[dict[str, Any], list[str]]:
    """Compares means over common items and common responders, and adds a table."""
    other = _fitted(against, options, progress)
    kinds = [
        ("difficulty", table.items, fit.difficulty.mean, against.items, other.difficulty.mean),
        ("discrimination", table.items, fit.discrimination, against.items, other.discrimination),
        ("guessing", table.items, fit.guessing, against.items, other.guessing),
        ("ability", table.responders, fit.ability.mean, against.responders, other.ability.mean),
    ]
    fixed = _fixed(options.model)
    json: dict[str, Any] = {}
    for name, first, values, second, others in kinds:
        common = sorted(set(first) & set(second))
        if name in fixed or not common:
            continue
        ours, theirs = (_taken(common, *side) for side in ((first, values), (second, others)))
        alike = float(np.corrcoef(ours, theirs)[0, 1]) if min(ours.std(), theirs.std()) > 0 else None
        means = {"value": float(ours.mean()), "other": float(theirs.mean())}
        json[name] = {"common": len(ours), "correlation": alike, **means, "difference": means["value"] - means["other"]}
    if not json:
        name, own = against.sources[0].name, " and ".join(source.name for source in table.sources)
        fix = "Use the same names of items or responders in both files."
        raise UserError(
            "There is nothing to compare",
            [Problem(name, None, f"has no items or responders in common with {own}", fix)],
        )
    names = [Path(one.sources[0].name).name for one in (table, against)]
    columns = ("mean", "in common#", f"{names[0]}#", f"{names[1]}#", "difference#", "correlation#")
    shown = ("common", "value", "other", "difference", "correlation")
    tables.append(ScoreTable("Compared", columns, [(name, *(one[key] for key in shown)) for name, one in json.items()]))
    note = (
        "Each file is fitted on its own scale, set by its own responders. Therefore, a difference in difficulty has no "
        "interval or p-value: all items shift with the scale, so tests that treat items as units are invalid."
    )
    return json, [note]


def _taken(names: Sequence[str], all_names: Sequence[str], values: FloatArray) -> FloatArray:
    """The values of these names, in order."""
    place = {name: number for number, name in enumerate(all_names)}
    return np.asarray(values[[place[name] for name in names]])


def write_items(items: Sequence[dict[str, Any]], target: Path) -> None:
    columns = [name for name in (*ITEM_COLUMNS, *MARGINAL_COLUMNS) if name in items[0]]
    rows = [{**row, "thresholds": " ".join(f"{one:g}" for one in row.get("thresholds", ()))} for row in items]
    write_csv(columns, [{name: row[name] for name in columns} for row in rows], target)


def _items(table: ResponseTable, fit: IrtFit) -> list[dict[str, Any]]:
    answers = (~np.isnan(table.matrix)).sum(axis=0)
    total = np.nansum(table.matrix, axis=0)
    discrimination, guessing = fit.discrimination, fit.guessing
    rows: list[dict[str, Any]] = [
        {
            "item": name,
            "test": table.sources[table.tests[place]].name,
            "difficulty": float(fit.difficulty.mean[place]),
            "discrimination": float(discrimination[place]),
            "guessing": float(guessing[place]),
            "difficulty_sd": float(fit.difficulty.sd[place]),
            "log_discrimination_sd": float(fit.log_discrimination.sd[place]),
            "logit_guessing_sd": float(fit.logit_guessing.sd[place]),
            **_answered(fit.model, float(total[place]), int(answers[place])),
        }
        for place, name in enumerate(table.items)
    ]
    if isinstance(fit, MarginalFit):
        _add_checks(rows, fit)
    return rows


def _answered(model: IrtModel, total: float, answers: int) -> dict[str, Any]:
    if model == "graded":
        return {"mean_answer": total / answers if answers else None, "answers": answers}
    return {"right": int(total), "answers": answers}


def _add_checks(rows: list[dict[str, Any]], fit: MarginalFit) -> None:
    """Information of the items about these responders, and item fit."""
    information = item_information(fit, fit.ability.mean).mean(axis=1)
    checked = item_fit(fit)
    for place, row in enumerate(rows):
        row["information"] = float(information[place])
        row["fit"] = _defined(checked.statistic[place])
        row["fit_degrees"] = int(max(0, checked.degrees[place]))
        row["fit_p"] = _defined(checked.p[place])
        row["fit_p_adjusted"] = _defined(checked.adjusted[place])
        if fit.model == "graded":
            thresholds = fit.thresholds[place]
            row["thresholds"] = thresholds[np.isfinite(thresholds)].tolist()


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _tables(
    table: ResponseTable, items: list[dict[str, Any]], fit: IrtFit, around: IrtIntervals | None
) -> list[ScoreTable]:
    hardest = sorted(range(len(items)), key=lambda place: -items[place]["difficulty"])[:_MOST_ROWS]
    ablest = sorted(range(len(table.responders)), key=lambda place: -float(fit.ability.mean[place]))[:_MOST_ROWS]
    columns = ["item"]
    rows: list[list[Cell]] = [[items[place]["item"]] for place in hardest]
    shown_parameters = [name for name in _PARAMETERS if fit.model != "graded" or name != "guessing"]
    for name in shown_parameters:
        columns += [f"{name}#", *(["sd#"] if name == "difficulty" else []), *(["95% interval#"] if around else [])]
        for row, place in zip(rows, hardest, strict=True):
            row.extend([items[place][name], *([items[place]["difficulty_sd"]] if name == "difficulty" else [])])
            row.extend([] if around is None else [_shown(getattr(around, name)[:, place])])
    more = ("information", "fit_p_adjusted", "right", "mean_answer", "answers")
    shown = {key: f"{_HEADERS.get(key, key)}#" for key in more if key in items[0]}
    for row, place in zip(rows, hardest, strict=True):
        row.extend([items[place][key] for key in shown])
    if fit.model == "graded":
        shown["thresholds"] = "thresholds"
        for row, place in zip(rows, hardest, strict=True):
            row.append(" ".join(f"{one:.3f}" for one in items[place]["thresholds"]).replace("-", "−"))
    of_abilities: list[list[Cell]] = [
        [
            table.responders[place],
            float(fit.ability.mean[place]),
            float(fit.ability.sd[place]),
            *([] if around is None else [_shown(around.ability[:, place])]),
        ]
        for place in ablest
    ]
    ends = ["95% interval#"] if around else []
    tables = [
        ScoreTable(_title("Items, hardest first", len(items)), (*columns, *shown.values()), rows, digits=3),
        ScoreTable(
            _title("Responders, most able first", len(table.responders)),
            ("responder", "ability#", "sd#", *ends),
            of_abilities,
            digits=3,
        ),
    ]
    return [*tables, _test_table(fit)] if isinstance(fit, MarginalFit) else tables


def _test_table(fit: MarginalFit) -> ScoreTable:
    """Test information along the scale."""
    at = fit.unit * _ABILITIES
    information = item_information(fit, at).sum(axis=0)
    rows = [
        (float(ability), float(one), float(1 / np.sqrt(one)) if one > 0 else None)
        for ability, one in zip(at, information, strict=True)
    ]
    title = f"Test information (reliability {fit.reliability:.3f})"
    return ScoreTable(title, ("ability#", "information#", "standard error#"), rows, digits=3)


def _shown(ends: FloatArray) -> str:
    return shown_interval(Interval(float(ends[0]), float(ends[1])), 3)


def _title(title: str, count: int) -> str:
    return title if count <= _MOST_ROWS else f"{title} ({_MOST_ROWS} of {count:,})"


def _signature(table: ResponseTable, options: IrtOptions, resampling: Resampling, against: ResponseTable | None) -> str:
    variational = options.method == "variational"
    guesses = options.model == "3pl"
    settings: dict[str, Setting] = {
        "method": options.method,
        "guess-rate": options.guess_rate if guesses and not variational else None,
        "guessing-prior": options.guessing_prior if guesses and variational else None,
        "starts": options.starts if variational else None,
        "seed": options.seed if options.starts > 1 else None,
        "ci": resampling.ci or None,
    }
    inputs = _digests(table, "file") | ({} if against is None else _digests(against, "against"))
    return signature(f"irt-{options.model}", settings, inputs)


def _digests(table: ResponseTable, name: str) -> dict[str, str]:
    digests = sorted(source.digest for source in table.sources)
    return {f"{name}{number}" if len(digests) > 1 else name: one for number, one in enumerate(digests, 1)}
