"""Models in people's place: the alternative annotator test, κx, and estimates from a model's labels."""

import json
from math import comb, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import chorale
from chorale import UserError
from chorale.cli.program import app
from chorale.metrics.adjustment import benjamini_yekutieli
from chorale.metrics.agreement.distances import DISTANCES
from chorale.metrics.judgments import Judgments
from chorale.metrics.replacing.alternative import Rival, alternative_annotator_test, p_value, split
from chorale.metrics.replacing.closeness import closeness
from chorale.metrics.replacing.cross import crossed
from chorale.metrics.replacing.estimates import Sample, estimate, unsure_first
from chorale.metrics.replacing.planning import MOST_ITEMS, items_needed

SHARED = Path(__file__).parents[2] / "shared"


def judged(items: int = 60, people: int = 4, seed: int = 1) -> list[dict[str, str]]:
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        truth = rng.integers(3)
        for worker in [*(f"w{number}" for number in range(people)), "good", "bad"]:
            right = {"good": 0.95, "bad": 0.3}.get(worker, 0.7)
            said = truth if rng.random() < right else (truth + rng.integers(1, 3)) % 3
            kind = "model" if worker in ("good", "bad") else "human"
            rows.append({"task": f"i{item}", "worker": worker, "kind": kind, "label": str(said)})
    return rows


def by_hand(rows: list[dict[str, str]], model: str, close: Any) -> dict[str, tuple[int, int, int]]:
    """The definition, word by word: leave a person out, compare with the others."""
    said: dict[str, dict[str, str]] = {}
    for row in rows:
        said.setdefault(row["task"], {})[row["worker"]] = row["label"]
    counts: dict[str, list[int]] = {}
    for labels in said.values():
        people = {name: label for name, label in labels.items() if name not in ("good", "bad")}
        for person, label in people.items():
            others = [other for name, other in people.items() if name != person]
            if others and model in labels:
                theirs, own = (sum(close(one, other) for other in others) for one in (labels[model], label))
                counts.setdefault(person, [0, 0, 0])[0 if theirs > own else 1 if theirs == own else 2] += 1
    return {person: (each[0], each[1], each[2]) for person, each in counts.items()}


@pytest.mark.parametrize("by", ["accuracy", "rmse", "jaccard"])
def test_duels_are_those_of_the_definition(by: str) -> None:
    rows = [row for place, row in enumerate(judged()) if place % 7]
    close = {
        "accuracy": lambda one, other: one == other,
        "rmse": lambda one, other: -((int(one) - int(other)) ** 2),
        "jaccard": lambda one, other: one == other,
    }[by]
    judgments = Judgments.from_dataframe({name: [row[name] for row in rows] for name in ("task", "worker", "label")})
    for found in alternative_annotator_test(judgments, ["good", "bad"], by=by, min_items=2):
        counted = {one.person: (one.model_closer, one.equal, one.person_closer) for one in found.rivals}
        assert counted == by_hand(rows, found.model, close)


def test_the_expert_takes_the_place_of_the_others() -> None:
    rows = judged()
    judgments = Judgments.from_dataframe({name: [row[name] for row in rows] for name in ("task", "worker", "label")})
    (found,) = alternative_annotator_test(judgments, ["good"], expert="w0")
    assert [rival.person for rival in found.rivals] == ["bad", "w1", "w2", "w3"]
    said = {(row["task"], row["worker"]): row["label"] for row in rows}
    tasks = sorted({row["task"] for row in rows})
    closer = sum(said[task, "good"] == said[task, "w0"] != said[task, "w1"] for task in tasks)
    assert found.rivals[1].model_closer == closer


def test_p_values_agree_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for counts in ((10, 25, 5), (3, 40, 20), (50, 1, 2), (0, 30, 30)):
        differences = np.repeat([-1.0, 0.0, 1.0], counts)
        expected = stats.ttest_1samp(differences, 0.1, alternative="less").pvalue
        assert p_value(*counts, 0.1) == pytest.approx(expected, rel=1e-9)
    assert p_value(40, 0, 0, 0.1) == 0 and p_value(0, 0, 40, 0.1) == 1


def test_ranks_are_exact() -> None:
    """All sign changes of few differences, counted one by one."""
    differences = np.repeat([-1.1, -0.1, 0.9], (2, 3, 4))
    sizes = np.abs(differences)
    ranks = np.array([(sizes < size).sum() + ((sizes == size).sum() + 1) / 2 for size in sizes])
    observed = ranks[differences > 0].sum()
    signs = (np.arange(2 ** len(ranks))[:, None] >> np.arange(len(ranks))) & 1
    expected = float((signs @ ranks <= observed).mean())
    assert p_value(2, 3, 4, 0.1, ranks=True) == pytest.approx(expected)
    assert p_value(0, 8, 0, 0.1, ranks=True) == pytest.approx(1 / 2**8)


