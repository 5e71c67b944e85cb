"""Scores of systems and annotators against a gold standard, from Python: one function per family of metrics.

    chorale.evaluate.qasrl("system.csv", "gold.csv").value

The installed kits define the families, and `dir(chorale.evaluate)` lists them. `chorale evaluate` has a command for
each. A function takes the command's options as keywords and returns a `Score`. Where the command reads a table (CSV or
JSONL), the function also takes a table of pandas, Polars or Arrow, a dict of columns, or a list of dicts.
"""

from typing import Any

from chorale.metrics.given_tables import taking_tables
from chorale.model.problems import did_you_mean
from chorale.registry import families


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # Python looks up some special attributes itself
        raise AttributeError(name)
    there = families()
    if name not in there:
        raise AttributeError(
            f"there is no metric family {name!r}; available: {', '.join(there)}.{did_you_mean(name, there)}"
        )
    return taking_tables(there[name].score)


def __dir__() -> list[str]:
    return [*families(), *(name for name in globals() if name.startswith("__"))]
