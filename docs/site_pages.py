"""For the documentation site: what its pages write for themselves and for the tests, as the site has it.

On their own, the pages link to the source beside them; the site has no source to link to. A block that is a file has
the file's name above it. Notebooks become pages. Search lists tutorials first, and pages about the code last.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_OUTSIDE = re.compile(r"\[(?P<text>[^\]]+)\]\(\.\./(?P<file>[^)\s]+)\)")
_FILE = re.compile(r"^```(?P<language>\w+) file=(?P<file>\S+)$", re.MULTILINE)
_RANKS = {"Tutorials": 3.0, "How it is built": 0.4}
_DETAILS = {f"{page}.md": 0.4 for page in ("performance", "calibration", "api", "billion", "security", "baselines")}
"""How much a page's words count in search, by section and by page; 1 for all others."""
_NOTEBOOK = re.compile(r"\]\((notebooks/[\w-]+)\.ipynb\)")


def on_files(files: Files, config: Any) -> Files:
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        page = file.src_uri.removesuffix(".ipynb") + ".md"
        files.append(File.generated(config, page, content=notebook_page(Path(file.abs_src_path or ""))))
    return files


def notebook_page(path: Path) -> str:
    """A notebook as Markdown: its texts, its code, and below each piece of code what it gave."""
    parts = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        language = "sh" if source.startswith("%%bash") else "python"
        parts.append(f"```{language}\n{source.removeprefix('%%bash').strip()}\n```")
        parts += (f"```text\n{text.rstrip()}\n```" for text in _outputs(cell))
    return "\n\n".join([*parts, f"[Download this notebook]({path.name})", ""])


def _outputs(cell: dict[str, Any]) -> Iterator[str]:
    for output in cell["outputs"]:
        text = output["text"] if "text" in output else output["data"]["text/plain"]
        yield "".join(text).strip("'")


def search_rank(page: Any) -> float:
    """How much the words of a page count in the site's search."""
    section = page.ancestors[-1].title if page.ancestors else ""
    return _DETAILS.get(page.file.src_uri, _RANKS.get(section, 1.0))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    page.meta["search"] = {"boost": search_rank(page)}
    if page.file.src_uri.startswith("notebooks/"):
        return markdown
    linked = _OUTSIDE.sub(lambda link: f"{link['text']} (`{link['file']}`)", markdown)
    titled = _FILE.sub(lambda block: f'```{block["language"]} title="{block["file"]}"', linked)
    return _NOTEBOOK.sub(r"](\1.md)", titled)
