"""What every metric has in common: statistics per item, scores from their sum, intervals, tests, signatures."""

from chorale.scores.comparison import Comparison, compare
from chorale.scores.counts import Counts, counts_metric, f1_of, ratio
from chorale.scores.intervals import Interval, intervals
from chorale.scores.signature import signature
from chorale.scores.statistics import FloatArray, Metric, Statistics

__all__ = [
    "Comparison",
    "Counts",
    "FloatArray",
    "Interval",
    "Metric",
    "Statistics",
    "compare",
    "counts_metric",
    "f1_of",
    "intervals",
    "ratio",
    "signature",
]
