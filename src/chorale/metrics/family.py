"""A family of metrics: reads files, computes statistics per item, and scores.

`chorale evaluate NAME` and `chorale.evaluate.NAME` both call its `score`. A family with only a reader and a measure
gets tables, intervals, paired tests and a signature from here; others can provide their own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated, Any

from chorale.files.source import digest_of, read_bytes
from chorale.metrics.clusters import Clusters
from chorale.metrics.comparison import Comparison
from chorale.metrics.options import Against, Cluster, File, Resamples, Seed, WithIntervals
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.sampling import Interval
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.metrics.signatures import Setting, signature
from chorale.metrics.statistics import Metric, Statistics
from chorale.model import UserError
from chorale.registry.options import Argument

Measured = tuple[Statistics, Metric]
"""Statistics per item, and the metric over them."""


@dataclass(frozen=True, slots=True)
class Family:
    """Metrics for one kind of data."""

    name: str
    """Name in `chorale evaluate NAME`."""
    summary: str
    """One-line description."""
    read: Callable[..., Any]
    """Reads a path, with the family's options, into the input of `measure`."""
    measure: Callable[..., Measured]
    """Computes statistics per item and the metric from system output, gold standard and options."""
    own_score: Callable[..., Score] | None = None
    """Custom `score`, for families with additional output."""
    from_files: Callable[..., Score] | None = None
    """Function that the command calls instead of `own_score`, if the command takes its files in another order or
    number. It gets the files as listed on the command line, and all other arguments of `own_score` as `**options`."""
    clusters: Callable[[Any], Mapping[str, Mapping[str, str]]] | None = None
    """Function from the gold standard to the columns for `--cluster`: for each column, its value for every item."""
    example: tuple[str, str] | None = None
    """Contents of a system file and a gold file for the checks of `chorale.testing`."""
    example_ending: str = ""
    """Extension of the files of `example`, if the reader depends on the extension: `.csv`."""

    @property
    def score(self) -> Callable[..., Score]:
        """Computes a `Score` from paths and options."""
        return self.own_score or partial(score_files, self)


def path_of(path: File) -> Path:
    """A path, which may be given as text."""
    return Path(fspath(path))


def paths_of(paths: File | Sequence[File]) -> list[Path]:
    """One path or several."""
    return [path_of(paths)] if isinstance(paths, str | PathLike) else [path_of(path) for path in paths]


def score_files(
    family: Family,
    system: Annotated[File, Argument(metavar="SYSTEM", help="System output.")],
    gold: Annotated[File, Argument(metavar="GOLD", help="Gold standard.")],
    *,
    ci: WithIntervals = True,
    cluster: Cluster = (),
    against: Against = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    **options: Setting,
) -> Score:
    """Scores a system file against the gold standard, optionally compared with another system.

    Options are those of the family: they are passed to `measure` and listed in the signature.
    """
    resampling = checked_resampling(ci, resamples, seed)
    paths = {"system": path_of(system), "gold": path_of(gold)}
    paths |= {} if against is None else {"against": path_of(against)}
    inputs = {role: digest_of(read_bytes(path)) for role, path in paths.items()}
    data = {role: family.read(path) for role, path in paths.items()}
    columns = {} if family.clusters is None else family.clusters(data["gold"])
    resampling = replace(resampling, clusters=Clusters.chosen(Clusters.named(cluster), columns))
    statistics, metric = family.measure(data["system"], data["gold"], **options)
    if not statistics.items:
        raise UserError(
            f"{paths['system']} and {paths['gold']} have no items in common. Check that both files are about the same "
            "items."
        )
    values = metric.scores(statistics)
    intervals = resampling.intervals(statistics, metric) if ci else {}
    tables = [_table(f"{paths['system'].name} against {paths['gold'].name}", values, intervals)]
    json: dict[str, Any] = {"scores": values, "items": len(statistics.items)}
    json |= {"ci": jsonable(intervals)} if intervals else {}
    tests: dict[str, Comparison] = {}
    if against is not None:
        other, _ = family.measure(data["against"], data["gold"], **options)
        tests = resampling.compare(statistics, other, metric)
        tables.append(comparison_table("Compared", (paths["system"].name, paths["against"].name), tests))
        json["against"] = jsonable(tests)
    settings = {**options, **resampling.settings(compared=against is not None)}
    return Score(
        json,
        tables,
        signature(family.name, settings, inputs),
        resampling.notes(statistics.items, compared=against is not None),
        values=values,
        intervals=intervals,
        tests=tests,
    )


def _table(title: str, values: Mapping[str, float], intervals: Mapping[str, Interval]) -> ScoreTable:
    rows: list[tuple[Cell, ...]] = [
        (name, value, *([shown_interval(intervals[name])] if intervals else [])) for name, value in values.items()
    ]
    return ScoreTable(title, ("score", "value#", *(["95% interval#"] if intervals else [])), rows)
