"""Measures how many 95% intervals of item response models contain the true value, and how often the fit test rejects.

    python -m bench.irt_coverage [--repetitions N]

Answers are simulated with known parameters. True values are converted to the scale of the fit, on which the responders
have mean 0 and standard deviation 1 (for 1PL, the unit is the logit, with α = 1).
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.irt import IrtModel, fit_irt, irt_intervals, item_fit

OF_ITEMS: dict[IrtModel, tuple[str, ...]] = {
    "1pl": ("difficulty",),
    "2pl": ("difficulty", "discrimination"),
    "3pl": ("difficulty", "discrimination", "guessing"),
    "graded": ("thresholds", "discrimination"),
}
STEPS = np.array([-1.0, 0.0, 1.0])
"""Of simulated graded items, around their difficulty."""


@dataclass(frozen=True, slots=True)
class IrtCase:
    model: IrtModel
    responders: int
    items: int
    discrimination: float = 1.6
    guessing: float = 0.2
    """Of an item, uniform up to it."""
    missing: float = 0.0


@dataclass(frozen=True, slots=True)
class IrtRow:
    case: IrtCase
    number: str
    """What the interval is of; `fit` is the share of items with p < 0.05 of the test of fit."""
    held: float
    values: int


CASES = (
    *(IrtCase("1pl", responders, 10) for responders in (50, 1000, 5000)),
    *(IrtCase("1pl", 50, items) for items in (100, 2000)),
    *(IrtCase("2pl", responders, 10) for responders in (50, 200, 1000, 5000)),
    *(IrtCase("2pl", responders, 100) for responders in (50, 200, 1000)),
    *(IrtCase("2pl", responders, 2000) for responders in (50, 90, 1000)),
    IrtCase("2pl", 200, 50, discrimination=0.8),
    IrtCase("2pl", 200, 50, missing=0.5),
    *(IrtCase("3pl", responders, 10) for responders in (50, 200, 1000, 5000)),
    *(IrtCase("3pl", responders, 100) for responders in (50, 90, 1000, 5000)),
    IrtCase("3pl", 90, 500, discrimination=1.0, guessing=0.25),
    IrtCase("3pl", 90, 500, discrimination=2.5, guessing=0.25),
    IrtCase("3pl", 200, 2000),
    *(IrtCase("graded", responders, 10) for responders in (200, 1000)),
    *(IrtCase("graded", responders, 50) for responders in (200, 5000)),
)


def simulated(case: IrtCase, seed: int) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Answers, and the parameters they come from."""
    rng = np.random.default_rng([seed, case.responders, case.items])
    items = case.items
    truth = {
        "ability": rng.normal(size=case.responders),
        "difficulty": rng.normal(size=items),
        "discrimination": np.ones(items),
        "guessing": np.zeros(items),
    }
    if case.model != "1pl":
        truth["discrimination"] = case.discrimination * np.exp(0.3 * rng.normal(size=items))
    if case.model == "3pl":
        truth["guessing"] = rng.uniform(0, case.guessing, size=items)
    truth["thresholds"] = truth["difficulty"][:, None] + (STEPS if case.model == "graded" else np.zeros(1))
    gap = truth["ability"][:, None, None] - truth["thresholds"]
    reached = truth["guessing"][:, None] + (1 - truth["guessing"][:, None]) / (
        1 + np.exp(-truth["discrimination"][:, None] * gap)
    )
    matrix = (rng.random((case.responders, items, 1)) < reached).sum(axis=2).astype(float)
    matrix[rng.random(matrix.shape) < case.missing] = np.nan
    return matrix, truth


def coverage(case: IrtCase, repetitions: int, seed: int = 1) -> list[IrtRow]:
    """A row for every kind of parameter, and for the test of fit."""
    held: dict[str, list[NDArray[np.bool_]]] = {}
    for number in range(repetitions):
        matrix, truth = simulated(case, seed + number)
        fit = fit_irt(matrix, model=case.model)
        found = irt_intervals(fit)
        shift, unit = truth["ability"].mean(), 1.0 if case.model == "1pl" else truth["ability"].std()
        true = {name: (truth[name] - shift) / unit for name in ("ability", "difficulty", "thresholds")}
        true |= {"discrimination": truth["discrimination"] * unit, "guessing": truth["guessing"]}
        for name in (*OF_ITEMS[case.model], "ability"):
            low, high = getattr(found, name)
            held.setdefault(name, []).append(((low <= true[name]) & (true[name] <= high)).ravel())
        p = item_fit(fit).p
        held.setdefault("fit", []).append(p[~np.isnan(p)] < 0.05)
    joined = {name: np.concatenate(values) for name, values in held.items()}
    return [IrtRow(case, name, float(one.mean()), len(one)) for name, one in joined.items() if len(one)]


def irt_rows(cases: Sequence[IrtCase] = CASES, repetitions: int = 20, seed: int = 1) -> list[IrtRow]:
    """The rows of all cases, for the page on calibration. A case with many values is simulated less often."""
    rows: list[IrtRow] = []
    for case in cases:
        rows += coverage(case, max(2, min(repetitions, repetitions * 200 // case.items)), seed)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names = ("difficulty", "discrimination", "guessing", "ability", "fit")
    print(f"| model | responders × items | α around | γ up to | missing | {' | '.join(names)} |")
    print(f"| --- | ---: | ---: | ---: | ---: |{' ---: |' * len(names)}")
    for case in CASES:
        found = {row.number: f"{row.held:.1%}" for row in irt_rows([case], options.repetitions, options.seed)}
        found["difficulty"] = found.get("difficulty", found.get("thresholds", ""))
        alpha = "1" if case.model == "1pl" else f"{case.discrimination:g}"
        gamma = f"{case.guessing:g}" if case.model == "3pl" else "0"
        shape = f"{case.responders:,} × {case.items:,} | {alpha} | {gamma} | {case.missing:.0%}"
        print(f"| {case.model} | {shape} | {' | '.join(found.get(name, '') for name in names)} |", flush=True)


if __name__ == "__main__":
    main()
