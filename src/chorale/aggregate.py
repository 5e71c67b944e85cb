"""Aggregate several annotations per task into one label, from Python.

The classes have the names and parameters of crowd-kit: `chorale.aggregate.DawidSkene().fit_predict(table)` returns
the label of every task, as a pandas Series for a pandas table and as a Polars table otherwise. The result also has
`interval`, `signature` and `score`, with all numbers that `chorale aggregate` prints.

`score` is the function behind that command: it can compare the labels with true labels or with another method.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from chorale.files.targets import check_target, writing
from chorale.lazy import load
from chorale.metrics import aggregation
from chorale.metrics.aggregation.methods import OTHER_METHODS, method_names
from chorale.metrics.checked_options import check_options, naming_keywords
from chorale.metrics.family import path_of
from chorale.metrics.options import AnyIntervals, File, Force, Resamples, Seed
from chorale.metrics.reading import judgments_options as judged
from chorale.metrics.reading.judged import Reading
from chorale.metrics.reading.judgment_files import separator_in
from chorale.metrics.reading.labels import missing_values
from chorale.metrics.reading.truth_files import Truth, read_options, read_truth, truth_in
from chorale.metrics.resampling import Resampling, checked_resampling
from chorale.metrics.sampling import Progress
from chorale.metrics.score import Score
from chorale.metrics.scoring.aggregating import AggregationRequest, score_data
from chorale.metrics.scoring.aggregation import WRITABLE, write_aggregation
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.model.problems import did_you_mean
from chorale.registry.options import Option

if TYPE_CHECKING:
    from chorale.metrics.aggregation import (
        GLAD,
        HRRASA,
        KOS,
        MACE,
        MMSR,
        RASA,
        ROVER,
        BradleyTerry,
        ClosestToAverage,
        DawidSkene,
        MajorityVote,
        NoisyBradleyTerry,
        OneCoinDawidSkene,
        SegmentationEM,
        SegmentationMajorityVote,
        SegmentationRASA,
        TextHRRASA,
        TextRASA,
        Wawa,
        ZeroBasedSkill,
    )

_OTHERS = "chorale.metrics.scoring.other_aggregation"

__all__ = [
    "GLAD",
    "HRRASA",
    "KOS",
    "MACE",
    "MMSR",
    "RASA",
    "ROVER",
    "BradleyTerry",
    "ClosestToAverage",
    "DawidSkene",
    "MajorityVote",
    "NoisyBradleyTerry",
    "OneCoinDawidSkene",
    "SegmentationEM",
    "SegmentationMajorityVote",
    "SegmentationRASA",
    "TextHRRASA",
    "TextRASA",
    "Wawa",
    "ZeroBasedSkill",
    "score",
]


def __getattr__(name: str) -> Any:
    """Load the estimators when they are first used: the command does not need them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(aggregation, name)


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


def _every_method() -> tuple[str, ...]:
    return (*method_names(), *OTHER_METHODS)


Method = Annotated[str, Option(metavar="NAME", help=f"One of {', '.join(_every_method())}.", choices=_every_method)]
LeftItem = Annotated[
    str | None,
    Option(metavar="COLUMN", help="For comparisons: column with the left item.", show_default="left"),
]
RightItem = Annotated[
    str | None,
    Option(metavar="COLUMN", help="For comparisons: column with the right item.", show_default="right"),
]
Options = Annotated[
    str | Sequence[str] | None,
    Option(
        metavar="FILE|A,B,C", help="All possible labels: a file with one label per line, or a list separated by commas."
    ),
]
OpenTask = Annotated[
    bool, Option("--open", help="For --method crowdtruth: workers wrote free answers, without a list of options.")
]
Ties = Annotated[
    Literal["first", "random", "abstain", "all"],
    Option(
        metavar="HOW",
        help="Label of a task with a tie: first (by name), random (by --seed), abstain (no label) or all (every "
        "tied label).",
    ),
]
Smoothing = Annotated[
    float | None,
    Option(
        metavar="N",
        min=0,
        help="For --method confidence with --truth: add N correct and N wrong answers to the answers of every worker.",
    ),
]
TruthTask = Annotated[
    str | None, Option(metavar="COLUMN", help="Column with the task in the --truth file.", show_default="task")
]
TruthLabel = Annotated[
    str | None, Option(metavar="COLUMN", help="Column with the label in the --truth file.", show_default="label")
]
AgainstOther = Annotated[
    str | Any,
    Option(
        metavar="NAME|FILE",
        help="Another method for the same file (needs --truth), or another file for the same method. Tests "
        "whether the difference is significant.",
    ),
]


Tolerance = Annotated[
    float | None,
    Option(
        metavar="X",
        min=0,
        help="Stop when an iteration changes the result by less than this, as measured by the method.",
    ),
]


