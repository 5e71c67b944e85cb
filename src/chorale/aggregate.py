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
from chorale.metrics.checked_options import check_keywords, check_options, naming_keywords
from chorale.metrics.reading.judged import Reading, ReadingOptions
from chorale.metrics.reading.judgment_files import separator_in
from chorale.metrics.reading.truth_files import Truth, read_truth, truth_in
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.score import Score
from chorale.metrics.scoring.aggregating import Request, score_data
from chorale.model import UserError

__all__ = ["GLAD", "MACE", "DawidSkene", "MajorityVote", "OneCoinDawidSkene", "Wawa", "score"]


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


@naming_keywords()
def score(
    data: Any,
    method: str = "dawid-skene",
    *,
    truth: Any = None,
    truth_task: str | None = None,
    truth_label: str | None = None,
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

    `data` is anything that `chorale.alpha` takes. `truth` is a file, whose columns `truth_task` and `truth_label` name,
    or a mapping from task to label. `against` is the name of another method (which needs a truth) or other judgments of
    the same tasks. `as_json()` has the labels.

    >>> import chorale
    >>> said = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t2", "ann", "dog"), ("t2", "bob", "cat")]
    >>> chorale.aggregate.score(said, "majority", truth={"t1": "cat", "t2": "cat"}).value
    1.0
    """
    check_keywords("score", ReadingOptions, reading)
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
        truth=_truth(truth, truth_task, truth_label, how),
        truth_columns={"truth-task": truth_task, "truth-label": truth_label},
        rival=None if other_method else against,
    )
    return scored


def _truth(truth: Any, task: str | None, label: str | None, how: Reading) -> Truth | None:
    if isinstance(truth, str | PathLike):
        return read_truth(Path(fspath(truth)), task=task, label=label, sep=separator_in(how.sep))
    if task or label:
        raise UserError("--truth-task and --truth-label name columns of a file. Leave them out, or give --truth one.")
    if truth is None:
        return None
    if not hasattr(truth, "items"):
        raise UserError(f"truth is a path or a mapping from task to label, not a {type(truth).__name__}.")
    return truth_in(dict(truth.items()))
