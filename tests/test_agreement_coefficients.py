"""Further coefficients of agreement, against other packages: data made here, figures computed with them once."""

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import chorale
from chorale.cli import app
from chorale.metrics import intervals
from chorale.metrics.agreement import (
    Agreement,
    brennan_prediger,
    cohen_kappa,
    conger,
    conger_kappa,
    fleiss_by_items,
    gwet_ac,
    icc,
    kendall_tau,
    kendall_w,
    krippendorff_alpha,
    pair_evidence,
    spearman_rho,
)
from chorale.metrics.agreement.errors import analytic_of
from chorale.metrics.agreement.icc import ICC_FORMS
from chorale.metrics.judgments import Judgments
from chorale.metrics.statistics import Statistics
from chorale.metrics.variance_ratio import f_bound, f_tail

Ratings = list[list[int | None]]
WEIGHTED: dict[str, Callable[..., Agreement]] = {
    "gwet": gwet_ac,
    "bp": brennan_prediger,
    "fleiss": fleiss_by_items,
    "conger": conger_kappa,
}
ALL: dict[str, Callable[..., Agreement]] = {
    **WEIGHTED,
    "ac2": lambda crowd: gwet_ac(crowd, weights="quadratic", order=list("1234")),
    "icc1": lambda crowd: icc(crowd, form="1"),
    "icc2k": lambda crowd: icc(crowd, form="2k"),
    "w": kendall_w,
    "tau": kendall_tau,
    "rho": spearman_rho,
}


def ratings(*, missing: float) -> Ratings:
    """50 items by 4 people who agree on 60%, of which the last two miss some: the same on every machine."""
    state, rows = 7, []

    def chance() -> float:
        nonlocal state
        state = (state * 1103515245 + 12345) % 2**31
        return state / 2**31

    for _ in range(50):
        truth, row = int(chance() * 4) + 1, []
        for person in range(4):
            value = truth if chance() < 0.6 else int(chance() * 4) + 1
            row.append(None if person >= 2 and chance() < missing else value)
        rows.append(row)
    return rows


def crowd_of(rows: Ratings) -> Judgments:
    judged = [(item, who, value) for item, row in enumerate(rows) for who, value in enumerate(row) if value is not None]
    tasks, workers, labels = zip(*judged, strict=True)
    return Judgments.from_columns(tasks, [f"p{who}" for who in workers], labels)


# Against irrCAC 0.4.4: value and standard error, with missing judgments


@pytest.mark.parametrize(
    ("name", "weights", "value", "error"),
    [
        ("gwet", "none", 0.4365641752, 0.0694618562),
        ("bp", "none", 0.4355555556, 0.0693227505),
        ("fleiss", "none", 0.4325079129, 0.069208309),
        ("conger", "none", 0.4335366318, 0.068924335),
        ("gwet", "linear", 0.4097709811, 0.0820177048),
        ("bp", "linear", 0.4053333333, 0.0808310575),
        ("fleiss", "linear", 0.3906521115, 0.077730993),
        ("conger", "linear", 0.3882033569, 0.0759283823),
        ("gwet", "quadratic", 0.4016875479, 0.1063676931),
        ("bp", "quadratic", 0.3933333333, 0.1037920475),
        ("fleiss", "quadratic", 0.3662584876, 0.0985852721),
        ("conger", "quadratic", 0.3594204935, 0.0957262527),
    ],
)
def test_coefficients_equal_irrcac(name: str, weights: Any, value: float, error: float) -> None:
    found = WEIGHTED[name](crowd_of(ratings(missing=0.4)), weights=weights)
    assert found.value == pytest.approx(value, abs=1e-9)
    analytic = found.analytic()
    assert analytic is not None
    assert analytic.error == pytest.approx(error, abs=1e-8)
    half = stats.t.ppf(0.975, 49) * error
    # Of weighted coefficients, value ± t·SE held the true value in 83 to 91% of simulations: theirs is of log(1 − θ).
    factor = np.exp(half / (1 - value))
    on_log_scale = [1 - (1 - value) * factor, 1 - (1 - value) / factor]
    expected = [value - half, value + half] if weights == "none" else on_log_scale
    assert analytic.interval.as_list() == pytest.approx(expected, abs=1e-7)