def chance_to_win(items: int, ties: float, *, ranks: bool) -> float:
    """The exact probability that the model wins if the person is closer in exactly ε = 0.1 more of the items."""
    person = (1 - ties + 0.1) / 2
    chances = (1 - ties - person, ties, person)
    total = 0.0
    for model_closer in range(items + 1):
        for equal in range(items - model_closer + 1):
            counts = (model_closer, equal, items - model_closer - equal)
            if p_value(*counts, 0.1, ranks=ranks) <= 0.05:
                ways = comb(items, model_closer) * comb(items - model_closer, equal)
                total += ways * prod(chance**count for chance, count in zip(chances, counts, strict=True))
    return total


@pytest.mark.parametrize(("ranks", "lowest", "highest"), [(True, "20", "42"), (False, "4", "6")])
def test_how_often_a_model_wins_at_the_edge_is_as_the_page_says(ranks: bool, lowest: str, highest: str) -> None:
    """Before, the page had 19 to 40, the terminal 20 to 40, and Student's t was said to be lower than it is."""
    chances = [100 * chance_to_win(items, ties, ranks=ranks) for items in range(15, 30) for ties in (0.2, 0.6)]
    assert (f"{min(chances):.0f}", f"{max(chances):.0f}") == (lowest, highest)
    page = " ".join((Path(__file__).parents[1] / "docs" / "models.md").read_text("utf-8").split())
    claims = {True: "it wins in 20 to 42 of 100 studies with that test", False: "in 4 to 6 with Student's t"}
    assert claims[ranks] in page
    notes = " ".join(chorale.models(judged(20), kind="kind", ranks=ranks, min_items=15, ci=False).notes)
    assert ("ε = 0.1, in 20 to 42% of studies instead of 5%" in notes) is ranks


def test_benjamini_yekutieli_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(2).random(12) ** 3
    assert benjamini_yekutieli(values.tolist()) == pytest.approx(stats.false_discovery_control(values, method="by"))
    assert np.isnan(benjamini_yekutieli([0.1, float("nan")])[1])


def test_kappa_x_of_two_raters_is_cohens_kappa() -> None:
    rows = [row for row in judged() if row["worker"] in ("w0", "good")]
    judgments = Judgments.from_dataframe({name: [row[name] for row in rows] for name in ("task", "worker", "label")})
    people, models = split(judgments, ["good"])
    found = crossed(people, models["good"], closeness(people, "accuracy")).value
    assert found == pytest.approx(chorale.kappa(rows, ci=False).value)


def test_distances_by_table_and_by_formula_are_the_same() -> None:
    rows = judged()
    judgments = Judgments.from_dataframe({name: [row[name] for row in rows] for name in ("task", "worker", "label")})
    people, models = split(judgments, ["good"])
    same, tabled = (crossed(people, models["good"], closeness(people, by)) for by in ("accuracy", "jaccard"))
    assert same.value == pytest.approx(tabled.value) and "jaccard" in DISTANCES
    assert same.distances == pytest.approx(tabled.distances)


def test_the_command_says_which_model_may_replace_people(tmp_path: Path) -> None:
    rows = judged(200)
    path = tmp_path / "judgments.csv"
    path.write_text("task,worker,kind,label\n" + "".join(",".join(row.values()) + "\n" for row in rows), "utf-8")
    result = CliRunner().invoke(app, ["models", str(path), "--plan", "--people", "--confusions", "--items"])
    assert result.exit_code == 0, result.output
    assert [line.split()[:2] for line in result.output.splitlines() if line.startswith(("good ", "bad "))][:2] == [
        ["good", "yes"],
        ["bad", "no"],
    ]
    printed = json.loads(CliRunner().invoke(app, ["models", str(path), "--json", "--ci", "--resamples", "100"]).stdout)
    score = chorale.models(rows, resamples=100)
    assert printed["models"] == json.loads(json.dumps(score.json["models"]))
    assert score.values["winning rate of good"] == 1.0 and score.values["winning rate of bad"] == 0.0
    one = chorale.models(rows, model=["good"], ci=False)
    assert list(one.json["models"]) == ["good"] and one.json["models"]["good"] == score.json["models"]["good"]


def test_items_needed_are_counted_up_to_the_maximum() -> None:
    close = [Rival(str(person), 3545, 2000, 4455, 0.5, 0.5, wins=False) for person in range(3)]
    assert 61_440 < (items_needed(close, 0.1) or 0) < MOST_ITEMS
    level = [Rival(str(person), 3500, 2000, 4500, 0.5, 0.5, wins=False) for person in range(3)]
    assert items_needed(level, 0.1) is None


