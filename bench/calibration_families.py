"""Simulations of the scores of `chorale evaluate`, with the metrics of its families."""

from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np

from bench.simulations import FEWER, RESAMPLES, Outcome, Simulation, covers
from chorale.kits.forms.scoring.labels import LabelPair, overall_intervals
from chorale.kits.frames.files.scores import FrameScores
from chorale.kits.frames.metrics.agreement import frame_agreement
from chorale.kits.qasrl.metrics.agreement import agreement_metric
from chorale.kits.qasrl.metrics.measures import metric as qasrl_metric
from chorale.kits.questions.files.questions import McqQuestions
from chorale.kits.questions.metrics import measure_mcq
from chorale.kits.rules.metrics.curves import rule_statistics
from chorale.metrics import Clusters, FloatArray, Metric, Statistics, Tally, counts_metric, intervals, tally_intervals
from chorale.metrics.resampling import Resampling

_BAND = (0.90, 0.99)
_LARGE = 50_000
Evidence = tuple[Statistics, Metric, Clusters | None]


def _named(rows: FloatArray) -> Statistics:
    return Statistics(tuple(f"i{number:06}" for number in range(len(rows))), rows)


def _clusters(of: FloatArray, name: str) -> Clusters:
    return Clusters((name,), ({f"i{place:06}": f"c{cluster:06}" for place, cluster in enumerate(of.tolist())},))


# QA-SRL: verbs of one sentence are easy or hard together


def _verbs(sentences: int, rng: np.random.Generator, times: int = 1) -> tuple[FloatArray, FloatArray]:
    """Nine counts of every verb, `times` over, and the sentence it is in."""
    verbs = 1 + rng.poisson(1.5, sentences)
    easy = np.repeat(rng.beta(6, 3, sentences), verbs)
    sides = []
    for _ in range(times):
        gold = rng.poisson(2.5, len(easy))
        found, labelled = rng.binomial(gold, easy), 0.75
        right, wrong = rng.binomial(found, labelled), rng.poisson(0.8, len(easy))
        of_roles = rng.binomial(gold, easy)
        sides.append([found, wrong, gold - found, right, wrong + found - right, gold - right])
        sides[-1] += [of_roles, wrong, gold - of_roles]
    rows = np.column_stack([column for side in sides for column in side]).astype(np.float64)
    return rows, np.repeat(np.arange(sentences), verbs)


def _qasrl(average: str, sentences: int, rng: np.random.Generator) -> Evidence:
    rows, of = _verbs(sentences, rng)
    return _named(rows), qasrl_metric("micro" if average == "micro" else "macro"), _clusters(of, "sentence")


def _annotators(sentences: int, rng: np.random.Generator) -> Evidence:
    rows, of = _verbs(sentences, rng, times=2)
    return _named(rows), agreement_metric(1), _clusters(of, "sentence")


# Frames, rules, questions, roles


def _frames(sentences: int, rng: np.random.Generator) -> Evidence:
    """Six candidates a sentence; a system that knows a part of what the crowd says."""
    crowd = rng.dirichlet([0.4] * 6, sentences)
    system = 0.6 * crowd + 0.4 * rng.dirichlet([0.4] * 6, sentences)
    names = np.repeat([f"i{number:06}" for number in range(sentences)], 6).tolist()
    frames = [f"f{number}" for number in range(6)] * sentences
    quality = dict(zip(names[::6], (crowd**2).sum(axis=1).tolist(), strict=True))
    gold = FrameScores.from_columns(names, frames, crowd.reshape(-1).tolist(), quality=quality)
    found = frame_agreement(gold, FrameScores.from_columns(names, frames, system.reshape(-1).tolist()))
    return found.statistics(), found.metric(), None


def _rules(applications: int, rng: np.random.Generator) -> Evidence:
    """A third entail; rules cover half of them and a fifth of the others, with scores that are higher if they do."""
    entails = rng.random(applications) < 1 / 3
    covered = rng.random(applications) < np.where(entails, 0.5, 0.2)
    scores = np.where(covered, np.round(rng.normal(size=applications) + entails, 2), np.nan)
    items = [f"i{number:06}" for number in range(applications)]
    return *rule_statistics(items, scores, entails, at_recall=(0.2,)), None


def _questions(writers: int, rng: np.random.Generator) -> Evidence:
    """Ten questions a writer, ten votes each; some writers' questions are unclear, and harder for a model too."""
    clear = np.repeat(rng.beta(12, 2, writers), 10)
    votes = np.zeros((len(clear), 5), dtype=np.int64)
    votes[:, 0] = rng.binomial(10, clear)
    votes[:, 1] = rng.binomial(10 - votes[:, 0], 0.5)
    votes[:, 2] = 10 - votes[:, 0] - votes[:, 1]
    ids = tuple(f"i{number:06}" for number in range(len(clear)))
    model = np.where(rng.random(len(clear)) < clear * 0.8, 0, 3)
    words = rng.integers(1, 9, size=(len(clear), 4)).astype(np.float64)
    measures = measure_mcq(McqQuestions(ids, np.zeros(len(clear), dtype=np.int64), votes, {"model": model}, words))
    return measures.statistics, measures.metric, _clusters(np.repeat(np.arange(writers), 10), "worker_id")


