"""Checks the options of a public function against the types in its signature.

The command line checks values when it parses them. From Python, a misspelt value would otherwise be accepted and
written to the signature. Errors are written for the command line; raised from Python, they refer to keywords instead of
options.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from chorale.model.problems import UserError, did_you_mean

_OPTION = re.compile(r"(?<![^\s(])--(no-)?([a-z][a-z-]*)(?: ('[^']*'))?")
_KEYWORDS = {
    "format": "file_format",
    "include-extra-verbs": "extra_verbs",
    "open": "open_task",
    "round": "round_files",
    "with": "beside",
}
"""Options whose keyword has a different name."""


@contextmanager
def naming_keywords() -> Iterator[None]:
    """Rewrites errors raised inside to refer to keywords instead of options."""
    try:
        yield
    except UserError as error:
        problems = [replace(one, message=_in_python(one.message), fix=_in_python(one.fix)) for one in error.problems]
        raise UserError(_in_python(error.message), problems) from None


def _in_python(text: str) -> str:
    """A message with keywords in place of options.

    >>> _in_python("Leave out --no-modality, or give --min-common. Did you mean --label 'said'?")
    "Leave out `modality=False`, or give `min_common`. Did you mean `label='said'`?"
    """

    def keyword(option: re.Match[str]) -> str:
        name = _KEYWORDS.get(option[2], option[2].replace("-", "_"))
        return f"`{name}=False`" if option[1] else f"`{name}={option[3]}`" if option[3] else f"`{name}`"

    return _OPTION.sub(keyword, text)


def check_keywords(function: str, owner: Any, given: Mapping[str, Any]) -> None:
    """Rejects keywords that are not in a function's typed dictionary, and invalid values."""
    for name in given:
        if name not in owner.__annotations__:
            raise TypeError(f"{function}() has no keyword {name!r}.{did_you_mean(name, owner.__annotations__)}")
    check_options(owner, given)


def check_options(owner: Any, options: Mapping[str, Any]) -> None:
    """Rejects values that do not match the annotations of a function or typed dictionary."""
    hints = _hints(owner)
    for name, value in options.items():
        kinds = _kinds(hints[name]) if name in hints else ()
        problem = _problem(value, kinds) if kinds else None
        if problem is not None:
            raise UserError(f"{name} {problem} (found {value!r}).{_meant(value, kinds)}")


@cache
def _hints(owner: Callable[..., Any]) -> Mapping[str, Any]:
    return get_type_hints(owner.func if isinstance(owner, partial) else owner)


def _kinds(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _problem(value: Any, kinds: tuple[Any, ...]) -> str | None:
    """Error message for a value that matches none of these types, or None."""
    choices = _choices(kinds)
    rest = [kind for kind in kinds if get_origin(kind) is not Literal]
    if choices and all(kind is NoneType for kind in rest):
        return (
            None if value in choices or (value is None and rest) else f"must be one of {', '.join(map(str, choices))}"
        )
    if kinds == (bool,):
        return None if isinstance(value, bool) else "must be True or False"
    if kinds in ((int,), (float,)):
        is_number = isinstance(value, int if kinds == (int,) else int | float) and not isinstance(value, bool)
        return None if is_number or hasattr(value, "__index__") else "must be a number"
    return None


def _choices(kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind))


def _meant(value: Any, kinds: tuple[Any, ...]) -> str:
    return did_you_mean(value, [str(choice) for choice in _choices(kinds)]) if isinstance(value, str) else ""