def test_notes_name_the_expert_instead_of_another_person() -> None:
    notes = " ".join(chorale.models(judged(5), expert="w0", ci=False).notes)
    assert "with the model and the expert" in notes
    assert "at least one person besides the expert" in notes
    assert "with the model and another person" in " ".join(chorale.models(judged(5), ci=False).notes)


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        ({"kind": "robot"}, {}, "is neither human nor model"),
        ({}, {"kind": "typ"}, "Use `kind`"),
        ({"kind": "human"}, {}, "no judgments of models"),
        ({"kind": "model"}, {}, "has only models"),
        ({}, {"model": ["god"]}, "Did you mean good"),
        ({}, {"expert": "good"}, "no person 'good'"),
        ({"label": "high"}, {"by": "rmse"}, "numbers are required"),
        ({}, {"by": "nearness"}, "not 'nearness'"),
    ],
)
def test_what_can_not_be_compared_is_refused(change: dict[str, str], options: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        chorale.models([{**row, **change} for row in judged(5)], **options)
    assert said in str(error.value) + "".join(map(str, error.value.problems))


def test_tuples_have_no_column_that_says_who_is_a_model() -> None:
    rows = [(row["task"], row["worker"], row["label"]) for row in judged()]
    named = chorale.models(rows, model=["good", "bad"], ci=False)
    assert named.json["models"] == chorale.models(judged(), ci=False).json["models"]
    with pytest.raises(UserError, match="does not identify models"):
        chorale.models(rows)


def test_a_worker_without_a_kind_is_nobodys_guess() -> None:
    """Taken for a person, a second model would agree with the first, and let it pass."""
    rows = [{**row, "kind": "" if row["worker"] == "bad" else row["kind"]} for row in judged(40)]
    with pytest.raises(UserError) as error:
        chorale.models(rows)
    assert "is empty for a worker (found 'bad')" in "".join(map(str, error.value.problems))


def test_a_worker_of_two_kinds_is_refused() -> None:
    rows = judged(5)
    rows[0]["kind"] = "model"
    with pytest.raises(UserError) as error:
        chorale.models(rows)
    assert "both human and model" in "".join(map(str, error.value.problems))


def sampled(seed: int = 3, items: int = 1000, asked: int = 150) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    chosen = set(rng.permutation(items)[:asked].tolist())
    rows = []
    for item in range(items):
        group = "ab"[item % 2]
        truth = rng.random() < (0.3 if group == "a" else 0.5)
        model = truth if rng.random() < 0.9 else not truth
        rows.append(
            {
                "model": "yes" if model else "no",
                "people": ("yes" if truth else "no") if item in chosen else None,
                "group": group,
                "length": float(rng.integers(1, 9)),
                "truth": truth,
            }
        )
    return rows


def test_an_estimate_without_trust_is_least_squares_of_peoples_labels() -> None:
    rng = np.random.default_rng(5)
    design = np.column_stack([np.ones(300), rng.normal(size=300)])
    truth = design @ [1.0, 0.5] + rng.normal(size=300)
    people = np.where(rng.random(300) < 0.3, truth, np.nan)
    asked = ~np.isnan(people)
    expected = np.linalg.lstsq(design[asked], truth[asked], rcond=None)[0]
    sample = Sample.at_random(design, truth + 1, people)
    assert [estimate(sample, place, trust=0.0).value for place in (0, 1)] == pytest.approx(expected.tolist())
    # A model that is always one too high is as good as the truth about all items.
    assert [estimate(sample, place, trust=1.0).value for place in (0, 1)] == pytest.approx(
        np.linalg.lstsq(design, truth, rcond=None)[0].tolist()
    )
    assert estimate(sample, 1).trust == pytest.approx(1.0)


def test_a_mean_is_that_of_prediction_powered_inference() -> None:
    """PPI++ for a mean: people's mean, less λ times how far the model is off where people answered."""
    rng = np.random.default_rng(6)
    truth = rng.normal(size=400)
    model = truth + rng.normal(size=400)
    people = np.where(np.arange(400) % 4 == 0, truth, np.nan)
    asked = ~np.isnan(people)
    sample = Sample.at_random(np.ones((400, 1)), model, people)
    found = estimate(sample, 0)
    covariance = np.cov(truth[asked], model[asked])
    assert found.trust == pytest.approx(covariance[0, 1] / covariance[1, 1])
    by_hand = truth[asked].mean() - found.trust * (model[asked].mean() - model.mean())
    assert found.value == pytest.approx(by_hand)
    two_phases = truth[asked].var(ddof=1) / 400 + (1 / 100 - 1 / 400) * (truth[asked] - found.trust * model[asked]).var(
        ddof=1
    )
    assert found.error == pytest.approx(np.sqrt(two_phases), rel=0.02)


def test_labels_of_two_kinds_mirror_each_other_and_the_model_helps() -> None:
    rows = sampled()
    score = chorale.estimate(rows, by="group", on="length")
    values = score.values
    assert values["share of yes: b minus a"] == pytest.approx(-(values["share of no: b minus a"] or 0))
    assert list(values) == [
        f"share of {label}: {what}" for label in ("no", "yes") for what in ("b minus a", "by length")
    ]
    first = score.json["estimates"][2]
    assert first["worth"] > 1.5 and first["both"]["se"] < first["people"]["se"]


def test_probabilities_undo_the_choice_of_items() -> None:
    """People are asked about nearly all that say yes, and few that say no: unweighted, the share would be far off."""
    rng = np.random.default_rng(8)
    rows = sampled(items=4000, asked=0)
    for row in rows:
        row["p"] = 0.5 if row["model"] == "yes" else 0.05
        row["people"] = ("yes" if row["truth"] else "no") if rng.random() < row["p"] else None
    true = float(np.mean([row["truth"] for row in rows]))
    weighted = chorale.estimate(rows, prevalence="yes", probability="p")
    assert weighted.interval is not None and weighted.interval.low < true < weighted.interval.high
    assert abs(chorale.estimate(rows, prevalence="yes").json["estimates"][0]["people"]["value"] - true) > 0.2


def test_unsure_items_come_first_and_none_is_left_out() -> None:
    confidence = np.r_[np.full(90, 0.99), np.full(10, 0.1)]
    found = unsure_first(confidence, 40)
    assert found.sum() == pytest.approx(40) and found.min() > 0.1 and found.max() == 1.0
    assert unsure_first([1.0] * 10, 5).tolist() == pytest.approx([0.5] * 10)
    with pytest.raises(ValueError, match="`even` must be"):
        unsure_first(confidence, 10, even=0)


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        ({"people": None}, {}, "has no label"),
        ({"model": None}, {}, "empty cell"),
        ({}, {"prevalence": "maybe"}, "nobody gave the label 'maybe'"),
        ({}, {"on": "group"}, "not a number"),
        ({"group": "a"}, {"by": "group"}, "requires two groups"),
        ({"length": 1.0}, {"on": "length"}, "cannot be separated"),
        ({"p": 1.0}, {"probability": "p"}, "probability 1"),
        ({"p": 0.0}, {"probability": "p"}, "not a probability"),
        ({}, {"by": "grop"}, "no column 'grop'"),
    ],
)
def test_what_can_not_be_estimated_is_refused(change: dict[str, Any], options: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        chorale.estimate([{**row, **change} for row in sampled(items=60, asked=20)], **options)
    assert said in str(error.value) + "".join(map(str, error.value.problems))


def test_the_command_estimates(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in sampled()), "utf-8")
    result = CliRunner().invoke(app, ["estimate", str(path), "--prevalence", "yes", "--by", "group", "--json"])
    printed = json.loads(result.stdout)
    assert printed["labelled"] == 150 and [one["name"] for one in printed["estimates"]] == ["share of yes: b minus a"]
    wrong = CliRunner().invoke(app, ["estimate", str(path), "--people", "poeple"])
    assert wrong.exit_code == 2 and "--people" in wrong.output and "did you mean people?" in wrong.output


