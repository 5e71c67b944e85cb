"""Words that pages, notes and problems have in common: one thing or several, what was meant, what was answered."""

import difflib
import json
from collections.abc import Iterable, Mapping
from typing import Any


def many(count: int, one: str, several: str) -> str:
    """A count with the words that go with it.

    >>> many(1, "row is", "rows are"), many(1200, "row is", "rows are")
    ('1 row is', '1,200 rows are')
    """
    return f"{count:,} {one if count == 1 else several}"


def in_short(kind: str, *parts: str) -> str:
    """What an object with too much in it shows of itself, in a notebook or a debugger.

    >>> in_short("Judgments", "2 tasks", "1 worker")
    '<Judgments: 2 tasks, 1 worker>'
    """
    return f"<{kind}: {', '.join(parts)}>"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence to put behind a message about a name that is not known, or nothing if none is close.

    >>> did_you_mean("kapa", ["alpha", "kappa"])
    ' Did you mean kappa?'
    >>> did_you_mean("xyz", ["alpha", "kappa"])
    ''
    """
    by_small = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name[:100].lower(), by_small, n=1, cutoff=0.5)
    return f" Did you mean {by_small[near[0]]}?" if near else ""


def answer_words(value: Any) -> str:
    """An answer as people would say it: what a form has only one of needs no name.

    >>> answer_words({"label": ["angry", "sad"]}), answer_words({"tone": "rude", "why": ["it is", "too"]})
    ('angry, sad', 'tone: rude · why: it is, too')
    """
    if isinstance(value, Mapping):
        if len(value) == 1:
            return answer_words(next(iter(value.values())))
        return " · ".join(f"{name}: {answer_words(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(answer_words, value)) or "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
