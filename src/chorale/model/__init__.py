"""The data types of a study: immutable, without input or output.

Each has one definition, used in code, database, web and docs. Names are loaded when they are first used: commands that
only score files do not need the settings.
"""

from typing import TYPE_CHECKING

from chorale.lazy import attach

if TYPE_CHECKING:
    from chorale.model.item_settings import ItemSettings
    from chorale.model.model_settings import ModelSettings, StageModels
    from chorale.model.money import money_number, money_text
    from chorale.model.nouns import (
        MODEL_PREFIX,
        REMOVED_BY_QUALITY,
        REMOVED_BY_STAFF,
        Answer,
        AssignmentKind,
        AssignmentState,
        EntryKind,
        GoldRecord,
        GradedAnswer,
        ItemState,
        Judgment,
        Label,
        MessageState,
        NewItem,
        Payload,
        SourceItem,
        StageState,
        Standing,
        is_model,
        responses_behind,
    )
    from chorale.model.problems import Problem, Refusal, UserError
    from chorale.model.protocol_settings import (
        EXPERT,
        AnalysisSettings,
        ArmsSettings,
        GateSettings,
        GoldBonus,
        LengthPay,
        PartsBonus,
        PlannedOutcome,
        Promotion,
        QualitySettings,
        RoundSettings,
        SenseSettings,
        invited_to,
    )
    from chorale.model.recruiting_settings import ProlificFilter, ProlificSettings, ProlificStudy
    from chorale.model.settings import ArrivalSettings, PaySettings, StudyInfo, StudySettings
    from chorale.model.stage_settings import (
        EntrySettings,
        GoldSettings,
        JudgmentSettings,
        RehearsalSettings,
        SkipSettings,
        StagePay,
        StageSettings,
    )
    from chorale.model.stored import (
        Assignment,
        Entry,
        Event,
        Grade,
        Item,
        Message,
        Participation,
        Qualification,
        Response,
        Stage,
        Worker,
    )

__getattr__, __dir__ = attach(
    __name__,
    {
        "item_settings": ("ItemSettings",),
        "model_settings": ("ModelSettings", "StageModels"),
        "money": ("money_number", "money_text"),
        "nouns": (
            *("Answer", "AssignmentKind", "AssignmentState", "EntryKind", "GoldRecord", "GradedAnswer", "ItemState"),
            *("Judgment", "Label", "MessageState", "NewItem", "Payload", "SourceItem", "StageState", "Standing"),
            *("MODEL_PREFIX", "REMOVED_BY_QUALITY", "REMOVED_BY_STAFF", "is_model", "responses_behind"),
        ),
        "problems": ("Problem", "Refusal", "UserError"),
        "protocol_settings": (
            *(
                "EXPERT",
                "AnalysisSettings",
                "ArmsSettings",
                "GateSettings",
                "GoldBonus",
                "LengthPay",
                "PartsBonus",
                "PlannedOutcome",
                "Promotion",
                "QualitySettings",
            ),
            *("RoundSettings", "SenseSettings", "invited_to"),
        ),
        "recruiting_settings": ("ProlificFilter", "ProlificSettings", "ProlificStudy"),
        "settings": ("ArrivalSettings", "PaySettings", "StudyInfo", "StudySettings"),
        "stage_settings": (
            *("EntrySettings", "GoldSettings", "JudgmentSettings", "RehearsalSettings", "StagePay"),
            *("SkipSettings", "StageSettings"),
        ),
        "stored": (
            *("Assignment", "Entry", "Event", "Grade", "Item", "Message", "Participation", "Qualification"),
            *("Response", "Stage", "Worker"),
        ),
    },
)

__all__ = [
    "EXPERT",
    "MODEL_PREFIX",
    "REMOVED_BY_QUALITY",
    "REMOVED_BY_STAFF",
    "AnalysisSettings",
    "Answer",
    "ArmsSettings",
    "ArrivalSettings",
    "Assignment",
    "AssignmentKind",
    "AssignmentState",
    "Entry",
    "EntryKind",
    "EntrySettings",
    "Event",
    "GateSettings",
    "GoldBonus",
    "GoldRecord",
    "GoldSettings",
    "Grade",
    "GradedAnswer",
    "Item",
    "ItemSettings",
    "ItemState",
    "Judgment",
    "JudgmentSettings",
    "Label",
    "LengthPay",
    "Message",
    "MessageState",
    "ModelSettings",
    "NewItem",
    "Participation",
    "PartsBonus",
    "PaySettings",
    "Payload",
    "PlannedOutcome",
    "Problem",
    "ProlificFilter",
    "ProlificSettings",
    "ProlificStudy",
    "Promotion",
    "Qualification",
    "QualitySettings",
    "Refusal",
    "RehearsalSettings",
    "Response",
    "RoundSettings",
    "SenseSettings",
    "SkipSettings",
    "SourceItem",
    "Stage",
    "StageModels",
    "StagePay",
    "StageSettings",
    "StageState",
    "Standing",
    "StudyInfo",
    "StudySettings",
    "UserError",
    "Worker",
    "invited_to",
    "is_model",
    "money_number",
    "money_text",
    "responses_behind",
]
