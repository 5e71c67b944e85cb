"""`chorale evaluate`: one command per family of metrics."""

from typing import ClassVar

import typer

from chorale.cli.loading import Family


class _Evaluate(Family):
    places: ClassVar = {
        "frames": "chorale.kits.frames.commands.evaluate:frames",
        "mcq": "chorale.kits.questions.commands.evaluate:mcq",
        "qasrl": "chorale.kits.qasrl.commands.evaluate:qasrl",
        "rules": "chorale.kits.rules.commands.evaluate:rules",
        "srl": "chorale.kits.srl.commands.evaluate:srl",
    }


evaluate = typer.Typer(
    name="evaluate", cls=_Evaluate, no_args_is_help=True, add_completion=False, rich_markup_mode=None
)


@evaluate.callback()
def _evaluate() -> None:
    """Score a system's output, or annotators' work, against a gold standard."""
