"""An item response model as a command tells it: items, responders, and what the fit rests on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chorale.evaluate.irt import GuessingPrior, IrtFit, IrtModel, fit_irt, item_weights
from chorale.formats import write_csv
from chorale.formats.responses import ResponseTable
from chorale.report.scoring import Scored, ScoreTable
from chorale.scores import signature

_MOST_ROWS = 20
"""Of a table on a terminal; `--json` and `--out` have them all."""
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


def score_irt(
    table: ResponseTable, options: IrtOptions, progress: Callable[[int, int], None] | None = None
) -> tuple[Scored, list[dict[str, Any]]]:
    """The result, and a row for every item as `--out` writes them."""
    fit = fit_irt(
        table.matrix,
        model=options.model,
        weights=item_weights(table.tests),
        guessing_prior=options.guessing_prior,
        starts=options.starts,
        seed=options.seed,
        progress=progress,
    )
    items = _items(table, fit)
    abilities = [
        (name, float(mean), float(sd))
        for name, mean, sd in zip(table.responders, fit.ability.mean, fit.ability.sd, strict=True)
    ]
    json = {
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
    scored = Scored(json, _tables(items, abilities), _signature(table, options), _notes(table, fit))
    return scored, items


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


def _tables(items: list[dict[str, Any]], abilities: list[tuple[str, float, float]]) -> list[ScoreTable]:
    hardest = sorted(items, key=lambda row: -row["difficulty"])
    ablest = sorted(abilities, key=lambda one: -one[1])
    columns = ("difficulty", "difficulty_sd", "discrimination", "guessing", "right", "answers")
    return [
        ScoreTable(
            _title("Items, the hardest first", len(items)),
            ("item", "difficulty#", "sd#", "discrimination#", "guessing#", "right#", "answers#"),
            [(row["item"], *(row[column] for column in columns)) for row in hardest[:_MOST_ROWS]],
            digits=3,
        ),
        ScoreTable(
            _title("Responders, the ablest first", len(ablest)),
            ("responder", "ability#", "sd#"),
            ablest[:_MOST_ROWS],
            digits=3,
        ),
    ]


def _title(what: str, count: int) -> str:
    return what if count <= _MOST_ROWS else f"{what} ({_MOST_ROWS} of {count:,})"


def _signature(table: ResponseTable, options: IrtOptions) -> str:
    settings = {
        "guessing-prior": options.guessing_prior if options.model == "3pl" else None,
        "starts": options.starts,
        "seed": options.seed if options.starts > 1 else None,
    }
    digests = sorted(source.digest for source in table.sources)
    inputs = {f"file{number}" if len(digests) > 1 else "file": one for number, one in enumerate(digests, 1)}
    return signature(f"irt-{options.model}", settings, inputs)


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


def _many(count: int, what: str) -> str:
    return f"There is 1 {what}" if count == 1 else f"There are {count:,} {what}s"
