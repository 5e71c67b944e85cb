"""CrowdTruth 2.0 against its definition, written out worker by worker."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from chorale.cli import app
from chorale.metrics.aggregation.crowdtruth import CrowdTruth, CrowdTruthResampling, annotations, crowdtruth
from chorale.metrics.judgments import Judgments
from chorale.metrics.scoring.crowdtruth import crowdtruth_scored
from chorale.model import UserError

TINY = 1e-8
Said = dict[tuple[str, str], dict[str, int]]
"""By unit and worker: how often each annotation was said."""


def judgments_of(said: Said, order: Sequence[int] | None = None) -> Judgments:
    rows = [
        (unit, worker, [option for option, count in by.items() for _ in range(count)])
        for (unit, worker), by in said.items()
    ]
    rows = rows if order is None else [rows[place] for place in order]
    units, workers, labels = zip(*rows, strict=True)
    return Judgments.from_columns(units, workers, labels, counted=True)


class Definition:
    """The definition, with every pair of workers formed and every vector written out."""

    def __init__(self, said: Said, options: Sequence[str], *, open_task: bool, tolerance: float = 0.001) -> None:
        self.said = said
        self.options = options
        self.units = sorted({unit for unit, _ in said})
        self.workers = sorted({worker for _, worker in said})
        self.uqs = dict.fromkeys(self.units, 1.0)
        self.wqs = dict.fromkeys(self.workers, 1.0)
        self.wwa, self.wua = dict(self.wqs), dict(self.wqs)
        self.aqs = dict.fromkeys(options, 1.0)
        self.iterations = 0
        change = tolerance
        while change >= tolerance:
            uqs = {unit: self.unit_quality(unit) for unit in self.units}
            self_wwa = {worker: self.with_workers(worker) for worker in self.workers}
            self_wua = {worker: self.with_units(worker) for worker in self.workers}
            wqs = {worker: self_wwa[worker] * self_wua[worker] for worker in self.workers}
            aqs = self.aqs if open_task else {option: self.annotation_quality(option) for option in options}
            pairs = [(uqs, self.uqs), (wqs, self.wqs), (aqs, self.aqs)]
            change = max(abs(new[name] - old[name]) for new, old in pairs for name in new)
            self.uqs, self.wqs, self.aqs, self.wwa, self.wua = uqs, wqs, aqs, self_wwa, self_wua
            self.iterations += 1

    def of_unit(self, unit: str) -> list[str]:
        return [worker for worker in self.workers if (unit, worker) in self.said]

    def vector(self, unit: str, worker: str) -> list[float]:
        return [float(self.said[unit, worker].get(option, 0)) for option in self.options]

    def weighted(self, one: Sequence[float], other: Sequence[float]) -> float:
        return sum(self.aqs[option] * a * b for option, a, b in zip(self.options, one, other, strict=True))

    def cosine(self, one: Sequence[float], other: Sequence[float]) -> float:
        return self.weighted(one, other) / math.sqrt(self.weighted(one, one) * self.weighted(other, other))

    def unit_quality(self, unit: str) -> float:
        part = whole = 0.0
        for i, j in combinations(self.of_unit(unit), 2):
            part += self.cosine(self.vector(unit, i), self.vector(unit, j)) * self.wqs[i] * self.wqs[j]
            whole += self.wqs[i] * self.wqs[j]
        return part / max(whole, TINY)

    def with_workers(self, worker: str) -> float:
        part = whole = 0.0
        for unit in self.units:
            for other in self.of_unit(unit) if (unit, worker) in self.said else ():
                if other != worker:
                    cosine = self.cosine(self.vector(unit, worker), self.vector(unit, other))
                    part += cosine * self.wqs[other] * self.uqs[unit]
                    whole += self.wqs[other] * self.uqs[unit]
        return part / max(whole, TINY)

    def with_units(self, worker: str) -> float:
        part = whole = 0.0
        for unit in self.units:
            if (unit, worker) in self.said:
                mine = [self.wqs[worker] * value for value in self.vector(unit, worker)]
                others = [other for other in self.of_unit(unit) if other != worker]
                vectors = [[self.wqs[other] * value for value in self.vector(unit, other)] for other in others]
                rest = [sum(values) for values in zip(*vectors, strict=True)]
                length = math.sqrt(self.weighted(mine, mine) * self.weighted(rest, rest))
                part += self.uqs[unit] * (self.weighted(mine, rest) / length if length >= TINY else TINY)
                whole += self.uqs[unit]
        return part / max(whole, TINY)

    def annotation_quality(self, option: str) -> float:
        part = whole = 0.0
        for i in self.workers:
            for j in self.workers:
                both = chosen = 0.0
                for unit in self.units:
                    if i != j and (unit, i) in self.said and (unit, j) in self.said:
                        his, hers = self.said[unit, i].get(option, 0), self.said[unit, j].get(option, 0)
                        both += self.uqs[unit] * his * hers
                        chosen += self.uqs[unit] * hers
                if chosen > 0:
                    part += self.wqs[i] * self.wqs[j] * both / chosen
                    whole += self.wqs[i] * self.wqs[j]
        return max(part / whole, TINY) if whole > TINY else TINY

    def score(self, unit: str, option: str) -> float:
        workers = self.of_unit(unit)
        part = sum(self.wqs[worker] * self.said[unit, worker].get(option, 0) for worker in workers)
        return part / max(sum(self.wqs[worker] for worker in workers), TINY)


def assert_as_defined(result: CrowdTruth, definition: Definition) -> None:
    assert result.iterations == definition.iterations
    for name, names in (("uqs", "units"), ("wqs", "workers"), ("wwa", "workers"), ("wua", "workers")):
        expected = [getattr(definition, name)[each] for each in getattr(result, names)]
        assert getattr(result, name) == pytest.approx(expected, abs=1e-7), name
    assert result.aqs == pytest.approx([definition.aqs[each] for each in result.annotations], abs=1e-7)
    for unit, scores in result.unit_annotation_scores():
        for option, score in scores.items():
            assert score == pytest.approx(definition.score(unit, option), abs=1e-7)


def sayings(*, most: int = 1, choices: int = 3) -> st.SearchStrategy[Said]:
    """Two to four workers on each of up to five units."""
    one = st.dictionaries(st.sampled_from("abcd"), st.integers(1, most), min_size=1, max_size=choices)
    unit = st.dictionaries(st.sampled_from(["ann", "bob", "cy", "di", "ed"]), one, min_size=2, max_size=4)
    return st.lists(unit, min_size=1, max_size=5).map(
        lambda units: {(f"u{number}", worker): said for number, by in enumerate(units) for worker, said in by.items()}
    )


def options_of(said: Said) -> list[str]:
    return sorted({option for by in said.values() for option in by})


def settles(said: Said, *, open_task: bool) -> bool:
    """Some small tasks swing for ever or for long, and what rounding does in the last digit grows on the way; near the
    limit it decides when to stop."""
    result = crowdtruth(judgments_of(said), open_task=open_task, max_iterations=20)
    return all(abs(one.largest - 0.001) > 1e-6 for one in result.log) and result.log[-1].largest < 0.001


@given(sayings())
@settings(max_examples=40, deadline=None)
def test_a_closed_task_comes_out_as_defined(said: Said) -> None:
    if settles(said, open_task=False):
        assert_as_defined(crowdtruth(judgments_of(said)), Definition(said, options_of(said), open_task=False))


@given(sayings(choices=1))
@settings(max_examples=30, deadline=None)
def test_one_label_a_judgment_comes_out_as_defined(said: Said) -> None:
    if settles(said, open_task=False):
        single = Judgments.from_columns(
            [unit for unit, _ in said], [worker for _, worker in said], [next(iter(by)) for by in said.values()]
        )
        assert_as_defined(crowdtruth(single), Definition(said, options_of(said), open_task=False))


@given(sayings(most=3))
@settings(max_examples=30, deadline=None)
def test_an_open_task_with_repeated_words_comes_out_as_defined(said: Said) -> None:
    if settles(said, open_task=True):
        result = crowdtruth(judgments_of(said), open_task=True)
        assert_as_defined(result, Definition(said, options_of(said), open_task=True))
        assert (result.aqs == 1.0).all()


@given(sayings(most=3))
@settings(max_examples=20, deadline=None)
def test_counts_weigh_in_a_closed_task_as_well(said: Said) -> None:
    if settles(said, open_task=False):
        assert_as_defined(crowdtruth(judgments_of(said)), Definition(said, options_of(said), open_task=False))


def many_sayings(seed: int = 7) -> Said:
    rng = np.random.default_rng(seed)
    said: Said = {}
    for unit in range(60):
        for worker in rng.choice(12, size=rng.integers(2, 7), replace=False):
            picked = rng.choice(list("abcdef"), size=rng.integers(1, 3), replace=False)
            chosen = [str(each) if rng.random() < 0.4 else "abcdef"[unit % 6] for each in picked]
            said[f"u{unit:02}", f"w{worker:02}"] = dict.fromkeys(chosen, 1)
    return said


@pytest.mark.parametrize(
    "limits",
    [
        {"_MATRIX_IS_CHEAPER": 0},
        {"_MATRIX_IS_CHEAPER": 0, "_BLOCK": 1},
        {"_MATRIX_IS_CHEAPER": 0, "_BLOCK": 40, "_KEPT": 0},
        {"_MATRIX_IS_CHEAPER": 10**9},
        {"_MATRIX_IS_CHEAPER": 10**9, "_BLOCK": 30},
    ],
)
def test_every_way_to_compute_annotation_quality_gives_the_same(
    limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = many_sayings()
    for name, value in limits.items():
        monkeypatch.setattr(annotations, name, value)
    assert_as_defined(crowdtruth(judgments_of(said)), Definition(said, options_of(said), open_task=False))


def test_repeated_annotations_are_counted_by_pairs_and_by_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {key: dict.fromkeys(by, 1 + number % 3) for number, (key, by) in enumerate(many_sayings().items())}
    definition = Definition(said, options_of(said), open_task=False)
    for factor in (0, 10**9):
        monkeypatch.setattr(annotations, "_MATRIX_IS_CHEAPER", factor)
        assert_as_defined(crowdtruth(judgments_of(said)), definition)


def test_a_worker_who_outweighs_the_others_loses_no_digits() -> None:
    # Two who agree with nobody else lose their weight fast; with one good worker in a unit, they are all there is.
    said: Said = {}
    for number in range(30):
        for worker in ("good1", "good2", "good3"):
            said[f"u{number}", worker] = {"a": 1}
        said[f"u{number}", "odd"] = {"b": 1, "c": 1}
    said["last", "good1"] = {"a": 1}
    said["last", "odd"] = {"a": 1, "b": 1}
    said["last", "odd2"] = {"b": 1, "c": 1}
    definition = Definition(said, options_of(said), open_task=True)
    assert definition.wqs["odd"] < 1e-3
    assert_as_defined(crowdtruth(judgments_of(said), open_task=True), definition)


@given(st.randoms(use_true_random=False))
@settings(max_examples=10, deadline=None)
def test_the_order_of_rows_changes_nothing_not_even_the_last_digit(random: Random) -> None:
    said = many_sayings()
    order = list(range(len(said)))
    random.shuffle(order)
    first, second = crowdtruth(judgments_of(said)), crowdtruth(judgments_of(said, order))
    for name in ("uqs", "wqs", "wwa", "wua", "aqs", "uas", "uas_initial", "aqs_initial"):
        assert (getattr(first, name) == getattr(second, name)).all(), name
    assert first.units == second.units


def test_new_names_only_rename_the_results() -> None:
    said = many_sayings()
    renamed = {
        (f"x{999 - int(unit[1:])}", f"z{99 - int(worker[1:])}"): {"fedcba"["abcdef".index(o)]: n for o, n in by.items()}
        for (unit, worker), by in said.items()
    }
    first, second = crowdtruth(judgments_of(said)), crowdtruth(judgments_of(renamed))
    assert first.iterations == second.iterations
    assert first.wqs == pytest.approx(second.wqs[::-1], abs=1e-12)
    assert first.uqs == pytest.approx(second.uqs[::-1], abs=1e-12)
    assert first.aqs == pytest.approx(second.aqs[::-1], abs=1e-12)


def test_people_who_all_agree_are_perfect() -> None:
    said = {(unit, worker): {"yes": 1} for unit in "pqr" for worker in ("ann", "bob", "cy")}
    result = crowdtruth(judgments_of(said))
    for values in (result.uqs, result.wqs, result.wwa, result.wua, result.aqs, result.uas):
        assert values == pytest.approx(1.0)
    assert result.iterations == 1


def test_a_unit_with_one_judgment_is_left_out_and_told() -> None:
    judgments = Judgments.from_columns(["u", "u", "v"], ["ann", "bob", "cy"], ["a", "a", "b"])
    result = crowdtruth(judgments)
    assert result.units == ("u",)
    assert result.workers == ("ann", "bob")
    assert result.annotations == ("a", "b")
    assert result.notes == ("Units left out because they have a single judgment: 1; workers left out with them: 1.",)


@pytest.mark.parametrize("repeats", ["last", "all"])
def test_of_a_workers_judgments_of_one_unit_the_last_counts(repeats: str) -> None:
    columns = (["u", "u", "u"], ["ann", "bob", "ann"], ["a", "b", "b"])
    result = crowdtruth(Judgments.from_columns(*columns, repeats=repeats))  # type: ignore[arg-type]
    assert dict(result.unit_annotation_scores())["u"]["b"] == 1.0
    assert len(result.notes) == 1
    assert "last" in result.notes[0]


def test_options_nobody_chose_are_annotations_too() -> None:
    judgments = Judgments.from_columns(["u", "u"], ["ann", "bob"], ["a", "a"])
    result = crowdtruth(judgments, options=["c", "a", "b"])
    assert result.annotations == ("a", "b", "c")
    assert result.aqs.tolist() == [1.0, TINY, TINY]
    assert dict(result.unit_annotation_scores()) == {"u": {"a": 1.0, "b": 0.0, "c": 0.0}}


def test_a_label_outside_the_options_is_named() -> None:
    judgments = Judgments.from_columns(["u", "u"], ["ann", "bob"], ["a", "maybe"])
    with pytest.raises(UserError, match="'maybe'"):
        crowdtruth(judgments, options=["a", "b"])
    many = Judgments.from_columns(["u"] * 9, range(9), [f"x{number}" for number in range(9)])
    with pytest.raises(UserError, match="and 4 more"):
        crowdtruth(many, options=["a"])


def test_judgments_without_company_are_refused() -> None:
    with pytest.raises(UserError, match="no unit has two"):
        crowdtruth(Judgments.from_columns(["u", "v"], ["ann", "ann"], ["a", "b"]))
    with pytest.raises(UserError, match="no unit has two"):
        crowdtruth(Judgments.from_columns([], [], []))


def test_what_does_not_settle_is_stopped_and_told() -> None:
    told: list[tuple[int, int]] = []
    result = crowdtruth(judgments_of(many_sayings()), max_iterations=2, progress=lambda *at: told.append(at))
    assert result.iterations == len(result.log) == 2
    assert any("Stopped after 2 iterations" in note for note in result.notes)
    assert told == [(1, 2), (2, 2)]


def test_a_looser_tolerance_stops_earlier() -> None:
    judgments = judgments_of(many_sayings())
    loose, strict = crowdtruth(judgments, tolerance=0.1), crowdtruth(judgments, tolerance=1e-6)
    assert loose.iterations < crowdtruth(judgments).iterations < strict.iterations
    assert strict.log[-1].largest < 1e-6


def test_impossible_arguments_are_refused() -> None:
    judgments = judgments_of(many_sayings())
    with pytest.raises(ValueError, match="at least 1"):
        crowdtruth(judgments, max_iterations=0)
    with pytest.raises(ValueError, match="above 0"):
        crowdtruth(judgments, tolerance=float("nan"))
    with pytest.raises(ValueError, match="open task"):
        crowdtruth(judgments, open_task=True, options=["a"])


def test_initial_values_are_those_before_anything_is_weighted() -> None:
    judgments = judgments_of(many_sayings())
    first, last = crowdtruth(judgments, max_iterations=1), crowdtruth(judgments)
    for name in ("uqs", "wqs", "wwa", "wua", "aqs"):
        assert (getattr(last, f"{name}_initial") == getattr(first, name)).all(), name
    plain = dict(last.unit_annotation_scores(initial=True))
    said = many_sayings()
    of_first = [by for (unit, _), by in said.items() if unit == "u00"]
    assert plain["u00"]["a"] == pytest.approx(sum("a" in by for by in of_first) / len(of_first))


def test_counted_options_stay_counted_and_others_do_not() -> None:
    columns = (["u", "u"], ["ann", "bob"], ["so so", "so"])
    counted = Judgments.from_columns(*columns, sep=" ", counted=True)
    assert counted.label_names == ("so", "so|so")
    assert counted.sets == ((0,), (0, 0))
    assert dict(crowdtruth(counted, open_task=True).unit_annotation_scores())["u"]["so"] == pytest.approx(1.5)
    assert Judgments.from_columns(*columns, sep=" ").label_names == ("so",)


# What commands print


def test_the_json_has_every_unit_worker_and_annotation() -> None:
    result = crowdtruth(judgments_of(many_sayings()))
    scored = crowdtruth_scored(result, signature="crowdtruth|test")
    printed = scored.as_json()
    assert set(printed) >= {"units", "workers", "annotations", "iterations", "signature", "notes"}
    assert printed["iterations"] == result.iterations == len(printed["changes"])
    assert set(printed["units"]["u00"]) == {"uqs", "uas", "uqs_initial", "uas_initial"}
    assert set(printed["units"]["u00"]["uas"]) == set("abcdef")
    assert set(printed["workers"]["w00"]) == {"wqs", "wwa", "wua", "wqs_initial", "wwa_initial", "wua_initial"}
    assert printed["workers"]["w03"]["wqs"] == result.wqs[result.workers.index("w03")]
    assert printed["annotations"]["c"]["aqs"] == result.aqs[2]


def test_the_tables_show_the_lowest_first_and_say_how_many_there_are() -> None:
    result = crowdtruth(judgments_of(many_sayings()))
    summary, units, workers, labels = crowdtruth_scored(result, signature="s", shown=5).tables
    assert [row[1] for row in summary.rows] == [60, 12, 6]
    assert units.title == "Units: least clear, 5 of 60"
    assert workers.rows[0][0] == result.workers[int(np.argmin(result.wqs))]
    assert len(labels.rows) == 5
    open_task = crowdtruth(judgments_of(many_sayings()), open_task=True)
    assert len(crowdtruth_scored(open_task, signature="s").tables) == 3
    leading = {row[0]: row[2] for row in units.rows}
    scores = dict(result.unit_annotation_scores())
    assert all(scores[str(unit)][str(label)] == max(scores[str(unit)].values()) for unit, label in leading.items())


def test_intervals_hold_the_values_and_depend_on_the_seed_alone() -> None:
    result = crowdtruth(judgments_of(many_sayings()))
    turned = crowdtruth(judgments_of(dict(reversed(list(many_sayings().items())))))
    assert result.evidence is not None
    assert turned.evidence is not None
    drawn, again, other = (
        CrowdTruthResampling(one, resamples=300, seed=seed)
        for one, seed in ((result.evidence, 1), (turned.evidence, 1), (result.evidence, 2))
    )
    units, workers, labels = drawn.of_units(range(60)), drawn.of_workers(range(12)), drawn.of_annotations()
    sizes = np.bincount(result.evidence.vectors.unit, minlength=60)
    for place, (uqs, uas) in units.items():
        assert np.isnan(uqs).all() == (sizes[place] < 5)
        if sizes[place] < 5:
            continue
        assert uqs[0] - 1e-9 <= result.uqs[place] <= uqs[1] + 1e-9
        assert (uas[0] <= result.uas[result.cell_unit == place] + 1e-9).all()
        assert (uas[1] >= result.uas[result.cell_unit == place] - 1e-9).all()
    for name in ("wqs", "wwa", "wua"):
        ends = np.array([workers[place][name] for place in range(12)]).T
        assert ((ends[0] <= getattr(result, name)) & (getattr(result, name) <= ends[1])).all()
    assert ((labels[0] <= result.aqs) & (result.aqs <= labels[1])).all()
    np.testing.assert_array_equal(again.of_annotations(), labels)
    np.testing.assert_array_equal(again.of_workers([3])[3]["wqs"], workers[3]["wqs"])
    assert (other.of_workers([3])[3]["wqs"] != workers[3]["wqs"]).any()
    open_task = crowdtruth(judgments_of(many_sayings()), open_task=True)
    assert open_task.evidence is not None
    assert (CrowdTruthResampling(open_task.evidence).of_annotations() == 1).all()


def test_a_units_interval_is_that_of_drawing_its_workers_one_by_one() -> None:
    """Two draws of one worker are no agreement."""
    sayings = {("u", worker): {label: 1} for worker, label in zip("abcde", "xxyxy", strict=True)}
    result = crowdtruth(judgments_of(sayings), max_iterations=1)
    assert result.evidence is not None
    uqs, _ = CrowdTruthResampling(result.evidence, resamples=20_000).of_units([0])[0]
    rng = np.random.default_rng(5)
    labels, drawn = np.array(list("xxyxy")), []
    for _ in range(20_000):
        who = rng.integers(5, size=5)
        agreed = [labels[one] == labels[other] for one, other in combinations(who, 2) if one != other]
        drawn += [np.mean(agreed)] if agreed else []
    np.testing.assert_allclose(uqs, np.quantile(drawn, [0.025, 0.975]), atol=0.02)


def test_notes_of_reading_are_kept() -> None:
    judgments = replace(judgments_of(many_sayings()), notes=("3 rows left out: they have no label.",))
    assert crowdtruth(judgments).notes == ("3 rows left out: they have no label.",)


# The command


def aggregated(path: Path, text: str, *options: str) -> dict[str, Any]:
    path.write_text(text, "utf-8")
    result = CliRunner().invoke(app, ["aggregate", str(path), "--method", "crowdtruth", "--json", *options])
    assert result.exit_code == 0, result.output
    printed: dict[str, Any] = json.loads(result.stdout)
    return printed


HEAD = "task,worker,label\n"


def test_the_command_counts_words_of_an_open_task(tmp_path: Path) -> None:
    words = HEAD + "u,ann,so so\nu,bob,so\nv,ann,on\n"
    printed = aggregated(tmp_path / "words.csv", words, "--open", "--sep", " ")
    assert printed["units"]["u"]["uas"] == {"so": 1.5}
    assert list(printed["units"]) == ["u"]
    assert any("single judgment" in note for note in printed["notes"])


def test_the_command_takes_the_full_list_of_a_closed_task(tmp_path: Path) -> None:
    options = ",".join(["yes", "no", *(f"a rather long option with the number {number}" for number in range(200))])
    printed = aggregated(tmp_path / "votes.csv", HEAD + "u,ann,yes\nu,bob,yes\n", "--options", options)
    assert len(printed["annotations"]) == len(printed["units"]["u"]["uas"]) == 202
    assert printed["annotations"]["no"]["aqs"] == TINY
    assert printed["iterations"] >= 1


def test_the_command_names_a_label_that_is_no_option(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(HEAD + "u,ann,yes\nu,bob,perhaps\n", "utf-8")
    result = CliRunner().invoke(app, ["aggregate", str(path), "--method", "crowdtruth", "--options", "yes,no"])
    assert result.exit_code == 2
    assert "'perhaps'" in result.stderr
