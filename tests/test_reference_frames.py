"""Frame disambiguation on the published batches."""

from pathlib import Path

import pytest

from chorale.kits.frames.files.scores import read_frame_scores
from chorale.kits.frames.metrics.agreement import frame_agreement
from chorale.kits.frames.reproduction import PAPER
from chorale.reproduce.checking import FileState, check_data

SHARED = Path(__file__).parents[2] / "shared"
DATA = SHARED / "data"

pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)


@pytest.mark.parametrize(
    ("batches", "sentences", "tau", "cosine"),
    [
        ([1], 264, 0.4585, 0.7752),
        ([2], 740, 0.4565, 0.8114),
        ([3], 763, 0.4705, 0.8189),
        ([1, 2, 3], 1767, 0.4635, 0.8101),
    ],
)
def test_the_top_frame_alone_scores_about_what_the_paper_says_of_the_whole(
    batches: list[int], sentences: int, tau: float, cosine: float
) -> None:
    crowd = read_frame_scores([DATA / "frames" / f"FSS_{number:02}.csv" for number in batches], need_scores=True)
    found = frame_agreement(crowd, crowd, top=True)
    values = found.metric().scores(found.statistics())
    assert len(crowd.sentences) == sentences
    assert values["tau_auc"] == pytest.approx(tau, abs=5e-5)
    assert values["cosine_auc"] == pytest.approx(cosine, abs=5e-5)


def test_the_files_are_those_the_numbers_were_made_from() -> None:
    states = {one.file.path: one.state for one in check_data(PAPER, DATA)}
    for number in range(1, 8):
        assert states[f"frames/FSS_{number:02}.csv"] is FileState.AS_KNOWN
        assert states[f"frames/WQS_{number:02}.csv"] is FileState.AS_KNOWN


@pytest.mark.slow
def test_every_score_of_the_examples_is_shown_as_it_is_and_all_that_differs_is_known() -> None:
    compared = [cell for cell in PAPER.cells(PAPER.data(DATA), lambda *_: None) if cell.agrees is not None]
    examples = [cell for cell in compared if cell.name.startswith("example ")]
    assert len(examples) == 69
    cut = [cell for cell in examples if not cell.agrees and cell.reason.startswith("Truncated")]
    assert (sum(cell.agrees is True for cell in examples), len(cut)) == (31, 37)
    # Each of these has its reason in the reproduction; a number that comes to differ is not among them.
    assert {cell.name for cell in compared if not cell.agrees} - {cell.name for cell in cut} == {
        "example 7, reshaping",
        "unique frames",
        "unique lexical units",
        "sentences with two majority frames",
        "sentences without a majority frame",
        "sentences of the R-SET",
        "R-SET, Kendall's tau AUC, TC",
        "F-SET, Kendall's tau AUC, TC",
    }
    (reshaping,) = (cell for cell in compared if cell.name == "example 7, reshaping")
    assert (reshaping.paper, round(reshaping.ours or 0, 4)) == (0.495, 0.4965)
