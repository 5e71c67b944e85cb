"""The table that defines all valid questions, in `question_table.js`, which the browser imports too.

A state lists its outgoing arcs and whether a question may end there. An arc fills a slot with one value of a group. In
the verb slot, the names of the five forms stand for the inflected forms.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from chorale.text.inflections import KEYS

TABLE_MODULE = Path(__file__).with_name("question_table.js")
BROWSER_MODULES = tuple(sorted(Path(__file__).parent.glob("*.js")))
"""Scripts for task pages that parse and complete questions: `question_grammar.js` and its imports."""
SLOTS = ("wh", "aux", "subj", "verb", "obj", "prep", "misc")
_BEFORE, _AFTER = "export default ", ";"


def read_module(path: Path) -> dict[str, Any]:
    """Parses a JavaScript module whose body is JSON."""
    text = path.read_text("utf-8").strip()
    loaded: dict[str, Any] = json.loads(text.removeprefix(_BEFORE).removesuffix(_AFTER))
    return loaded


@cache
def table() -> dict[str, Any]:
    """The table as parsed JSON."""
    loaded = read_module(TABLE_MODULE)
    if tuple(loaded["forms"]) != KEYS:
        raise RuntimeError("question_table.js and VerbForms have different verb forms")
    return loaded


def prepositions() -> dict[str, int]:
    """Prepositions allowed in any question, with their frequency."""
    known: dict[str, int] = table()["groups"]["preposition"]
    return known
