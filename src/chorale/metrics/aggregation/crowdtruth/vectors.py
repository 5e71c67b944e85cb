"""Annotations as sparse vectors for CrowdTruth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chorale.metrics.judgments import Judgments
from chorale.model import UserError
from chorale.model.plural import plural

Index = NDArray[np.intp]
Values = NDArray[np.float64]

_NAMED = 5
"""Maximum number of labels listed in a message."""


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Judgments sorted by unit and worker, with their entries.

    An entry is one annotation of one judgment; a cell is a unit with an annotation chosen there. Entries are sorted by
    judgment and annotation, cells by unit and annotation, so results do not depend on the order of rows.
    """

    units: tuple[str, ...]
    workers: tuple[str, ...]
    annotations: tuple[str, ...]
    unit: Index
    """Unit of each judgment."""
    worker: Index
    """Worker of each judgment."""
    first: Index
    """First judgment of each unit, plus an entry for the end."""
    judgment: Index
    """Judgment of each entry."""
    annotation: Index
    """Annotation of each entry."""
    value: Values
    """Frequency of each entry, usually 1."""
    cell: Index
    """Cell of each entry."""
    cell_unit: Index
    cell_annotation: Index

    def by_unit(self, of_judgments: Values) -> Values:
        return summed(self.unit, of_judgments, len(self.units))

    def by_worker(self, of_judgments: Values) -> Values:
        return summed(self.worker, of_judgments, len(self.workers))

    def by_judgment(self, of_entries: Values) -> Values:
        return summed(self.judgment, of_entries, len(self.unit))

    def by_cell(self, of_entries: Values) -> Values:
        return summed(self.cell, of_entries, len(self.cell_unit))


def summed(group: Index, values: Values, groups: int) -> Values:
    """The sum of the values of each group."""
    return np.asarray(np.bincount(group, weights=values, minlength=groups), dtype=np.float64)


def vectors_of(judgments: Judgments, options: Sequence[str] | None) -> tuple[Vectors, tuple[str, ...]]:
    """Builds the vectors, with notes on omitted judgments."""
    names, code_of = _annotations(judgments, options)
    kept, notes = _kept(judgments)
    unit, units = _dense(judgments.tasks[kept], judgments.task_names)
    worker, workers = _dense(judgments.workers[kept], judgments.worker_names)
    starts, members, values = _members(judgments, code_of)
    label = judgments.labels[kept]
    length = np.diff(starts)[label]
    judgment = np.repeat(np.arange(len(label)), length)
    place = np.arange(len(judgment)) - np.repeat(np.cumsum(length) - length, length) + starts[label][judgment]
    annotation = members[place]
    key = unit[judgment] * np.intp(max(1, len(names))) + annotation
    cells, cell = np.unique(key, return_inverse=True)
    vectors = Vectors(
        units=units,
        workers=workers,
        annotations=names,
        unit=unit,
        worker=worker,
        first=np.searchsorted(unit, np.arange(len(units) + 1)),
        judgment=judgment,
        annotation=annotation,
        value=values[place],
        cell=cell.reshape(-1),
        cell_unit=cells // max(1, len(names)),
        cell_annotation=cells % max(1, len(names)),
    )
    return vectors, notes


def _annotations(judgments: Judgments, options: Sequence[str] | None) -> tuple[tuple[str, ...], Index]:
    """Sorted names of the annotations, and the index of each option of the judgments."""
    if options is None:
        return judgments.options, np.arange(len(judgments.options))
    names = tuple(sorted(set(options)))
    place = {name: number for number, name in enumerate(names)}
    unknown = [name for name in judgments.options if name not in place]
    if unknown:
        shown = ", ".join(repr(name) for name in unknown[:_NAMED])
        more = f" and {len(unknown) - _NAMED:,} more" if len(unknown) > _NAMED else ""
        raise UserError(
            f"Some labels are not among the {len(names)} options: {shown}{more}. Add them to the options, or correct "
            "the labels."
        )
    return names, np.asarray([place[name] for name in judgments.options], dtype=np.intp)


def _kept(judgments: Judgments) -> tuple[Index, tuple[str, ...]]:
    """The judgments that count, by unit and worker: the last of repeated judgments, and no units with a single
    judgment.
    """
    pair = judgments.tasks.astype(np.intp) * max(1, len(judgments.worker_names)) + judgments.workers
    order = np.argsort(pair, kind="stable")
    last = np.r_[pair[order][1:] != pair[order][:-1], np.ones(min(1, len(order)), dtype=np.bool_)]
    notes = list(judgments.notes)
    if not last.all():
        repeated = plural(int((~last).sum()), "judgment", "judgments")
        notes.append(f"{repeated} left out: only a worker's last judgment of a unit counts.")
    order = order[last]
    several = np.bincount(judgments.tasks[order], minlength=len(judgments.task_names))
    alone = several[judgments.tasks[order]] < 2
    kept = order[~alone]
    if alone.any():
        left = np.setdiff1d(judgments.workers[order], judgments.workers[kept])
        also = f"; workers left out with them: {len(left):,}" if len(left) else ""
        notes.append(f"Units left out because they have a single judgment: {int(alone.sum()):,}{also}.")
    if not len(kept):
        raise UserError("CrowdTruth compares workers, but no unit has two workers. Collect more judgments per unit.")
    return kept, tuple(notes)


def _dense(codes: NDArray[np.int32], names: Sequence[str]) -> tuple[Index, tuple[str, ...]]:
    """Renumbered codes, and the remaining names."""
    used, dense = np.unique(codes, return_inverse=True)
    return dense.reshape(-1), tuple(names[code] for code in used)


def _members(judgments: Judgments, code_of: Index) -> tuple[Index, Index, Values]:
    """For every label, the start of its annotations, the sorted annotations, and their frequencies."""
    if judgments.sets is None:
        several = len(judgments.label_names)
        return np.arange(several + 1), code_of, np.ones(several)
    sizes = [len(options) for options in judgments.sets]
    label = np.repeat(np.arange(len(sizes)), sizes)
    option = code_of[np.fromiter((code for options in judgments.sets for code in options), np.intp, sum(sizes))]
    width = int(code_of.max(initial=0)) + 1
    keys, counts = np.unique(label * width + option, return_counts=True)
    return np.searchsorted(keys // width, np.arange(len(sizes) + 1)), keys % width, counts.astype(np.float64)
