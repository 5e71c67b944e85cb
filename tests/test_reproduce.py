"""The papers' numbers: what the command says without data, with wrong data, and with the real ones."""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chorale import registry
from chorale.cli import app
from chorale.files.source import digest_of
from chorale.metrics import Interval
from chorale.registry import Kit
from chorale.reproduce import Cell, FileState, NeededFile, Paper, Repository, check_data
from chorale.reproduce.checking import find

registry_of_kits: Any = import_module("chorale.registry.installed")

PAPERS = dict(registry.papers())
SHARED = Path(__file__).parents[2] / "shared" / "data"
CONTENT = b"3\n"


def cells(data: Path, progress: Callable[[int, int], None]) -> Iterator[Cell]:
    path = find(data, "made/number.txt")
    assert path is not None
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    progress(1, 1)
    yield Cell("Table 1", "the number", 3.04, float(raw), 1)
    yield Cell("Table 2", "a lottery", 0.5, 0.4, 2, "It is drawn.", Interval(0.3, 0.6))
    yield Cell("Table 1", "another number", 4.0, float(raw), 0, "We count differently.")
    yield Cell("Table 1", "a secret", 7.0, None, 0, "It was not published.")
    yield Cell("Table 3", "one of many", 7.0, None, 0, "It is licensed.")
    yield Cell("Table 3", "a loss", -0.5, -0.5, 2, "", Interval(-0.6, 0.1))
    yield Cell("Table 3", "two of many", 8.0, None, 0, "It is licensed.")


MADE = Paper(
    "made2026",
    "A made-up paper",
    (
        Repository(
            "nobody/made",
            "https://example.org/made",
            "0" * 40,
            "MIT",
            (
                NeededFile("made/number.txt", "data/number.txt", digest_of(CONTENT)),
                NeededFile("made/more.txt", "data/more.txt", optional=True),
            ),
        ),
    ),
    cells,
)


@pytest.fixture(autouse=True)
def made_paper(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    kit = Kit(name="made", summary="A paper of nobody.", papers={"made2026": f"{__name__}:MADE"})
    there = registry.installed()
    monkeypatch.setattr(registry_of_kits, "installed", lambda: replace(there, kits={**there.kits, "made": kit}))
    registry.papers.cache_clear()
    yield
    registry.papers.cache_clear()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "number.txt").write_bytes(CONTENT)
    return tmp_path


def reproduce(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.mark.parametrize("paper", PAPERS)
def test_without_data_it_says_what_to_get(paper: str) -> None:
    told = reproduce(paper, code=2).output
    assert "--data DIR" in told
    for repository in PAPERS[paper].repositories:
        assert repository.name in told
        assert repository.address in told
        for file in repository.files:
            assert f"DIR/{file.path}" in told


def test_cells_stand_beside_the_papers_own(data: Path) -> None:
    found = json.loads(reproduce("made2026", "--data", data, "--json").stdout)
    assert [(cell["name"], cell["agrees"]) for cell in found["cells"]] == [
        ("the number", True),
        ("a lottery", True),
        ("another number", False),
        ("a secret", None),
        ("one of many", None),
        ("a loss", True),
        ("two of many", None),
    ]
    text = reproduce("made2026", "--data", data).output
    assert "We count differently." in text
    assert "= says that" in text
    assert found["files"] == {"made/number.txt": "as known", "made/more.txt": "missing"}
    assert r"\begin{tabular}" in reproduce("made2026", "--data", data, "--latex").output


def test_the_summary_comes_first_and_what_is_missing_for_one_reason_has_one_line(data: Path) -> None:
    text = reproduce("made2026", "--data", data).stdout
    assert text.index("Summary") < text.index("made2026, Table 1")
    assert "2 cells, not computed" in text
    assert "of many" not in text
    assert text.count("It is licensed.") == 1
    assert "a secret" in text
    assert "−0.50 (−0.60 to 0.10)" in text
    latex = reproduce("made2026", "--data", data, "--latex").stdout
    assert "$-0.50$ ($-0.60$ to $0.10$)" in latex
    assert r"$\neq$" in latex


def test_a_paper_that_is_almost_known_is_guessed() -> None:
    assert "Did you mean zeichner2012?" in reproduce("zeichner2021", code=2).output


def test_a_packed_file_will_do(data: Path) -> None:
    plain = data / "made" / "number.txt"
    plain.with_name("number.txt.gz").write_bytes(gzip.compress(CONTENT))
    plain.unlink()
    assert [file.state for file in check_data(MADE, data)] == [FileState.AS_KNOWN, FileState.MISSING]
    reproduce("made2026", "--data", data)


def test_a_file_that_comes_packed_is_to_stay_so() -> None:
    said = reproduce("roit2020", code=2).output
    assert "data/qasrl-v2_1/dense/dev.jsonl.gz → DIR/qasrl-bank/dense-dev.jsonl.gz\n" in said
    assert "data/gold/wikinews.dev.gold.csv → DIR/qasrl-gs/wikinews.dev.gold.csv\n" in said


def test_every_file_has_a_commit_to_get_it_from() -> None:
    for paper in PAPERS.values():
        assert [one.name for one in paper.repositories if not one.commit] == []


def test_another_file_than_the_known_one_is_told(data: Path) -> None:
    known = json.loads(reproduce("made2026", "--data", data, "--json").stdout)["signature"]
    (data / "made" / "number.txt").write_bytes(b"4\n")
    (data / "made" / "more.txt").write_text("more")
    assert [file.state for file in check_data(MADE, data)] == [FileState.DIFFERENT, FileState.UNKNOWN]
    told = reproduce("made2026", "--data", data)
    assert "made/number.txt" in told.stderr
    assert "|files:" in told.stdout
    assert known not in told.stdout


def test_missing_data_and_unknown_papers_are_mistakes(tmp_path: Path) -> None:
    assert "lacks 1 of the files" in reproduce("made2026", "--data", tmp_path, code=2).output
    assert "zeichner2012" in reproduce("zeichner", code=2).output
    assert "not a folder" in reproduce("made2026", "--data", tmp_path / "nowhere", code=2).output


@pytest.mark.parametrize(
    ("paper", "ours", "digits", "agrees"),
    [
        (0.47, 0.466, 2, True),
        (0.47, 0.464, 2, False),
        (100, 100.4, 0, True),
        (None, 1.0, 0, None),
        (1.0, None, 0, None),
    ],
)
def test_equal_means_equal_as_printed(
    paper: float | None, ours: float | None, digits: int, agrees: bool | None
) -> None:
    assert Cell("Table 1", "x", paper, ours, digits).agrees is agrees


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the papers' data, which is not part of the project")
@pytest.mark.parametrize(
    ("paper", "equal"),
    [
        pytest.param("dumitrache2019", 23, marks=pytest.mark.slow),
        ("jindal2022", 162),
        ("nangia2021", 40),
        ("roit2020", 4),
        ("zeichner2012", 6),
    ],
)
def test_the_papers_numbers_come_out(paper: str, equal: int) -> None:
    found = json.loads(reproduce(paper, "--data", SHARED, "--json").stdout)
    assert sum(cell["agrees"] is True for cell in found["cells"]) >= equal
    # Whatever is not equal has its reason.
    assert all(cell["reason"] for cell in found["cells"] if cell["paper"] is not None and cell["agrees"] is not True)
