"""What every metric has in common: statistics per item, scores from their sum, intervals, tests, signatures."""

from chorale.metrics.comparison import Comparison, compare, tally_compare
from chorale.metrics.counts import Counts, counts_metric, f1_of, ratio
from chorale.metrics.intervals import Interval, intervals, median_interval, row_intervals, tally_intervals
from chorale.metrics.signature import signature
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
