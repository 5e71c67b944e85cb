"""`chorale baseline`: systems to compare with, each runnable."""

import typer

from chorale.cli.baseline.frames import frames
from chorale.cli.baseline.mcq import mcq
from chorale.cli.baseline.train_frames import train_frames

baseline = typer.Typer(
    name="baseline",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run a system to compare with: name frames, guess answers from parts of the input.",
)
baseline.command("frames")(frames)
baseline.command("train-frames")(train_frames)
baseline.command("mcq")(mcq)
