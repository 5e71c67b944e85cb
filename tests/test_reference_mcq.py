"""Human performance on the published questions, beside the paper's numbers."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.kits.questions.files.questions import read_mcq
from chorale.kits.questions.metrics import mcq_alpha
from chorale.kits.questions.reproduction import PAPER
from chorale.reproduce.checking import FileState, check_data
from chorale.reproduce.contract import Cell

SHARED = Path(__file__).parents[2] / "shared"
DATA = SHARED / "data"
needs_data = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)


def cells_of(data: Path) -> list[Cell]:
    return list(PAPER.cells(PAPER.data(data), lambda done, total: None))


@pytest.fixture(scope="module")
def cells() -> list[Cell]:
    return cells_of(DATA)


def numbers_of(cells: Sequence[Cell], table: str) -> list[Cell]:
    """Of Table 1 the numbers themselves, without their differences and deviations."""
    return [
        cell
        for cell in cells
        if cell.table == table and cell.ours is not None and "−" not in cell.name and "deviation" not in cell.name
    ]


@needs_data
def test_all_but_three_averages_of_table_1_lie_in_the_interval(cells: list[Cell]) -> None:
    """Of baseline and crowd; the three are means of six runs, of which five were released."""
    numbers = numbers_of(cells, "Table 1")
    outside = [cell for cell in numbers if not cell.agrees]
    assert len(numbers) == 30
    assert sorted(cell.name for cell in outside) == [
        "10-way, baseline: RoBERTa",
        "full, baseline: RoBERTa",
        "full, crowd: RoBERTa",
    ]


@needs_data
def test_what_no_draw_decides_is_as_printed(cells: list[Cell]) -> None:
    decided = [
        cell for cell in cells if cell.ours is not None and ("words of" in cell.name or "validators" in cell.name)
    ]
    assert [cell.name for cell in decided] == [
        "baseline: questions with ten validators",
        "baseline: words of an answer",
        "crowd: questions with ten validators",
        "crowd: words of an answer",
    ]
    assert all(round(cell.ours or 0, cell.digits) == cell.paper for cell in decided)
    longest = [cell for cell in cells if "longest" in cell.name and cell.ours is not None]
    assert len(longest) == 2 and all(cell.agrees for cell in longest)


@needs_data
def test_every_number_that_differs_or_is_missing_has_a_reason(cells: list[Cell]) -> None:
    assert all(cell.reason for cell in cells if not cell.agrees)


@needs_data
@pytest.mark.parametrize(("name", "paper"), [("baseline", 0.81), ("crowd", 0.71)])
def test_both_alphas_match_table_3(name: str, paper: float) -> None:
    questions, _ = read_mcq(DATA / "nangia" / f"{name}.json.gz")
    for variant in ("with-writer", "kept"):
        assert mcq_alpha(questions, variant).all == pytest.approx(paper, abs=0.005)


@needs_data
def test_the_data_are_those_the_digests_are_of() -> None:
    states = {checked.file.path: checked.state for checked in check_data(PAPER, DATA)}
    assert states["nangia/baseline.json"] == states["nangia/crowd.json"] == FileState.AS_KNOWN


@needs_data
def test_files_without_validations_are_measured_by_what_was_written() -> None:
    file = str(DATA / "nangia" / "crowd_stage1.json.gz")
    done = CliRunner().invoke(app, ["evaluate", "mcq", file, "--written", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["files"]["crowd_stage1"]["human"]["unanimous"] is None
    assert found["written"]["files"]["crowd_stage1"]["scores"]["words of an option"]["value"] == pytest.approx(
        6.66, abs=0.01
    )


@needs_data
def test_table_3_lies_within_the_draws(cells: list[Cell]) -> None:
    alphas = [cell for cell in cells if cell.table == "Table 3" and cell.ours is not None]
    assert len(alphas) == 4
    assert all(cell.agrees for cell in alphas)


def test_without_data_every_number_of_ours_is_missing_with_a_reason(tmp_path: Path) -> None:
    cells = cells_of(tmp_path)
    assert len(cells) > 100
    assert all(cell.ours is None and cell.reason for cell in cells)


def test_numbers_come_from_whatever_files_are_there(tmp_path: Path) -> None:
    (tmp_path / "nangia").mkdir()
    records = [
        {
            "question_id": f"text/{number}",
            "passage_index": 1 + number % 2,
            "options": ["one", "two words", "three", "four"],
            "gold_answer": "option2",
            "validation_data": [{"worker_answer": "option2"}] * (10 if number % 4 else 2),
            "model_predictions": [
                *([1 if number % 2 else 0, f"roberta_large_{run}"] for run in (1, 2)),
                [1, "unifiedqa_v2_11b"],
            ],
        }
        for number in range(40)
    ]
    (tmp_path / "nangia" / "crowd.json").write_text(json.dumps(records), "utf-8")
    found = {(cell.table, cell.name): cell for cell in cells_of(tmp_path)}
    assert found["Table 1", "10-way, crowd: N"].ours == 30
    assert found["Table 1", "unanimous, crowd: human"].ours == 100
    assert found["Table 1", "full, crowd: RoBERTa"].ours == 50
    assert found["Table 1", "full, crowd: RoBERTa, deviation over runs"].ours == 0
    assert found["Section 5.3", "crowd: choosing the longest answer"].ours == 100
    assert found["Section 5.3", "crowd: accuracy, first question minus second"].ours == -100
    assert found["Section 4", "crowd: questions with ten validators"].ours == 30
    assert found["Table 1", "10-way, baseline: N"].ours is None
    assert all(cell.reason for cell in found.values() if not cell.agrees)
