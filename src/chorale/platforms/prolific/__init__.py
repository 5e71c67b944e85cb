"""Prolific: its interface for programs, and decisions about what to ask of it."""

from chorale.platforms.prolific.client import BonusBatch, InDoubtError, Prolific, RefusedError, RemoteStudy, Reported
from chorale.platforms.prolific.planning import (
    CATEGORIES,
    MOST_AT_ONCE,
    changes_there,
    checked_reason,
    has_arrived,
    study_body,
)

__all__ = [
    "CATEGORIES",
    "MOST_AT_ONCE",
    "BonusBatch",
    "InDoubtError",
    "Prolific",
    "RefusedError",
    "RemoteStudy",
    "Reported",
    "changes_there",
    "checked_reason",
    "has_arrived",
    "study_body",
]
