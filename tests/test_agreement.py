"""Agreement: against published examples, other libraries, and the definitions taken literally."""

import doctest
import json
import math
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from chorale.cli import app
from chorale.metrics import compare, intervals
from chorale.metrics.agreement import (
    DISTANCES,
    LEVELS,
    Agreement,
    Level,
    UnfitLabelError,
    agreement_of_pairs,
    alpha,
    cohen_kappa,
    counts,
    distances,
    fleiss_kappa,
    krippendorff_alpha,
    pair_evidence,
    pairs,
    percent_agreement,
    scott_pi,
    side_by_side,
)
from chorale.metrics.judgments import Judgments
from chorale.metrics.statistics import Statistics

Triple = tuple[str, str, str]

# Krippendorff (2011), Computing Krippendorff's alpha-reliability: four observers, twelve units.
FOUR_OBSERVERS = {
    "A": "1 2 3 3 2 1 4 1 2 . . .",
    "B": "1 2 3 3 2 2 4 1 2 5 . 3",
    "C": ". 3 3 3 2 3 4 2 2 5 1 .",
    "D": "1 2 3 3 2 4 4 1 2 5 1 .",
}


def judged(triples: Sequence[tuple[Any, Any, Any]], **options: Any) -> Judgments:
    tasks, workers, labels = zip(*triples, strict=True) if triples else ((), (), ())
    return Judgments.from_columns(list(tasks), list(workers), list(labels), **options)


def four_observers() -> Judgments:
    return judged(
        [
            (f"u{unit:02}", who, value)
            for who, values in FOUR_OBSERVERS.items()
            for unit, value in enumerate(values.split())
            if value != "."
        ]
    )


def two_people(table: dict[tuple[str, str], int]) -> Judgments:
    """Two people's judgments from how often they said what together."""
    triples: list[Triple] = []
    for (first, second), count in table.items():
        for _ in range(count):
            item = f"i{len(triples)}"
            triples += [(item, "x", first), (item, "y", second)]
    return judged(triples)


# Published examples and hand calculations


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_krippendorffs_own_example(level: Level, value: float) -> None:
    assert krippendorff_alpha(four_observers(), level=level).value == pytest.approx(value, abs=0.0005)


def test_two_observers_by_hand() -> None:
    """Ten units, two observers, binary data: 6 agree; 14 zeros and 6 ones in all.

    D_o = 8/20, D_e = 2·14·6 / (20·19): α = 1 − 19·8 / 168.
    """
    both = two_people({("0", "0"): 5, ("0", "1"): 3, ("1", "0"): 1, ("1", "1"): 1})
    assert krippendorff_alpha(both).value == pytest.approx(1 - 19 * 8 / 168)


