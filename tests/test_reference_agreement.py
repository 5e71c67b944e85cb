"""Agreement on real judgments, against the `krippendorff` package. Needs data that are not part of the project."""

from pathlib import Path

import krippendorff
import numpy as np
import pytest

from chorale.metrics.agreement import LEVELS, Level, cohen_kappa, fleiss_kappa, krippendorff_alpha, percent_agreement
from chorale.metrics.judgments import Judgments
from chorale.metrics.reading.judgment_files import read_judgments

SHARED = Path(__file__).parents[2] / "shared"
SNOW = SHARED / "data" / "snow2008"
pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)


def snow(name: str) -> Judgments:
    path = SNOW / f"{name}.standardized.tsv"
    return read_judgments(path, task="orig_id", worker="!amt_worker_ids", label="response").judgments


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["rte", "joy"])
def test_alpha_of_real_judgments_equals_the_package(name: str, level: Level) -> None:
    crowd = snow(name)
    table = np.full((len(crowd.worker_names), len(crowd.task_names)), np.nan)
    # As names, "0" and "00" are two labels; as numbers they are one.
    numbers = np.arange(len(crowd.label_names)) if level == "nominal" else np.array(crowd.label_names, dtype=float)
    table[crowd.workers, crowd.tasks] = numbers[crowd.labels]
    expected = krippendorff.alpha(table, level_of_measurement=level)
    assert krippendorff_alpha(crowd, level=level).value == pytest.approx(expected, abs=1e-12)


def test_fleiss_and_alpha_differ_only_by_the_small_sample() -> None:
    """With ten judgments for every item, α = 1 − (1 − κ)(n − 1)/n of Fleiss' κ."""
    crowd = snow("rte")
    alpha, fleiss = krippendorff_alpha(crowd).value, fleiss_kappa(crowd).value
    assert alpha is not None
    assert fleiss is not None
    assert alpha == pytest.approx(1 - (1 - fleiss) * (len(crowd) - 1) / len(crowd))


def test_pairs_of_real_workers() -> None:
    crowd = snow("rte")
    assert len(crowd) == 8000
    assert percent_agreement(crowd).value == pytest.approx(0.6287, abs=0.0001)
    few = cohen_kappa(crowd, min_common=100)
    assert few.value is not None
    assert any("fewer than 100 common items" in note for note in few.notes)
