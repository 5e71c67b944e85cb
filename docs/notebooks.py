"""Executes the notebooks of the docs and writes their outputs.

`python docs/notebooks.py` brings all of them up to date, `--check NAME …` only says whether they are. Each runs in an
empty folder. What differs from run to run (execution counts, standard error, the version in a signature) is left out.
"""

import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parent / "notebooks").glob("*.ipynb"))
_VERSION = re.compile(r"\|version:[^|\s']+")


def executed(path: Path) -> Any:
    """The notebook with the outputs of a new run."""
    notebook: Any = nbformat.read(path, as_version=4)
    commands = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    with TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}})
        client.execute(env={**os.environ, "PATH": commands})
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [_stable(output) for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def _stable(output: Any) -> Any:
    if "execution_count" in output:
        output.execution_count = None
    texts = output.get("data", output)
    for kind in ("text", "text/plain"):
        if kind in texts:
            texts[kind] = _VERSION.sub("|version:…", texts[kind])
    return output


def main() -> None:
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    for path in NOTEBOOKS:
        if names and path.stem not in names:
            continue
        text = nbformat.writes(executed(path)) + "\n"
        if "--check" not in sys.argv:
            path.write_text(text, "utf-8")
        elif text != path.read_text("utf-8"):
            sys.exit(f"{path.name}: its outputs are not those of a new run. Run `python docs/notebooks.py`.")


if __name__ == "__main__":
    main()
