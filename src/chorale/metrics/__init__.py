"""Common parts of all metrics: statistics per item, scores from their sums, intervals, tests, signatures.

Names that need NumPy are loaded on first use, so that commands that only print tables start quickly.
"""

from typing import TYPE_CHECKING

from chorale.lazy import attach

if TYPE_CHECKING:
    from chorale.metrics.bootstrap import intervals, median_interval, row_intervals, tally_intervals
    from chorale.metrics.clusters import Clusters
    from chorale.metrics.comparison import Comparison, UnpairedComparison, compare, tally_compare
    from chorale.metrics.counts import Counts, counts_metric, f1_of, ratio
    from chorale.metrics.family import Family
    from chorale.metrics.sampling import Interval
    from chorale.metrics.score import Result, Score
    from chorale.metrics.signatures import signature
    from chorale.metrics.statistics import FloatArray, Metric, Statistics, Tally
    from chorale.metrics.unpaired import compare_apart

__all__ = [
    "Clusters",
    "Comparison",
    "Counts",
    "Family",
    "FloatArray",
    "Interval",
    "Metric",
    "Result",
    "Score",
    "Statistics",
    "Tally",
    "UnpairedComparison",
    "compare",
    "compare_apart",
    "counts_metric",
    "f1_of",
    "intervals",
    "median_interval",
    "ratio",
    "row_intervals",
    "signature",
    "tally_compare",
    "tally_intervals",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "clusters": ("Clusters",),
        "comparison": ("Comparison", "UnpairedComparison", "compare", "tally_compare"),
        "counts": ("Counts", "counts_metric", "f1_of", "ratio"),
        "bootstrap": ("intervals", "median_interval", "row_intervals", "tally_intervals"),
        "family": ("Family",),
        "sampling": ("Interval",),
        "score": ("Result", "Score"),
        "signatures": ("signature",),
        "statistics": ("FloatArray", "Metric", "Statistics", "Tally"),
        "unpaired": ("compare_apart",),
    },
)