def test_labels_that_nobody_gave_count_if_they_are_named() -> None:
    crowd = crowd_of(ratings(missing=0.4))
    assert gwet_ac(crowd, order=list("12345")).value == pytest.approx(0.4796192753, abs=1e-9)
    assert brennan_prediger(crowd, order=list("12345")).value == pytest.approx(0.4708333333, abs=1e-9)


def test_standard_errors_of_kappa_and_alpha() -> None:
    """κ by statsmodels 0.15.0, which divides by n; α by irrCAC, which leaves out the correction for small samples."""
    rows = ratings(missing=0)
    found = krippendorff_alpha(crowd_of(rows)).analytic()
    assert found is not None
    assert found.error == pytest.approx(0.0574707084 * (1 - 1 / 200), abs=1e-9)
    two = crowd_of([row[:2] for row in rows])
    (pair,) = pair_evidence(two)
    analytic = analytic_of(pair.tally, pair.metric)["kappa"]
    assert cohen_kappa(two).value == pytest.approx(0.38894792773645065)
    assert analytic.error == pytest.approx(0.09085352234122208 * (50 / 49) ** 0.5, abs=1e-9)


def test_two_people_with_the_same_items_have_cohens_kappa() -> None:
    two = crowd_of([row[:2] for row in ratings(missing=0)])
    for weights in ("none", "linear", "quadratic"):
        assert conger_kappa(two, weights=weights).value == pytest.approx(cohen_kappa(two, weights=weights).value)


# Against pingouin 0.6.1 and SciPy


def test_intraclass_correlations_equal_pingouin() -> None:
    crowd = crowd_of(ratings(missing=0))
    values = [0.41285844145111994, 0.4147607149721315, 0.4202064035160923]
    values += [0.7377164162575217, 0.7392309668579259, 0.7435244318111903]
    ends = [(0.27, 0.57), (0.27, 0.57), (0.28, 0.57), (0.6, 0.84), (0.6, 0.84), (0.6, 0.84)]
    for form, value, around in zip(ICC_FORMS, values, ends, strict=True):
        found = icc(crowd, form=form)
        assert found.value == pytest.approx(value)
        analytic = found.analytic()
        assert analytic is not None
        assert analytic.error is None
        assert analytic.interval.as_list() == pytest.approx(around, abs=0.0051)


def test_intraclass_correlation_of_the_items_that_everybody_judged() -> None:
    rows = ratings(missing=0.4)
    full = [row for row in rows if None not in row]
    found, expected = icc(crowd_of(rows), form="3"), icc(crowd_of(full), form="3")
    assert found.value == pytest.approx(expected.value)
    assert f"{50 - len(full)} items do not count" in found.notes[0]
    assert icc(crowd_of(rows), form="1").value != pytest.approx(icc(crowd_of(full), form="1").value)


def test_the_f_distribution_equals_scipy() -> None:
    for first, second in ((1, 3), (19, 57), (4.5, 200.25), (500, 3)):
        assert f_bound(0.025, first, second) == pytest.approx(stats.f.isf(0.025, first, second), rel=1e-9)
        assert f_tail(1.3, first, second) == pytest.approx(stats.f.sf(1.3, first, second), rel=1e-9)


def test_notes_say_why_pairs_and_items_are_left_out() -> None:
    tasks, workers = [1, 2, 3, 1, 2, 3, 1, 2, 3, 4], list("aaabbbcccc")
    crowd = Judgments.from_columns(tasks, workers, [1, 1, 1, 1, 2, 3, 1, 3, 2, 2])
    assert "Pairs left out because one worker gave all items the same rank: 2." in spearman_rho(crowd).notes
    assert kendall_w(crowd).notes == ("1 item does not count, because not everybody judged it.",)


def test_ranks_equal_scipy() -> None:
    rows = np.array(ratings(missing=0))
    crowd = crowd_of(ratings(missing=0))
    pairs = list(combinations(range(4), 2))
    rho = [stats.spearmanr(rows[:, one], rows[:, other])[0] for one, other in pairs]
    tau = [stats.kendalltau(rows[:, one], rows[:, other])[0] for one, other in pairs]
    assert spearman_rho(crowd).value == pytest.approx(np.mean(rho))
    assert kendall_tau(crowd).value == pytest.approx(np.mean(tau))
    friedman = stats.friedmanchisquare(*rows).statistic
    assert kendall_w(crowd).value == pytest.approx(friedman / (4 * 49))
    words = dict(enumerate(["low", "some", "much", "high"], 1))
    named = Judgments.from_columns(
        np.repeat(np.arange(50), 4), list("abcd") * 50, [words[value] for value in rows.reshape(-1)]
    )
    assert kendall_tau(named, order=list(words.values())).value == pytest.approx(np.mean(tau))


