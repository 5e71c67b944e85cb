"""`chorale evaluate NAME`, for every family of metrics whose kit has no command of its own.

The module has a function for each: `chorale.cli.evaluate:NAME`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.commands import family_summary
from chorale.cli.parameters import Argument
from chorale.cli.scoring import Against, AsLatex, Resamples, Seed, WithIntervals, print_scored
from chorale.metrics.family import Family
from chorale.registry import blaming, families


def __getattr__(name: str) -> Callable[..., None]:
    if name not in families():
        raise AttributeError(name)
    family: Family = families()[name]

    def evaluate(
        system: Annotated[Path, Argument(metavar="SYSTEM", help="A system's output.")],
        gold: Annotated[Path, Argument(metavar="GOLD", help="The gold standard.")],
        ci: WithIntervals = False,
        against: Against = None,
        resamples: Resamples = 1000,
        seed: Seed = 1,
        as_json: AsJson = False,
        as_latex: AsLatex = False,
    ) -> None:
        with blaming(f"metric family `{name}` of the kit `{families().kit_of(name)}`"):
            scored = family.score(system, gold, against=against, ci=ci, resamples=resamples, seed=seed)
        print_scored(scored, as_json=as_json, as_latex=as_latex)

    evaluate.__doc__ = f"{family_summary(name)}\n\n{family.summary}"
    return evaluate