@naming_keywords()
def score(
    data: Annotated[Any, judged.FILE],
    method: Method = "dawid-skene",
    *,
    task: judged.TaskColumn = None,
    worker: judged.WorkerColumn = None,
    label: judged.LabelColumn = None,
    trust: Annotated[
        str | None, Option(metavar="COLUMN", help="For --method confidence: column with each worker's weight (trust).")
    ] = None,
    sep: judged.Separator = None,
    empty: judged.EmptyLabel = None,
    missing: judged.MissingValues = (),
    repeats: judged.WhichRepeat = "last",
    keep_rejected: judged.KeepRejected = False,
    reader: judged.ReaderName = None,
    raters: Literal["rows", "columns"] | None = None,
    left: LeftItem = None,
    right: RightItem = None,
    options: Options = None,
    open_task: OpenTask = False,
    iterations: Annotated[int | None, Option(min=1, help="Maximum number of iterations.")] = None,
    tolerance: Tolerance = None,
    restarts: Annotated[int | None, Option(min=1, help="For --method mace: number of random starts.")] = None,
    smoothing: Smoothing = None,
    ties: Ties = "random",
    truth: Annotated[Any, Option(help="True labels of tasks, to compute the accuracy.")] = None,
    truth_task: TruthTask = None,
    truth_label: TruthLabel = None,
    against: AgainstOther = None,
    ci: AnyIntervals = True,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    out: Annotated[File | None, Option(help="Write labels and probabilities: .csv, .tsv, .jsonl or .parquet.")] = None,
    force: Force = True,
    progress: Progress | None = None,
    for_scripts: bool = True,
) -> Score:
    """Aggregate judgments with a method, and report the certainty of the labels and, given true labels, their accuracy.

    `data` is anything that `chorale.alpha` takes. `truth` is a mapping from task to label, or a file; `truth_task` and
    `truth_label` name its columns. `against` is the name of another method (then `truth` is required), or other
    judgments of the same tasks. The labels are in `as_json()`.

    >>> import chorale
    >>> rows = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t2", "ann", "cat"), ("t2", "bob", "cat")]
    >>> chorale.aggregate.score(rows, "majority", truth={"t1": "cat", "t2": "cat"}).value
    1.0
    """
    asked = dict(locals())
    check_options(score, asked)
    reading = Reading(task, worker, label, trust, sep, empty, repeats, keep_rejected, raters, reader, missing)
    target = None if out is None else path_of(out)
    check_target(target, "--out", force=force, endings=WRITABLE)
    resampling = checked_resampling(ci, resamples, seed, progress)
    scored, write = _scored(asked, reading, resampling)
    return scored if target is None else _written(scored, target, write)


def _scored(asked: Mapping[str, Any], reading: Reading, resampling: Resampling) -> tuple[Score, Callable[[Path], int]]:
    """The report, and a function that writes the result to a file."""
    data, method, against = asked["data"], asked["method"], asked["against"]
    if method in OTHER_METHODS:
        others = load(_OTHERS)
        scored, rows = others.score_other(data, others.OtherRequest.of(asked), reading, resampling)
        return scored, partial(others.write_rows, rows)
    if asked["left"] or asked["right"]:
        raise UserError("--left and --right work only with bradley-terry and noisy-bradley-terry. Leave them out.")
    other_method, rival = _method_or_judgments(against)
    names = ("open_task", "iterations", "tolerance", "restarts", "smoothing", "seed", "ties")
    given = {name: asked[name] for name in names}
    request = AggregationRequest(method, _listed(asked["options"]), **given, against=other_method)
    true, columns = _truth(asked["truth"], asked["truth_task"], asked["truth_label"], reading)
    for_scripts = asked["for_scripts"]
    scored, result = score_data(data, request, reading, resampling, true, columns, rival, for_scripts=for_scripts)
    return scored, partial(write_aggregation, result)


def _written(scored: Score, target: Path, write: Callable[[Path], int]) -> Score:
    """Write the labels to a file, and return the report."""
    with writing(target, "--out"):
        rows = write(target)
    return replace(scored, written=f"Wrote {plural(rows, 'row', 'rows')} to {target}.")


def _listed(options: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """All possible labels, from a file or a list."""
    named = read_options(options) if isinstance(options, str) else options
    return None if named is None else tuple(sorted(set(map(str, named))))


def _method_or_judgments(against: Any) -> tuple[str | None, Any]:
    """Resolve `against` to a method or a file of judgments.

    A file with the name of a method needs its folder: ./mace.
    """
    names = method_names()
    if not isinstance(against, str):
        return None, against
    if against not in names and not Path(against).exists():
        raise UserError(
            f"--against {against} is neither a method ({', '.join(names)}) nor a file of judgments."
            f"{did_you_mean(against, names)}"
        )
    return (against, None) if against in names else (None, Path(against))


def _truth(
    truth: Any, task: str | None, label: str | None, reading: Reading
) -> tuple[Truth | None, dict[str, str | None]]:
    """The true labels, and the names of their columns for the signature."""
    columns = {"truth-task": task, "truth-label": label}
    missing = missing_values(reading.missing)
    if isinstance(truth, str | PathLike):
        sep = separator_in(reading.sep)
        return read_truth(path_of(truth), task=task, label=label, sep=sep, missing=missing), columns
    if task or label:
        raise UserError(
            "--truth-task and --truth-label name columns of a file. Leave them out, or set --truth to a file."
        )
    if truth is None:
        return None, columns
    if not hasattr(truth, "items"):
        raise UserError(f"truth must be a path or a mapping from task to label, not a {type(truth).__name__}.")
    return truth_in(dict(truth.items()), missing), columns