# Intervals


def test_analytic_intervals_hold() -> None:
    """40 items, 3 people: 95% intervals of Gwet's and Fleiss' coefficients hold what a million items give."""
    rng, held = np.random.default_rng(5), {"gwet": 0, "fleiss": 0, "conger": 0}

    def crowd(items: int) -> Judgments:
        truth = rng.choice(3, p=[0.6, 0.3, 0.1], size=(items, 1))
        said = np.where(rng.random((items, 3)) < 0.8, truth, rng.integers(3, size=(items, 3)))
        return Judgments.from_columns(np.repeat(np.arange(items), 3), list("xyz") * items, said.reshape(-1))

    large = crowd(100_000)
    truth = {name: WEIGHTED[name](large).value for name in held}
    for _ in range(150):
        small = crowd(40)
        for name in held:
            found, value = WEIGHTED[name](small).analytic(), truth[name]
            assert found is not None
            assert value is not None
            held[name] += found.interval.low <= value <= found.interval.high
    assert all(0.91 <= count / 150 <= 0.99 for count in held.values()), held


def test_intervals_of_weighted_coefficients_miss_on_both_sides_alike() -> None:
    """30 items on a scale of five: percentiles of resamples are above the true value in 11% of data sets."""

    def graded(items: int, seed: int, people: int = 3) -> Judgments:
        rng = np.random.default_rng([31, seed])
        grades = np.clip(np.round(3 + rng.normal(size=(items, 1)) + 0.7 * rng.normal(size=(items, people))), 1, 5)
        return Judgments.from_columns(
            np.repeat([f"{item:05}" for item in range(items)], people),
            [f"p{one}" for one in range(people)] * items,
            grades.astype(int).reshape(-1),
        )

    def ac2(crowd: Judgments) -> Agreement:
        return gwet_ac(crowd, weights="quadratic", order=list("12345"))

    truth = ac2(graded(20_000, 0)).value
    assert truth is not None
    found = [intervals(*ac2(graded(30, seed)).statistics(), resamples=100)["value"] for seed in range(1, 301)]
    assert sum(truth < one.low for one in found) <= 0.07 * 300
    assert sum(truth > one.high for one in found) <= 0.05 * 300
    # Fifteen pairs of judgments may lack every large distance: an interval from them is too narrow.
    assert not intervals(*ac2(graded(15, 1, people=2)).statistics(), resamples=100)["value"].is_known
    assert not ac2(graded(15, 1, people=2)).analytic().interval.is_known  # type: ignore[union-attr] # it has an error
    assert intervals(*ac2(graded(60, 1, people=2)).statistics(), resamples=100)["value"].is_known


