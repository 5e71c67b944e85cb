"""`chorale learn`: resources from raw material."""

import typer

from chorale.cli.learn.rules import rules

learn = typer.Typer(
    name="learn",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Learn resources from raw material.",
)


@learn.callback()
def _learn() -> None:
    """Learn resources from raw material."""


learn.command("rules")(rules)
