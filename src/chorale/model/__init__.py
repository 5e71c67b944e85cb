"""The nouns of a study: frozen, plain, no input or output.

One definition each, used everywhere: code, database, web and docs. Names are loaded when they are first used: commands
that only score files need none of the settings.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chorale.model.money import money_number, money_text
    from chorale.model.nouns import (
        Answer,
        AssignmentKind,
        AssignmentState,
        EntryKind,
        GoldRecord,
        ItemState,
        Judgment,
        Label,
        MessageState,
        NewItem,
        Payload,
        SourceItem,
        StageState,
        Standing,
    )
    from chorale.model.problems import Problem, Refusal, UserError
    from chorale.model.protocol_settings import (
        EXPERT,
        ArmsSettings,
        GateSettings,
        GoldBonus,
        PartsBonus,
        Promotion,
        QualitySettings,
        RoundSettings,
        invited_to,
    )
    from chorale.model.recruiting_settings import ProlificFilter, ProlificSettings, ProlificStudy
    from chorale.model.settings import ArrivalSettings, PaySettings, StudyInfo, StudySettings
    from chorale.model.stage_settings import (
        EntrySettings,
        GoldSettings,
        ItemSettings,
        JudgmentSettings,
        RehearsalSettings,
        StagePay,
        StageSettings,
    )

_HOMES = {
    "EXPERT": "protocol_settings",
    "Answer": "nouns",
    "ArmsSettings": "protocol_settings",
    "ArrivalSettings": "settings",
    "AssignmentKind": "nouns",
    "AssignmentState": "nouns",
    "EntryKind": "nouns",
    "EntrySettings": "stage_settings",
    "GateSettings": "protocol_settings",
    "GoldBonus": "protocol_settings",
    "GoldRecord": "nouns",
    "GoldSettings": "stage_settings",
    "ItemSettings": "stage_settings",
    "ItemState": "nouns",
    "Judgment": "nouns",
    "JudgmentSettings": "stage_settings",
    "Label": "nouns",
    "MessageState": "nouns",
    "NewItem": "nouns",
    "PartsBonus": "protocol_settings",
    "PaySettings": "settings",
    "Payload": "nouns",
    "Problem": "problems",
    "ProlificFilter": "recruiting_settings",
    "ProlificSettings": "recruiting_settings",
    "ProlificStudy": "recruiting_settings",
    "Promotion": "protocol_settings",
    "QualitySettings": "protocol_settings",
    "Refusal": "problems",
    "RehearsalSettings": "stage_settings",
    "RoundSettings": "protocol_settings",
    "SourceItem": "nouns",
    "StagePay": "stage_settings",
    "StageSettings": "stage_settings",
    "StageState": "nouns",
    "Standing": "nouns",
    "StudyInfo": "settings",
    "StudySettings": "settings",
    "UserError": "problems",
    "invited_to": "protocol_settings",
    "money_number": "money",
    "money_text": "money",
}

__all__ = [
    "EXPERT",
    "Answer",
    "ArmsSettings",
    "ArrivalSettings",
    "AssignmentKind",
    "AssignmentState",
    "EntryKind",
    "EntrySettings",
    "GateSettings",
    "GoldBonus",
    "GoldRecord",
    "GoldSettings",
    "ItemSettings",
    "ItemState",
    "Judgment",
    "JudgmentSettings",
    "Label",
    "MessageState",
    "NewItem",
    "PartsBonus",
    "PaySettings",
    "Payload",
    "Problem",
    "ProlificFilter",
    "ProlificSettings",
    "ProlificStudy",
    "Promotion",
    "QualitySettings",
    "Refusal",
    "RehearsalSettings",
    "RoundSettings",
    "SourceItem",
    "StagePay",
    "StageSettings",
    "StageState",
    "Standing",
    "StudyInfo",
    "StudySettings",
    "UserError",
    "invited_to",
    "money_number",
    "money_text",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
