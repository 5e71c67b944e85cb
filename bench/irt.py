"""Times the fit of item response models, and measures how close the estimates are to the true values.

    python -m bench.irt

Answers are simulated with known parameters: abilities and difficulties are N(0, 1), discrimination is around the given
value, and guessing is uniform up to the given value. Times are the best of several runs, with standard deviations.
`bench.irt_coverage` measures how many intervals contain the true value.
"""

import argparse
import os
import platform
from collections.abc import Callable
from functools import partial

import numpy as np

from bench.irt_coverage import IrtCase, simulated
from bench.timing import best_of
from chorale.metrics import FloatArray
from chorale.metrics.irt import IrtFit, fit_irt, fit_variational, irt_intervals

CASES = (
    IrtCase("1pl", 90, 1500),
    IrtCase("2pl", 90, 1500),
    IrtCase("3pl", 90, 1500),
    IrtCase("3pl", 90, 1500, discrimination=2.5, guessing=0.25),
    IrtCase("3pl", 90, 1500, discrimination=1.0, guessing=0.25),
    IrtCase("3pl", 90, 1000),
    IrtCase("3pl", 100, 100),
    IrtCase("3pl", 1000, 10),
    IrtCase("graded", 1000, 20),
)


def correlation(one: FloatArray, other: FloatArray) -> str:
    return f"{np.corrcoef(one, other)[0, 1]:.3f}" if one.std() and other.std() else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| model | responders × items | α around | γ up to | method | s | CPU s | --ci, CPU s | β | θ | α |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for case in CASES:
        for method in ("marginal", "variational")[: 1 if case.model == "graded" else 2]:
            print_case(case, method, options.runs, options.seed)


def print_case(case: IrtCase, method: str, runs: int, seed: int) -> None:
    matrix, truth = simulated(case, seed)
    marginal = partial(fit_irt, matrix, model=case.model)
    fitting: Callable[[], IrtFit] = (
        marginal if method == "marginal" else partial(fit_variational, matrix, model=case.model)
    )
    fit, took = fitting(), best_of(runs, fitting)
    of_intervals = f"{best_of(1, partial(irt_intervals, marginal())).cpu:.2f}" if method == "marginal" else ""
    guessing = case.guessing if case.model == "3pl" else 0.0
    print(
        f"| {case.model} | {case.responders:,} × {case.items:,} | {case.discrimination:g} | {guessing:g} | {method} | "
        f"{took.wall:.2f} | {took.cpu:.2f} | {of_intervals} | "
        f"{correlation(fit.difficulty.mean, truth['difficulty'])} | "
        f"{correlation(fit.ability.mean, truth['ability'])} | "
        f"{correlation(fit.discrimination, truth['discrimination'])} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
