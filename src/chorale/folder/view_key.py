"""A lookup key of an item: what a worker sees of it."""

import json
from collections.abc import Mapping
from typing import Any

_IN_ORDER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def view_key(view: Mapping[str, Any]) -> str:
    """The same text for the same content, whatever the order of its fields."""
    return _IN_ORDER.encode(view)
