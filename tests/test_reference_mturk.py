"""The batch files that Mechanical Turk gave: the columns of ours are theirs, and an old batch makes a study."""

import csv
import gzip
from pathlib import Path

import pytest

from chorale.folder.reading import check_folder
from chorale.folder.templates import create_study_from_batch
from chorale.kits.mturk.batch_columns import BATCH_COLUMNS, LAST_COLUMNS

SHARED = Path(__file__).parents[2] / "shared"
BATCHES = SHARED / "data" / "crowd-batches"
pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)


def test_the_columns_are_those_of_real_batch_files() -> None:
    files = sorted(BATCHES.glob("mturk-*.csv.gz"))
    assert files
    for path in files:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            header = next(csv.reader(file))
        rest = header[len(BATCH_COLUMNS) : -len(LAST_COLUMNS)]
        assert tuple(header[: len(BATCH_COLUMNS)]) == BATCH_COLUMNS
        assert tuple(header[-len(LAST_COLUMNS) :]) == LAST_COLUMNS
        kinds = [name.partition(".")[0] for name in rest]
        assert kinds == sorted(kinds, reverse=True)  # all Input columns, then all Answer columns
        answers = [name for name in rest if name.startswith("Answer.")]
        assert answers == sorted(answers)


def test_the_rows_of_a_real_batch_make_a_study(tmp_path: Path) -> None:
    path = sorted(BATCHES.glob("mturk-*.csv.gz"))[0]
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    inputs = [name for name in rows[0] if name.startswith("Input.")]
    names = [name.removeprefix("Input.") for name in inputs]
    unique = list(dict.fromkeys(tuple(row[name] for name in inputs) for row in rows))
    with (tmp_path / "batch.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *unique])
    (tmp_path / "layout.html").write_text("<p>${sentence}</p><p>${term1}, ${term2}</p><input name='Q1'>")
    create_study_from_batch(tmp_path / "study", tmp_path / "layout.html", tmp_path / "batch.csv")
    folder, problems = check_folder(tmp_path / "study")
    assert problems == []
    assert folder is not None
    assert len(folder.stages[0].items) == len(unique)
