"""CrowdTruth against the authors' own program, on the files it was run on."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from chorale.metrics.aggregation.crowdtruth import CrowdTruth, crowdtruth
from chorale.metrics.judgments import Judgments

SHARED = Path(__file__).parents[2] / "shared"

pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)


@pytest.fixture(params=["rte", "video_mult", "video_highlight_open"], scope="module")
def both(request: pytest.FixtureRequest) -> tuple[dict[str, Any], CrowdTruth]:
    path = SHARED / "reference" / "crowdtruth" / f"{request.param}.ref.json.gz"
    reference = json.loads(gzip.decompress(path.read_bytes()))
    units, workers, said = zip(*reference["judgments"], strict=True)
    labels = [[label for label, count in by.items() for _ in range(count)] for by in said]
    judgments = Judgments.from_columns(units, workers, labels, counted=True)
    options = None if reference["open_ended"] else reference["annotation_vector"]
    return reference, crowdtruth(judgments, options=options, open_task=reference["open_ended"])


@pytest.mark.parametrize("name", ["uqs", "uqs_initial"])
def test_units_are_as_clear(name: str, both: tuple[dict[str, Any], CrowdTruth]) -> None:
    reference, result = both
    ours = dict(zip(result.units, getattr(result, name).tolist(), strict=True))
    assert ours == pytest.approx(reference[name], abs=1e-9)


@pytest.mark.parametrize("name", ["wqs", "wwa", "wua", "wqs_initial"])
def test_workers_are_as_good(name: str, both: tuple[dict[str, Any], CrowdTruth]) -> None:
    reference, result = both
    ours = dict(zip(result.workers, getattr(result, name).tolist(), strict=True))
    assert ours == pytest.approx(reference[name], abs=1e-9)


def test_annotations_are_as_good(both: tuple[dict[str, Any], CrowdTruth]) -> None:
    reference, result = both
    ours = dict(zip(result.annotations, result.aqs.tolist(), strict=True))
    if reference["open_ended"]:
        assert set(ours.values()) == {1.0}
    else:
        assert ours == pytest.approx(reference["aqs"], abs=1e-9)


def test_units_have_the_same_annotations(both: tuple[dict[str, Any], CrowdTruth]) -> None:
    reference, result = both
    ours = dict(result.unit_annotation_scores())
    assert set(ours) == set(reference["uas"])
    for unit, scores in reference["uas"].items():
        assert ours[unit] == pytest.approx(scores, abs=1e-9)


def test_it_takes_as_many_iterations_with_the_same_changes(both: tuple[dict[str, Any], CrowdTruth]) -> None:
    reference, result = both
    assert result.iterations == len(reference["iterations"])
    for line, ours in zip(reference["iterations"], result.log, strict=True):
        changes = [float(number) for number in re.findall(r"d= ([\d.e-]+)", line)]
        assert [ours.largest, ours.wqs, ours.uqs, ours.aqs] == pytest.approx(changes, abs=1e-9)
