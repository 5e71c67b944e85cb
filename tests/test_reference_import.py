"""Real batches of Mechanical Turk and Appen: imported, aggregated, reported, and none of it by halves."""

import csv
import gzip
import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chorale.cli import app

SHARED = Path(__file__).parents[2] / "shared"
BATCHES = SHARED / "data" / "crowd-batches"

pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)


def run(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, done.output
    return done


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "label", "sep", "judgments"),
    [("mturk-*", "Q1", "|", [1205, 1049, 1290]), ("appen-*", "relations", " ", [750, 750, 741])],
)
def test_batches_become_studies_that_verify_and_report(
    pattern: str, label: str, sep: str, judgments: list[int], tmp_path: Path
) -> None:
    files = sorted(BATCHES.glob(pattern))
    study = tmp_path / "study"
    told = json.loads(run("import", *files, "--label", label, "--sep", sep, "--out", study, "--json").stdout)
    assert [stage["judgments"] for stage in told["stages"].values()] == judgments
    assert json.loads(run("verify", study, "--json").stdout)["ok"]
    report = json.loads(run("report", study, "--json", "--resamples", 100).stdout)
    assert [stage["judgments"] for stage in report["funnel"]["stages"]] == judgments
    for file, one in zip(files, report["agreement"]["coefficients"], strict=True):
        options = ("--label", label, "--sep", sep, "--distance", "masi", "--json")
        again = json.loads(run("agreement", file, *options).stdout)
        assert one["value"] == pytest.approx(again["value"], abs=1e-12)
        assert one["judgments"] == again["n_judgments"]
    methods = {one["method"] for one in report["aggregation"]["methods"]}
    assert methods == {"majority", "dawid-skene", "mace"}


@pytest.mark.parametrize("file", sorted(BATCHES.glob("*.csv.gz")), ids=lambda file: file.name[:14])
def test_every_batch_is_imported_as_it_is(file: Path, tmp_path: Path) -> None:
    [stage] = json.loads(run("import", file, "--out", tmp_path / "study", "--json").stdout)["stages"].values()
    with gzip.open(file, "rt", encoding="utf-8", newline="") as rows:
        assert stage["judgments"] == sum(1 for _ in csv.DictReader(rows))
    settings = tomllib.loads((tmp_path / "study" / "study.toml").read_text("utf-8"))
    fields = {field["name"]: field["kind"] for field in settings["stage"][0]["options"]["fields"]}
    assert len(fields) == 4 and fields["q1" if file.name.startswith("mturk") else "rellist"] == "choices"


def test_a_real_batch_that_was_cut_is_refused(tmp_path: Path) -> None:
    whole = gzip.decompress(next(BATCHES.glob("mturk-*")).read_bytes())
    file = tmp_path / "cut.csv"
    file.write_bytes(whole[: len(whole) // 3])
    assert "cut.csv:" in run("import", file, "--label", "Q1", "--out", tmp_path / "study", code=2).stderr
    assert not (tmp_path / "study").exists()
