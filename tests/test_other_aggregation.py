"""`chorale aggregate` of comparisons, texts, masks and numbers."""

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import chorale
from chorale import UserError
from chorale.cli import app

COMPARED = [("a", "x", "y", "x"), ("b", "y", "x", "x"), ("a", "x", "z", "z"), ("b", "z", "y", "y")]
COMPARED += [("b", "y", "z", "z"), ("a", "y", "x", "y")]
SAID = [("1", "a", "the cat sat"), ("1", "b", "the cat sat"), ("1", "c", "a cat sat down")]
SAID += [("2", "a", "dogs bark"), ("2", "b", "dogs bark"), ("2", "c", "dog barks")]
RATED = [("1", "a", "2"), ("1", "b", "4"), ("1", "c", "9"), ("2", "a", "1"), ("2", "b", "2.5")]
MARKED = [("1", "a", "[[1,0],[1,1]]"), ("1", "b", "[[1,0],[0,1]]"), ("1", "c", "[[1,0],[1,1]]")]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, header, rows in (
        ("compared.csv", ("worker", "left", "right", "label"), COMPARED),
        ("said.csv", ("task", "worker", "label"), SAID),
        ("marked.csv", ("task", "worker", "label"), MARKED),
        ("rated.csv", ("task", "worker", "label"), RATED),
    ):
        with Path(name).open("w", encoding="utf-8", newline="") as target:
            csv.writer(target).writerows([header, *rows])


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["aggregate", *arguments])


