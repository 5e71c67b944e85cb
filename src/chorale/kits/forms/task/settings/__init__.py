"""Settings of a form: displayed parts of an item, and fields."""

from chorale.kits.forms.task.settings.base import (
    ANSWERS_GIVEN,
    LEVELS,
    LONGEST_LINE,
    LONGEST_TEXT,
    PIECES,
    REVIEW_REASON,
    SAME,
    Kind,
    problem_at,
    refuse,
)
from chorale.kits.forms.task.settings.field import FieldSettings
from chorale.kits.forms.task.settings.form import FormOptions
from chorale.kits.forms.task.settings.kinds import MARKED, TURNS, Match
from chorale.kits.forms.task.settings.options import OptionSettings, RelationSettings
from chorale.kits.forms.task.settings.shows import MEDIA, Look, PartSettings

__all__ = [
    "ANSWERS_GIVEN",
    "LEVELS",
    "LONGEST_LINE",
    "LONGEST_TEXT",
    "MARKED",
    "MEDIA",
    "PIECES",
    "REVIEW_REASON",
    "SAME",
    "TURNS",
    "FieldSettings",
    "FormOptions",
    "Kind",
    "Look",
    "Match",
    "OptionSettings",
    "PartSettings",
    "RelationSettings",
    "problem_at",
    "refuse",
]
