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
from chorale.reproduce import Cell, FileState, NeededFile, Paper, PaperData, Repository, check_data

registry_of_kits: Any = import_module("chorale.registry.installed")

PAPERS = dict(registry.papers())
SHARED = Path(__file__).parents[2] / "shared" / "data"
CONTENT = b"3\n"


def cells(data: PaperData, progress: Callable[[int, int], None]) -> Iterator[Cell]:
    path = data.needed("made/number.txt")
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
    assert [(cell["name"], cell["agreement"]) for cell in found["cells"]] == [
        ("the number", "equal"),
        ("a lottery", "in the interval"),
        ("another number", "different"),
        ("a secret", "not computed"),
        ("one of many", "not computed"),
        ("a loss", "equal"),
        ("two of many", "not computed"),
    ]
    text = reproduce("made2026", "--data", data).output
    assert "We count differently." in text
    assert "∈ means that the paper's number lies in our 95% interval" in text
    assert found["files"] == {"made/number.txt": "as known", "made/more.txt": "missing"}
    assert r"\begin{tabular}" in reproduce("made2026", "--data", data, "--latex").output


def test_the_summary_comes_first_and_every_cell_that_is_missing_is_listed(data: Path) -> None:
    text = reproduce("made2026", "--data", data).stdout
    assert text.index("Summary") < text.index("made2026, Table 1")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "one of many 7 not computed It is licensed." in lines
    assert "two of many 8 not computed as above" in lines
    assert "a secret" in text
    assert "−0.50 (−0.60 to 0.10)" in text
    latex = reproduce("made2026", "--data", data, "--latex").stdout
    assert "$-0.50$ ($-0.60$ to $0.10$)" in latex
    assert r"$\neq$" in latex


def test_a_paper_that_is_almost_known_is_guessed() -> None:
    assert "Did you mean zeichner2012?" in reproduce("zeichner2021", code=2).output


def test_a_paper_of_the_same_year_is_not_guessed() -> None:
    output = " ".join(reproduce("smith2020", code=2).output.split())
    assert "Did you mean" not in output
    assert all(paper in output for paper in ("dumitrache2019", "nangia2021", "roit2020", "zeichner2012"))


def test_a_packed_file_will_do(data: Path) -> None:
    plain = data / "made" / "number.txt"
    plain.with_name("number.txt.gz").write_bytes(gzip.compress(CONTENT))
    plain.unlink()
    assert [file.state for file in check_data(MADE, data)] == [FileState.AS_KNOWN, FileState.MISSING]
    reproduce("made2026", "--data", data)


@pytest.mark.parametrize("place", ["data/number.txt", "made/data/number.txt", "made/number.txt"])
def test_a_clone_or_a_folder_of_clones_is_read_as_it_is(tmp_path: Path, place: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert check_data(MADE, tmp_path)[0].state is FileState.AS_KNOWN
    assert "2 cells" not in reproduce("made2026", "--data", tmp_path).stdout


def test_several_folders_are_searched_in_turn(tmp_path: Path, data: Path) -> None:
    (tmp_path / "elsewhere" / "data").mkdir(parents=True)
    (tmp_path / "elsewhere" / "data" / "more.txt").write_bytes(b"more")
    found = json.loads(reproduce("made2026", "--data", tmp_path / "elsewhere", "--data", data, "--json").stdout)
    assert found["files"] == {"made/number.txt": "as known", "made/more.txt": "unknown"}


def test_a_needed_path_may_stand_for_several_files(tmp_path: Path) -> None:
    many = replace(MADE.repositories[0], files=(NeededFile("raw/*/part_*.csv", "input/*/part_*.csv"),))
    for number in (2, 1):
        (tmp_path / "input" / str(number)).mkdir(parents=True)
        (tmp_path / "input" / str(number) / "part_a.csv").write_bytes(b"%d" % number)
    paper = replace(MADE, repositories=(many,))
    assert [path.parent.name for path in paper.data(tmp_path).find_all("raw/*/part_*.csv")] == ["1", "2"]
    (checked,) = check_data(paper, tmp_path)
    assert checked.state is FileState.UNKNOWN
    (tmp_path / "input" / "1" / "part_a.csv").write_bytes(b"other")
    assert check_data(paper, tmp_path)[0].digest != checked.digest


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
    assert ": 1. Clone the repositories" in reproduce("made2026", "--data", tmp_path, code=2).output
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
        pytest.param("dumitrache2019", 36, marks=pytest.mark.slow),
        ("jindal2022", 170),
        ("nangia2021", 15),
        pytest.param("roit2020", 4, marks=pytest.mark.slow),
        pytest.param("zeichner2012", 6, marks=pytest.mark.slow),
    ],
)
def test_the_papers_numbers_come_out(paper: str, equal: int) -> None:
    found = json.loads(reproduce(paper, "--data", SHARED, "--json").stdout)
    assert sum(cell["agreement"] == "equal" for cell in found["cells"]) >= equal
    # What is different or not computed has its reason.
    assert all(cell["reason"] for cell in found["cells"] if cell["agreement"] in ("different", "not computed"))
