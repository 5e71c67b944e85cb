"""How the parameters of a function are given to the command that calls it. Reading them loads no command line."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter that is given by its place."""

    metavar: str
    help: str
    verbatim: bool = False
    """Whether everything behind its first word belongs to it, also what looks like an option."""


@dataclass(frozen=True, slots=True)
class Option:
    """A parameter that is given by a name. That of a bool takes no value, and may be two: `--on/--off`."""

    name: str | None = None
    """As in `--out`; if None, that of the parameter."""
    short: str | None = None
    """As in `-o`."""
    metavar: str | None = None
    """What the value is called; if None, N for a whole number and FILE for a path."""
    help: str = ""
    min: float | None = None
    max: float | None = None
    choices: Callable[[], Iterable[str]] | None = None
    """The names to choose from, where installed kits add to them. They are read when the command is."""
    envvar: str | None = None
    """The environment variable that has the value where the option is not given."""
    show_default: str | None = None
    """What help shows in place of the default."""
