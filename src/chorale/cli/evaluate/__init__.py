"""`chorale evaluate`: one command per family of metrics."""

from typing import ClassVar

import typer

from chorale.cli.loading import Family


class _Evaluate(Family):
    places: ClassVar = {
        "frames": "chorale.cli.evaluate.frames:frames",
        "mcq": "chorale.cli.evaluate.mcq:mcq",
        "qasrl": "chorale.cli.evaluate.qasrl:qasrl",
        "rules": "chorale.cli.evaluate.rules:rules",
        "srl": "chorale.cli.evaluate.srl:srl",
    }


evaluate = typer.Typer(
    name="evaluate", cls=_Evaluate, no_args_is_help=True, add_completion=False, rich_markup_mode=None
)


@evaluate.callback()
def _evaluate() -> None:
    """Score a system's output, or annotators' work, against a gold standard."""
