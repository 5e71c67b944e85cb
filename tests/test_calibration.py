"""Intervals cover as often as they say, and tests reject as seldom: simulated, in bands with room for luck."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from bench import calibration_agreement
from bench.calibration import PAGE, all_simulations, rate_looked_into, rate_of
from bench.simulations import COVERAGE, SIZE, Simulation
from chorale import UserError
from chorale.evaluate import mcq
from chorale.kits.questions.files.questions import McqQuestions, read_mcq
from chorale.kits.questions.metrics import measure_mcq
from chorale.kits.questions.metrics.artifacts import measure_written
from chorale.metrics import Clusters, FloatArray, Metric, Statistics, compare_apart, intervals
from chorale.metrics.adjustment import benjamini_hochberg, holm
from chorale.metrics.scoring.agreement_options import COEFFICIENTS
from chorale.metrics.student import t_bound, t_tail

NANGIA = Path(__file__).parents[2] / "shared" / "data" / "nangia"
PLACEBO = {
    "human resampled": "human accuracy",
    "roberta_large all": "a model's accuracy",
    "longest all": "the longest option",
    "words of an option": "length of options",
}


def shown(simulation: Simulation) -> str:
    return f"{simulation.what}, {simulation.of}"


@pytest.mark.parametrize("simulation", [one for one in all_simulations() if one.is_quick], ids=shown)
def test_a_rate_is_in_its_band(simulation: Simulation) -> None:
    found = rate_looked_into(simulation, 60, 400, seed=2)
    assert found.is_within, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("simulation", all_simulations(), ids=shown)
def test_every_rate_is_in_its_band(simulation: Simulation) -> None:
    found = rate_of(simulation, 400, seed=3)
    assert found.is_within, str(found)


def test_the_page_has_a_row_of_every_simulation_and_no_other() -> None:
    made = PAGE.read_text("utf-8").partition("<!-- simulated -->")[2]
    rows = [line.split(" | ")[:2] for line in made.splitlines() if line.startswith("| ")]
    found = [(what.removeprefix("| "), of) for what, of in rows if of != "data" and "---" not in what]
    assert Counter(found) == Counter((one.what, one.of) for one in all_simulations())
    assert made.rstrip().endswith("<!-- end of simulated -->")


def test_every_coefficient_of_agreement_is_simulated() -> None:
    simulated = {one.metric for one in calibration_agreement.SIMULATED} | {"alpha", "fleiss"}
    assert simulated == set(COEFFICIENTS)


def test_what_leaves_its_band_fails() -> None:
    """An interval that covers too seldom, one that is too wide, and a test that rejects too often, in as many data sets
    as CI draws."""

    def outcomes(rate: float, kind: Literal["coverage", "size"], band: tuple[float, float]) -> Simulation:
        return Simulation("made up", f"{rate:.0%}", kind, lambda rng: [bool(rng.random() < rate)], band)

    assert rate_looked_into(outcomes(0.95, "coverage", COVERAGE), 60, 400, seed=2).is_within
    for rate in (0.80, 0.85, 1.0):
        assert not rate_looked_into(outcomes(rate, "coverage", COVERAGE), 60, 400, seed=2).is_within, rate
    assert rate_looked_into(outcomes(0.05, "size", SIZE), 60, 400, seed=2).is_within
    assert not rate_looked_into(outcomes(0.16, "size", SIZE), 60, 400, seed=2).is_within
    # The bootstrap that was printed before: percentiles of few people's answers as if each were somebody else's.
    narrow = Simulation("gold right", "10 people, 10 each", "coverage", _narrow, (0.91, 0.99))
    assert not rate_of(narrow, 400, seed=2).is_within


def _narrow(rng: np.random.Generator) -> list[bool]:
    right = rng.binomial(10, rng.beta(8, 2, size=10)).sum()
    half = 1.96 * (right / 100 * (1 - right / 100) / 100) ** 0.5
    return [bool(abs(right / 100 - 0.8) <= half)]


def split(evidence: tuple[Statistics, Metric], inside: Mapping[str, bool]) -> list[tuple[Statistics, Metric]]:
    """The same measures of two halves of the items."""
    statistics, metric = evidence
    first = np.array([inside[item] for item in statistics.items])
    items = np.asarray(statistics.items, dtype=object)
    return [(Statistics(tuple(items[part]), statistics.rows[part]), metric) for part in (first, ~first)]


def chosen(metric: Metric) -> Metric:
    """The measures of `PLACEBO` alone, which takes a quarter of the time."""

    def formula(sums: FloatArray) -> dict[str, FloatArray | float]:
        return {name: value for name, value in metric.formula(sums).items() if name in PLACEBO}

    return Metric(formula, additive=metric.additive)


def placebo(
    evidence: Mapping[str, tuple[Statistics, Metric]], writer: Mapping[str, str], splits: int
) -> dict[str, float]:
    """How often writers who were split at random differ with p ≤ 0.05, by the measures of `PLACEBO`."""
    clusters = Clusters(("worker_id",), (writer,))
    summed = {name: (clusters.sums(statistics), chosen(metric)) for name, (statistics, metric) in evidence.items()}
    writers = sorted(set(writer.values()))
    rejected: Counter[str] = Counter()
    for number in range(splits):
        drawn = set(np.random.default_rng([5, number]).permutation(writers)[: len(writers) // 2].tolist())
        for pair in summed.values():
            first, second = split(pair, {name: name in drawn for name in writers})
            for score, found in compare_apart(first, second, resamples=400, seed=number).items():
                rejected[score] += found.p_permutation <= 0.05
    return {score: count / splits for score, count in rejected.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["baseline", "crowd"])
def test_writers_of_one_protocol_split_at_random_do_not_differ(name: str) -> None:
    path = NANGIA / f"{name}.json.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    questions: McqQuestions = read_mcq(path)[0]
    measures = measure_mcq(questions)
    evidence = {"mcq": (measures.statistics, measures.metric), "written": measure_written(questions)}
    writer = {item: text.writer for item, text in zip(questions.ids, questions.texts, strict=True)}
    found = placebo(evidence, writer, 2000)
    assert {score: found[score] for score in PLACEBO if not 0.03 <= found[score] <= 0.08} == {}


def records(rng: np.random.Generator, writers: int, before: str) -> list[dict[str, Any]]:
    """Twenty questions by each of some writers, whose options are long or short by habit."""
    made = []
    for writer in range(writers):
        words = int(rng.integers(2, 12))
        for number in range(20):
            options = [
                " ".join(["word"] * max(1, words + int(rng.integers(-1, 2)))) + f" {place}" for place in range(4)
            ]
            made.append(
                {
                    "question_id": f"{before}{writer}-{number}",
                    "options": options,
                    "gold_answer": "option1",
                    "worker_id": f"{before}{writer}",
                    "validation_data": [],
                    "model_predictions": [[int(rng.random() > rng.beta(2, 2)), "m"]],
                }
            )
    return made


def files(folder: Path, seed: int, writers: int = 8) -> list[Path]:
    rng = np.random.default_rng(seed)
    paths = []
    for name in ("one", "two"):
        paths.append(folder / f"{name}.json")
        paths[-1].write_text(json.dumps(records(rng, writers, name)), "utf-8")
    return paths


def test_arms_of_writers_with_habits_differ_no_more_often_than_luck(tmp_path: Path) -> None:
    """Question by question half of the pairs of arms would differ; writer by writer one in twenty does."""
    rejected = {"worker_id": 0, "question_id": 0}
    for seed in range(20):
        paths = files(tmp_path, seed)
        for cluster in rejected:
            score = mcq(paths, written=True, cluster=cluster, resamples=100)
            of = score.json["written"]["compared"]["files"]["two"]["words of an option"]
            rejected[cluster] += of["p_permutation"] <= 0.05
    assert rejected["worker_id"] <= 4
    assert rejected["question_id"] >= 8


def test_the_unit_is_in_notes_and_signature(tmp_path: Path) -> None:
    one, two = files(tmp_path, 1)
    score = mcq(one, against=two, resamples=100)
    assert "one: resampled by worker_id (8 clusters), not item by item. With fewer than 10" in " ".join(score.notes)
    assert "|cluster:worker_id|" in score.signature
    assert "|cluster:question_id|" in mcq(one, against=two, cluster="question_id", resamples=100).signature
    with pytest.raises(UserError, match=r"no such column \(found: question_id, worker_id\)"):
        mcq(one, cluster="document", resamples=100)
    compared = score.json["against"]["scores"]
    assert compared["m all"]["p_holm"] >= compared["m all"]["p_bh"] >= compared["m all"]["p_permutation"]


def test_clusters_of_two_kinds_are_both_sampled() -> None:
    rng = np.random.default_rng(4)
    values = (rng.normal(size=20)[:, None] + rng.normal(size=30)).reshape(-1)
    items = [f"i{number}" for number in range(len(values))]
    statistics = Statistics(tuple(items), np.column_stack([values, np.ones(len(values))]))
    mean = Metric(lambda sums: {"mean": sums[..., 0] / sums[..., 1]})
    of_rows = {item: str(number // 30) for number, item in enumerate(items)}
    of_columns = {item: str(number % 30) for number, item in enumerate(items)}
    widths = []
    for clusters in (
        None,
        Clusters(("row",), (of_rows,)),
        Clusters(("column",), (of_columns,)),
        Clusters(("row", "column"), (of_rows, of_columns)),
    ):
        found = intervals(statistics, mean, clusters=clusters)["mean"]
        widths.append(found.high - found.low)
    alone, rows, columns, both = widths
    assert alone < min(rows, columns) and both == pytest.approx(np.hypot(rows, columns), rel=0.25)


def test_writers_who_worked_in_both_arms_are_swapped_within_themselves() -> None:
    """Every writer is a little better in the first arm: apart that is lost among writers, within them it is plain."""
    easy = np.repeat(np.linspace(0.1, 0.9, 12), 10)
    items = tuple(f"i{number}" for number in range(120))
    mean = Metric(lambda sums: {"mean": sums[..., 0] / sums[..., 1]})
    ours, theirs = (Statistics(items, np.column_stack([easy + more, np.ones(120)])) for more in (0.02, 0.0))
    same = Clusters(("writer",), ({item: str(number // 10) for number, item in enumerate(items)},))
    other = Clusters(("writer",), ({item: f"other {number // 10}" for number, item in enumerate(items)},))
    within = compare_apart((ours, mean), (theirs, mean), clusters=(same, same))["mean"]
    apart = compare_apart((ours, mean), (theirs, mean), clusters=(same, other))["mean"]
    assert within.p_permutation < 0.01
    assert apart.p_permutation > 0.5


def test_t_agrees_with_tables() -> None:
    for freedom, bound in ((1, 12.7062), (2, 4.30265), (5, 2.57058), (30, 2.04227), (1000, 1.96234)):
        assert t_bound(0.025, freedom) == pytest.approx(bound, abs=1e-4)
        assert t_tail(bound, freedom) == pytest.approx(0.025, abs=1e-5)


def test_adjusted_p_values_agree_with_r() -> None:
    values = [0.01, 0.02, 0.03, 0.04, 0.05, float("nan")]
    assert holm(values)[:5] == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert benjamini_hochberg(values)[:5] == pytest.approx([0.05] * 5)
    assert np.isnan(holm(values)[5]) and np.isnan(benjamini_hochberg(values)[5])
