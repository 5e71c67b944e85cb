"""Commands made from functions that compute a score: keyword arguments become options."""

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any, get_args, get_origin

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument
from chorale.cli.progress import patiently
from chorale.cli.scoring import AsLatex, print_scored
from chorale.metrics.family import score_files
from chorale.metrics.score import Result


def scoring_command(
    score: Callable[..., Result],
    summary: str,
    from_files: Callable[..., Result] | None = None,
    guard: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Callable[..., None]:
    """Make a command from a scoring function's annotated parameters; it prints the returned score.

    `from_files` replaces the function if it reads files differently; it takes other parameters as `**options`. A
    function without annotations has the parameters of `score_files`.
    """
    declared = _annotated(score) or _annotated(score_files)
    if from_files is not None:
        declared = [*_annotated(from_files), *(each for each in declared if each.kind is each.KEYWORD_ONLY)]
    files = [each.name for each in declared if isinstance(get_args(each.annotation)[1], Argument)]
    accepted = inspect.signature(score).parameters

    def command(as_json: AsJson = False, as_latex: AsLatex = False, **given: Any) -> None:
        options = {name: value for name, value in given.items() if value is not None and name not in files}
        with patiently("resamples") as progress, guard():
            here = {"progress": progress, "for_scripts": as_json}
            options |= {name: value for name, value in here.items() if name in accepted}
            scored = (from_files or score)(*(given[name] for name in files), **options)
        print_scored(scored, as_json=as_json, as_latex=as_latex)

    parameters = [each.replace(kind=each.KEYWORD_ONLY) for each in (*declared, *_annotated(command))]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # as `inspect` asks for it
    command.__doc__ = summary
    return command


def _annotated(function: Callable[..., Any]) -> list[inspect.Parameter]:
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return [each for each in parameters if get_origin(each.annotation) is Annotated]
