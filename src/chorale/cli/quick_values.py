"""Values on the command line that are plainly right are taken as they are.

Typer has Pydantic check every value, also one that was not given, and importing Pydantic takes longer than reading a
file of 100,000 lines. Here only what is in doubt goes to Typer, which then says what is wrong with it.
"""

import math
import os
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

_DOUBTFUL = object()


def take_quickly(parameter: Any) -> Any:
    """The parameter of a command, taking plain values itself. A version of Typer that works otherwise is left alone."""
    ask_typer = getattr(parameter, "get_runtime_param", None)
    described = getattr(parameter, "type_descriptor", None)
    if ask_typer is not None and described is not None and not isinstance(ask_typer, _Quick):
        parameter.get_runtime_param = _Quick(ask_typer, described)
    return parameter


class _Quick:
    """Stands where Typer has what coerces a parameter's value."""

    def __init__(self, ask_typer: Any, described: Any) -> None:
        self._ask_typer, self._described = ask_typer, described

    def __call__(self) -> "_Quick":
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        quick = plain_value(value, self._described.annotation, self._described.parameter_info)
        return self._ask_typer().coerce(value, param=param, ctx=ctx) if quick is _DOUBTFUL else quick


def plain_value(value: Any, annotation: Any, info: Any) -> Any:
    """The value as the annotation wants it, or something that is no value where that takes more than a look."""
    if info.parser is not None:
        return _DOUBTFUL
    if get_origin(annotation) is list:
        if not isinstance(value, list | tuple):
            return _DOUBTFUL
        each = [plain_value(one, get_args(annotation)[0], info) for one in value]
        return _DOUBTFUL if any(one is _DOUBTFUL for one in each) else each
    if get_origin(annotation) is Literal:
        return value if value in get_args(annotation) else _DOUBTFUL
    if annotation in (int, float):
        return _number(value, annotation, info)
    if annotation is Path:
        return _path(value, info)
    return value if annotation in (str, bool) and isinstance(value, annotation) else _DOUBTFUL


def _number(value: Any, kind: Any, info: Any) -> Any:
    if isinstance(value, str):
        try:
            value = kind(value) if value.isascii() and "_" not in value else None
        except ValueError:
            return _DOUBTFUL
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return _DOUBTFUL
    above = info.min is None or value >= info.min
    below = info.max is None or value <= info.max
    return kind(value) if above and below and kind(value) == value else _DOUBTFUL


def _path(value: Any, info: Any) -> Any:
    asked_more = info.exists or info.resolve_path or info.writable or info.allow_dash or info.path_type is not None
    whole = info.file_okay and info.dir_okay
    if isinstance(value, Path):
        value = str(value)
    if asked_more or not whole or not isinstance(value, str) or "\0" in value:
        return _DOUBTFUL
    return Path(value) if os.access(value, os.R_OK) or not os.path.lexists(value) else _DOUBTFUL
