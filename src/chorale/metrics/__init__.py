"""What every metric has in common: statistics per item, scores from their sum, intervals, tests, signatures.

Names that need NumPy are loaded when they are first used: a command that prints a table starts without it.
"""

from typing import TYPE_CHECKING

from chorale.lazy_names import lazy_names

if TYPE_CHECKING:
    from chorale.metrics.bootstrap import Interval, intervals, median_interval, row_intervals, tally_intervals
    from chorale.metrics.comparison import Comparison, compare, tally_compare
    from chorale.metrics.counts import Counts, counts_metric, f1_of, ratio
    from chorale.metrics.signatures import signature
    from chorale.metrics.statistics import FloatArray, Metric, Statistics
    from chorale.metrics.tally import Tally

__all__ = [
    "Comparison",
    "Counts",
    "FloatArray",
    "Interval",
    "Metric",
    "Statistics",
    "Tally",
    "compare",
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

_MODULES = {
    "comparison": ("Comparison", "compare", "tally_compare"),
    "counts": ("Counts", "counts_metric", "f1_of", "ratio"),
    "bootstrap": ("Interval", "intervals", "median_interval", "row_intervals", "tally_intervals"),
    "signatures": ("signature",),
    "statistics": ("FloatArray", "Metric", "Statistics"),
    "tally": ("Tally",),
}

__getattr__, __dir__ = lazy_names(
    __name__, {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}
)