@pytest.mark.parametrize("name", sorted(ALL))
@pytest.mark.parametrize("few_columns", [False, True])
def test_statistics_of_drawn_items_give_the_coefficient_of_those_items(
    name: str, few_columns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if few_columns:
        monkeypatch.setattr(conger, "_MOST_COLUMNS", 0)
    rows = ratings(missing=0.4)
    rows[0] = [2, None, None, None]
    found: Agreement = ALL[name](crowd_of(rows))
    statistics, metric = found.statistics()
    assert metric.scores(statistics)["value"] == pytest.approx(found.value)
    drawn = np.random.default_rng(2).integers(len(statistics.items), size=60)
    again = ALL[name](crowd_of([rows[int(statistics.items[place])] for place in drawn]))
    resample = Statistics(tuple(map(str, range(60))), statistics.rows[drawn])
    assert metric.scores(resample)["value"] == pytest.approx(again.value)


# What is undefined


@pytest.mark.parametrize("name", sorted({*ALL} - {"ac2"}))
def test_one_label_or_one_worker_is_undefined(name: str) -> None:
    alike = Judgments.from_columns(list("aabb"), list("xyxy"), [1, 1, 1, 1])
    assert ALL[name](alike).value is None
    assert ALL[name](alike).undefined
    alone = Judgments.from_columns(list("ab"), list("xx"), [1, 2])
    assert (ALL[name](alone).value, ALL[name](alone).undefined) == (None, "no item has two judgments")


# The command and Python


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["agreement", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout if code == 0 else result.stderr


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = ratings(missing=0.4)
    lines = [f"{item},p{who},{value}" for item, row in enumerate(rows) for who, value in enumerate(row) if value]
    path = tmp_path / "judgments.csv"
    path.write_text("task,worker,label\n" + "\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.parametrize(
    ("options", "value", "signed"),
    [
        (["gwet"], 0.4365641752, "gwet|weights:none|"),
        (["gwet", "--weights", "quadratic"], 0.4016875479, "gwet|weights:quadratic|"),
        (["brennan-prediger", "--order", "1,2,3,4,5"], 0.4708333333, "brennan-prediger|weights:none|order:1,2,3,4,5|"),
        (["conger", "--weights", "linear"], 0.3882033569, "conger|weights:linear|"),
        (["fleiss", "--shares", "items"], 0.4325079129, "fleiss|weights:none|shares:items|"),
    ],
)
def test_the_command_computes_them(file: Path, options: list[str], value: float, signed: str) -> None:
    found = json.loads(run(file, "--metric", *options, "--analytic", "--ci", "--json"))
    assert found["value"] == pytest.approx(value, abs=1e-9)
    assert found["signature"].startswith(signed)
    low, high = found["analytic"]["ci"]
    assert low < found["value"] < high
    assert found["ci"][0] == pytest.approx(low, abs=0.06)
    assert found["ci"][1] == pytest.approx(high, abs=0.06)


def test_other_coefficients_of_the_command(file: Path) -> None:
    rows = crowd_of(ratings(missing=0.4))
    for metric, expected in (("spearman", spearman_rho), ("kendall-tau", kendall_tau), ("kendall-w", kendall_w)):
        found = json.loads(run(file, "--metric", metric, "--analytic", "--json"))
        assert found["value"] == pytest.approx(expected(rows).value)
        assert (found["level"], found["analytic"]) == ("ordinal", None)
        assert f"{metric} has no analytic standard error for these data." in found["notes"]
    found = json.loads(run(file, "--metric", "icc", "--icc-form", "3k", "--json"))
    assert (found["icc_form"], found["value"]) == ("3k", pytest.approx(icc(rows, form="3k").value))
    assert "standard error" in run(file, "--analytic")
    assert "Only icc has forms" in run(file, "--icc-form", "1", code=2)
    assert "Only fleiss has two kinds" in run(file, "--shares", "items", code=2)
    assert "Weights for fleiss require --shares items" in run(file, "--metric", "fleiss", "--weights", "linear", code=2)


def test_a_second_file_is_compared_by_them(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(file.read_text("utf-8").replace(",4\n", ",3\n"), "utf-8")
    for metric in ("gwet", "conger", "icc", "kendall-tau"):
        order = ["--order", "1,2,3,4"] if metric == "gwet" else []
        found = json.loads(run(file, "--metric", metric, *order, "--against", other, "--resamples", 100, "--json"))
        alone = json.loads(run(other, "--metric", metric, *order, "--json"))["value"]
        assert found["against"]["value"] == pytest.approx(found["value"])
        assert found["against"]["other"] == pytest.approx(alone)


def test_they_are_functions_of_the_package() -> None:
    table = [[1, 2, 3, 4, 2], [1, 2, 4, 4, 1], [2, 2, 3, 4, 1]]
    crowd = crowd_of([list(column) for column in zip(*table, strict=True)])
    expected: dict[Callable[..., chorale.Score], Callable[..., Agreement]] = {
        chorale.gwet: gwet_ac,
        chorale.brennan_prediger: brennan_prediger,
        chorale.conger: conger_kappa,
        chorale.icc: icc,
        chorale.kendall_w: kendall_w,
        chorale.kendall_tau: kendall_tau,
        chorale.spearman: spearman_rho,
    }
    for function, coefficient in expected.items():
        assert function(table, ci=False).value == pytest.approx(coefficient(crowd).value)
    assert chorale.fleiss(table, shares="items", weights="linear", ci=False).value == pytest.approx(
        fleiss_by_items(crowd, weights="linear").value
    )
    with pytest.raises(chorale.UserError, match="the ICC's form must be one of 1, 2, 3, 1k, 2k, 3k"):
        chorale.icc(table, form="4")  # type: ignore[arg-type]
