"""What the QA-SRL tasks share: predicates, questions with answers, their comparison, tables, and parts of pages.

Not a task itself. Writing, consolidating and validating import it, and never each other.
"""

from pathlib import Path

from chorale.kits.qasrl.grammar import BROWSER_MODULES

PAGE_PARTS = Path(__file__).parent / "page"
"""ES modules and the style sheet that the three pages share."""

SHARED = (*sorted(PAGE_PARTS.glob("*.js")), *BROWSER_MODULES)
"""The modules among them and those of the grammar, as tasks list them."""

__all__ = ["PAGE_PARTS", "SHARED"]
