"""The nouns of a study: frozen, plain, no input or output.

One definition each, used everywhere: code, database, web and docs.
"""

from chorale.model.money import money_text
from chorale.model.nouns import (
    Answer,
    AssignmentKind,
    AssignmentState,
    EntryKind,
    GoldRecord,
    ItemState,
    Judgment,
    Label,
    NewItem,
    Payload,
    SourceItem,
    StageState,
    Standing,
)
from chorale.model.problems import Problem, Refusal, UserError
from chorale.model.settings import (
    ArrivalSettings,
    EntrySettings,
    GoldSettings,
    ItemSettings,
    JudgmentSettings,
    PaySettings,
    RehearsalSettings,
    StagePay,
    StageSettings,
    StudyInfo,
    StudySettings,
)

__all__ = [
    "Answer",
    "ArrivalSettings",
    "AssignmentKind",
    "AssignmentState",
    "EntryKind",
    "EntrySettings",
    "GoldRecord",
    "GoldSettings",
    "ItemSettings",
    "ItemState",
    "Judgment",
    "JudgmentSettings",
    "Label",
    "NewItem",
    "PaySettings",
    "Payload",
    "Problem",
    "Refusal",
    "RehearsalSettings",
    "SourceItem",
    "StagePay",
    "StageSettings",
    "StageState",
    "Standing",
    "StudyInfo",
    "StudySettings",
    "UserError",
    "money_text",
]
