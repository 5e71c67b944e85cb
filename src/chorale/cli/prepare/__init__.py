"""`chorale prepare`: one command per kind of items."""

from typing import ClassVar

import typer

from chorale.cli.loading import Family


class _Prepare(Family):
    places: ClassVar = {
        "frames": "chorale.kits.frames.commands.prepare:frames",
        "mcq": "chorale.kits.questions.commands.prepare:mcq",
        "qasrl": "chorale.kits.qasrl.commands.prepare:qasrl",
        "rules": "chorale.kits.rules.commands.prepare:rules",
    }


prepare = typer.Typer(name="prepare", cls=_Prepare, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@prepare.callback()
def _prepare() -> None:
    """Make the items of a study from texts and resources."""
