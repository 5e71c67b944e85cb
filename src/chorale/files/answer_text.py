"""Answers as readable text."""

import json
from collections.abc import Mapping
from typing import Any


def answer_text(value: Any) -> str:
    """An answer in words. A single field needs no name.

    >>> answer_text({"label": ["angry", "sad"]}), answer_text({"tone": "rude", "why": ["it is", "too"]})
    ('angry, sad', 'tone: rude · why: it is, too')
    """
    if isinstance(value, Mapping):
        if len(value) == 1:
            return answer_text(next(iter(value.values())))
        return " · ".join(f"{name}: {answer_text(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(answer_text, value)) or "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
