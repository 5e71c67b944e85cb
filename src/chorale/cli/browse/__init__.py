"""`chorale browse`: results to look through, one command per kind."""

from typing import ClassVar

import typer

from chorale.cli.loading import Family


class _Browse(Family):
    places: ClassVar = {
        "frames": "chorale.kits.frames.commands.browse:frames",
        "qasrl": "chorale.kits.qasrl.commands.browse:qasrl",
    }


browse = typer.Typer(name="browse", cls=_Browse, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@browse.callback()
def _browse() -> None:
    """Look through results: what is clear, what people disagree on, and why."""
