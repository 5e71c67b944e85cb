"""Shared parts of the QA-SRL tasks: predicates, questions with answers, their comparison, tables, and page parts.

Not a task itself. The writing, consolidation and validation tasks import it, but never each other.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from chorale.contract.task import Form
from chorale.kits.qasrl.grammar import BROWSER_MODULES
from chorale.model import Payload

_PAGE_PARTS = Path(__file__).parent / "page"
_SHARED = (*sorted(_PAGE_PARTS.glob("*.js")), *BROWSER_MODULES)


def form_of(task: Path, module: str, view: Callable[[Payload], dict[str, Any]]) -> Form:
    """The form of a task in its folder, with the style sheet and the modules that the three pages share."""
    return Form(
        page=task / "page.html", module=task / module, style=_PAGE_PARTS / "qasrl.css", shared=_SHARED, view=view
    )
