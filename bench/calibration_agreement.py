"""Simulations of other agreement coefficients, of pairs of people, and of analytic intervals."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from bench.calibration_coefficients import judged
from bench.simulations import FEWER, FEWEST, RESAMPLES, Outcome, Simulation, covers
from chorale.metrics import intervals, tally_intervals
from chorale.metrics.agreement import Agreement, pair_evidence
from chorale.metrics.judgments import NOTHING, Judgments
from chorale.metrics.scoring.agreement_options import AgreementOptions, CoefficientName

_RATERS = 3
_LARGE, _LARGE_RANKED, _LARGE_SPANS = 200_000, 20_000, 2_000
_BAND = (0.90, 0.99)


def _weighted(metric: CoefficientName, **more: Any) -> AgreementOptions:
    return AgreementOptions(metric, weights="quadratic", order=tuple("12345"), **more)


_OF_LABELS = {
    "percent agreement": AgreementOptions("percent"),
    "Cohen's κ, mean of pairs": AgreementOptions("kappa"),
    "Scott's π, mean of pairs": AgreementOptions("pi"),
    "Gwet's AC1": AgreementOptions("gwet"),
    "Brennan and Prediger": AgreementOptions("brennan-prediger"),
    "Conger's κ": AgreementOptions("conger"),
}
_OF_GRADES = {
    "α, ordinal": AgreementOptions("alpha", level="ordinal"),
    "α, interval": AgreementOptions("alpha", level="interval"),
    "Gwet's AC2, quadratic": _weighted("gwet"),
    "Brennan and Prediger, quadratic": _weighted("brennan-prediger"),
    "Conger's κ, quadratic": _weighted("conger"),
    "Fleiss' κ of items, quadratic": _weighted("fleiss", shares="items"),
    "ICC(2)": AgreementOptions("icc"),
    "Kendall's W": AgreementOptions("kendall-w"),
    "Kendall's τ, mean of pairs": AgreementOptions("kendall-tau"),
    "Spearman's ρ, mean of pairs": AgreementOptions("spearman"),
}
_BY_FORMULA = {
    "Krippendorff's α": AgreementOptions("alpha"),
    "Fleiss' κ": AgreementOptions("fleiss"),
    "Gwet's AC1": AgreementOptions("gwet"),
}
_GAMMA = AgreementOptions("gamma")
SIMULATED = (*_OF_LABELS.values(), *_OF_GRADES.values(), _GAMMA)
"""Coefficients beside those of `calibration_coefficients`."""


def _graded(items: int, rng: np.random.Generator, people: int = _RATERS) -> Judgments:
    """On a scale of five: the item's own place, and nearly as much of each person's luck."""
    grades = np.clip(np.round(3 + rng.normal(size=(items, 1)) + 0.7 * rng.normal(size=(items, people))), 1, 5)
    return Judgments.from_columns(*_names(items, people), list(map(str, grades.astype(int).reshape(-1))))


def _marked(items: int, rng: np.random.Generator) -> Judgments:
    """Texts of 40 tokens with about three spans, which three people find at 80%, up to a token off, some elsewhere."""
    labels: list[list[str]] = []
    for _ in range(items):
        starts = np.flatnonzero(rng.random(10) < 0.3) * 4
        kinds = rng.choice(["PER", "LOC"], size=len(starts))
        for _ in range(_RATERS):
            found = rng.random(len(starts)) < 0.8
            moved = np.where(rng.random(len(starts)) < 0.2, 1, 0)
            spans = [f"{at}:{at + 3 - off}:{kind}" for at, off, kind in zip(starts, moved, kinds, strict=True)]
            labels.append([span for span, is_found in zip(spans, found, strict=True) if is_found] or [NOTHING])
    tasks, workers = _names(items, _RATERS)
    return Judgments.from_columns(tasks, workers, labels)


def _names(items: int, people: int) -> tuple[list[str], list[str]]:
    tasks = np.repeat([f"t{number:06}" for number in range(items)], people).tolist()
    return tasks, [f"w{number}" for number in range(people)] * items


def _value(found: Agreement) -> float:
    if found.value is None:
        raise ValueError("the coefficient is undefined")
    return found.value


@cache
def _true_of_labels(metric: str, prevalence: float) -> float:
    """From so many items that nothing is left to luck."""
    return _value(AgreementOptions(metric).compute(judged(_LARGE, prevalence, np.random.default_rng(0))))


@cache
def _true_of_grades(options: AgreementOptions, people: int = _RATERS) -> float:
    return _value(options.compute(_graded(_LARGE_RANKED, np.random.default_rng(0), people)))


@cache
def _true_of_spans() -> float:
    return _value(_GAMMA.compute(_marked(_LARGE_SPANS, np.random.default_rng(0))))


def _covered(found: Agreement, truth: float) -> list[Outcome]:
    if found.value is None:
        return [None]
    return [covers(intervals(*found.statistics(), resamples=RESAMPLES)["value"], truth)]


def _of_labels(options: AgreementOptions, items: int, prevalence: float, rng: np.random.Generator) -> list[Outcome]:
    found = options.compute(judged(items, prevalence, rng))
    return _covered(found, _true_of_labels(options.metric, prevalence))


def _of_grades(options: AgreementOptions, items: int, people: int, rng: np.random.Generator) -> list[Outcome]:
    return _covered(options.compute(_graded(items, rng, people)), _true_of_grades(options, people))


def _of_spans(items: int, rng: np.random.Generator) -> list[Outcome]:
    return _covered(_GAMMA.compute(_marked(items, rng)), _true_of_spans())


def _by_formula(options: AgreementOptions, items: int, prevalence: float, rng: np.random.Generator) -> list[Outcome]:
    found = options.compute(judged(items, prevalence, rng)).analytic()
    return [None if found is None else covers(found.interval, _true_of_labels(options.metric, prevalence))]


def _grades_by_formula(options: AgreementOptions, items: int, rng: np.random.Generator) -> list[Outcome]:
    found = options.compute(_graded(items, rng)).analytic()
    return [None if found is None else covers(found.interval, _true_of_grades(options))]


def _of_pair(items: int, prevalence: float, rng: np.random.Generator) -> Iterator[Outcome]:
    truth = _true_of_labels("kappa", prevalence)
    for pair in pair_evidence(judged(items, prevalence, rng)):
        yield covers(tally_intervals(pair.tally, pair.metric, resamples=RESAMPLES)["kappa"], truth)


def intervals_of_coefficients() -> Iterator[Simulation]:
    for name, options in _OF_LABELS.items():
        for items in (30, 100, 300):
            for prevalence in (0.05, 0.5):
                of, run = (
                    f"{items:,} items, {prevalence:.0%} yes, 3 raters",
                    partial(_of_labels, options, items, prevalence),
                )
                yield Simulation(name, of, "coverage", run, _BAND, options.metric == "gwet" and items == 100)
    for name, options in _OF_GRADES.items():
        for items, people in ((15, 3), (30, 3), (100, 3), (15, 2), (30, 2)):
            run = partial(_of_grades, options, items, people)
            quick = items == 30 and options.metric in ("gwet", "icc", "spearman")
            most = FEWER if options.metric == "spearman" else None
            of = f"{items:,} items, grades 1–5, {people} raters"
            yield Simulation(name, of, "coverage", run, _BAND, quick, most)
    for items in (10, 30):
        of = f"{items:,} texts, 3 spans, 3 raters"
        yield Simulation("γ of spans", of, "coverage", partial(_of_spans, items), _BAND, most=FEWEST)
    for items in (30, 100, 300):
        for prevalence in (0.05, 0.5):
            of = f"{items:,} items, {prevalence:.0%} yes"
            pair = partial(_of_pair, items, prevalence)
            yield Simulation("κ of two people", of, "coverage", pair, _BAND, items == 100, FEWER)


def intervals_by_formula() -> Iterator[Simulation]:
    for name, options in _BY_FORMULA.items():
        for items in (30, 100, 300):
            for prevalence in (0.05, 0.5):
                of = f"{items:,} items, {prevalence:.0%} yes, 3 raters"
                run = partial(_by_formula, options, items, prevalence)
                # Of a rare label, only data with many disagreements have an interval: it is then too wide.
                band = (0.90, 1.0) if prevalence < 0.1 else _BAND
                yield Simulation(f"{name}, --analytic", of, "coverage", run, band, items == 100)
    for name, options in {"ICC(2)": AgreementOptions("icc"), "Gwet's AC2, quadratic": _weighted("gwet")}.items():
        for items in (15, 30, 100):
            of, run = f"{items:,} items, grades 1–5, 3 raters", partial(_grades_by_formula, options, items)
            yield Simulation(f"{name}, --analytic", of, "coverage", run, _BAND, items == 30)
