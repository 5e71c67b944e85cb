"""The tables that list a paper's elements: every row says how it is done here, and what a row names is there."""

import re
from pathlib import Path

import pytest

import chorale.kits
from chorale.registry.installed import commands as installed_commands
from test_docs import DOCS, anchors

HEADER = "| in the paper | in Chorale |"
ROW = re.compile(r"^\|(?P<theirs>.+?)\|(?P<ours>.+)\|$", re.MULTILINE)
LINK = re.compile(r"\]\((?P<to>[^)\s]+)\)")
PAGES = [path for path in sorted(DOCS.glob("*.md")) if HEADER in path.read_text("utf-8")]
STUDIES = {"qasrl", "rules", "frames", "mcq"}
"""Pages that have one at least."""
TEMPLATES = Path(chorale.kits.__file__).parent


def rows(path: Path) -> list[tuple[str, str]]:
    """The rows of a page's tables of this kind, as the paper's side and ours."""
    found = []
    for table in path.read_text("utf-8").split(HEADER)[1:]:
        lines = table.strip("\n").split("\n\n")[0]
        found += [(row["theirs"].strip(), row["ours"].strip()) for row in ROW.finditer(lines)][1:]
    return found


def test_studies_have_a_table_of_their_papers() -> None:
    assert {path.stem for path in PAGES} >= STUDIES


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_element_says_how_it_is_done_or_why_not(path: Path) -> None:
    listed = rows(path)
    assert len(listed) > 5
    for theirs, ours in listed:
        assert theirs and len(ours) > 3, theirs
        if ours.lower().rstrip(".") in ("no", "not here", "not done"):
            pytest.fail(f"{path.name}: does not say why not: {theirs}")
    assert len({theirs for theirs, _ in listed}) == len(listed)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_what_a_row_names_is_there(path: Path) -> None:
    """Links, files of templates, and commands."""
    files = {
        found.relative_to(found.parents[1]).as_posix() for found in TEMPLATES.rglob("templates/**/*") if found.is_file()
    }
    commands = {" ".join(command.path) for command in installed_commands()}
    for theirs, ours in rows(path):
        for match in LINK.finditer(ours):
            name, _, anchor = match["to"].partition("#")
            target = DOCS / name if name else path
            assert match["to"].startswith("http") or target.is_file(), f"{theirs}: {match['to']}"
            assert not anchor or match["to"].startswith("http") or anchor in anchors(target), f"{theirs}: {match['to']}"
        for name in re.findall(r"`((?:guidelines|rounds|messages)/[\w-]+\.\w+)`", ours):
            assert name in files, f"{theirs}: no template has {name}"
        for name in re.findall(r"`chorale (evaluate|prepare|import|browse) (\w+)`", ours):
            assert " ".join(name) in commands, f"{theirs}: there is no command {' '.join(name)}"
