"""Every test that docs/security.md names is there, and every line of its comparison names one."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
NAMED = re.compile(r"`(test_[a-z0-9_]+)`")
DEFINED = re.compile(r"^(?:async )?def (test_[a-z0-9_]+)", re.MULTILINE)


DOCS = (TESTS.parent / "docs" / "security.md").read_text("utf-8")


def test_every_line_of_the_comparison_has_a_test() -> None:
    table = DOCS.split("## Compared with others")[1]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 15
    assert {len(row) for row in rows} == {5}
    assert [row[0] for row in rows if not NAMED.search(row[1])] == []


def test_tests_named_in_the_docs_exist() -> None:
    named = set(NAMED.findall(DOCS))
    defined = {name for file in TESTS.glob("test_*.py") for name in DEFINED.findall(file.read_text("utf-8"))}
    assert len(named) >= 10
    assert named - defined == set()
