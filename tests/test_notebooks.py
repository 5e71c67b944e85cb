"""The notebooks of the docs run, and have the outputs that running them gives."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOKS = sorted(path.stem for path in (DOCS / "notebooks").glob("*.ipynb"))
QUICK = "score-a-system"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name != QUICK else []) for name in NOTEBOOKS]
)
def test_a_notebook_gives_the_outputs_it_has(name: str) -> None:
    command = [sys.executable, str(DOCS / "notebooks.py"), "--check", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr


def test_there_are_three_and_the_docs_link_to_them() -> None:
    assert NOTEBOOKS == ["analyse-a-study", "model-against-people", "score-a-system"]
    index, site = (DOCS / "index.md").read_text("utf-8"), (DOCS.parent / "mkdocs.yml").read_text("utf-8")
    for name in NOTEBOOKS:
        assert f"(notebooks/{name}.ipynb)" in index
        assert f": notebooks/{name}.md\n" in site


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_begins_with_what_it_gives_and_fails_nowhere(name: str) -> None:
    first, *cells = json.loads((DOCS / "notebooks" / f"{name}.ipynb").read_text("utf-8"))["cells"]
    assert re.match(r"# .+\n\nBy the end of this notebook, you will ", "".join(first["source"]))
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert outputs and all(output["output_type"] != "error" for output in outputs)
