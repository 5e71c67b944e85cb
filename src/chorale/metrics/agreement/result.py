"""The value of a coefficient, and its evidence item by item."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from chorale.metrics import FloatArray, Interval, Metric, Statistics, Tally
from chorale.metrics.agreement.errors import Analytic, analytic_of
from chorale.metrics.judgments import Codes, Judgments, codes_in_use
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

Evidence = Callable[[], tuple[FloatArray, Metric]]
NO_PAIRS = "no item has two judgments"
"""Reason why a coefficient is undefined."""


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """A coefficient of agreement.

    In resamples where the coefficient is undefined because all labels are equal, it counts as 0: such a sample shows no
    agreement beyond chance.
    """

    metric: str
    value: float | None
    """None if the coefficient is undefined; `undefined` then has the reason."""
    judgments: Judgments
    item_disagreement: FloatArray | None = None
    """Mean distance between two judgments of each task; NaN with fewer than two."""
    notes: tuple[str, ...] = ()
    undefined: str = ""
    _evidence: Evidence | None = field(default=None, repr=False)
    counts_singles: bool = False
    """Whether items with a single judgment count towards the frequencies of labels."""
    exact_interval: Interval | None = None
    """Interval of coefficients with a known distribution."""

    def __repr__(self) -> str:
        return brief_repr(
            "Agreement",
            f"{self.metric} undefined: {self.undefined}" if self.value is None else f"{self.metric} {self.value:.4f}",
            plural(self.n_items, "item", "items"),
            plural(self.n_workers, "worker", "workers"),
            plural(self.n_judgments, "judgment", "judgments"),
        )

    @property
    def n_items(self) -> int:
        return len(codes_in_use(self.judgments.tasks))

    @property
    def n_workers(self) -> int:
        return len(codes_in_use(self.judgments.workers))

    @property
    def n_judgments(self) -> int:
        return len(self.judgments)

    def statistics(self, *, all_items: bool = False) -> tuple[Statistics, Metric]:
        """Statistics per item and the metric over them, with the single score `value`.

        Items with too few judgments are left out unless `all_items` is set.
        """
        if self._evidence is None:
            raise ValueError(f"{self.metric} is undefined here: {self.undefined}")
        rows, metric = self._evidence()
        names = self.judgments.task_names
        if all_items:
            return Statistics(names, rows), metric
        kept = np.flatnonzero(np.bincount(self.judgments.tasks, minlength=len(names)) > (not self.counts_singles))
        return Statistics(tuple(names[place] for place in kept), rows[kept]), metric

    def analytic(self) -> Analytic | None:
        """The analytic standard error and interval, or None."""
        if self.value is None:
            return None
        if self.exact_interval is not None:
            return Analytic(None, self.exact_interval)
        statistics, metric = self.statistics()
        return analytic_of(Tally.of(statistics.rows), metric).get("value") if metric.additive else None


def one_value(judgments: Judgments) -> str:
    """Reason why a coefficient is undefined if the expected disagreement is 0."""
    sizes = np.bincount(judgments.tasks, minlength=len(judgments.task_names))
    codes = codes_in_use(judgments.labels[sizes[judgments.tasks] > 1])
    names = [judgments.label_names[code] for code in codes]
    if len(names) == 1:
        return f"everybody always gave the label {names[0]!r}"
    return "all given values have a distance of 0"


def side_by_side(first: Judgments, second: Judgments) -> tuple[Judgments, int]:
    """Joins two sets of judgments of the same tasks. Also returns the number of tasks in each set.

    The tasks of the second set come after those of the first. Values and workers get common codes, so that statistics
    of either set can be compared with the other's.
    """
    if (first.sets is None) != (second.sets is None):
        raise ValueError("labels are sets of options in only one of the two files")
    tasks = sorted({*_judged(first), *_judged(second)})
    workers = sorted({*first.worker_names, *second.worker_names})
    labels = sorted({*first.label_names, *second.label_names})
    options = sorted({*first.options, *second.options})
    both = (first, second)
    sets = None if first.sets is None else _common_sets(both, labels, options)
    of_tasks = [_recoded(each.tasks, each.task_names, tasks) for each in both]
    combined = Judgments(
        np.concatenate([of_tasks[0], of_tasks[1] + len(tasks)]),
        np.concatenate([_recoded(each.workers, each.worker_names, workers) for each in both]),
        np.concatenate([_recoded(each.labels, each.label_names, labels) for each in both]),
        (*tasks, *tasks),
        tuple(workers),
        tuple(labels),
        tuple(labels) if sets is None else tuple(options),
        sets,
    )
    return combined, len(tasks)


def _judged(judgments: Judgments) -> list[str]:
    return [judgments.task_names[code] for code in codes_in_use(judgments.tasks)]


def _recoded(codes: Codes, names: tuple[str, ...], among: list[str]) -> Codes:
    place = {name: number for number, name in enumerate(among)}
    # Names without judgments have no index, and no code refers to them.
    new = np.asarray([place.get(name, -1) for name in names], dtype=np.int32)
    return np.take(new, codes)


def _common_sets(
    both: tuple[Judgments, Judgments], labels: list[str], options: list[str]
) -> tuple[tuple[int, ...], ...]:
    place = {name: number for number, name in enumerate(options)}
    codes: dict[str, tuple[int, ...]] = {}
    for judgments in both:
        for name, chosen in zip(judgments.label_names, judgments.sets or (), strict=True):
            codes[name] = tuple(place[judgments.options[code]] for code in chosen)
    return tuple(codes[name] for name in labels)