def test_cohens_kappa_by_hand() -> None:
    """p_o = 0.7; the first says yes in half of the cases, the second in 60%: p_e = 0.5, κ = 0.4."""
    both = two_people({("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15})
    assert cohen_kappa(both).value == pytest.approx(0.4)
    assert percent_agreement(both).value == pytest.approx(0.7)
    assert scott_pi(both).value == pytest.approx((0.7 - 0.505) / (1 - 0.505))


def test_weighted_kappa_by_hand() -> None:
    """The first says 1 in 3/4 and 2 in 1/4 of the cases, the second 1 in 3/4 and 3 in 1/4.

    Observed: 2 + 1 steps, 4 + 1 squared, of 4 items. Expected: 1 and 3 in 3/16, 2 and 1 in 3/16, 2 and 3 in 1/16.
    """
    both = two_people({("1", "1"): 2, ("1", "3"): 1, ("2", "1"): 1})
    assert cohen_kappa(both, weights="linear").value == pytest.approx(1 - (3 / 4) / (10 / 16))
    assert cohen_kappa(both, weights="quadratic").value == pytest.approx(1 - (5 / 4) / (16 / 16))


def test_the_textbook_example_of_fleiss_kappa() -> None:
    """Ten subjects, fourteen raters, five categories; the value is given as 0.210, P as 0.378, P_e as 0.213."""
    table = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    triples = [
        (f"s{subject}", f"r{rater}", f"c{label}")
        for subject, row in enumerate(table)
        for rater, label in enumerate(label for label, times in enumerate(row) for _ in range(times))
    ]
    assert fleiss_kappa(judged(triples)).value == pytest.approx(0.210, abs=0.0005)
    assert percent_agreement(judged(triples)).value == pytest.approx(0.378, abs=0.0005)


def test_fleiss_kappa_with_unequal_numbers_by_hand() -> None:
    """Item a: yes yes no (1/3 of pairs agree), b: no no (all): P = 2/3; shares 2/5 and 3/5: P_e = 13/25."""
    crowd = judged([("a", "x", "yes"), ("a", "y", "yes"), ("a", "z", "no"), ("b", "x", "no"), ("b", "y", "no")])
    found = fleiss_kappa(crowd)
    assert found.value == pytest.approx((2 / 3 - 13 / 25) / (1 - 13 / 25))
    assert "different numbers" in found.notes[0]


def test_kappa_of_three_is_the_mean_over_pairs() -> None:
    crowd = four_observers()
    listed = agreement_of_pairs(crowd)
    assert [(pair.first, pair.second, pair.common) for pair in listed] == [
        ("A", "B", 9), ("A", "C", 8), ("A", "D", 9), ("B", "C", 9), ("B", "D", 10), ("C", "D", 10),
    ]  # fmt: skip
    assert cohen_kappa(crowd).value == pytest.approx(np.mean([pair.kappa for pair in listed]))
    assert scott_pi(crowd).value == pytest.approx(np.mean([pair.pi for pair in listed]))
    many = [pair.kappa for pair in listed if pair.common >= 10]
    assert cohen_kappa(crowd, min_common=10).value == pytest.approx(np.mean(many))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "one", "other", "distance"),
    [
        ("jaccard", {"a", "b"}, {"b", "c"}, 2 / 3),
        ("jaccard", {"a"}, {"b"}, 1),
        ("masi", {"a", "b"}, {"b", "c"}, 1 - 1 / 3 * 1 / 3),
        ("masi", {"a"}, {"a", "b"}, 1 - 2 / 3 * 1 / 2),
        ("masi", {"a"}, {"b"}, 1),
        ("span", {"3:5"}, {"4:7"}, 3 / 4),
        ("span", {"3:5"}, {"5:7"}, 1),
        ("span", {"0:999999999"}, {"0:1"}, 1 - 1 / 999999999),
        ("span", {"0:2", "4:6"}, {"0:4"}, 1 - 2 / 6),
        ("ua-f1", {"0:2", "4:6"}, {"0:2"}, 1 - 2 / 3),
        ("ua-f1", {"0:4"}, {"0:2"}, 0),
        ("ua-f1", {"0:5"}, {"0:2"}, 1),
        # 0:6 fits both 0:4 and 2:6; only if it takes the first can 2:5 have the second.
        ("ua-f1", {"0:6", "2:5"}, {"0:4", "2:6"}, 0),
    ],
)
def test_distances_by_hand(name: str, one: set[str], other: set[str], distance: float) -> None:
    table = DISTANCES[name]([frozenset(one), frozenset(other)])
    assert table == pytest.approx(np.array([[0, distance], [distance, 0]]))


@pytest.mark.parametrize("module", ["alpha", "pairs", "fleiss"])
def test_examples_in_the_code_come_out_as_shown(module: str) -> None:
    done = doctest.testmod(import_module(f"chorale.metrics.agreement.{module}"))
    assert done.attempted
    assert not done.failed


# Other libraries


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_equals_the_krippendorff_package(level: Level) -> None:
    rng = np.random.default_rng(7)
    truth = rng.integers(1, 6, size=200)
    table = np.where(rng.random((6, 200)) < 0.6, truth, rng.integers(1, 6, size=(6, 200))).astype(float)
    table[rng.random((6, 200)) < 0.4] = np.nan
    workers, items = np.nonzero(~np.isnan(table))
    crowd = Judgments.from_columns(items, workers, table[workers, items])
    expected = krippendorff.alpha(table, level_of_measurement=level)
    assert krippendorff_alpha(crowd, level=level).value == pytest.approx(expected, abs=1e-12)


def test_two_peoples_coefficients_equal_nltk() -> None:
    nltk = pytest.importorskip("nltk.metrics.agreement")
    rng = np.random.default_rng(3)
    first = rng.integers(4, size=80)
    second = np.where(rng.random(80) < 0.6, first, rng.integers(4, size=80))
    triples = [
        (who, item, str(label)) for who, said in (("x", first), ("y", second)) for item, label in enumerate(said)
    ]
    task = nltk.AnnotationTask(data=triples)
    crowd = judged([(item, who, label) for who, item, label in triples])
    assert cohen_kappa(crowd).value == pytest.approx(task.kappa())
    assert scott_pi(crowd).value == pytest.approx(task.pi())
    assert percent_agreement(crowd).value == pytest.approx(task.avg_Ao())
    assert krippendorff_alpha(crowd).value == pytest.approx(task.alpha())


def test_alpha_over_sets_equals_nltk() -> None:
    nltk = pytest.importorskip("nltk.metrics")
    rng = np.random.default_rng(5)
    sets = [frozenset(np.flatnonzero(rng.random(4) < 0.5).astype(str)) or frozenset("0") for _ in range(90)]
    triples = [(f"w{number % 3}", f"i{number // 3}", chosen) for number, chosen in enumerate(sets)]
    crowd = judged([(item, who, sorted(chosen)) for who, item, chosen in triples])
    for distance, theirs in (("jaccard", nltk.jaccard_distance), (nltk.masi_distance, nltk.masi_distance)):
        task = nltk.AnnotationTask(data=triples, distance=theirs)
        assert krippendorff_alpha(crowd, distance=distance).value == pytest.approx(task.alpha())
    # They round the factors of MASI to two digits.
    rounded = nltk.AnnotationTask(data=triples, distance=nltk.masi_distance).alpha()
    assert krippendorff_alpha(crowd, distance="masi").value == pytest.approx(rounded, abs=0.01)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_weighted_kappa_equals_scikit_learn(weights: Any) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(4)
    first = rng.integers(5, size=120)
    second = np.clip(first + rng.integers(-1, 2, size=120), 0, 4)
    crowd = Judgments.from_columns(np.tile(np.arange(120), 2), np.repeat(["x", "y"], 120), np.r_[first, second])
    expected = metrics.cohen_kappa_score(first, second, weights=None if weights == "none" else weights)
    assert cohen_kappa(crowd, weights=weights).value == pytest.approx(expected)


# The definitions, taken literally


SMALL = st.integers(0, 4)


@st.composite
def crowds(draw: st.DrawFn, labels: st.SearchStrategy[Any] = SMALL) -> list[tuple[str, str, Any]]:
    drawn = draw(st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 3)), labels, min_size=2, max_size=20))
    return [(f"i{item}", f"w{who}", label) for (item, who), label in drawn.items()]


