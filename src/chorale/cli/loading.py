"""Commands that are loaded when they are named: a process that runs one neither imports nor builds the others."""

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from chorale.cli.quick_values import take_quickly

Places = Mapping[str, str]
"""Where each command is, by its name: `module:function`, or `module:app` for one that has commands of its own."""


class Loaded(MutableMapping[str, Any]):
    """Commands by their names, each built when it is asked for."""

    def __init__(self, places: Places) -> None:
        self._places = dict(places)
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = _built(name, self._places[name])
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._places[name], self._built[name] = "", command

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._built.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places


class LoadingGroup(TyperGroup):
    """A command that has others, in the order they are named in."""

    places: ClassVar[Places] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = Loaded(self.places)

    def get_params(self, ctx: Any) -> list[Any]:
        return [take_quickly(parameter) for parameter in super().get_params(ctx)]

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the signature is the library's
        return list(self.commands)


class Family(LoadingGroup):
    """One command per kind of data: whoever names something else, such as a file, is told which there are."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}. There is: {', '.join(self.commands)}.")
        return super().resolve_command(ctx, args)


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return [take_quickly(parameter) for parameter in super().get_params(ctx)]


def _built(name: str, place: str) -> Any:
    module, _, attribute = place.partition(":")
    found = getattr(import_module(module), attribute)
    if isinstance(found, typer.Typer):
        return get_command(found)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, cls=_Command)(found)
    return get_command(alone)
