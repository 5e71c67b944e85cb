"""Immutable JSON values.

Answers and items are cached and shared: many workers give the same answer, and labels depend on it. A task that sorted
one of them in place would change the evidence. So tasks get lists and dicts that refuse changes. They are equal to
plain ones, can be written as JSON, and can be changed after a copy (`list(…)`, `sorted(…)`, `dict(…)`, `deepcopy(…)`).
"""

from copy import deepcopy
from typing import Any, NoReturn

_SAFE = frozenset((str, int, float, bool, type(None)))


class FrozenValueError(TypeError):
    """Code tried to change a shared value in place."""


def _refuse(self: Any, *_given: Any, **_named: Any) -> NoReturn:
    kind = "list" if isinstance(self, list) else "dict"
    raise FrozenValueError(
        f"this {kind} is part of an answer or item that others share and cannot be changed. Copy it first, for example "
        f"with {'list(…) or sorted(…)' if kind == 'list' else 'dict(…)'}; copy.deepcopy also copies nested values."
    )


class FrozenList(list[Any]):
    """A list that can only be read."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [deepcopy(value, memo) for value in self]


class FrozenDict(dict[str, Any]):
    """A dict that can only be read."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {name: deepcopy(value, memo) for name, value in self.items()}


def frozen(value: Any) -> Any:
    """Freeze all lists and dicts of a value.

    >>> frozen({"spans": [[0, 2]]}) == {"spans": [[0, 2]]}
    True
    >>> frozen([2, 1]).sort()
    Traceback (most recent call last):
        ...
    chorale.model.frozen.FrozenValueError: this list is part of an answer or item that others share and cannot be \
changed. Copy it first, for example with list(…) or sorted(…); copy.deepcopy also copies nested values.
    """
    kind = type(value)
    if kind is dict:
        for inner in value.values():
            if type(inner) not in _SAFE:
                return FrozenDict({name: frozen(inner) for name, inner in value.items()})
        return FrozenDict(value)
    if kind is list:
        for inner in value:
            if type(inner) not in _SAFE:
                return FrozenList(map(frozen, value))
        return FrozenList(value)
    return value
