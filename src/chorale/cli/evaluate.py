"""`chorale evaluate NAME`, for every family of metrics: the annotated parameters of its `score` are the options.

The module has a function for each: `chorale.cli.evaluate:NAME`.
"""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin

from chorale.cli.arguments import AsJson
from chorale.cli.commands import family_summary
from chorale.cli.parameters import Argument
from chorale.cli.progress import patiently
from chorale.cli.scoring import AsLatex, print_scored
from chorale.metrics.family import Family, score_files
from chorale.registry import blaming, commands, families


def __getattr__(name: str) -> Callable[..., None]:
    if name not in families():
        raise AttributeError(name)
    return family_command(families()[name], f"metric family `{name}` of the kit `{families().kit_of(name)}`")


def family_command(family: Family, owner: str) -> Callable[..., None]:
    """The command that calls a family's `score` with what its parameters ask for, and prints what it returns.

    A family that takes files in a way of its own has the parameters for them in `from_files`. A `score` that annotates
    no parameters takes what `score_files` takes.
    """
    declared = _annotated(family.score) or _annotated(score_files)
    if family.from_files is not None:
        declared = [*_annotated(family.from_files), *(each for each in declared if each.kind is each.KEYWORD_ONLY)]
    files = [each.name for each in declared if isinstance(get_args(each.annotation)[1], Argument)]
    accepted = inspect.signature(family.score).parameters
    score = family.from_files or family.score

    def command(as_json: AsJson = False, as_latex: AsLatex = False, **given: Any) -> None:
        options = {name: value for name, value in given.items() if value is not None and name not in files}
        with patiently("resamples") as progress, blaming(owner):
            here = {"progress": progress, "for_scripts": as_json}
            options |= {name: value for name, value in here.items() if name in accepted}
            scored = score(*(given[name] for name in files), **options)
        print_scored(scored, as_json=as_json, as_latex=as_latex)

    parameters = [each.replace(kind=each.KEYWORD_ONLY) for each in (*declared, *_annotated(command))]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # as `inspect` asks for it
    summaries = [each.summary for each in commands() if each.path == ("evaluate", family.name)]
    command.__doc__ = "".join(summaries) or f"{family_summary(family.name)}\n\n{family.summary}"
    return command


def _annotated(function: Callable[..., Any]) -> list[inspect.Parameter]:
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return [each for each in parameters if get_origin(each.annotation) is Annotated]
