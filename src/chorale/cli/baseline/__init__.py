"""`chorale baseline`: systems to compare with, each runnable."""

from typing import ClassVar

import typer

from chorale.cli.loading import Family


class _Baseline(Family):
    places: ClassVar = {
        "frames": "chorale.kits.frames.commands.baseline:frames",
        "train-frames": "chorale.kits.frames.commands.train:train_frames",
        "mcq": "chorale.kits.questions.commands.baseline:mcq",
    }


baseline = typer.Typer(
    name="baseline", cls=_Baseline, no_args_is_help=True, add_completion=False, rich_markup_mode=None
)


@baseline.callback()
def _baseline() -> None:
    """Run a system to compare with: name frames, guess answers from parts of the input."""