def found(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.usefixtures("files")
def test_comparisons_give_scores_of_items() -> None:
    result = found("compared.csv", "--method", "bradley-terry")
    assert list(result["items"]) == ["z", "x", "y"]
    assert sum(result["items"].values()) == pytest.approx(1)
    assert result["workers"]["a"] == {"agreement": pytest.approx(2 / 3), "comparisons": 3}
    noisy = found("compared.csv", "--method", "noisy-bradley-terry")
    assert set(noisy["workers"]["a"]) == {"skill", "bias", "comparisons"}
    assert any("3.0 comparisons each" in note for note in noisy["notes"])
    columns = dict(zip(("who", "one", "other", "best"), zip(*COMPARED, strict=True), strict=True))
    named: Any = {"worker": "who", "left": "one", "right": "other", "label": "best"}
    of_python = chorale.aggregate.score(columns, "bradley-terry", **named)
    assert of_python.as_json()["items"] == pytest.approx(result["items"])
    assert "|left:one|" in of_python.signature
    rows = [dict(zip(("worker", "left", "right", "label"), row, strict=True)) for row in COMPARED]
    assert chorale.aggregate.score(rows, "bradley-terry").as_json()["items"] == pytest.approx(result["items"])


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("method", ["rover", "rasa", "hrrasa", "closest-to-average"])
def test_texts_give_a_text_for_each_task(method: str) -> None:
    result = found("said.csv", "--method", method)
    assert result["labels"] == {"1": "the cat sat", "2": "dogs bark"}
    assert result["workers"]["c"]["likeness"] < result["workers"]["a"]["likeness"] == 1
    assert ("embedding:hashed-tfidf-256" in result["signature"]) == (method != "rover")
    backwards = chorale.aggregate.score(SAID[::-1], method).as_json()
    assert backwards["labels"] == result["labels"] and backwards["workers"] == result["workers"]
    assert "This method has no intervals." in found("said.csv", "--method", method, "--ci")["notes"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("method", "labels", "deviation", "of_c"),
    [
        ("mean", {"1": 5.0, "2": 1.75}, {"1": 8 / 3, "2": 0.75}, 4.0),
        ("median", {"1": 4.0, "2": 1.75}, {"1": 7 / 3, "2": 0.75}, 5.0),
    ],
)
def test_numbers_give_their_mean_or_median(
    method: str, labels: dict[str, float], deviation: dict[str, float], of_c: float
) -> None:
    result = found("rated.csv", "--method", method)
    assert result["labels"] == labels and result["deviation"] == pytest.approx(deviation)
    assert result["workers"]["c"] == {"deviation": pytest.approx(of_c), "judgments": 1}
    assert chorale.aggregate.score(RATED[::-1], method).as_json()["labels"] == labels
    # Far from the others comes first: the reverse of methods with a share of agreement.
    shown = run("rated.csv", "--method", method, "--out", "scores.csv").stdout
    assert shown.index("\nc ") < shown.index("\na ")
    assert Path("scores.csv").read_text("utf-8").splitlines()[:2] == [
        "task,label,deviation",
        f"1,{labels['1']},{deviation['1']}",
    ]


@pytest.mark.usefixtures("files")
def test_labels_that_are_not_numbers_have_no_mean() -> None:
    done = run("said.csv", "--method", "mean")
    assert done.exit_code == 2
    assert "said.csv can't be used: mean and median require numbers," in done.stderr
    assert "4 of the 4 different labels are not numbers" in done.stderr
    assert "--method majority" in done.stderr


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("method", ["segmentation-majority", "segmentation-em", "segmentation-rasa"])
def test_masks_give_a_mask_for_each_task(method: str) -> None:
    result = found("marked.csv", "--method", method)
    assert result["labels"] == {"1": [[1, 0], [1, 1]]}
    assert result["workers"]["b"]["IoU"] == pytest.approx(2 / 3)
    assert result["IoU"]["1"] == pytest.approx(8 / 9)


@pytest.mark.usefixtures("files")
def test_results_are_written() -> None:
    assert "Wrote 2 rows" in run("said.csv", "--method", "rover", "--out", "texts.csv").output
    assert pl.read_csv("texts.csv").columns == ["task", "label", "agreement"]
    run("compared.csv", "--method", "bradley-terry", "--out", "scores.parquet")
    assert pl.read_parquet("scores.parquet")["item"].to_list() == ["z", "x", "y"]
    run("marked.csv", "--method", "segmentation-em", "--out", "masks.jsonl")
    assert json.loads(Path("masks.jsonl").read_text())["label"] == [[1, 0], [1, 1]]
    run("marked.csv", "--method", "segmentation-em", "--out", "masks.csv")
    assert pl.read_csv("masks.csv")["label"].to_list() == ["[[1, 0], [1, 1]]"]
    shown = run("marked.csv", "--method", "segmentation-em")
    assert "3 of 4 pixels" in shown.stdout


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("said.csv", "--method", "rover", "--truth", "said.csv"), "--truth cannot be used with --method rover"),
        (("said.csv", "--method", "rover", "--iterations", "3"), "--iterations cannot be used with --method rover"),
        (("said.csv", "--method", "rasa", "--left", "x"), "--left cannot be used with --method rasa"),
        (("said.csv", "--method", "majority", "--left", "x"), "--left and --right work only with bradley-terry"),
        (("said.csv", "--method", "segmentation-em"), "is not a mask. Write a JSON list of rows of 0 and 1"),
        (("said.csv", "--method", "bradley-terry"), 'has no column named "left" (found task, worker, label)'),
        (
            ("compared.csv", "--method", "bradley-terry", "--label", "worker"),
            "comparison 1 is between 'x' and 'y', but the preferred item is 'a'",
        ),
        (
            ("compared.csv", "--method", "bradley-terry", "--task", "left"),
            "--task cannot be used with pairwise comparisons",
        ),
        (
            ("compared.csv", "--method", "bradley-terry", "--empty", "none", "--missing", "NA"),
            "--empty, --missing cannot be used with pairwise comparisons",
        ),
    ],
)
def test_how_it_fails(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


def test_options_that_do_not_apply_are_named_as_in_python() -> None:
    """Before, one of them had no quotes, and `missing` was ignored."""
    rows = [{"left": "x", "right": "y", "label": "x", "worker": "a"}]
    with pytest.raises(UserError) as refused:
        chorale.aggregate.score(rows, "bradley-terry", task="t", missing=("NA",), raters="rows")
    assert str(refused.value) == "`task`, `missing`, `raters` cannot be used with pairwise comparisons. Omit them."


def test_a_misspelt_method_is_corrected() -> None:
    with pytest.raises(UserError, match="Did you mean rover"):
        chorale.aggregate.score(SAID, "rovr")
