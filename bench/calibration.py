"""Simulates how often the intervals that Chorale prints contain the true value, and how often its tests reject.

`python -m bench.calibration` prints the tables of docs/calibration.md, and `--write` writes them there. Each simulation
generates data with a known truth and computes the output of a command. It counts how often the interval contains the
true value, or how often p ≤ 0.05 although there is no difference. `tests/test_calibration.py` runs some of them in CI
and all of them in `make test-all`. It fails if a rate is outside its band by more than sampling error explains.
"""

import argparse
import multiprocessing
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench import (
    calibration_agreement,
    calibration_coefficients,
    calibration_families,
    calibration_models,
    calibration_scores,
    calibration_workers,
)
from bench.simulations import FEWER, FEWEST, Simulation

SOURCES: tuple[Callable[[], Iterable[Simulation]], ...] = (
    calibration_scores.intervals_of_scores,
    calibration_scores.tests_of_systems,
    calibration_scores.tests_of_arms,
    calibration_coefficients.intervals_of_agreement,
    calibration_agreement.intervals_of_coefficients,
    calibration_agreement.intervals_by_formula,
    calibration_families.intervals_of_families,
    calibration_workers.intervals_of_workers,
    calibration_workers.intervals_of_arms,
    calibration_models.intervals_of_models,
    calibration_models.tests_of_models,
)
"""Further simulations are added here: a function that gives some, in a module beside this one."""
PAGE = Path(__file__).parent.parent / "docs" / "calibration.md"
_PART = re.compile(r"(<!-- simulated -->\n).*?(<!-- end of simulated -->)", re.DOTALL)
_FEWEST = 20
"""Of fewer intervals nothing is said: nearly all were refused."""
_SURE = 3.3
"""Standard errors that a rate may be outside its band by luck: about one in a thousand simulations."""


class Rate(NamedTuple):
    """What came of one simulation."""

    simulation: Simulation
    rate: float
    counted: int
    """Intervals, or p-values, that were given."""
    too_few: float
    """The share of those that were asked for and refused."""

    @property
    def error(self) -> float:
        """The standard error of the rate."""
        middle = (self.rate * self.counted + 1) / (self.counted + 2)
        return sqrt(middle * (1 - middle) / max(self.counted, 1))

    @property
    def is_within(self) -> bool:
        low, high = self.simulation.band
        return self.counted < _FEWEST or low - _SURE * self.error <= self.rate <= high + _SURE * self.error

    def __str__(self) -> str:
        given = f"{self.rate:.1%} ± {2 * self.error:.1%}" if self.counted >= _FEWEST else "–"
        return f"| {self.simulation.what} | {self.simulation.of} | {given} | {self.too_few:.0%} |"


def all_simulations() -> list[Simulation]:
    return [simulation for source in SOURCES for simulation in source()]


def rate_of(simulation: Simulation, repetitions: int, seed: int = 1) -> Rate:
    """Of so many data sets, each from a seed of its own."""
    outcomes = [
        outcome for number in range(repetitions) for outcome in simulation.run(np.random.default_rng([seed, number]))
    ]
    given = [outcome for outcome in outcomes if outcome is not None]
    rate = sum(given) / len(given) if given else 0.0
    return Rate(simulation, rate, len(given), 1 - len(given) / max(1, len(outcomes)))


def rate_looked_into(simulation: Simulation, few: int, many: int, seed: int = 1) -> Rate:
    """Of a few data sets; of many, if the rate of the few is outside the band and has few outcomes."""
    found = rate_of(simulation, few, seed)
    low, high = simulation.band
    is_clear = low <= found.rate <= high or found.counted >= many
    return found if is_clear else rate_of(simulation, many, seed)


def rate_at(place: int, repetitions: int) -> tuple[int, float, int, float]:
    """The rate for the page of the simulation at a place. Other processes can be sent a place, but not a simulation."""
    simulation = all_simulations()[place]
    found = rate_of(simulation, min(repetitions, simulation.most or repetitions))
    return place, found.rate, found.counted, found.too_few


def all_rates(repetitions: int, processes: int, progress: Callable[[str], object] = lambda _: None) -> list[Rate]:
    """In the order of `all_simulations`. Every data set has its own seed: the number of processes changes nothing."""
    simulations = all_simulations()
    rates: dict[int, Rate] = {}
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        work = partial(rate_at, repetitions=repetitions)
        for place, share, counted, too_few in pool.imap_unordered(work, range(len(simulations))):
            rates[place] = rate = Rate(simulations[place], share, counted, too_few)
            progress(f"{rate}{'' if rate.is_within else '  <-- outside its band'}")
    return [rates[place] for place in range(len(simulations))]


def tables(rates: Sequence[Rate], repetitions: int) -> str:
    """One table of coverage and one of size, as Markdown."""
    titles = {
        "coverage": ("Coverage of 95% intervals", "| score | data | contains the true value | no interval |"),
        "size": ("Size of tests: p ≤ 0.05 without a difference", "| test | data | rejects | no p-value |"),
    }
    lines = []
    for kind, (title, header) in titles.items():
        lines += [
            "",
            f"## {title}",
            "",
            header,
            "| --- | --- | --- | --- |",
        ]
        lines += [str(rate) for rate in rates if rate.simulation.kind == kind]
    fewer = {most: [one.what for one in all_simulations() if one.most == most] for most in (FEWER, FEWEST)}
    quoted = {most: ", ".join(f"“{name}”" for name in dict.fromkeys(names)) for most, names in fewer.items()}
    sizes = "; ".join(f"{most} for {names}" for most, names in quoted.items())
    about = f"Each row is from {repetitions:,} simulated data sets. Slow simulations have fewer: {sizes}."
    return "\n".join(["", f"{about} ± is twice the standard error of the simulation.", *lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write docs/calibration.md")
    options = parser.parse_args()
    rates = all_rates(options.repetitions, options.processes, partial(print, flush=True))
    outside = [rate for rate in rates if not rate.is_within]
    print(f"{len(rates)} simulations, {len(outside)} outside their bands")
    if options.write:
        made = tables(rates, options.repetitions)
        text = _PART.sub(lambda match: f"{match[1]}{made}{match[2]}", PAGE.read_text("utf-8"))
        PAGE.write_text(text, "utf-8")
    raise SystemExit(bool(outside))


if __name__ == "__main__":
    main()
