"""Rules against the published applications. Needs data that are not part of the project."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.kits.rules.files.rules import read_judged
from chorale.kits.rules.reproduction import PAPER
from chorale.reproduce import FileState, check_data

SHARED = Path(__file__).parents[2] / "shared"
DATA = SHARED / "data"
pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)


def scored(*arguments: object) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["evaluate", "rules", *map(str, arguments), "--json"])
    assert result.exit_code == 0, (result.output, result.exception)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.slow
def test_every_cell_that_can_be_computed_agrees_with_the_paper() -> None:
    assert {file.state for file in check_data(PAPER, DATA)} == {FileState.AS_KNOWN}
    cells = list(PAPER.cells(PAPER.data(DATA), lambda done, total: None))
    both = [cell for cell in cells if cell.agrees is not None]
    assert len(both) == 6
    assert all(cell.agrees for cell in both)
    assert all(cell.reason for cell in cells if cell.ours is None or cell.paper is None)


@pytest.mark.slow
def test_the_published_rule_sets_on_the_published_applications() -> None:
    """The numbers counted by hand: 311 applications have a rule of the untyped set, 241 of them valid."""
    folder = DATA / "zeichner"
    found = scored(
        folder / "reverb-global-rules-lambda0.1.txt.gz",
        folder / "berant-typed-rules.txt.gz",
        folder / "zeichner_entailingAnnotations.txt",
        "--also",
        folder / "zeichner_nonEntailingAnnotations.txt",
        "--match",
        "exact",
    )
    untyped = found["resources"]["reverb-global-rules-lambda0.1"]
    assert (untyped["applications"], untyped["entailing"], untyped["covered"]) == (6567, 2447, 311)
    assert untyped["precision"] == pytest.approx(241 / 311)
    assert untyped["recall"] == pytest.approx(241 / 2447)
    assert untyped["auc"] == pytest.approx(241 / 311 * 241 / 2447)
    assert found["resources"]["berant-typed-rules"]["rules"] == 13021


def test_levy_holt_is_read() -> None:
    found = read_judged(DATA / "levyholt" / "dev.txt")
    assert len(found.applications) == 5486
    assert sum(application.entails for application in found.applications) == 1085
    # The second triple is what the first is concluded from.
    assert found.applications[0].rule[:2] == ("is widely used in", "is used in")


@pytest.mark.slow
def test_published_rules_on_levy_holt() -> None:
    """The authors look up the applications' lemmas among the rules as written: with our lemmas, 90 (62) and 15 (13).

    Their program itself needs WordNet and was not run. The typed rules are lemmas already.
    The untyped ones are not, so lemmas on both sides find more: 59 instead of 15.
    """
    rules = [DATA / "zeichner" / f"{name}.txt.gz" for name in ("berant-typed-rules", "reverb-global-rules-lambda0.1")]
    found = scored(*rules, "--judgments", DATA / "levyholt" / "dev.txt", "--contradictions", "both")
    assert (found["applications"], found["entailing"]) == (5486, 1085)
    typed, untyped = found["resources"].values()
    assert (typed["covered"], typed["covered_entailing"]) == (90, 62)
    assert (untyped["covered"], untyped["covered_entailing"]) == (59, 56)
    usual = scored(*rules, "--judgments", DATA / "levyholt" / "dev.txt")
    assert any("4 applications were judged both ways" in note for note in usual["notes"])
    assert sum(note.startswith("Warning: ") for note in usual["notes"]) == 2
