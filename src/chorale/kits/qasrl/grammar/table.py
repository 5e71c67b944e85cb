"""The table that says which questions there are. `question_table.js` holds it: the browser imports the same file.

A state names the arcs that lead on from it, and whether a question may end there. An arc fills a slot with one value of
a group. In the values of the verb slot, the names of the five forms stand for the forms.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from chorale.text.inflections import KEYS

TABLE_MODULE = Path(__file__).with_name("question_table.js")
BROWSER_MODULES = tuple(sorted(Path(__file__).parent.glob("*.js")))
"""What a task serves whose page parses and completes questions: `question_grammar.js`, and what it imports."""
SLOTS = ("wh", "aux", "subj", "verb", "obj", "prep", "misc")
_BEFORE, _AFTER = "export default ", ";"


def read_module(path: Path) -> dict[str, Any]:
    """The content of a module that browsers import and whose body is JSON."""
    text = path.read_text("utf-8").strip()
    loaded: dict[str, Any] = json.loads(text.removeprefix(_BEFORE).removesuffix(_AFTER))
    return loaded


@cache
def table() -> dict[str, Any]:
    """The table, as JSON has it."""
    loaded = read_module(TABLE_MODULE)
    if tuple(loaded["forms"]) != KEYS:
        raise RuntimeError("question_table.js names other forms than VerbForms has")
    return loaded


def prepositions() -> dict[str, int]:
    """Those that may stand in any question, with how usual they are."""
    known: dict[str, int] = table()["groups"]["preposition"]
    return known
