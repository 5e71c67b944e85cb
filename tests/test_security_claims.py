"""Every test that docs/security.md names is there."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
NAMED = re.compile(r"`(test_[a-z0-9_]+)`")
DEFINED = re.compile(r"^(?:async )?def (test_[a-z0-9_]+)", re.MULTILINE)


def test_tests_named_in_the_docs_exist() -> None:
    named = set(NAMED.findall((TESTS.parent / "docs" / "security.md").read_text("utf-8")))
    defined = {name for file in TESTS.glob("test_*.py") for name in DEFINED.findall(file.read_text("utf-8"))}
    assert len(named) >= 10
    assert named - defined == set()
