"""Every test that docs/security.md names exists, and every line of its tables names one."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
NAMED = re.compile(r"`(test_[a-z0-9_]+)`")
DEFINED = re.compile(r"^(?:async )?def (test_[a-z0-9_]+)", re.MULTILINE)


DOCS = (TESTS.parent / "docs" / "security.md").read_text("utf-8")


def rows_below(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading."""
    table = DOCS.split(f"{heading}\n")[1].split("\n| ", 1)[1].split("\n\n")[0]
    return [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in table.splitlines()[2:]]


@pytest.mark.parametrize(
    ("heading", "least"),
    [("## What is protected, and how", 25), ("## Sessions", 8), ("### Arrivals from a platform", 4)],
)
def test_every_line_of_what_is_protected_has_a_test(heading: str, least: int) -> None:
    rows = rows_below(heading)
    assert len(rows) >= least
    assert {len(row) for row in rows} == {3}
    assert [row[0] for row in rows if not NAMED.search(row[2])] == []


def test_every_line_of_the_comparison_has_a_test() -> None:
    rows = rows_below("## Compared with others")
    assert len(rows) >= 15
    assert {len(row) for row in rows} == {5}
    assert [row[0] for row in rows if not NAMED.search(row[1])] == []


def test_tests_named_in_the_docs_exist() -> None:
    named = set(NAMED.findall(DOCS))
    defined = {name for file in TESTS.glob("test_*.py") for name in DEFINED.findall(file.read_text("utf-8"))}
    assert len(named) >= 10
    assert named - defined == set()
