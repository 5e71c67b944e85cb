"""`chorale evaluate`: one command per family of metrics."""

import typer

evaluate = typer.Typer(
    name="evaluate",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Score a system's output, or annotators' work, against a gold standard.",
)