def literal_alpha(values: dict[str, list[Any]], distance: Callable[[Any, Any], float]) -> float | None:
    """1 − D_o/D_e over all ordered pairs of judgments, one by one."""
    units = [said for said in values.values() if len(said) > 1]
    everything = [value for said in units for value in said]
    n = len(everything)
    if not n:
        return None
    observed = sum(
        distance(said[i], said[j]) / (len(said) - 1)
        for said in units
        for i in range(len(said))
        for j in range(len(said))
        if i != j
    )
    pairs_of_all = ((i, j) for i in range(n) for j in range(n) if i != j)
    expected = sum(distance(everything[i], everything[j]) for i, j in pairs_of_all)
    return None if expected == 0 else 1 - (n - 1) * observed / expected


def by_unit(triples: Sequence[tuple[str, str, Any]]) -> dict[str, list[Any]]:
    values: dict[str, list[Any]] = {}
    for item, _, label in triples:
        values.setdefault(item, []).append(label)
    return values


def ordinal_distance(values: dict[str, list[int]]) -> Callable[[int, int], float]:
    given_values = [value for said in values.values() if len(said) > 1 for value in said]

    def distance(one: int, other: int) -> float:
        low, high = min(one, other), max(one, other)
        between = sum(low <= value <= high for value in given_values)
        return (between - (given_values.count(one) + given_values.count(other)) / 2) ** 2 if low < high else 0.0

    return distance