@cache
def _truth(draw: Callable[[int, np.random.Generator], Evidence], large: int, of_size: int) -> dict[str, float]:
    """From so many units that little is left to luck; for `of_size`, the mean over corpora of so many units."""
    statistics, metric, _ = draw(large, np.random.default_rng(0))
    if not of_size:
        return metric.scores(statistics)
    corpora = [metric.formula(statistics.rows[at : at + of_size]) for at in range(0, large - of_size, of_size)]
    return {name: float(np.mean([one[name] for one in corpora])) for name in corpora[0]}


def _covered(
    draw: Callable[[int, np.random.Generator], Evidence],
    scores: tuple[str, ...],
    units: int,
    large: int,
    rng: np.random.Generator,
) -> list[Outcome]:
    statistics, metric, clusters = draw(units, rng)
    found = intervals(statistics, metric, resamples=RESAMPLES, clusters=clusters)
    # The area under the curve of sentences depends on how many they are.
    truths = _truth(draw, large, units if "tau_auc" in scores else 0)
    return [covers(found[score], truths[score]) for score in scores]


_QASRL = {average: partial(_qasrl, average) for average in ("micro", "macro")}


def intervals_of_families() -> Iterator[Simulation]:
    cases: tuple[tuple[str, str, Callable[..., Evidence], tuple[str, ...], tuple[int, ...], int, int], ...] = (
        ("UA, LA, role F1", "sentences", _QASRL["micro"], ("ua_f1", "la_f1", "role_f1"), (30, 100, 500), _LARGE, 100),
        ("UA F1, macro", "sentences", _QASRL["macro"], ("ua_f1",), (30, 100), _LARGE, 0),
        ("UA F1 of two annotators", "sentences", _annotators, ("ua_f1",), (10, 30, 100), _LARGE, 30),
        ("τ and cosine, AUC", "sentences", _frames, ("tau_auc", "cosine_auc"), (50, 200, 1000), _LARGE, 50),
        ("τ and cosine, w-avg", "sentences", _frames, ("tau_w_avg", "cosine_w_avg"), (50, 200), _LARGE, 0),
        ("area of rules", "applications", _rules, ("auc",), (100, 500, 3000), _LARGE, 100),
        ("best F1 of rules", "applications", _rules, ("f1",), (100, 500, 3000), _LARGE, 0),
        ("precision of rules at recall 0.2", "applications", _rules, ("precision_at_recall_0.2",), (500,), _LARGE, 0),
        ("human accuracy", "writers × 10 questions", _questions, ("human resampled",), (10, 30), 3_000, 0),
        ("gap to a model", "writers × 10 questions", _questions, ("gap model resampled",), (10, 30), 3_000, 0),
    )
    for what, of, draw, scores, sizes, large, quick in cases:
        for units in sizes:
            run = partial(_covered, draw, scores, units, large)
            yield Simulation(what, f"{units:,} {of}", "coverage", run, _BAND, units == quick, FEWER)
    for sentences in (50, 200):
        for share in (0.1, 0.5):
            of, run = f"{sentences} sentences, {share:.0%} have it", partial(_role, sentences, share)
            yield Simulation("F1 of one role", of, "coverage", run, (0.91, 0.995), sentences == 200)
    for items in (50, 200):
        for prevalence in (0.1, 0.5):
            of, run = f"{items} items, {prevalence:.0%} yes", partial(_labels, items, prevalence)
            yield Simulation("agreement, κ and rates of labels", of, "coverage", run, (0.91, 0.995), items == 200)


def _role(sentences: int, share: float, rng: np.random.Generator) -> list[Outcome]:
    """Of the sentences that have the role, 70% are found, and half as many elsewhere: F1 is 1.4 / 1.9 of them."""
    there = rng.random(sentences) < share
    found = there & (rng.random(sentences) < 0.7)
    wrong = rng.random(sentences) < 0.2 * share
    rows = np.column_stack([found, wrong, there & ~found]).astype(np.float64)
    drawn = tally_intervals(Tally.of(rows), counts_metric(), resamples=RESAMPLES)
    return [covers(drawn["f1"], 1.4 / 1.9)]


def _labels(items: int, prevalence: float, rng: np.random.Generator) -> list[Outcome]:
    """A crowd that is right about 85% of the expert's yes and 90% of the no."""
    gold = rng.random(items) < prevalence
    system = np.where(gold, rng.random(items) < 0.85, rng.random(items) < 0.1)
    pair = LabelPair(
        tuple(f"i{place:06}" for place in range(items)), ("no", "yes"), tuple(gold * 1), tuple(system * 1), 0, 0
    )
    agreement = 0.85 * prevalence + 0.9 * (1 - prevalence)
    said = 0.85 * prevalence + 0.1 * (1 - prevalence)
    chance = said * prevalence + (1 - said) * (1 - prevalence)
    truths = {
        "agreement": agreement,
        "kappa": (agreement - chance) / (1 - chance),
        "false_positive_rate": 0.1,
        "false_negative_rate": 0.15,
    }
    found = overall_intervals(pair, "yes", Resampling(ci=True, resamples=RESAMPLES))
    return [covers(found[name], truth) if name in found else None for name, truth in truths.items()]
