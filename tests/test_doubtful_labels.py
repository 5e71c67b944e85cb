"""Labels that may be no label, or another label in other letters: reported with counts, and left out if asked."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import chorale
from chorale.cli import app
from chorale.metrics.judgments import Judgments
from chorale.metrics.reading.judged import Reading, judged_in
from chorale.metrics.reading.judgment_files import read_judgments
from chorale.metrics.reading.labels import doubtful_labels

# Ann and Bob agree wherever both answered; Bob wrote NA, N/A or None where he did not.
ANN = ["yes", "no", "yes", "no", "yes", "no", "yes", "no"]
BOB = ["yes", "no", "yes", "yes", "NA", "N/A", "None", "NA"]
NOT_ANSWERED = ("NA", "N/A", "None")


def rows(*raters: list[Any]) -> list[tuple[str, str, Any]]:
    return [
        (f"t{task}", f"w{rater}", label) for rater, labels in enumerate(raters) for task, label in enumerate(labels)
    ]


def file_of(path: Path, *raters: list[Any]) -> Path:
    path.write_text("task,worker,label\n" + "".join(f"{','.join(row)}\n" for row in rows(*raters)), encoding="utf-8")
    return path


def run(*arguments: object) -> dict[str, Any]:
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_values_like_missing_ones_are_labels_and_reported_with_counts(tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.csv", ANN, BOB)
    found = run("agreement", file)
    (note,) = [note for note in found["notes"] if "count as labels" in note]
    assert note == (
        "'N/A' (1), 'NA' (2), 'None' (1): count as labels. "
        "To leave them out, add --missing 'N/A' --missing 'NA' --missing 'None'."
    )
    assert found["value"] < 0.2
    named = [part for value in NOT_ANSWERED for part in ("--missing", value)]
    without = run("agreement", file, *named)
    assert without["value"] == pytest.approx(chorale.alpha([ANN[:4], BOB[:4]]).value)
    assert "Read as missing: 'NA' (2), 'N/A' (1), 'None' (1)." in without["notes"]
    assert "|missing:NA,N/A,None|" in without["signature"]
    assert not any("count as" in note for note in without["notes"])


@pytest.mark.parametrize("method", ["majority", "dawid-skene", "crowdtruth"])
def test_every_aggregator_leaves_missing_values_out(tmp_path: Path, method: str) -> None:
    file = file_of(tmp_path / "a.csv", ANN, BOB)
    named = [part for value in NOT_ANSWERED for part in ("--missing", value)]
    found = run("aggregate", file, "--method", method, *named)
    assert "Read as missing: 'NA' (2), 'N/A' (1), 'None' (1)." in found["notes"]
    assert "|missing:NA,N/A,None|" in found["signature"]
    text = json.dumps({key: value for key, value in found.items() if key not in ("notes", "signature")})
    assert not any(f'"{value}"' in text for value in NOT_ANSWERED)


def test_missing_values_are_the_same_in_every_kind_of_data(tmp_path: Path) -> None:
    table = dict(zip(("task", "worker", "label"), map(list, zip(*rows(ANN, BOB), strict=True)), strict=True))
    sources = [
        file_of(tmp_path / "a.csv", ANN, BOB),
        table,
        pd.DataFrame(table),
        pl.DataFrame(table),
        rows(ANN, BOB),
        [ANN, BOB],
    ]
    expected = chorale.alpha([ANN[:4], BOB[:4]]).value
    for source in sources:
        found = chorale.alpha(source, missing=NOT_ANSWERED)
        assert found.value == pytest.approx(expected)
        assert any("'NA' (2)" in note for note in found.notes)
        assert any("count as labels" in note for note in chorale.alpha(source).notes)


def test_a_number_may_stand_for_no_label() -> None:
    found = chorale.alpha([[1, 2, 3, -9], [1, 2, 3, 3]], missing=[-9], level="interval")
    assert found.value == 1.0
    assert "Read as missing: '-9' (1)." in found.notes


def test_a_missing_value_that_is_not_there_is_reported(tmp_path: Path) -> None:
    assert (
        "Read as missing: 'NAN' (0)."
        in run("agreement", file_of(tmp_path / "a.csv", ANN, BOB), "--missing", "NAN")["notes"]
    )


def test_missing_values_are_like_empty_cells(tmp_path: Path) -> None:
    found = read_judgments(file_of(tmp_path / "a.csv", ["", "NA", "x"]), missing=["NA"], empty="skipped").judgments
    assert [found.label_names[code] for code in found.labels] == ["skipped", "skipped", "x"]


@pytest.mark.parametrize(("sep", "cells"), [(";", ["a;NA", "NA", "b"]), ("json", ['["a", "NA"]', "NA", '["b"]'])])
def test_missing_values_leave_sets(sep: str, cells: list[str]) -> None:
    judged = judged_in([(str(at), "w", cell) for at, cell in enumerate(cells)], Reading(sep=sep, missing=("NA",)))
    assert judged.judgments.options == ("a", "b")
    assert len(judged.judgments) == 2
    assert "Read as missing: 'NA' (2)." in judged.judgments.notes


def test_blanks_around_labels_are_removed_and_counted(tmp_path: Path) -> None:
    found = run("agreement", file_of(tmp_path / "a.csv", ["yes", "no ", "yes"], [" yes", "no", "yes"]))
    assert found["value"] == 1.0
    assert "2 labels had leading or trailing blanks, which were removed." in found["notes"]


def test_one_label_in_two_spellings_is_reported_with_counts() -> None:
    found = chorale.alpha([["1", "2", "Yes", "a b"], ["1.0", "2", "yes", "a\u00a0b"]])
    (note,) = [note for note in found.notes if "different labels" in note]
    for pair in ("'1' (1) and '1.0' (1)", "'Yes' (1) and 'yes' (1)", "'a b' (1) and 'a\\xa0b' (1)"):
        assert pair in note
    assert "'2'" not in note


def test_numbers_written_differently_are_one_number_where_numbers_are_compared() -> None:
    for level in ("ordinal", "interval", "ratio"):
        assert chorale.alpha([["1", "2.0", "3", "4"], ["1.0", "2", "3", "4"]], level=level).value == 1.0
    apart = chorale.alpha([["1", "2.0", "3", "4"], ["1.0", "2", "3", "4"]]).value
    assert apart is not None and apart < 0.5


def test_sound_labels_get_no_note() -> None:
    judgments = Judgments.from_columns(list("aabb"), list("xyxy"), ["yes", "no", "10", "1.5"])
    assert doubtful_labels(judgments) == ()


def test_truth_has_missing_values_too(tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    truth.write_text("task,label\nt0,yes\nt1,NA\n", encoding="utf-8")
    judged = rows(["yes", "no"], ["yes", "no"])
    assert chorale.aggregate.score(judged, "majority", truth=truth).value == 0.5
    assert chorale.aggregate.score(judged, "majority", truth=truth, missing=["NA"]).value == 1.0
    assert chorale.aggregate.score(judged, "majority", truth={"t0": "yes", "t1": "NA"}, missing=["NA"]).value == 1.0


def test_labels_that_list_recurring_options_are_pointed_out(tmp_path: Path) -> None:
    ticked = file_of(tmp_path / "ticked.csv", ["law", "law|tax", "tax", "law|tax"], ["tax", "tax|law", "law", "law"])
    note = "2 labels contain '|', such as 'law|tax'. If it separates options, add --sep '|'."
    assert note in run("agreement", ticked, "--metric", "percent")["notes"]
    assert note not in run("agreement", ticked, "--metric", "percent", "--sep", "|")["notes"]
    names = file_of(tmp_path / "names.csv", ["a|b", "c|d", "c|d"], ["a|b", "c|d", "e"])
    assert not any("contain" in one for one in run("agreement", names, "--metric", "percent")["notes"])
