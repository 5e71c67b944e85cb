"""Prolific: its API, and the planning of requests."""

from chorale.platforms.prolific.answers import BonusBatch, RemoteStudy, Reported
from chorale.platforms.prolific.client import Prolific, StudyAction
from chorale.platforms.prolific.planning import (
    CATEGORIES,
    MOST_AT_ONCE,
    SHORTEST_REASON,
    changes_there,
    checked_reason,
    has_arrived,
    study_body,
)
from chorale.platforms.prolific.transport import InDoubtError, InvalidIdError, RefusedError

__all__ = [
    "CATEGORIES",
    "MOST_AT_ONCE",
    "SHORTEST_REASON",
    "BonusBatch",
    "InDoubtError",
    "InvalidIdError",
    "Prolific",
    "RefusedError",
    "RemoteStudy",
    "Reported",
    "StudyAction",
    "changes_there",
    "checked_reason",
    "has_arrived",
    "study_body",
]
