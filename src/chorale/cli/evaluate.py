"""`chorale evaluate NAME`, for every family of metrics: the annotated parameters of its `score` are the options.

The module has a function for each: `chorale.cli.evaluate:NAME`.
"""

from collections.abc import Callable
from functools import partial

from chorale.cli.commands import family_summary
from chorale.cli.scoring_commands import scoring_command
from chorale.metrics.family import Family
from chorale.registry import blaming, commands, families


def __getattr__(name: str) -> Callable[..., None]:
    if name not in families():
        raise AttributeError(name)
    family: Family = families()[name]
    summaries = [each.summary for each in commands() if each.path == ("evaluate", name)]
    summary = "".join(summaries) or f"{family_summary(name)}\n\n{family.summary}"
    owner = f"metric family `{name}` of the kit `{families().kit_of(name)}`"
    return scoring_command(family.score, summary, family.from_files, partial(blaming, owner))
