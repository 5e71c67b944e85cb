"""`chorale prepare`: one command per kind of items."""

import typer

from chorale.cli.prepare.frames import frames
from chorale.cli.prepare.mcq import mcq
from chorale.cli.prepare.qasrl import qasrl
from chorale.cli.prepare.rules import rules

prepare = typer.Typer(
    name="prepare",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make the items of a study from texts and resources.",
)
prepare.command("frames")(frames)
prepare.command("mcq")(mcq)
prepare.command("qasrl")(qasrl)
prepare.command("rules")(rules)
