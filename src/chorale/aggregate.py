"""From many answers to one, from Python.

The classes are called and parametrised as in crowd-kit: `chorale.aggregate.DawidSkene().fit_predict(table)` gives the
label of every task, as a pandas Series for a pandas table and as a Polars table otherwise. What it gives also has
`interval` and `signature`, and `score`, with the mean certainty and whatever else `chorale aggregate` prints.

`score` does what the command does, with a truth to compare with, or another method.
"""

from os import PathLike, fspath
from pathlib import Path
from typing import Any, Unpack

from chorale.metrics.aggregation.estimators import GLAD, MACE, DawidSkene, MajorityVote, OneCoinDawidSkene, Wawa
from chorale.metrics.aggregation.methods import method_names
from chorale.metrics.checked_options import check_options
from chorale.metrics.reading.judged import Reading, ReadingOptions
from chorale.metrics.reading.judgment_files import separator_in
from chorale.metrics.reading.truth_files import Truth, read_truth, truth_in
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.score import Score
from chorale.metrics.scoring.aggregating import Request, score_data
from chorale.model import UserError
from chorale.model.problems import did_you_mean

__all__ = ["GLAD", "MACE", "DawidSkene", "MajorityVote", "OneCoinDawidSkene", "Wawa", "score"]


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


def score(
    data: Any,
    method: str = "dawid-skene",
    *,
    truth: Any = None,
    against: Any = None,
    options: tuple[str, ...] | list[str] | None = None,
    open_task: bool = False,
    iterations: int | None = None,
    tolerance: float | None = None,
    restarts: int | None = None,
    smoothing: float | None = None,
    ci: bool = True,
    resamples: int = 1000,
    seed: int = 1,
    **reading: Unpack[ReadingOptions],
) -> Score:
    """Aggregate judgments by a method, and say how certain, and with a truth how right, the labels are.

    `data` is anything that `chorale.alpha` takes. `truth` is a file or a mapping from task to label. `against` is the
    name of another method (which needs a truth) or other judgments of the same tasks. `as_json()` has the labels.

    >>> import chorale
    >>> said = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t2", "ann", "dog"), ("t2", "bob", "cat")]
    >>> chorale.aggregate.score(said, "majority", truth={"t1": "cat", "t2": "cat"}).value
    1.0
    """
    for name in reading:
        if name not in ReadingOptions.__annotations__:
            raise TypeError(f"score() has no keyword {name!r}.{did_you_mean(name, ReadingOptions.__annotations__)}")
    check_options(ReadingOptions, reading)
    check_options(score, {"ci": ci, "open_task": open_task, "resamples": resamples, "seed": seed})
    how = Reading(**reading)
    other_method = against if isinstance(against, str) and against in method_names() else None
    listed = None if options is None else tuple(sorted(set(map(str, options))))
    request = Request(method, listed, open_task, iterations, tolerance, restarts, smoothing, seed, other_method)
    scored, _ = score_data(
        data,
        request,
        how,
        checked_resampling(ci, resamples, seed),
        truth=None if truth is None else _truth(truth, how),
        rival=None if other_method else against,
    )
    return scored


def _truth(truth: Any, how: Reading) -> Truth:
    if isinstance(truth, str | PathLike):
        return read_truth(Path(fspath(truth)), sep=separator_in(how.sep))
    if not hasattr(truth, "items"):
        raise UserError(f"truth is a path or a mapping from task to label, not a {type(truth).__name__}.")
    return truth_in(dict(truth.items()))
