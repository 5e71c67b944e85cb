"""Labels against an expert's: scores, intervals that hold, the command."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from sklearn.metrics import (  # type: ignore[import-untyped]
    accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
)

import chorale
from chorale.cli import app
from chorale.kits.forms.metrics.labels import (
    Confusions,
    Fractions,
    fraction_interval,
    mean_rate_intervals,
    mean_rates,
)
from chorale.metrics import Interval
from chorale.metrics.adjustment import holm


def written(path: Path, labels: list[str], *, header: str = "item,label") -> Path:
    path.write_text(header + "\n" + "".join(f"i{number},{label}\n" for number, label in enumerate(labels)), "utf-8")
    return path


def run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["evaluate", "labels", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def run_json(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return found


@pytest.fixture
def zeichner(tmp_path: Path) -> tuple[Path, Path]:
    """200 items: 130 not entailing by the expert, of which 12 the crowd calls entailing; 70 entailing, 9 missed."""
    gold = ["No"] * 130 + ["Yes"] * 70
    crowd = ["No"] * 118 + ["Yes"] * 12 + ["Yes"] * 61 + ["No"] * 9
    return written(tmp_path / "crowd.csv", crowd), written(tmp_path / "gold.csv", gold)


def test_the_check_against_200_expert_judgments(zeichner: tuple[Path, Path]) -> None:
    found = run_json(*zeichner, "--ci")
    assert (found["items"], found["positive"], found["agreement"]) == (200, "Yes", pytest.approx(179 / 200))
    gold, crowd = (["No"] * 130 + ["Yes"] * 70), (["No"] * 118 + ["Yes"] * 12 + ["Yes"] * 61 + ["No"] * 9)
    assert found["kappa"] == pytest.approx(cohen_kappa_score(gold, crowd))
    assert (found["false_positive_rate"], found["false_negative_rate"]) == pytest.approx((12 / 130, 9 / 70))
    assert (found["false_positive_share"], found["false_negative_share"]) == pytest.approx((12 / 200, 9 / 200))
    assert found["confusion"] == {"No": {"No": 118, "Yes": 12}, "Yes": {"No": 9, "Yes": 61}}
    of_no = found["labels"]["No"]
    assert (of_no["false_positive_rate"], of_no["false_negative_rate"]) == pytest.approx((9 / 70, 12 / 130))
    assert (of_no["gold"], of_no["system"], of_no["both"]) == (130, 127, 118)
    assert all(low < found[name] < high for name, (low, high) in found["ci"].items())
    # Wilson's interval of 12 of 130, by statsmodels 0.15.0.
    assert found["ci"]["false_positive_rate"] == pytest.approx([0.053593425, 0.154424771], abs=1e-8)


def test_any_labels_equal_scikit_learn(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    gold = rng.choice(["a", "b", "c", "d"], p=[0.5, 0.3, 0.15, 0.05], size=300)
    system = np.where(rng.random(300) < 0.7, gold, rng.choice(["a", "b", "c", "e"], size=300))
    files = written(tmp_path / "system.csv", list(system)), written(tmp_path / "gold.csv", list(gold))
    found = run_json(*files)
    names = ["a", "b", "c", "d", "e"]
    assert found["accuracy"] == found["agreement"] == pytest.approx(accuracy_score(gold, system))
    assert found["macro_f1"] == pytest.approx(f1_score(gold, system, average="macro", zero_division=0))
    of_each = f1_score(gold, system, average=None, labels=names, zero_division=0)
    assert [found["labels"][name]["f1"] for name in names] == pytest.approx(list(of_each))
    shown = run(*files).stdout
    assert "accuracy" in shown and "macro F1" in shown
    table = confusion_matrix(gold, system, labels=names)
    assert found["kappa"] == pytest.approx(cohen_kappa_score(gold, system))
    assert [[found["confusion"][one].get(other, 0) for other in names] for one in names] == table.tolist()
    for place, name in enumerate(names):
        hit, of_gold, of_system = table[place, place], table[place].sum(), table[:, place].sum()
        values = found["labels"][name]
        assert values["false_positive_rate"] == pytest.approx((of_system - hit) / (300 - of_gold))
        missed = None if not of_gold else pytest.approx((of_gold - hit) / of_gold)
        assert values["false_negative_rate"] == missed
        assert values["kappa"] == pytest.approx(cohen_kappa_score(gold == name, system == name))
    assert found["positive"] is None
    rates = [found["labels"][name]["false_positive_rate"] for name in names]
    assert found["false_positive_rate"] == pytest.approx(np.mean(rates))
    assert any("means over labels" in note for note in found["notes"])
    one = run_json(*files, "--positive", "d")
    assert one["false_negative_rate"] == found["labels"]["d"]["false_negative_rate"]


def test_another_system_is_compared(zeichner: tuple[Path, Path], tmp_path: Path) -> None:
    crowd, gold = zeichner
    other = written(tmp_path / "other.csv", ["No"] * 200)
    compared = run_json(crowd, gold, "--against", other)["against"]
    assert compared["agreement"]["other"] == pytest.approx(0.65)
    assert compared["kappa"]["other"] == 0
    assert compared["kappa"]["p_bootstrap"] < 0.01
    assert compared["false_negative_rate"]["other"] == 1
    short = written(tmp_path / "short.csv", ["No"] * 10)
    refused = " ".join(run(crowd, gold, "--against", short, code=2).stderr.split())
    names = ", ".join(sorted(f"i{number}" for number in range(10, 200))[:5])
    assert (
        f"have different items. 190 gold items are only in the first system's file: {names} and others. Use" in refused
    )
    back = " ".join(run(short, gold, "--against", crowd, code=2).stderr.split())
    assert f"190 gold items are only in the --against file: {names} and others. Use files" in back


def test_the_two_files_may_have_other_columns(tmp_path: Path) -> None:
    # In the file of the system, `item` is something else.
    (tmp_path / "s.csv").write_text("doc,pred,item\na,x,1\nb,y,2\nc,x,3\n")
    (tmp_path / "g.csv").write_text("item,expert,writer\na,x,u\nb,x,u\nc,x,v\n")
    files = (tmp_path / "s.csv", tmp_path / "g.csv")
    named = ("--item", "doc", "--label", "pred")
    wrong = run(*files, code=2).stderr
    assert "s.csv:1: has no column 'label'" in wrong and "Name the column of labels with --label" in wrong
    # The hint names an option that leaves the other file as it is.
    wrong = run(*files, *named, code=2).stderr
    assert "g.csv:1: has no column 'doc'" in wrong and "Did you mean --gold-item 'item'?" in wrong
    assert "Name the column of labels with --gold-label." in wrong
    both = (*named, "--gold-item", "item", "--gold-label", "expert")
    found = run_json(*files, *both)
    assert (found["items"], found["accuracy"]) == (3, pytest.approx(2 / 3))
    assert "|gold_item:item|gold_label:expert|" in found["signature"]
    assert run_json(*files, *both, "--cluster", "writer", "--ci")["items"] == 3
    assert "--cluster maker" in run(*files, *both, "--cluster", "maker", "--ci", code=2).stderr


def test_only_common_items_count_and_columns_can_be_named(tmp_path: Path) -> None:
    system = written(tmp_path / "s.csv", ["yes", "no", "no"], header="task,label")
    gold = written(tmp_path / "g.csv", ["yes", "yes"], header="id,expert")
    assert "Name the column of items with --gold-item" in run(system, gold, code=2).stderr
    gold = written(tmp_path / "g.csv", ["yes", "yes"], header="item,label")
    found = run_json(system, gold)
    assert (found["items"], found["only_system"], found["only_gold"]) == (2, 1, 0)
    assert "1 item is only in the system's file and left out." in found["notes"]
    alone = run_json(written(tmp_path / "a.csv", ["x", "x"]), written(tmp_path / "b.csv", ["x", "x"]))
    assert (alone["agreement"], alone["kappa"]) == (1.0, None)
    assert "kappa is undefined, because both files have the same single label for all items." in alone["notes"]
    assert "--positive maybe: no item has this label" in run(system, gold, "--positive", "maybe", code=2).stderr
    (tmp_path / "other.csv").write_text("item,label\nzz,yes\n")
    assert "no items in common" in run(system, tmp_path / "other.csv", code=2).stderr


def test_labels_in_two_spellings_and_missing_values_are_noted(tmp_path: Path) -> None:
    gold = written(tmp_path / "gold.csv", ["Yes", "No", "yes", "No", "NA"])
    system = written(tmp_path / "system.csv", ["Yes", "No", "Yes", "No", "NA"])
    [note] = [note for note in run_json(system, gold)["notes"] if "Yes" in note]
    assert "'NA' (2): counts as a label. To leave it out, add --missing 'NA'." in note
    assert "'Yes' (3) and 'yes' (1)" in note
    without = run_json(system, gold, "--missing", "NA")
    assert without["items"] == 4 and set(without["labels"]) == {"No", "Yes", "yes"}
    assert "missing:NA" in without["signature"] and not any("NA" in note for note in without["notes"])
    plain = written(tmp_path / "plain.csv", ["Yes", "No", "Yes", "No", "No"])
    assert not [note for note in run_json(plain, plain)["notes"] if "count" in note]


def test_clusters_are_resampled_as_wholes(tmp_path: Path) -> None:
    """The system is right about all items of a document or about none: 20 documents say as much as 20 items."""
    documents = [f"d{place // 10}" for place in range(200)]
    expert = ["yes" if place % 2 else "no" for place in range(200)]
    wrong = {"yes": "no", "no": "yes"}
    given = [wrong[label] if place // 10 < 4 else label for place, label in enumerate(expert)]
    gold = tmp_path / "gold.csv"
    rows = zip(documents, expert, strict=True)
    gold.write_text("item,document,label\n" + "".join(f"i{n},{d},{label}\n" for n, (d, label) in enumerate(rows)))
    system = tmp_path / "system.csv"
    system.write_text("item,label\n" + "".join(f"i{n},{label}\n" for n, label in enumerate(given)))

    def widths(found: dict[str, Any]) -> dict[str, float]:
        return {name: high - low for name, (low, high) in (found["ci"] | found["labels"]["yes"]["ci"]).items()}

    plain = run_json(system, gold, "--ci")
    clustered = run_json(system, gold, "--ci", "--cluster", "document")
    assert clustered["agreement"] == plain["agreement"] == 0.8
    one, other = widths(plain), widths(clustered)
    assert other.keys() == one.keys()
    assert all(2 < other[name] / one[name] < 4.5 for name in one), (one, other)
    assert "Resampled by document (20 clusters), not item by item." in " ".join(clustered["notes"])
    assert "cluster:document" in clustered["signature"]

    always = tmp_path / "always.csv"
    always.write_text(gold.read_text())
    assert run_json(system, gold, "--against", always)["against"]["agreement"]["p_randomisation"] < 0.01
    by_document = run_json(system, gold, "--against", always, "--cluster", "document")["against"]["agreement"]
    assert 0.05 < by_document["p_randomisation"] < 0.2  # of four documents that differ, all go one way
    assert "--cluster author" in run(system, gold, "--ci", "--cluster", "author", code=2).output


def test_labels_from_python() -> None:
    system = {"item": [1, 2, 3, 4], "label": ["yes", "no", "yes", "no"]}
    gold = [{"item": number, "label": label} for number, label in enumerate(["yes", "no", "no", "no"], 1)]
    score = chorale.evaluate.labels(system, gold)
    assert score.value == 0.75
    assert score.values["false_positive_rate"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("n", "prevalence", "right"), [(50, 0.05, 0.8), (50, 0.3, 0.95), (200, 0.35, 0.9)])
@pytest.mark.parametrize("labels", [2, 4])
def test_intervals_hold(n: int, prevalence: float, right: float, labels: int) -> None:
    """Over tables drawn from a known one, 95% intervals hold the truth about as often as they say."""
    gold = np.r_[prevalence, np.full(labels - 1, (1 - prevalence) / (labels - 1))]
    confusion = np.full((labels, labels), (1 - right) / (labels - 1))
    np.fill_diagonal(confusion, right)
    names = tuple("abcd"[:labels])
    truth = Confusions(names, gold[:, None] * confusion * 1000)
    kappa, rate, mean = truth.kappa, 1 - right, mean_rates(truth)["false_positive_rate"]
    assert kappa is not None
    assert mean is not None
    rng = np.random.default_rng(7)
    held: dict[str, list[bool]] = {"kappa": [], "agreement": [], "rate": [], "mean": []}
    for draw in rng.multinomial(n, (truth.counts / 1000).reshape(-1), size=250):
        table = Confusions(names, draw.reshape(labels, labels).astype(np.float64))
        if table.kappa is not None:
            held["kappa"].append(_within(kappa, table.kappa_interval(200, 1)))
        held["agreement"].append(_within(right, fraction_interval(float(np.trace(table.counts)), n)))
        if (missed := Fractions.of(table, "b").intervals().get("false_negative_rate")) is not None:
            held["rate"].append(_within(rate, missed))
        held["mean"].append(_within(mean, mean_rate_intervals(table, 200, 1)["false_positive_rate"]))
    for name, each in held.items():
        assert 0.91 <= np.mean(each) <= 0.995, (name, np.mean(each))


def _within(value: float, interval: Interval) -> bool:
    return interval.low <= value <= interval.high


@pytest.mark.parametrize("items", [5, 20, 50])
def test_intervals_hold_a_perfect_score(items: int) -> None:
    labels = {"item": [f"i{number}" for number in range(items)], "label": ["a", "b", "c", "a", "b"] * (items // 5)}
    score = chorale.evaluate.labels(labels, labels)
    for name, value in score.values.items():
        around = score.intervals[name]
        assert around.low - 1e-9 <= value <= around.high + 1e-9 or (name == "macro_f1" and items < 25), name


def test_intervals_of_f1_hold(tmp_path: Path) -> None:
    """Files of 100 items in three classes: the truth is in the interval in 95% of them, more or less."""
    rng = np.random.default_rng(8)
    truth = np.array([[0.17, 0.02, 0.01], [0.03, 0.25, 0.02], [0.05, 0.05, 0.40]])
    whole = Confusions(("a", "b", "c"), truth)
    true_f1 = 2 * truth[0, 0] / (truth[0].sum() + truth[:, 0].sum())
    inside = np.zeros(2)
    for number in range(400):
        table = Confusions(("a", "b", "c"), rng.multinomial(100, truth.ravel()).reshape(3, 3).astype(float))
        macro, of_a = table.macro_f1_interval(200, number), Fractions.of(table, "a").intervals()["f1"]
        inside += [macro.low <= whole.macro_f1 <= macro.high, of_a.low <= true_f1 <= of_a.high]
    assert all(0.92 < share < 0.985 for share in inside / 400), inside
    few = Confusions(("a", "b"), np.array([[2.0, 1.0], [3.0, 60.0]]))
    assert not few.macro_f1_interval(200, 1).is_known


def test_help_names_the_intervals_that_are_printed() -> None:
    shown = " ".join(run("--help").stdout.split())
    assert "Wilson for fractions" in shown and "bootstrap intervals, over items" not in shown


def test_one_test_under_two_names_is_counted_once(tmp_path: Path) -> None:
    """Before, accuracy and agreement, and the mean rates of two labels, made adjusted p-values larger."""
    rng = random.Random(1)
    gold = [rng.choice("ab") for _ in range(60)]
    files = []
    for accuracy in (1.0, 0.8, 0.6):
        labels = [label if rng.random() < accuracy else "ab".replace(label, "") for label in gold]
        files.append(written(tmp_path / f"{accuracy}.csv", labels))
    expert, system, other = files
    compared = run_json(system, expert, "--against", other)["against"]
    different = ["accuracy", "macro_f1", "kappa", "false_positive_rate"]
    adjusted = holm([compared[name]["p_randomisation"] for name in different])
    assert [compared[name]["p_holm"] for name in different] == pytest.approx(adjusted)
    assert compared["agreement"] == compared["accuracy"]
    assert compared["false_negative_rate"] == compared["false_positive_rate"]
    assert "adjusted for the 4 different tests in this table" in run(system, expert, "--against", other).stdout


def test_labels_that_only_the_system_uses_are_named(tmp_path: Path) -> None:
    gold, system = tmp_path / "gold.csv", tmp_path / "system.csv"
    gold.write_text("item,label\n1,entailment\n2,neutral\n3,neutral\n", "utf-8")
    system.write_text("item,label\n1,entailmnt\n2,neutral\n3,neutral\n", "utf-8")
    [note] = [note for note in run_json(system, gold)["notes"] if "with F1 0 in macro F1" in note]
    assert note.startswith("1 label occurs only in the system's file, with F1 0 in macro F1: 'entailmnt' (1 item).")
    assert "entailment" in note.partition("(1 item).")[2]
    assert not any("with F1 0" in note for note in run_json(gold, gold)["notes"])
