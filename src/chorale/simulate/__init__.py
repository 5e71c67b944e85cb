"""Workers who answer like people of known quality. Pure: randomness comes in as an argument."""

from chorale.simulate.knowledge import Knowledge, choices_of
from chorale.simulate.models import Mode, WorkerModel, careless, first_option_clicker, good, mixed_crowd, random_clicker

__all__ = [
    "Knowledge",
    "Mode",
    "WorkerModel",
    "careless",
    "choices_of",
    "first_option_clicker",
    "good",
    "mixed_crowd",
    "random_clicker",
]
