"""Reports on aggregations whose results are not labels: scores of items, texts, masks, numbers."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from chorale.files.tables import write_csv, write_jsonl, write_parquet, write_tsv
from chorale.metrics import FloatArray, signature
from chorale.metrics.aggregation.methods import ITERATIVE_OTHERS, PAIRWISE_METHODS, MethodOptions
from chorale.metrics.aggregation.pairwise import Comparisons, ItemScores, bradley_terry, noisy_bradley_terry
from chorale.metrics.aggregation.result import Progress
from chorale.metrics.aggregation.task_outputs import TaskOutputs, task_outputs
from chorale.metrics.aggregation.text_vectors import DIMENSIONS
from chorale.metrics.reading.comparisons_in import comparisons_in
from chorale.metrics.reading.judged import Reading, check_used, judged_in
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable
from chorale.metrics.signatures import Setting
from chorale.model import UserError
from chorale.registry import aggregators, clash

_SHOWN = 10
_WIDEST = 60
_FEW = 20
_NO_INTERVALS = "This method has no intervals."
_RANKING: dict[str, Callable[..., ItemScores]] = {
    "bradley-terry": bradley_terry,
    "noisy-bradley-terry": noisy_bradley_terry,
}
_BY_VECTORS = ("closest-to-average", "rasa", "hrrasa")
_REFUSED = {
    **{f"--{name}": name for name in ("options", "restarts", "smoothing", "truth", "against", "trust", "sep")},
    "--open": "open_task",
}
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class OtherRequest:
    """What to compute. Options that the method does not have are rejected, not ignored."""

    method: str
    iterations: int | None = None
    tolerance: float | None = None
    left: str | None = None
    right: str | None = None
    refused: tuple[str, ...] = ()
    """Options that do not apply to any of these methods."""

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Self:
        """Builds the options from named arguments of the function or command."""
        refused = [option for option, name in _REFUSED.items() if asked[name] is not None and asked[name] is not False]
        kept = {name: asked[name] for name in ("method", "iterations", "tolerance", "left", "right")}
        return cls(**kept, refused=tuple(refused))

    def __post_init__(self) -> None:
        of_kits = aggregators()
        if self.method in of_kits:
            raise clash("aggregation method", self.method, of_kits.kits_with(self.method), own=True)
        given = list(self.refused)
        if self.method not in ITERATIVE_OTHERS:
            limits = {"--iterations": self.iterations, "--tolerance": self.tolerance}
            given += [option for option, value in limits.items() if value is not None]
        if self.method not in PAIRWISE_METHODS:
            given += [option for option, value in (("--left", self.left), ("--right", self.right)) if value is not None]
        if given:
            raise _unusable(given, f"--method {self.method}")

    def settings(self) -> dict[str, Setting]:
        """Options that can change the result, for the signature."""
        return {
            "method": self.method,
            "embedding": f"hashed-tfidf-{DIMENSIONS}" if self.method in _BY_VECTORS else None,
            "iterations": self.iterations,
            "tolerance": self.tolerance,
            "left": self.left,
            "right": self.right,
        }

    def limits(self) -> dict[str, Any]:
        return MethodOptions(self.iterations, self.tolerance).limits()


def _unusable(options: Sequence[str], where: str) -> UserError:
    return UserError(f"{', '.join(options)} cannot be used with {where}. Omit {'it' if len(options) == 1 else 'them'}.")


def score_other(data: Any, request: OtherRequest, reading: Reading, resampling: Resampling) -> tuple[Score, Rows]:
    """The report, and the rows for `--out`."""
    notes = [_NO_INTERVALS] if resampling.ci else []
    if request.method in PAIRWISE_METHODS:
        others = {
            "--task": reading.task,
            "--empty": reading.empty,
            "--reader": reading.reader,
            "--missing": reading.missing or None,
            "--raters": reading.raters,
        }
        given = [option for option, value in others.items() if value is not None]
        given += ["--repeats"] if reading.repeats != "last" else []
        given += ["--keep-rejected"] if reading.keep_rejected else []
        if given:
            raise _unusable(given, "pairwise comparisons")
        columns = {"worker": reading.worker, "label": reading.label, "left": request.left, "right": request.right}
        compared = comparisons_in(data, columns)
        line = signature("aggregate", {**request.settings(), **columns}, {compared.source: compared.digest})
        scored, rows = _of_items(compared.comparisons, request, line, resampling.progress)
    else:
        judged = judged_in(data, reading)
        check_used(reading, judged)
        line = signature("aggregate", {**request.settings(), **judged.reading}, {judged.source: judged.digest})
        options = MethodOptions(request.iterations, request.tolerance)
        try:
            result = task_outputs(judged.judgments, request.method, options, progress=resampling.progress)
        except ValueError as error:
            raise UserError(f"{judged.name} can't be used: {error}.") from None
        scored, rows = _of_tasks(result, request.method, line)
    return scored.extended({}, notes=notes), rows


def write_rows(rows: Rows, path: Path) -> int:
    """Writes rows in the format of the file extension, and returns their number."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        write_jsonl(iter(rows), path)
        return len(rows)
    columns = list(rows[0])
    write = {".csv": write_csv, ".tsv": write_tsv, ".parquet": write_parquet}[suffix]
    write(columns, _flat(rows), path)
    return len(rows)


def _flat(rows: Rows) -> Iterator[dict[str, Any]]:
    """Masks as JSON, because a cell cannot contain a matrix."""
    for row in rows:
        yield {name: json.dumps(value) if isinstance(value, list) else value for name, value in row.items()}


