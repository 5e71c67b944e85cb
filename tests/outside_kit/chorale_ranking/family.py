"""The metric family `ranking`: a system's rankings against gold rankings."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from chorale.metrics import FloatArray, Metric, Statistics
from chorale.metrics.family import Family, Measured
from chorale_ranking.rankings import kendall_tau
from chorale_ranking.reader import ranked_lines

Rankings = Mapping[str, tuple[str, ...]]


def read(path: Path) -> Rankings:
    """Rankings by item, from lines such as `item1 b>a>c`."""
    return {item: ranking for (item,), ranking in ranked_lines(path, "item1 b>a>c")}


def measure(system: Rankings, gold: Rankings) -> Measured:
    """Of every gold item: tau, and whether the best text is first. An item without a ranking counts 0 in both."""
    rows = [
        [1.0, kendall_tau(system[item], right), float(system[item][0] == right[0])] if item in system else [1.0, 0, 0]
        for item, right in gold.items()
    ]
    return Statistics(tuple(gold), np.asarray(rows, dtype=np.float64).reshape(-1, 3)), Metric(_scores)


def _scores(sums: FloatArray) -> Mapping[str, FloatArray | float]:
    return {"tau": sums[..., 1] / sums[..., 0], "top-1": sums[..., 2] / sums[..., 0]}


FAMILY = Family(
    "ranking",
    "Rankings against gold rankings: mean Kendall tau, and how often the best text is first.",
    read,
    measure,
    example=("i1 a>b>c\ni2 b>a>c\n", "i1 a>b>c\ni2 a>b>c\n"),
)
