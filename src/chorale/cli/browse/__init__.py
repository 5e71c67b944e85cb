"""`chorale browse`: results to look through, one command per kind."""

import typer

from chorale.cli.browse.frames import frames
from chorale.cli.browse.qasrl import qasrl

browse = typer.Typer(
    name="browse",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look through results: what is clear, what people disagree on, and why.",
)

browse.command("frames")(frames)
browse.command("qasrl")(qasrl)
