"""Declarations of a function's parameters as arguments and options of a command.

Reading them does not load the command line.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional parameter."""

    metavar: str
    help: str
    verbatim: bool = False
    """Whether everything after its first word belongs to it, even if it looks like an option."""


@dataclass(frozen=True, slots=True)
class Option:
    """A parameter given by name. An option of type bool takes no value, and may have two names: `--on/--off`."""

    name: str | None = None
    """The name, as in `--out`; default: the parameter's name."""
    short: str | None = None
    """The short name, as in `-o`."""
    metavar: str | None = None
    """The name of the value in help; default: N for a whole number, NUMBER for any other number, FILE for a path."""
    help: str = ""
    min: float | None = None
    max: float | None = None
    choices: Callable[[], Iterable[str]] | None = None
    """The possible names, if installed kits can add to them. They are read when the command is loaded."""
    envvar: str | None = None
    """The environment variable used if the option is not given."""
    show_default: str | None = None
    """The text that help shows in place of the default."""
