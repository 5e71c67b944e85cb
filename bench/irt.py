"""How long it takes to fit item response models, and how near they come to the truth.

    python -m bench.irt

Answers are simulated with known parameters: abilities and difficulties N(0, 1), discrimination around the value given,
guessing uniform up to the value given. Times are the best of several runs, of the fit alone with the search for σα.
The second table says how many 95% intervals hold the true value, by the posterior and by the bootstrap.
"""

import argparse
import os
import platform
from functools import partial
from typing import Literal

import numpy as np

from bench.timing import best_of
from chorale.metrics import FloatArray
from chorale.metrics.irt import IrtModel, fit_irt, irt_bootstrap, irt_intervals

CASES: tuple[tuple[IrtModel, int, int, float, float, Literal["fitted", "standard"]], ...] = (
    ("1pl", 90, 1500, 1.0, 0.0, "fitted"),
    ("2pl", 90, 1500, 1.6, 0.0, "fitted"),
    ("3pl", 90, 1500, 1.6, 0.2, "fitted"),
    ("3pl", 90, 1500, 2.5, 0.25, "fitted"),
    ("3pl", 90, 1500, 1.0, 0.25, "fitted"),
    ("3pl", 90, 1500, 1.6, 0.2, "standard"),
    ("3pl", 90, 1000, 1.6, 0.2, "fitted"),
    ("3pl", 100, 100, 1.6, 0.2, "fitted"),
)

HELD: tuple[tuple[IrtModel, int, int, float, float], ...] = (
    ("3pl", 90, 500, 1.6, 0.2),
    ("3pl", 90, 500, 1.0, 0.25),
    ("3pl", 90, 500, 2.5, 0.25),
    ("3pl", 300, 300, 1.6, 0.2),
    ("3pl", 40, 100, 1.6, 0.2),
    ("2pl", 90, 500, 1.6, 0.0),
)
OF_ITEMS = {"3pl": ("difficulty", "discrimination", "guessing"), "2pl": ("difficulty", "discrimination")}


def simulated(
    responders: int, items: int, discrimination: float, guessing: float, seed: int
) -> tuple[FloatArray, dict[str, FloatArray]]:
    rng = np.random.default_rng(seed)
    truth = {
        "ability": rng.normal(size=responders),
        "difficulty": rng.normal(size=items),
        "discrimination": discrimination * np.exp(0.3 * rng.normal(size=items)),
        "guessing": rng.uniform(0, guessing, size=items),
    }
    knows = 1 / (1 + np.exp(-truth["discrimination"] * (truth["ability"][:, None] - truth["difficulty"])))
    chance = truth["guessing"] + (1 - truth["guessing"]) * knows
    return (rng.random((responders, items)) < chance).astype(float), truth


def correlation(one: FloatArray, other: FloatArray) -> str:
    return f"{np.corrcoef(one, other)[0, 1]:.3f}" if one.std() and other.std() else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| model | responders × items | α around | γ up to | prior of γ | s | CPU s | β | θ | α |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for model, responders, items, discrimination, guessing, prior in CASES:
        matrix, truth = simulated(responders, items, discrimination, guessing, options.seed)
        fit = fit_irt(matrix, model=model, guessing_prior=prior)
        took = best_of(options.runs, partial(fit_irt, matrix, model=model, guessing_prior=prior))
        print(
            f"| {model} | {responders} × {items:,} | {discrimination:g} | {guessing:g} | {prior} | {took.wall:.2f} | "
            f"{took.cpu:.2f} | {correlation(fit.difficulty.mean, truth['difficulty'])} | "
            f"{correlation(fit.ability.mean, truth['ability'])} | "
            f"{correlation(fit.discrimination, truth['discrimination'])} |",
            flush=True,
        )
    print("\n| model | responders × items | α around | γ up to | intervals | β | α | γ | θ | CPU s |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for case in HELD:
        print_held(*case, options.seed)


def print_held(model: IrtModel, responders: int, items: int, discrimination: float, guessing: float, seed: int) -> None:
    """How many intervals hold the true value, once it is on the scale of the fit; the mean of two simulations."""
    for kind, around in (("posterior", irt_intervals), ("bootstrap", irt_bootstrap)):
        held: dict[str, list[float]] = {}
        for number in (seed, seed + 1):
            matrix, truth = simulated(responders, items, discrimination, guessing, number)
            fit = fit_irt(matrix, model=model)
            took = best_of(1, partial(around, fit, matrix))
            found = around(fit, matrix)
            scale, shift = np.polyfit(fit.ability.mean, truth["ability"], 1)
            true = {name: (truth[name] - shift) / scale for name in ("ability", "difficulty")}
            true |= {"discrimination": truth["discrimination"] * scale, "guessing": truth["guessing"]}
            for name in (*OF_ITEMS[model], "ability"):
                low, high = getattr(found, name)
                held.setdefault(name, []).append(float(np.mean((low <= true[name]) & (true[name] <= high))))
        names = (*OF_ITEMS["3pl"], "ability")
        shares = " | ".join(f"{np.mean(held[name]):.0%}" if name in held else "" for name in names)
        print(
            f"| {model} | {responders} × {items} | {discrimination:g} | {guessing:g} | {kind} | {shares} | "
            f"{took.cpu:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
