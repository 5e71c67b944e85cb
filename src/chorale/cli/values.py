"""Values on the command line: converting text to a value, with messages for invalid text."""

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from chorale.model.problems import did_you_mean

Reader = Callable[[Any], Any]
"""Converts text to a value, or raises `click.BadParameter`. Defaults that are already values stay unchanged."""


def number(kind: type[int] | type[float], low: float | None, high: float | None) -> Reader:
    """Read a whole number or a float within limits; infinity is not allowed."""

    def read(given: Any) -> float:
        try:
            value = kind(given) if str(given).isascii() else None
        except ValueError:
            value = None
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            raise click.BadParameter(f"{given!r} is not a {'whole number' if kind is int else 'number'}.")
        if low is not None and value < low:
            raise click.BadParameter(f"{given} is too low. It must be at least {low:,.15g}.")
        if high is not None and value > high:
            raise click.BadParameter(f"{given} is too high. It must be at most {high:,.15g}.")
        return value

    return read


def name_of(names: Sequence[str]) -> Reader:
    """Read one of several names."""

    def read(given: Any) -> str:
        if given in names:
            return str(given)
        if not names:
            raise click.BadParameter(f"{given!r} is not available: no installed kit has a value for this option.")
        if len(names) == 1:
            raise click.BadParameter(f"{given!r} is not known. The only choice is {names[0]}.")
        meant = did_you_mean(str(given), names)
        raise click.BadParameter(f"{given!r} is not one of {', '.join(names)}.{meant}")

    return read


def file_path(given: Any) -> Path:
    """Read the path of a file or folder. It need not exist; if it does, it must be readable."""
    try:
        encoded = os.fsencode(given)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise click.BadParameter(f"{str(given)!r} is not a valid file name.")
    if Path(given).exists() and not os.access(Path(given), os.R_OK):
        raise click.BadParameter(f"{str(given)!r} can't be read: permission denied.")
    return Path(given)
