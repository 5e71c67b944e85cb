"""`chorale prepare`: one command per kind of items."""

from typing import ClassVar

import typer

from chorale.cli.loading import Family


class _Prepare(Family):
    places: ClassVar = {
        "frames": "chorale.cli.prepare.frames:frames",
        "mcq": "chorale.cli.prepare.mcq:mcq",
        "qasrl": "chorale.cli.prepare.qasrl:qasrl",
        "rules": "chorale.cli.prepare.rules:rules",
    }


prepare = typer.Typer(name="prepare", cls=_Prepare, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@prepare.callback()
def _prepare() -> None:
    """Make the items of a study from texts and resources."""
