"""The lookup key of an item: the worker's view of it."""

import json
from collections.abc import Mapping
from typing import Any

_IN_ORDER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def view_key(view: Mapping[str, Any]) -> str:
    """A text that is equal for equal views, whatever the order of fields."""
    return _IN_ORDER.encode(view)