def _of_items(
    comparisons: Comparisons, request: OtherRequest, line: str, progress: Progress | None
) -> tuple[Score, Rows]:
    result = _RANKING[request.method](comparisons, **request.limits(), progress=progress)
    order = np.argsort(-result.scores, kind="stable").tolist()
    counts = np.bincount(comparisons.left, minlength=len(result.items))
    counts += np.bincount(comparisons.right, minlength=len(result.items))
    rows: Rows = [{"item": str(result.items[at]), "score": float(result.scores[at])} for at in order]
    made = np.bincount(comparisons.workers, minlength=len(result.workers)).astype(np.float64)
    in_line = "comparisons consistent with the scores"
    summary: list[tuple[Cell, ...]] = [
        ("items", len(result.items)),
        ("workers", len(result.workers)),
        ("comparisons", len(comparisons)),
        (in_line, result.in_line),
        ("iterations", result.iterations),
    ]
    best: list[tuple[Cell, ...]] = [
        (row["item"], int(counts[at]), row["score"]) for row, at in zip(rows[:_SHOWN], order, strict=False)
    ]
    workers, table = _workers(list(map(str, result.workers)), {**result.quality, "comparisons": made}, "comparisons")
    payload = {
        "method": request.method,
        "items": {row["item"]: row["score"] for row in rows},
        "workers": workers,
        "iterations": result.iterations,
        "log_likelihood": result.log_likelihood if np.isfinite(result.log_likelihood) else None,
    }
    tables = [
        ScoreTable(f"Summary ({request.method})", ("quantity", "value#"), summary),
        ScoreTable(_title("Items", "best", best, result.items), ("item", "comparisons#", "score#"), best),
        table,
    ]
    notes = [*result.notes, *_unsettled(result.iterations, converged=result.converged)]
    each = len(comparisons) / len(result.workers)
    if "bias" in result.quality and each < _FEW:
        notes.append(
            f"Workers made only {each:.1f} comparisons each on average. This method learns a skill and a bias per "
            "worker, which needs more data. Consider bradley-terry."
        )
    return Score(json=payload, tables=tables, signature=line, notes=notes, values={in_line: result.in_line}), rows


def _of_tasks(result: TaskOutputs, method: str, line: str) -> tuple[Score, Rows]:
    name = result.support_name
    support = [None if np.isnan(value) else value for value in result.support.tolist()]
    rows = [
        {"task": task, "label": output, name: value}
        for task, output, value in zip(result.tasks, result.outputs, support, strict=True)
    ]
    mean = float(np.nanmean(result.support)) if any(value is not None for value in support) else None
    summary: list[tuple[Cell, ...]] = [
        ("tasks", len(result.tasks)),
        ("workers", len(result.workers)),
        ("judgments", int(result.quality["judgments"].sum())),
        (f"mean {name}", mean),
    ]
    if result.iterations is not None:
        summary.append(("iterations", result.iterations))
    worst = -result.support if result.worst_is_highest else result.support
    least = np.argsort(worst, kind="stable")[:_SHOWN].tolist()
    which = f"{'highest' if result.worst_is_highest else 'lowest'} {name}"
    shown: list[tuple[Cell, ...]] = [(result.tasks[at], _brief(result.outputs[at]), support[at]) for at in least]
    workers, table = _workers(result.workers, result.quality, "judgments", worst_is_highest=result.worst_is_highest)
    payload = {
        "method": method,
        "labels": dict(zip(result.tasks, result.outputs, strict=True)),
        name: dict(zip(result.tasks, support, strict=True)),
        "workers": workers,
        "iterations": result.iterations,
    }
    tables = [
        ScoreTable(f"Summary ({method})", ("quantity", "value#"), summary),
        ScoreTable(_title("Tasks", which, shown, result.tasks), ("task", "label", f"{name}#"), shown),
        table,
    ]
    notes = [*result.notes, *_unsettled(result.iterations, converged=result.converged)]
    return Score(json=payload, tables=tables, signature=line, notes=notes, values={f"mean {name}": mean}), rows


def _brief(output: Any) -> str:
    """The beginning of a text, the number of pixels of a mask, or a number."""
    if isinstance(output, float):
        return f"{output:.6g}"
    if not isinstance(output, str):
        return f"{int(np.sum(output)):,} of {np.size(output):,} pixels"
    return output if len(output) <= _WIDEST else f"{output[:_WIDEST]}…"


def _workers(
    names: Sequence[str], quality: Mapping[str, FloatArray], counted: str, *, worst_is_highest: bool = False
) -> tuple[dict[str, dict[str, Any]], ScoreTable]:
    """All workers for `--json`, and the weakest for people."""
    first, *_ = quality
    columns = {name: [None if np.isnan(value) else value for value in each] for name, each in quality.items()}
    every = {
        worker: dict(zip(columns, values, strict=True))
        for worker, *values in zip(names, *columns.values(), strict=True)
    }
    for worker in every.values():
        worker[counted] = int(worker[counted])
    weakest = np.argsort(-quality[first] if worst_is_highest else quality[first], kind="stable")[:_SHOWN].tolist()
    rows: list[tuple[Cell, ...]] = [(names[at], int(quality[counted][at]), columns[first][at]) for at in weakest]
    title = _title("Workers", "weakest", rows, names)
    return every, ScoreTable(title, ("worker", f"{counted}#", f"{first}#"), rows)


def _title(title: str, which: str, rows: Sequence[Any], names: Sequence[Any]) -> str:
    return title if len(rows) == len(names) else f"{title}: {which}, {len(rows)} of {len(names):,}"


def _unsettled(iterations: int | None, *, converged: bool) -> list[str]:
    if converged:
        return []
    return [f"Stopped after {iterations:,} iterations, without convergence. Raise --iterations."]
