"""`chorale learn`: resources from raw material."""

from typing import ClassVar

import typer

from chorale.cli.loading import Family


class _Learn(Family):
    places: ClassVar = {
        "rules": "chorale.kits.rules.commands.learn:rules",
    }


learn = typer.Typer(name="learn", cls=_Learn, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@learn.callback()
def _learn() -> None:
    """Learn resources from raw material."""
