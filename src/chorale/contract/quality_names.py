"""The names of CrowdTruth's scores in the literature of a task."""

from typing import NamedTuple


class QualityNames(NamedTuple):
    """The names of the scores. Default: CrowdTruth's own, for units, annotations and workers."""

    unit: str = "Item"
    """The item."""
    unit_score: str = "UQS"
    """The clarity of an item."""
    option: str = "Option"
    """The option."""
    option_score: str = "AQS"
    """The agreement on an option."""
    option_in_unit: str = "UAS"
    """How well an option fits an item."""
    with_units: str = "WUA"
    """A worker's agreement with the aggregated vectors of items."""


CROWDTRUTH_NAMES = QualityNames()
