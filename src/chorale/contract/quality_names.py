"""The names of CrowdTruth's scores in the literature of a task."""

from typing import NamedTuple


class QualityNames(NamedTuple):
    """By default those of CrowdTruth: units, annotations and workers."""

    unit: str = "Item"
    """What is judged."""
    unit_score: str = "UQS"
    """How clear it is."""
    option: str = "Option"
    """What is chosen."""
    option_score: str = "AQS"
    """How far people agree on it."""
    option_in_unit: str = "UAS"
    """How far an option fits a unit."""
    with_units: str = "WUA"
    """How far a worker agrees with the aggregated vectors of units."""


CROWDTRUTH_NAMES = QualityNames()
