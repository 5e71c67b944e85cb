"""`chorale evaluate`: one command per family of metrics."""

import typer

from chorale.cli.evaluate.frames import frames
from chorale.cli.evaluate.mcq import mcq
from chorale.cli.evaluate.qasrl import qasrl
from chorale.cli.evaluate.rules import rules
from chorale.cli.evaluate.srl import srl

evaluate = typer.Typer(
    name="evaluate",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Score a system's output, or annotators' work, against a gold standard.",
)
evaluate.command("frames")(frames)
evaluate.command("mcq")(mcq)
evaluate.command("qasrl")(qasrl)
evaluate.command("rules")(rules)
evaluate.command("srl")(srl)