def same(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return math.isclose(found, expected, abs_tol=1e-9)


@given(crowds(), st.sampled_from(LEVELS))
def test_alpha_is_what_its_definition_says(triples: list[tuple[str, str, int]], level: Level) -> None:
    values = by_unit(triples)
    distance: dict[str, Callable[[int, int], float]] = {
        "nominal": lambda one, other: float(one != other),
        "ordinal": ordinal_distance(values),
        "interval": lambda one, other: (one - other) ** 2,
        "ratio": lambda one, other: ((one - other) / (one + other)) ** 2 if one + other else 0.0,
    }
    assert same(krippendorff_alpha(judged(triples), level=level).value, literal_alpha(values, distance[level]))


SPANS = st.tuples(st.integers(0, 4), st.integers(1, 4)).map(lambda pair: f"{pair[0]}:{sum(pair)}")
SETS = st.frozensets(SPANS, min_size=1, max_size=3)


def literal_matches(one: list[str], other: list[str]) -> int:
    """The most spans that can be matched, by trying everything."""
    if not one:
        return 0
    first, rest = one[0], one[1:]
    best = literal_matches(rest, other)
    for place, partner in enumerate(other):
        if literal_overlap(first, partner) >= 0.5:
            best = max(best, 1 + literal_matches(rest, other[:place] + other[place + 1 :]))
    return best


def tokens(span: str) -> set[int]:
    return set(range(*map(int, span.split(":"))))


def literal_overlap(one: str, other: str) -> float:
    return len(tokens(one) & tokens(other)) / len(tokens(one) | tokens(other))


def literal_distance(name: str, one: frozenset[str], other: frozenset[str]) -> float:
    if name == "ua-f1":
        return 1 - 2 * literal_matches(sorted(one), sorted(other)) / (len(one) + len(other))
    if name == "span":
        here, there = (set().union(*map(tokens, spans)) for spans in (one, other))
        return 1 - len(here & there) / len(here | there)
    likeness = len(one & other) / len(one | other)
    if name == "jaccard":
        return 1 - likeness
    factor = 1.0 if one == other else 2 / 3 if one < other or other < one else 1 / 3 if one & other else 0.0
    return 1 - factor * likeness


@given(crowds(SETS), st.sampled_from(sorted(DISTANCES)))
def test_alpha_with_a_distance_is_what_its_definition_says(
    triples: list[tuple[str, str, frozenset[str]]], name: str
) -> None:
    expected = literal_alpha(by_unit(triples), lambda one, other: literal_distance(name, one, other))
    crowd = judged([(item, who, sorted(label)) for item, who, label in triples])
    assert same(krippendorff_alpha(crowd, distance=name).value, expected)
    mine = krippendorff_alpha(crowd, distance=lambda one, other: literal_distance(name, one, other))
    assert same(mine.value, expected)


@given(crowds())
def test_coefficients_of_pairs_are_what_their_definitions_say(triples: list[tuple[str, str, int]]) -> None:
    said: dict[str, dict[str, int]] = {}
    for item, who, label in triples:
        said.setdefault(who, {})[item] = label
    expected = []
    for first, second in combinations(sorted(said), 2):
        common = sorted(said[first].keys() & said[second].keys())
        if not common:
            continue
        a, b = [said[first][item] for item in common], [said[second][item] for item in common]
        n = len(common)
        agreeing = sum(x == y for x, y in zip(a, b, strict=True)) / n
        chance = sum(a.count(label) * b.count(label) for label in range(5)) / n**2
        joint = sum(((a.count(label) + b.count(label)) / (2 * n)) ** 2 for label in range(5))
        expected.append((first, second, n, agreeing, chance, joint))
    found = agreement_of_pairs(judged(triples))
    assert [(pair.first, pair.second, pair.common) for pair in found] == [row[:3] for row in expected]
    for pair, (*_, agreeing, chance, joint) in zip(found, expected, strict=True):
        assert same(pair.percent, agreeing)
        assert same(pair.kappa, None if chance == 1 else (agreeing - chance) / (1 - chance))
        assert same(pair.pi, None if joint == 1 else (agreeing - joint) / (1 - joint))


# What must not matter

COEFFICIENTS: dict[str, Callable[[Judgments], Agreement]] = {
    **{level: lambda crowd, level=level: krippendorff_alpha(crowd, level=level) for level in LEVELS},  # type: ignore[misc]
    "jaccard": lambda crowd: krippendorff_alpha(crowd, distance="jaccard"),
    "kappa": cohen_kappa,
    "linear": lambda crowd: cohen_kappa(crowd, weights="linear"),
    "quadratic": lambda crowd: cohen_kappa(crowd, weights="quadratic"),
    "pi": scott_pi,
    "fleiss": fleiss_kappa,
    "percent": percent_agreement,
}


@given(crowds(), st.sampled_from(sorted(COEFFICIENTS)), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_the_names_of_workers_do_not_matter(
    triples: list[tuple[str, str, int]], name: str, random: Any
) -> None:
    value = COEFFICIENTS[name](judged(triples)).value
    mixed = random.sample(triples, len(triples))
    assert COEFFICIENTS[name](judged(mixed)).value == value
    names = dict(zip(["w0", "w1", "w2", "w3"], random.sample(["p", "q", "r", "s"], 4), strict=True))
    renamed = [(item, names[who], label) for item, who, label in triples]
    assert same(COEFFICIENTS[name](judged(renamed)).value, value)


@given(crowds(), st.sampled_from(["nominal", "jaccard", "kappa", "pi", "fleiss", "percent"]), st.permutations("abcde"))
def test_the_names_of_labels_do_not_matter_where_they_are_only_names(
    triples: list[tuple[str, str, int]], name: str, names: list[str]
) -> None:
    renamed = [(item, who, names[label]) for item, who, label in triples]
    assert same(COEFFICIENTS[name](judged(renamed)).value, COEFFICIENTS[name](judged(triples)).value)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_perfect_agreement_is_one(name: str) -> None:
    crowd = judged([(item, who, item % 3 + 0.1) for item in range(7) for who in range(3)])
    found = COEFFICIENTS[name](crowd)
    assert found.value == pytest.approx(1)
    statistics, metric = found.statistics()
    interval = intervals(statistics, metric, resamples=100)["value"]
    # Where nobody disagrees, nothing tells how far a coefficient would move; of a fraction Wilson's interval does.
    assert interval.high == pytest.approx(1) if name == "percent" else not interval.is_known


@settings(max_examples=60)
@given(crowds(), st.sampled_from(sorted(COEFFICIENTS)), st.data(), st.booleans())
def test_statistics_of_drawn_items_give_the_coefficient_of_those_items(
    triples: list[tuple[str, str, int]], name: str, data: st.DataObject, few_columns: bool
) -> None:
    """Whichever items are drawn, however often: as if the judgments of each were there so many times."""
    found = COEFFICIENTS[name](judged(triples))
    if found.value is None:
        with pytest.raises(ValueError, match="undefined"):
            found.statistics()
        return
    with pytest.MonkeyPatch.context() as patched:
        if few_columns:
            patched.setattr(counts, "_MOST_COLUMNS", 0)
            patched.setattr(alpha, "_FEW_RANKS", 0)
        statistics, metric = found.statistics()
    assert metric.scores(statistics)["value"] == pytest.approx(found.value)
    drawn = data.draw(st.lists(st.integers(0, len(statistics.items) - 1), min_size=1, max_size=8))
    copies = [
        (f"{copy}", who, label)
        for copy, place in enumerate(drawn)
        for item, who, label in triples
        if item == statistics.items[place]
    ]
    # Weights count places over all labels, and those of a sample may be fewer.
    order = [str(label) for label in sorted({label for *_, label in triples})]
    again = judged(copies)
    if name in {"linear", "quadratic"}:
        expected = cohen_kappa(again, weights=name, order=order).value  # type: ignore[arg-type]
    else:
        expected = COEFFICIENTS[name](again).value
    resample = Statistics(tuple(map(str, range(len(drawn)))), statistics.rows[drawn])
    value = metric.scores(resample)["value"]
    assert value == pytest.approx(0.0 if expected is None else expected, abs=1e-9)


def test_items_judged_once_change_nothing_but_the_counts() -> None:
    crowd = [("a", "x", 1), ("a", "y", 2), ("b", "x", 3), ("b", "y", 3)]
    more = [*crowd, ("c", "x", 9)]
    for name, coefficient in COEFFICIENTS.items():
        if name not in {"linear", "quadratic"}:
            assert coefficient(judged(more)).value == pytest.approx(coefficient(judged(crowd)).value), name
    assert krippendorff_alpha(judged(more)).n_items == 3
    assert math.isnan(krippendorff_alpha(judged(more)).item_disagreement[2])  # type: ignore[index]


def test_ratio_in_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    value = krippendorff_alpha(four_observers(), level="ratio").value
    monkeypatch.setattr(alpha, "_BLOCK", 7)
    assert krippendorff_alpha(four_observers(), level="ratio").value == pytest.approx(value)


@given(crowds(), st.sampled_from(["none", "linear", "quadratic"]))
def test_what_pairs_rest_on_gives_their_coefficients(triples: list[tuple[str, str, int]], weights: Any) -> None:
    crowd = judged(triples)
    pairs = agreement_of_pairs(crowd, weights=weights)
    evidence = list(pair_evidence(crowd, weights=weights))
    assert [(one.first, one.second, one.items) for one in evidence] == [(p.first, p.second, p.common) for p in pairs]
    for pair, one in zip(pairs, evidence, strict=True):
        found = one.metric.formula(one.tally.sums())
        assert found["percent"] == pytest.approx(pair.percent)
        assert found["kappa"] == pytest.approx(pair.kappa or 0.0)
        assert found["pi"] == pytest.approx(pair.pi or 0.0)


def test_pairs_in_blocks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = agreement_of_pairs(four_observers(), weights="linear")
    assert len(whole) == 6
    monkeypatch.setattr(pairs, "_BLOCK", 11)
    assert agreement_of_pairs(four_observers(), weights="linear") == whole


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_PAIRS", 10)
    with pytest.raises(ValueError, match="Use alpha or fleiss"):
        cohen_kappa(four_observers())


def test_the_same_numbers_written_differently_are_the_same_where_they_are_numbers() -> None:
    crowd = judged([("a", "x", "1"), ("a", "y", "1.0"), ("b", "x", "2"), ("b", "y", "2.00")])
    for level in ("ordinal", "interval", "ratio"):
        assert krippendorff_alpha(crowd, level=level).value == pytest.approx(1)
    assert krippendorff_alpha(crowd).value == pytest.approx(0)


def test_an_order_of_words() -> None:
    words = {"1": "bad", "2": "poor", "3": "fair", "4": "good", "5": "best"}
    numbers = four_observers()
    named = judged(
        [
            (numbers.task_names[task], numbers.worker_names[who], words[numbers.label_names[label]])
            for task, who, label in zip(numbers.tasks, numbers.workers, numbers.labels, strict=True)
        ]
    )
    order = list(words.values())
    found = krippendorff_alpha(named, level="ordinal", order=order).value
    assert found == pytest.approx(krippendorff_alpha(numbers, level="ordinal").value)
    weighted = cohen_kappa(named, weights="quadratic", order=order).value
    assert weighted == pytest.approx(cohen_kappa(numbers, weights="quadratic").value)


# What is undefined, and what is refused


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_one_label_only_is_undefined_and_says_so(name: str) -> None:
    found = COEFFICIENTS[name](judged([(item, who, 1) for item in "ab" for who in "xy"]))
    if name == "percent":
        assert found.value == 1
        return
    assert found.value is None
    assert found.undefined == "everybody always gave the label '1'"


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_one_worker_only_is_undefined_and_says_so(name: str) -> None:
    found = COEFFICIENTS[name](judged([("a", "x", 1), ("b", "x", 2)]))
    assert (found.value, found.undefined) == (None, "no item has two judgments")


def test_labels_that_do_not_fit_are_named() -> None:
    crowd = judged([("a", "x", "1"), ("a", "y", "none")])
    for level in ("interval", "ratio", "ordinal"):
        with pytest.raises(UnfitLabelError, match="'none'"):
            krippendorff_alpha(crowd, level=level)
    with pytest.raises(UnfitLabelError, match="missing from the order: 'none'"):
        krippendorff_alpha(crowd, level="ordinal", order=["1", "2"])
    with pytest.raises(UnfitLabelError, match="twice: '1'"):
        krippendorff_alpha(crowd, level="ordinal", order=["1", "1"])
    with pytest.raises(UnfitLabelError, match="negative numbers: '-1'"):
        krippendorff_alpha(judged([("a", "x", "1"), ("a", "y", "-1")]), level="ratio")
    for unfit in ("inf", "NaN", "1e999"):
        with pytest.raises(UnfitLabelError, match=unfit):
            krippendorff_alpha(judged([("a", "x", "1"), ("a", "y", unfit)]), level="interval")
    for unfit in ("none", "5:3", "-1:2", "3"):
        with pytest.raises(UnfitLabelError, match=unfit):
            krippendorff_alpha(judged([("a", "x", "1:2"), ("a", "y", unfit)]), distance="span")


def test_too_many_labels_for_a_distance_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "MOST_LABELS", 4)
    with pytest.raises(ValueError, match="there are 5"):
        krippendorff_alpha(four_observers(), distance="jaccard")


def test_misuse_is_a_value_error() -> None:
    crowd = four_observers()
    with pytest.raises(ValueError, match="unknown level"):
        krippendorff_alpha(crowd, level="cardinal")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown distance"):
        krippendorff_alpha(crowd, distance="hamming")
    with pytest.raises(ValueError, match="cannot be combined"):
        krippendorff_alpha(crowd, level="ordinal", distance="jaccard")
    with pytest.raises(ValueError, match="unknown weights"):
        cohen_kappa(crowd, weights="cubic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no two people have a common item"):
        cohen_kappa(crowd, min_common=0)
    with pytest.raises(ValueError, match="finite, non-negative number"):
        krippendorff_alpha(crowd, distance=lambda one, other: math.nan)
    sets = judged([("a", "x", ["1"]), ("a", "y", ["2"])])
    with pytest.raises(ValueError, match="sets of options in only one"):
        side_by_side(crowd, sets)


def test_two_crowds_are_compared_on_the_same_items() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(3, size=60)

    def crowd(skill: float) -> list[tuple[str, str, str]]:
        said = np.where(rng.random((4, 60)) < skill, truth, rng.integers(3, size=(4, 60)))
        return [(f"i{item}", f"w{who}", "abc"[said[who, item]]) for who in range(4) for item in range(60)]

    good, bad = judged(crowd(0.9)), judged(crowd(0.3))
    for coefficient in (krippendorff_alpha, cohen_kappa, fleiss_kappa, percent_agreement):
        both, items = side_by_side(good, bad)
        statistics, metric = coefficient(both).statistics(all_items=True)
        first, second = (
            Statistics(statistics.items[part], statistics.rows[part]) for part in (slice(items), slice(items, None))
        )
        found = compare(first, second, metric, resamples=200)["value"]
        assert found.first == pytest.approx(coefficient(good).value)
        assert found.second == pytest.approx(coefficient(bad).value)
        assert found.p_bootstrap < 0.02
        assert found.p_randomisation < 0.02


# The command


def chorale(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["agreement", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def chorale_json(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(chorale(*arguments, "--json").stdout)
    return found


def write(path: Path, triples: Sequence[tuple[Any, Any, Any]], header: str = "task,worker,label") -> Path:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in triples), ""]), "utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    crowd = four_observers()
    rows = zip(crowd.tasks, crowd.workers, crowd.labels, strict=True)
    names = (crowd.task_names, crowd.worker_names, crowd.label_names)
    return write(
        tmp_path / "four.csv", [tuple(name[code] for name, code in zip(names, row, strict=True)) for row in rows]
    )


def test_json_has_the_promised_shape(file: Path) -> None:
    found = chorale_json(file)
    assert found["value"] == pytest.approx(0.743, abs=0.0005)
    assert {key: found[key] for key in ("metric", "level", "n_items", "n_workers", "n_judgments")} == {
        "metric": "alpha",
        "level": "nominal",
        "n_items": 12,
        "n_workers": 4,
        "n_judgments": 41,
    }
    assert found["signature"].startswith("alpha|level:nominal|")
    assert found["notes"][0] == "1 item does not count because it has only one judgment."
    assert len(found["notes"]) == 2 and "are compared as names" in found["notes"][1]
    assert "ci" not in found
    assert "pairs" not in found


def test_every_option_reaches_the_coefficient(file: Path) -> None:
    crowd = four_observers()
    assert chorale_json(file, "--level", "ratio")["value"] == krippendorff_alpha(crowd, level="ratio").value
    weighted = chorale_json(file, "--metric", "kappa", "--weights", "linear")
    assert weighted["value"] == cohen_kappa(crowd, weights="linear").value
    assert (weighted["level"], weighted["weights"], len(weighted["pairs"])) == ("ordinal", "linear", 6)
    assert weighted["pairs"][0]["workers"] == ["A", "B"]
    assert chorale_json(file, "--metric", "pi", "--min-common", 10)["value"] == scott_pi(crowd, min_common=10).value
    assert chorale_json(file, "--metric", "fleiss")["value"] == fleiss_kappa(crowd).value
    assert chorale_json(file, "--metric", "percent")["value"] == percent_agreement(crowd).value
    reverse = chorale_json(file, "--level", "ordinal", "--order", "5,4,3,2,1")
    assert reverse["value"] == pytest.approx(krippendorff_alpha(crowd, level="ordinal").value)
    assert "order:5,4,3,2,1" in reverse["signature"]


def test_sets_and_spans_from_cells(tmp_path: Path) -> None:
    rows = [("a", "x", "0:2;4:6"), ("a", "y", "0:2"), ("b", "x", "1:3"), ("b", "y", "1:3")]
    spans = write(tmp_path / "spans.csv", rows)
    crowd = judged(rows, sep=";")
    for distance in DISTANCES:
        found = chorale_json(spans, "--sep", ";", "--distance", distance)
        assert found["value"] == krippendorff_alpha(crowd, distance=distance).value
        assert (found["level"], found["distance"]) == (None, distance)
    assert any("--distance" in note for note in chorale_json(spans, "--sep", ";")["notes"])


def test_intervals_do_not_depend_on_the_order_of_rows(file: Path, tmp_path: Path) -> None:
    once = file.read_text("utf-8").splitlines()
    lines = [once[0], *(f"{copy} {line}" for copy in range(4) for line in once[1:])]
    file = tmp_path / "more.csv"
    file.write_text("\n".join([*lines, ""]), "utf-8")
    turned = tmp_path / "turned.csv"
    turned.write_text("\n".join([lines[0], *reversed(lines[1:]), ""]), "utf-8")
    for options in (["--level", "nominal"], ["--level", "ordinal"], ["--metric", "fleiss"], ["--metric", "percent"]):
        one = chorale_json(file, "--ci", "--resamples", 200, *options)
        other = chorale_json(turned, "--ci", "--resamples", 200, *options)
        assert one["ci"] == pytest.approx(other["ci"], abs=1e-12)
        assert one["ci"][0] < one["value"] < one["ci"][1]
        assert "resamples:200|seed:1" in one["signature"]
    assert chorale_json(file, "--ci", "--resamples", 200, "--seed", 2)["ci"] != chorale_json(file, "--ci")["ci"]


def rarely_yes(copies: int) -> list[tuple[str, str, str]]:
    """Of twelve items, people find the label in two, and dispute one of these."""
    said = [(item, worker, item == 1 or (item == 0 and worker != "z")) for item in range(12) for worker in "xyz"]
    return [(f"{copy} {item}", worker, "yes" if yes else "no") for copy in range(copies) for item, worker, yes in said]


@pytest.mark.parametrize("metric", ["alpha", "gwet"])
def test_a_pilot_is_told_how_many_items_an_interval_needs(tmp_path: Path, metric: str) -> None:
    pilot = chorale_json(write(tmp_path / "pilot.csv", rarely_yes(1)), "--metric", metric, "--ci", "--analytic")
    assert pilot["ci"] is pilot["analytic"]["ci"] is None
    (note,) = [note for note in pilot["notes"] if "has no interval" in note]
    assert note.startswith(f"{metric} has no interval: about ")
    needed = int(note.split("requires about ")[1].split()[0])
    assert 20 <= needed <= 100
    # As many items of the same kind have one.
    more = chorale_json(
        write(tmp_path / "more.csv", rarely_yes(-(-needed // 12))), "--metric", metric, "--ci", "--analytic"
    )
    assert more["ci"] is not None and more["analytic"]["ci"] is not None
    assert not any("has no interval" in note for note in more["notes"])


def test_pairs_have_intervals_and_are_compared(file: Path, tmp_path: Path) -> None:
    found = chorale_json(file, "--pairs", "--ci", "--resamples", 300)
    assert all("ci" not in pair for pair in chorale_json(file, "--pairs")["pairs"])
    for pair in found["pairs"]:
        for name, ends in pair["ci"].items():
            assert ends is None or ends[0] <= pair[name] <= ends[1]
    assert all(pair["ci"]["percent"] for pair in found["pairs"])
    rows = [line.split(",") for line in file.read_text("utf-8").splitlines()[1:]]
    turned = [(task, worker, 1 if number % 3 else label) for number, (task, worker, label) in enumerate(rows)]
    other = write(tmp_path / "other.csv", turned)
    compared = chorale_json(file, "--pairs", "--against", other, "--resamples", 300)["pairs_against"]
    others = {tuple(pair["workers"]): pair for pair in chorale_json(other, "--pairs")["pairs"]}
    assert [one["workers"] for one in compared] == [pair["workers"] for pair in found["pairs"]]
    for one, pair in zip(compared, found["pairs"], strict=True):
        assert one["percent"]["value"] == pytest.approx(pair["percent"])
        assert one["percent"]["other"] == pytest.approx(others[tuple(pair["workers"])]["percent"])
    shown = chorale(file, "--pairs", "--ci", "--against", other, "--resamples", 100).stdout
    assert "95% interval" in shown
    assert "Pairs compared" in shown
    renamed = write(tmp_path / "renamed.csv", [(task, f"other {worker}", label) for task, worker, label in rows])
    assert chorale_json(file, "--pairs", "--against", renamed)["pairs_against"] == []


def test_tables_of_pairs_and_items(file: Path) -> None:
    found = chorale_json(file, "--pairs", "--items")
    assert [item["disagreement"] for item in found["items"]] == sorted(
        (item["disagreement"] for item in found["items"]), reverse=True
    )
    assert found["items"][0] == {"item": "u05", "judgments": 4, "disagreement": 1.0}
    assert len(found["items"]) == 11
    notes = chorale_json(file, "--items", "--ci", "--resamples", 100)["notes"]
    assert any("single item has no interval" in note for note in notes)
    text = chorale(file, "--pairs", "--items", "--metric", "kappa").stdout
    assert "Pairs of workers" in text
    assert "u05" in text
    latex = chorale(file, "--latex", "--ci", "--resamples", 100).stdout
    assert latex.startswith("% Agreement in four.csv\n\\begin{tabular}{lrrrrr}")


def test_a_second_file_is_compared_on_the_same_items(file: Path, tmp_path: Path) -> None:
    found = chorale_json(file, "--against", file, "--resamples", 100)
    assert found["against"]["difference"] == 0
    assert found["against"]["p_bootstrap"] == 1
    assert "|against:" in found["signature"]
    assert "Compared" in chorale(file, "--against", file, "--resamples", 100).stdout
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("\n".join(file.read_text("utf-8").splitlines()[:8]), "utf-8")
    told = chorale(file, "--against", fewer, code=2).stderr
    assert "fewer.csv: lacks" in told
    assert "Keep only items" in told
    alike = write(tmp_path / "alike.csv", [(f"u{n:02}", who, 1) for n in range(12) for who in "AB"])
    assert chorale_json(file, "--against", alike, "--resamples", 100)["against"] is None


@pytest.mark.parametrize(
    "options",
    [
        *(["--level", level] for level in LEVELS),
        *(["--sep", ";", "--distance", distance] for distance in ("jaccard", "masi")),
        ["--metric", "kappa"],
        ["--metric", "kappa", "--weights", "linear"],
        ["--metric", "pi"],
        ["--metric", "fleiss"],
        ["--metric", "percent"],
    ],
)
def test_both_values_of_a_comparison_are_those_of_the_files(file: Path, tmp_path: Path, options: list[str]) -> None:
    """Also where the other file has other workers, other labels and other numbers of judgments."""
    others = [(f"u{unit:02}", f"Z{who}", (unit * who) % 7 + 1) for unit in range(12) for who in range(1, 4 + unit % 2)]
    other = write(tmp_path / "other.csv", others)
    found = chorale_json(file, "--against", other, "--resamples", 100, *options)
    assert found["against"]["value"] == pytest.approx(found["value"])
    assert found["against"]["other"] == pytest.approx(chorale_json(other, *options)["value"])


def test_undefined_is_null_with_a_word(tmp_path: Path) -> None:
    same_label = write(tmp_path / "same.csv", [(item, who, "yes") for item in "ab" for who in "xy"])
    for metric in ("alpha", "kappa", "fleiss", "pi"):
        found = chorale_json(same_label, "--metric", metric, "--ci")
        assert (found["value"], found["ci"]) == (None, None)
        assert f"{metric} is undefined: everybody always gave the label 'yes'." in found["notes"]
        assert "undefined: everybody always gave the label 'yes'" in chorale(same_label, "--metric", metric).stdout
    alone = write(tmp_path / "alone.csv", [("a", "x", "yes"), ("b", "x", "no")])
    assert "alpha is undefined: no item has two judgments." in chorale_json(alone)["notes"]


def test_mistakes_are_told_with_file_value_and_fix(file: Path, tmp_path: Path) -> None:
    words = write(tmp_path / "words.csv", [("a", "x", "low"), ("a", "y", "high")])
    told = chorale(words, "--level", "interval", code=2).stderr
    assert "words.csv:3: numbers are required here" in told
    assert "'high'" in told
    assert "--order low,middle,high" in chorale(words, "--level", "ordinal", code=2).stderr
    assert "--order" in chorale(words, "--metric", "kappa", "--weights", "linear", code=2).stderr
    # `--weights` gives an order to other coefficients than kappa as well.
    assert (
        "kendall-w, kendall-tau or spearman. Add one of them, or omit --order"
        in chorale(words, "--order", "low,middle,high", code=2).stderr
    )
    assert chorale_json(words, "--level", "ordinal", "--order", "low,high")["value"] is not None
    for wrong in (
        ["--metric", "fleiss", "--level", "ordinal"],
        ["--metric", "kappa", "--distance", "jaccard"],
        ["--weights", "linear"],
        ["--level", "ordinal", "--distance", "jaccard"],
        ["--min-common", "2"],
        ["--order", "a,b"],
    ):
        assert re.search("Omit|require|cannot be combined", chorale(file, *wrong, code=2).stderr)
    assert "does not exist" in chorale(tmp_path / "none.csv", code=2).stderr
    assert "has no column 'label'" in chorale(write(tmp_path / "x.csv", [], "task,worker"), code=2).stderr
    repeated = write(
        tmp_path / "twice.csv", [("a", "x", 1), ("a", "x", 2), ("a", "y", 2), ("b", "x", 1), ("b", "y", 1)]
    )
    assert chorale_json(repeated)["n_judgments"] == 4
    assert chorale_json(repeated)["value"] == 1
    assert any("more than once" in note for note in chorale_json(repeated)["notes"])


def test_ratings_compared_as_names_are_pointed_out(tmp_path: Path) -> None:
    """Before, the α of a scale was that of names, without a note: two neighbouring levels are as far as the ends."""
    path = tmp_path / "ratings.csv"

    def hinted(labels: Sequence[str], *options: str) -> bool:
        rows = [f"t{place // 2},w{place % 2},{label}" for place, label in enumerate(labels)]
        path.write_text("\n".join(["task,worker,label", *rows, ""]))
        return any("are numbers but are compared as names" in note for note in chorale_json(path, *options)["notes"])

    ratings = ("1", "2", "3", "3", "5", "4.5")
    assert hinted(ratings)
    assert not hinted(ratings, "--level", "ordinal") and not hinted(ratings, "--metric", "kappa")
    assert not hinted(("1", "2", "1", "1")) and not hinted(("1", "x", "3", "4"))
