"""Aggregated labels, for people, for scripts and for files."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chorale.files.tables import write_csv, write_jsonl, write_parquet, write_tsv
from chorale.metrics import FloatArray
from chorale.metrics.aggregation.result import Aggregation, certainty
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable
from chorale.model.plural import plural

WRITABLE = (".csv", ".tsv", ".jsonl", ".parquet")
CERTAINTY = "mean certainty"
_SHOWN = 10
"""Maximum number of rows in tables for people. `--json` has all."""


def aggregation_scored(result: Aggregation, *, method: str, signature: str, for_scripts: bool = True) -> Score:
    """All results for `--json`; for people, a summary, the least certain tasks and the weakest workers.

    The output of `--json` takes as long as aggregation, so it is only computed if `for_scripts` is set.
    """
    notes = [*result.notes, *tie_notes(result)]
    if not result.converged:
        notes.append(
            f"Stopped after {plural(result.iterations or 0, 'iteration', 'iterations')}, "
            "without convergence. Raise --iterations."
        )
    tables = [_summary(result, method), _shares(result), _tasks(result), _workers(result)]
    json = _json(result, method) if for_scripts else {}
    values = {CERTAINTY: float(certainty(result).mean())} if result.tasks else {}
    return Score(json=json, tables=tables, signature=signature, notes=notes, values=values)


def tie_notes(result: Aggregation) -> list[str]:
    """Note on the number of tied tasks and their labels."""
    if not result.ties:
        return []
    it = "it has" if result.ties == 1 else "they have"
    how = {
        "first": "the first label in alphabetical order is used",
        "random": f"a random tied label is used (seed {result.tie_seed})",
        "abstain": f"{it} no label",
        "all": f"{it} all leading labels",
    }[result.tie_rule]
    if result.multiple:
        part = "part" if result.tie_rule == "all" else "not part"
        how = f"an option chosen by exactly half of the workers is {part} of the label"
    tied = f"{plural(result.ties, 'task is', 'tasks are')} tied"
    return [f"{tied} ({result.ties / len(result.tasks):.1%}): {how}. Use --ties to change this."]


def write_aggregation(result: Aggregation, path: Path) -> int:
    """Writes labels and probabilities, one row per task, in the format of the file extension. Returns the number of
    rows.
    """
    options = [f"p:{option}" for option in result.options]
    columns = ["task", "label", "confidence", *options]
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        write_jsonl(_objects(result), path)
    elif suffix == ".parquet":
        write_parquet(columns, _rows(result, options), path)
    else:
        write = write_csv if suffix == ".csv" else write_tsv
        write(columns, _rows(result, options), path)
    return len(result.tasks)


def _objects(result: Aggregation) -> Iterator[dict[str, Any]]:
    for task, label, row, confidence in _labelled(result):
        probabilities = dict(zip(result.options, row, strict=True))
        yield {"task": task, "label": label, "confidence": confidence, "probabilities": probabilities}


def _rows(result: Aggregation, columns: list[str]) -> Iterator[dict[str, Any]]:
    for task, label, row, confidence in _labelled(result):
        shown = label if isinstance(label, str) else "|".join(label or ())
        yield {"task": task, "label": shown, "confidence": confidence, **dict(zip(columns, row, strict=True))}


def _labelled(result: Aggregation) -> Iterator[tuple[str, Any, list[float], float]]:
    """Every task with its label, the probabilities of the options, and the confidence."""
    tasks, labels = result.labels.keys(), result.labels.values()
    return zip(tasks, labels, result.probabilities.tolist(), certainty(result).tolist(), strict=True)


def _json(result: Aggregation, method: str) -> dict[str, Any]:
    columns = {name: values.tolist() for name, values in result.quality.items()}
    workers: Mapping[str, dict[str, Any]] = {
        worker: dict(zip(columns, values, strict=True))
        for worker, *values in zip(result.workers, *columns.values(), strict=True)
    }
    for worker in workers.values():
        worker["judgments"] = int(worker["judgments"])
    _add_errors(result, workers)
    return {
        "method": method,
        "labels": result.labels,
        "probabilities": {
            task: dict(zip(result.options, row, strict=True))
            for task, row in zip(result.tasks, result.probabilities.tolist(), strict=True)
        },
        "workers": workers,
        "iterations": result.iterations,
    }


def _add_errors(result: Aggregation, workers: Mapping[str, dict[str, Any]]) -> None:
    """For the Dawid–Skene model: probability of each label given the true label, per worker."""
    if "errors" not in result.details:
        return
    rows = zip(
        result.details["error_workers"].tolist(),
        result.details["error_labels"].tolist(),
        result.details["errors"].tolist(),
        strict=True,
    )
    for worker, given, row in rows:
        errors = workers[result.workers[worker]].setdefault("errors", {option: {} for option in result.options})
        for option, value in zip(result.options, row, strict=True):
            errors[option][result.options[given]] = value


def _summary(result: Aggregation, method: str) -> ScoreTable:
    rows: list[tuple[Cell, ...]] = [
        ("tasks", len(result.tasks)),
        ("workers", len(result.workers)),
        ("judgments", int(result.quality["judgments"].sum())),
        ("options" if result.multiple else "labels", len(result.options)),
        ("mean certainty", float(certainty(result).mean())),
    ]
    if result.iterations is not None:
        rows.append(("iterations", result.iterations))
    return ScoreTable(f"Summary ({method})", ("quantity", "value#"), rows)


def _shares(result: Aggregation) -> ScoreTable:
    chosen = result.chosen.sum(axis=0)
    order = np.argsort(-chosen, kind="stable")[:_SHOWN]
    rows = [
        (result.options[code], int(chosen[code]), float(result.probabilities[:, code].mean()))
        for code in order.tolist()
    ]
    return ScoreTable(
        _title("Labels", "most frequent", rows, result.options), ("label", "tasks#", "mean probability#"), rows
    )


def _tasks(result: Aggregation) -> ScoreTable:
    certain = certainty(result)
    least = _lowest(certain)
    rows: list[tuple[Cell, ...]] = []
    for place, chosen in zip(least.tolist(), result.chosen[least], strict=True):
        label = ", ".join(result.options[code] for code in np.flatnonzero(chosen).tolist())
        rows.append((result.tasks[place], label, float(certain[place])))
    return ScoreTable(_title("Tasks", "least certain", rows, result.tasks), ("task", "label", "certainty#"), rows)


def _workers(result: Aggregation) -> ScoreTable:
    (name, values), *_ = result.quality.items()
    rows = [
        (result.workers[place], int(result.quality["judgments"][place]), float(values[place]))
        for place in _lowest(values).tolist()
    ]
    return ScoreTable(_title("Workers", "weakest", rows, result.workers), ("worker", "judgments#", f"{name}#"), rows)


def _lowest(values: FloatArray) -> NDArray[np.intp]:
    """Indices of the lowest values, in order; for ties, the first."""
    if len(values) <= _SHOWN:
        return np.argsort(values, kind="stable")
    candidates = np.flatnonzero(values <= np.partition(values, _SHOWN)[_SHOWN])
    return np.asarray(candidates[np.argsort(values[candidates], kind="stable")[:_SHOWN]])


def _title(title: str, which: str, rows: list[Any], names: tuple[str, ...]) -> str:
    return title if len(rows) == len(names) else f"{title}: {which}, {len(rows)} of {len(names):,}"
