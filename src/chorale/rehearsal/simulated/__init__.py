"""Simulated workers of known quality. Pure functions: random numbers are arguments."""

from chorale.rehearsal.simulated.answering import AnswerSheet, plausible_answers
from chorale.rehearsal.simulated.crowd import (
    CrowdSettings,
    KindSettings,
    draw_arrivals,
    draw_crowd,
    draw_experts,
    draw_fitted,
)
from chorale.rehearsal.simulated.knowledge import Knowledge, choices_of, prospects
from chorale.rehearsal.simulated.models import (
    Hardness,
    Mode,
    WorkerModel,
    careless,
    draw_hardness,
    first_option_clicker,
    good,
    mixed_crowd,
    random_clicker,
)
from chorale.rehearsal.simulated.qualities import ability_at, fair_grade, mistakes_explained

__all__ = [
    "AnswerSheet",
    "CrowdSettings",
    "Hardness",
    "KindSettings",
    "Knowledge",
    "Mode",
    "WorkerModel",
    "ability_at",
    "careless",
    "choices_of",
    "draw_arrivals",
    "draw_crowd",
    "draw_experts",
    "draw_fitted",
    "draw_hardness",
    "fair_grade",
    "first_option_clicker",
    "good",
    "mistakes_explained",
    "mixed_crowd",
    "plausible_answers",
    "prospects",
    "random_clicker",
]