def test_spellings_are_named() -> None:
    rows = sampled(items=100, asked=60)
    rows[0]["model"], rows[1]["model"] = "Yes", "yess"
    notes = " ".join(chorale.estimate(rows).notes)
    assert "labels that no person uses: Yes, yess" in notes and "count as different: Yes, yes" in notes


def test_few_items_of_a_rare_label_have_no_interval() -> None:
    rows = sampled(items=400, asked=40)
    for place, row in enumerate(row for row in rows if row["people"]):
        row["people"] = "yes" if place < 2 else "no"
    interval = chorale.estimate([{**row, "model": "no"} for row in rows], prevalence="yes").interval
    assert interval is not None and not interval.is_known


@pytest.mark.parametrize("name", ["wax", "mtbench", "cebab_stars"])
def test_the_authors_numbers(name: str) -> None:
    reference = SHARED / "reference" / "alttest.json"
    if not reference.exists():
        pytest.skip(f"{reference} is not here")
    expected = json.loads(reference.read_text("utf-8"))[name]
    by = "rmse" if expected["score"] == "neg_rmse" else "accuracy"
    path = SHARED / "data" / "alttest" / f"{name}-judgments.csv"
    found = chorale.models(path, by=by, epsilon=expected["epsilon"], ci=False).json["models"]
    assert {
        model: {key: round(one[key] + 1e-9, 2) for key in ("winning_rate", "advantage_probability")}
        for model, one in found.items()
    } == expected["models"]
