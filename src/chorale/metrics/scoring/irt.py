"""An item response model as a command tells it: items, responders, and what the fit rests on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from chorale.files.tables import write_csv
from chorale.metrics import Comparison, FloatArray, Interval, signature
from chorale.metrics.irt import (
    GuessingPrior,
    IrtFit,
    IrtIntervals,
    IrtModel,
    fit_irt,
    irt_bootstrap,
    irt_intervals,
    item_weights,
)
from chorale.metrics.reading.responses import ResponseTable
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Result
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, shown_interval
from chorale.metrics.scoring.aggregation_intervals import compared_means
from chorale.metrics.signatures import Setting
from chorale.model import Problem, UserError

_MOST_ROWS = 20
"""Of a table on a terminal; `--json` and `--out` have them all."""
_MOST_RESAMPLES = 10_000
"""Of a bootstrap: all are in memory at once."""
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
    "answers",
)


@dataclass(frozen=True, slots=True)
class IrtOptions:
    model: IrtModel = "3pl"
    guessing_prior: GuessingPrior = "fitted"
    starts: int = 1
    seed: int = 1
    interval: Literal["posterior", "bootstrap"] = "posterior"


_PARAMETERS = ("difficulty", "discrimination", "guessing")
_NONE = Resampling()


def score_irt(
    table: ResponseTable,
    options: IrtOptions,
    progress: Callable[[int, int], None] | None = None,
    *,
    resampling: Resampling = _NONE,
    against: ResponseTable | None = None,
) -> tuple[Result, list[dict[str, Any]]]:
    """The result, and a row for every item as `--out` writes them."""
    fit = _fitted(table, options, progress)
    items = _items(table, fit)
    abilities = [
        (name, float(mean), float(sd))
        for name, mean, sd in zip(table.responders, fit.ability.mean, fit.ability.sd, strict=True)
    ]
    json: dict[str, Any] = {
        "model": fit.model,
        "items": {row["item"]: {key: row[key] for key in ITEM_COLUMNS if key != "item"} for row in items},
        "responders": {name: {"ability": mean, "ability_sd": sd} for name, mean, sd in abilities},
        "bound": fit.bound,
        "bounds": {f"{sigma:g}": bound for sigma, bound in fit.bounds.items()},
        "sigma_alpha": fit.sigma_alpha,
        "guessing_centre": fit.guessing_centre,
        "guessing_spread": fit.guessing_spread,
        "starts": list(fit.starts),
        "converged": fit.converged,
    }
    around = _around(table, fit, options, resampling) if resampling.ci else None
    if around is not None:
        for place, row in enumerate(items):
            ends = {name: getattr(around, name)[:, place].tolist() for name in _PARAMETERS}
            json["items"][row["item"]]["ci"] = ends
        for place, name in enumerate(table.responders):
            json["responders"][name]["ci"] = {"ability": around.ability[:, place].tolist()}
    tables = _tables(items, abilities, around)
    notes = _notes(table, fit)
    if around is not None:
        notes += _about_intervals(table, options)
    if against is not None:
        json["against"], remarks = _compared(table, fit, against, options, resampling, tables)
        notes += remarks
    return Result(json, tables, _signature(table, options, resampling, against), notes), items


def _fitted(table: ResponseTable, options: IrtOptions, progress: Callable[[int, int], None] | None) -> IrtFit:
    return fit_irt(
        table.matrix,
        model=options.model,
        weights=item_weights(table.tests),
        guessing_prior=options.guessing_prior,
        starts=options.starts,
        seed=options.seed,
        progress=progress,
    )


def _around(table: ResponseTable, fit: IrtFit, options: IrtOptions, resampling: Resampling) -> IrtIntervals:
    weights = item_weights(table.tests)
    if options.interval == "posterior":
        return irt_intervals(fit, table.matrix, weights=weights, progress=resampling.progress)
    if resampling.resamples > _MOST_RESAMPLES:
        raise UserError(
            f"--interval bootstrap draws at most {_MOST_RESAMPLES:,} --resamples, not {resampling.resamples:,}."
        )
    return irt_bootstrap(
        fit,
        table.matrix,
        weights=weights,
        resamples=resampling.resamples,
        seed=resampling.seed,
        progress=resampling.progress,
    )


def _compared(
    table: ResponseTable,
    fit: IrtFit,
    against: ResponseTable,
    options: IrtOptions,
    resampling: Resampling,
    tables: list[ScoreTable],
) -> tuple[dict[str, Any], list[str]]:
    """Means over the items, and over the responders, that both have; adds a table."""
    other = _fitted(against, options, resampling.progress)
    kinds = [
        ("difficulty", table.items, fit.difficulty.mean, against.items, other.difficulty.mean),
        ("discrimination", table.items, fit.discrimination, against.items, other.discrimination),
        ("guessing", table.items, fit.guessing, against.items, other.guessing),
        ("ability", table.responders, fit.ability.mean, against.responders, other.ability.mean),
    ]
    fixed = {"1pl": ("discrimination", "guessing"), "2pl": ("guessing",), "3pl": ()}[options.model]
    json: dict[str, Any] = {}
    compared: dict[str, Comparison] = {}
    free = [kind for kind in kinds if kind[0] not in fixed]
    for name, (ours, theirs, comparison) in compared_means(free, resampling).items():
        compared[f"mean {name} of {len(ours):,}"] = comparison
        alike = float(np.corrcoef(ours, theirs)[0, 1]) if min(ours.std(), theirs.std()) > 0 else None
        json[name] = {"common": len(ours), "correlation": alike, **comparison.as_dict()}
    if not json:
        name = against.sources[0].name
        fix = "Give items or responders the same names in both."
        raise UserError(
            "There is nothing to compare", [Problem(name, None, "has no item and no responder of the file", fix)]
        )
    names = tuple(Path(one.sources[0].name).name for one in (table, against))
    tables.append(comparison_table("Compared", (names[0], names[1]), compared))
    rows_of = [(name, one["common"], one["correlation"]) for name, one in json.items()]
    tables.append(ScoreTable("How alike they are", ("what", "in common#", "correlation#"), rows_of))
    note = (
        "Each file is fitted on its own, and its scale comes from its own responders and items: a difference in "
        "difficulty is one relative to who answered."
    )
    return json, [note]


def write_items(items: Sequence[dict[str, Any]], target: Path) -> None:
    write_csv(ITEM_COLUMNS, items, target)


def _items(table: ResponseTable, fit: IrtFit) -> list[dict[str, Any]]:
    answers = (~np.isnan(table.matrix)).sum(axis=0)
    right = np.nansum(table.matrix, axis=0)
    discrimination, guessing = fit.discrimination, fit.guessing
    return [
        {
            "item": name,
            "test": table.sources[table.tests[place]].name,
            "difficulty": float(fit.difficulty.mean[place]),
            "discrimination": float(discrimination[place]),
            "guessing": float(guessing[place]),
            "difficulty_sd": float(fit.difficulty.sd[place]),
            "log_discrimination_sd": float(fit.log_discrimination.sd[place]),
            "logit_guessing_sd": float(fit.logit_guessing.sd[place]),
            "right": int(right[place]),
            "answers": int(answers[place]),
        }
        for place, name in enumerate(table.items)
    ]


def _tables(
    items: list[dict[str, Any]], abilities: list[tuple[str, float, float]], around: IrtIntervals | None
) -> list[ScoreTable]:
    hardest = sorted(range(len(items)), key=lambda place: -items[place]["difficulty"])[:_MOST_ROWS]
    ablest = sorted(range(len(abilities)), key=lambda place: -abilities[place][1])[:_MOST_ROWS]
    columns = ["item"]
    rows: list[list[Cell]] = [[items[place]["item"]] for place in hardest]
    for name in _PARAMETERS:
        columns += [f"{name}#", *(["sd#"] if name == "difficulty" else []), *(["95% interval#"] if around else [])]
        for row, place in zip(rows, hardest, strict=True):
            row.extend([items[place][name], *([items[place]["difficulty_sd"]] if name == "difficulty" else [])])
            row.extend([] if around is None else [_shown(getattr(around, name)[:, place])])
    for row, place in zip(rows, hardest, strict=True):
        row.extend([items[place]["right"], items[place]["answers"]])
    of_abilities: list[list[Cell]] = [
        [*abilities[place], *([] if around is None else [_shown(around.ability[:, place])])] for place in ablest
    ]
    return [
        ScoreTable(_title("Items, the hardest first", len(items)), (*columns, "right#", "answers#"), rows, digits=3),
        ScoreTable(
            _title("Responders, the ablest first", len(abilities)),
            ("responder", "ability#", "sd#", *(["95% interval#"] if around else [])),
            of_abilities,
            digits=3,
        ),
    ]


def _shown(ends: FloatArray) -> str:
    return shown_interval(Interval(float(ends[0]), float(ends[1])), 3)


def _title(what: str, count: int) -> str:
    return what if count <= _MOST_ROWS else f"{what} ({_MOST_ROWS} of {count:,})"


def _signature(table: ResponseTable, options: IrtOptions, resampling: Resampling, against: ResponseTable | None) -> str:
    settings: dict[str, Setting] = {
        "guessing-prior": options.guessing_prior if options.model == "3pl" else None,
        "starts": options.starts,
        "seed": options.seed if options.starts > 1 else None,
        "ci": options.interval if resampling.ci else None,
    }
    if against is not None or (resampling.ci and options.interval == "bootstrap"):
        settings |= resampling.settings(compared=True)
    inputs = _digests(table, "file") | ({} if against is None else _digests(against, "against"))
    return signature(f"irt-{options.model}", settings, inputs)


def _digests(table: ResponseTable, name: str) -> dict[str, str]:
    digests = sorted(source.digest for source in table.sources)
    return {f"{name}{number}" if len(digests) > 1 else name: one for number, one in enumerate(digests, 1)}


def _notes(table: ResponseTable, fit: IrtFit) -> list[str]:
    notes = []
    answered = ~np.isnan(table.matrix)
    shares = np.nansum(table.matrix, axis=0) / np.maximum(answered.sum(axis=0), 1)
    silent = int((~answered.any(axis=0)).sum())
    same = int(((shares == 0) | (shares == 1)).sum()) - silent
    if silent:
        notes.append(f"{_many(silent, 'item')} nobody answered: all that is known of them is the prior.")
    if same > 0:
        notes.append(
            f"{_many(same, 'item')} everybody got right, or everybody wrong: how far out they are is the prior's guess."
        )
    if len(table.responders) == 1:
        notes.append("There is one responder only: items can't be told apart by more than right and wrong.")
    if len(table.items) == 1:
        notes.append("There is one item only: responders can't be told apart by more than right and wrong.")
    if len(set(table.tests)) > 1:
        notes.append("Items count by the inverse of the size of their test, so that every test counts the same.")
    if not fit.converged:
        notes.append("The fit was still changing when it was stopped: take the last digits with care.")
    if len(fit.starts) > 1 and max(fit.starts) - min(fit.starts) > 1:
        spread = max(fit.starts) - min(fit.starts)
        notes.append(f"The starts ended {spread:.1f} nats apart: there are several optima, and the best is shown.")
    return notes


def _about_intervals(table: ResponseTable, options: IrtOptions) -> list[str]:
    if options.interval == "bootstrap":
        return [
            "Intervals are bootstrapped: of an item over the responders, of a responder over the items, the others "
            "staying as fitted. Values are drawn to the prior, and so are those of every resample: where answers tell "
            "little, as of guessing, these intervals are far too narrow. --interval posterior is not."
        ]
    notes = [
        "Intervals are what the answers and the priors leave open in this one fit, on its own scale; nothing is "
        "resampled. --interval bootstrap draws responders and items."
    ]
    if options.model == "3pl":
        notes.append(
            "Intervals take every guessing from 0 to 1 to be as likely as any other at first: a value near an end of "
            "its interval owes more to the prior of guessing than to the answers."
        )
    if len(set(table.tests)) > 1:
        notes.append(
            "Tests are weighted, and so is what the intervals rest on: those of a large test's items are wider."
        )
    return notes


def _many(count: int, what: str) -> str:
    return f"There is 1 {what}" if count == 1 else f"There are {count:,} {what}s"
