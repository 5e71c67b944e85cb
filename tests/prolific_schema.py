"""What Prolific's interface accepts and answers, as JSON schema.

Written from the facts of its public OpenAPI description (docs.prolific.com/openapi.json, as of 4 October 2026) and of
its guides: names, types, required fields, values. Requests may have nothing beside what is named here, so that a field
that Prolific does not know fails a test. Answers may have more, as Prolific's do.
"""

from typing import Any

from jsonschema import Draft202012Validator

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "array", "items": TEXT}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
BOUND: Schema = {"type": ["integer", "number", "string"]}


def only(required: str = "", **fields: Schema) -> Schema:
    """An object with these fields and no others."""
    return {**shaped(required, **fields), "additionalProperties": False}


def shaped(required: str = "", **fields: Schema) -> Schema:
    """An object with these fields, and perhaps others."""
    return {"type": "object", "properties": fields, "required": required.split()}


def one_of(*values: str) -> Schema:
    return {"enum": list(values)}


def listed(row: Schema) -> Schema:
    return shaped("results", results={"type": "array", "items": row})


STUDY_STATUS = one_of("UNPUBLISHED", "SCHEDULED", "PUBLISHING", "ACTIVE", "AWAITING REVIEW", "PAUSED", "COMPLETED")
STATUSES = ("RESERVED", "ACTIVE", "TIMED-OUT", "AWAITING REVIEW", "APPROVED", "RETURNED", "REJECTED", "SCREENED OUT")
RANGE = {**only("", lower=BOUND, upper=BOUND), "minProperties": 1}
FILTER: Schema = {
    "anyOf": [
        only(
            "filter_id selected_values",
            filter_id={"type": "string", "not": one_of("and", "or")},
            selected_values=TEXTS,
            weightings={"type": "object", "additionalProperties": NUMBER},
        ),
        only(
            "filter_id selected_range",
            filter_id={"type": "string", "not": one_of("and", "or")},
            selected_range=RANGE,
            weightings={
                "type": "object",
                "additionalProperties": only("selected_range weighting", selected_range=RANGE, weighting=NUMBER),
            },
        ),
        only(
            "filter_id selected_filters",
            filter_id=one_of("and", "or"),
            selected_filters={"type": "array", "items": {"$ref": "#/$defs/filter"}},
        ),
    ]
}
ACTION: Schema = {
    "anyOf": [
        only("action", action=one_of("AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "DYNAMIC_PAYMENT")),
        only(
            "action participant_group",
            action=one_of("ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP"),
            participant_group=TEXT,
        ),
        only("action return_reason", action=one_of("REQUEST_RETURN"), return_reason=TEXT),
        only(
            "action fixed_screen_out_reward slots",
            action=one_of("FIXED_SCREEN_OUT_PAYMENT"),
            fixed_screen_out_reward=WHOLE,
            slots=WHOLE,
        ),
    ]
}
CODE_TYPES = one_of(
    *("COMPLETED", "FAILED_ATTENTION_CHECK", "FOLLOW_UP_STUDY", "GIVE_BONUS", "INCOMPATIBLE_DEVICE", "NO_CONSENT"),
    *("OTHER", "FIXED_SCREENOUT", "SCREENED_IN", "SCREENED_OUT"),
)
LABELS = one_of(
    *("survey", "writing_task", "annotation", "decision_making_task", "interview", "other", "ai_annotation"),
    *("ai_evaluation", "ai_reasoning", "ai_fact_checking", "ai_safety", "ai_data_creation_text"),
    *("ai_data_creation_audio", "ai_data_creation_video", "ai_data_creation_images", "ai_other"),
)
STUDY_FIELDS: dict[str, Schema] = {
    "name": TEXT,
    "internal_name": TEXT_OR_NULL,
    "description": TEXT,
    "external_study_url": TEXT,
    "prolific_id_option": one_of("question", "url_parameters", "not_required"),
    "completion_codes": {
        "type": "array",
        "minItems": 1,
        "items": only(
            "code code_type actions",
            code=TEXT_OR_NULL,
            code_type=CODE_TYPES,
            actions={"type": "array", "items": ACTION},
            actor=one_of("participant", "researcher"),
        ),
    },
    "total_available_places": NUMBER,
    "estimated_completion_time": NUMBER,
    "maximum_allowed_time": NUMBER,
    "reward": NUMBER,
    "device_compatibility": {"type": "array", "items": one_of("desktop", "tablet", "mobile")},
    "peripheral_requirements": {"type": "array", "items": one_of("audio", "camera", "download", "microphone")},
    "filters": {"type": ["array", "null"], "items": {"$ref": "#/$defs/filter"}},
    "filter_set_id": TEXT_OR_NULL,
    "filter_set_version": {"type": ["integer", "null"]},
    "naivety_distribution_rate": {"type": ["number", "null"]},
    "project": TEXT,
    "submissions_config": only(
        max_submissions_per_participant={"type": ["integer", "null"]},
        max_concurrent_submissions={"type": ["integer", "null"]},
        auto_rejection_categories={"type": "array", "items": one_of("EXCEPTIONALLY_FAST")},
    ),
    "study_labels": {"type": "array", "items": LABELS},
    "content_warnings": {"type": "array", "items": one_of("sensitive", "explicit")},
    "content_warning_details": TEXT,
    "metadata": TEXT_OR_NULL,
    "is_external_study_url_secure": FLAG,
}
NEEDED = (
    "name description external_study_url prolific_id_option total_available_places estimated_completion_time reward"
)
# Filters and a filter set exclude each other.
CREATE_STUDY = {**only(NEEDED, **STUDY_FIELDS), "not": {"required": ["filters", "filter_set_id"]}}
STUDY = shaped(f"{NEEDED} id status", **STUDY_FIELDS, id=TEXT, status=STUDY_STATUS)
STUDY_SHORT = shaped("id name", id=TEXT, name=TEXT, internal_name=TEXT_OR_NULL, status=STUDY_STATUS, reward=NUMBER)
SUBMISSION_FIELDS: dict[str, Schema] = {
    "id": TEXT,
    "completed_at": TEXT_OR_NULL,
    "entered_code": TEXT_OR_NULL,
    "participant": TEXT,
    "started_at": TEXT,
    "status": one_of(*STATUSES, "PARTIALLY APPROVED", "UNKNOWN"),
    "study_id": TEXT,
}
SUBMISSION = only("id started_at status study_id", **SUBMISSION_FIELDS)
# Lists name the participant and the code otherwise than answers about a single submission.
SUBMISSION_SHORT = only(
    "id participant_id status started_at has_siblings",
    id=TEXT,
    participant_id=TEXT,
    status=one_of(*STATUSES),
    started_at=TEXT,
    completed_at=TEXT_OR_NULL,
    has_siblings=FLAG,
    study_code=TEXT_OR_NULL,
    return_requested=TEXT_OR_NULL,
)
SUBMISSION_DETAIL = only(
    "id started_at status study_id",
    **SUBMISSION_FIELDS,
    parent_study_id=TEXT_OR_NULL,
    bonus_payments={"type": "array", "items": NUMBER},
    return_requested=TEXT_OR_NULL,
)
REJECTIONS = one_of(
    *("TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT"),
    *("MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER"),
)
TRANSITION_SUBMISSION = {
    **only(
        "action",
        action=one_of("APPROVE", "COMPLETE", "REJECT", "RETURN", "START", "SCREEN_OUT", "UNREJECT", "UNRETURN"),
        message={"type": "string", "minLength": 100},
        rejection_category=REJECTIONS,
        completion_code=TEXT,
        completion_code_data={"type": "object"},
    ),
    "if": {"properties": {"action": {"const": "REJECT"}}},
    "then": {"required": ["message", "rejection_category"]},
}
GROUP = shaped("", id=TEXT, name=TEXT, workspace_id=TEXT_OR_NULL, participant_count=WHOLE, is_deleted=FLAG)
MEMBERS = listed(shaped("", participant_id=TEXT, datetime_created=TEXT))
SUBSCRIPTION_FIELDS: dict[str, Schema] = {
    "id": TEXT,
    "event_type": TEXT,
    "target_url": {"type": "string", "pattern": "^https://"},
    "is_enabled": FLAG,
    "workspace_id": TEXT,
}
SUBSCRIPTION = shaped("event_type target_url workspace_id", **SUBSCRIPTION_FIELDS)
ERROR = shaped(
    "error",
    error=shaped(
        "status error_code title detail",
        status=WHOLE,
        error_code=WHOLE,
        title=TEXT,
        detail={"type": ["string", "array", "object"]},
    ),
)
NOTHING: Schema = {"type": "object", "maxProperties": 0}

OPERATIONS: dict[str, tuple[Schema | None, int, Schema | None]] = {
    "GET /users/me/": (None, 200, shaped("id email", id=TEXT, email=TEXT)),
    "GET /workspaces/": (None, 200, listed(shaped("id title", id=TEXT, title=TEXT))),
    "GET /workspaces/*/balance/": (None, 200, shaped("", currency_code=TEXT, total_balance=WHOLE)),
    "GET /projects/*/": (None, 200, shaped("id title type", id=TEXT, title=TEXT, workspace=TEXT)),
    "GET /studies/": (None, 200, listed(STUDY_SHORT)),
    "POST /studies/": (CREATE_STUDY, 201, STUDY),
    "GET /studies/*/": (None, 200, STUDY),
    "PATCH /studies/*/": (only("", **STUDY_FIELDS), 200, STUDY),
    "POST /studies/*/transition/": (
        only(
            "action",
            action=one_of("PUBLISH", "SCHEDULE_PUBLISH", "CANCEL_PUBLISH", "PAUSE", "START", "STOP"),
            publish_at=TEXT,
        ),
        200,
        STUDY,
    ),
    "POST /studies/*/test-study": (NOTHING, 200, shaped("", study_id=TEXT, study_url=TEXT)),
    "POST /study-cost-calculator/": (
        only("reward total_available_places", reward=NUMBER, total_available_places=NUMBER),
        200,
        shaped("total_cost", total_cost=NUMBER),
    ),
    "GET /submissions/": (None, 200, listed(SUBMISSION_SHORT)),
    "GET /submissions/*/": (None, 200, SUBMISSION_DETAIL),
    "POST /submissions/*/transition/": (TRANSITION_SUBMISSION, 200, SUBMISSION),
    "POST /submissions/*/request-return/": (
        only("request_return_reasons", request_return_reasons={**TEXTS, "minItems": 1}),
        200,
        shaped("", id=TEXT, status=one_of(*STATUSES), participant=TEXT, return_requested=TEXT_OR_NULL),
    ),
    "POST /submissions/bulk-approve/": (
        {
            "anyOf": [
                only("submission_ids", submission_ids={**TEXTS, "maxItems": 1000}),
                only("study_id participant_ids", study_id=TEXT, participant_ids=TEXTS),
            ]
        },
        200,
        TEXT,
    ),
    "POST /submissions/bonus-payments/": (
        only("study_id csv_bonuses", study_id=TEXT, csv_bonuses=TEXT),
        201,
        shaped("id total_amount", id=TEXT, study=TEXT, amount=NUMBER, fees=NUMBER, vat=NUMBER, total_amount=NUMBER),
    ),
    "POST /bulk-bonus-payments/*/pay/": (NOTHING, 202, TEXT),
    "GET /participant-groups/": (None, 200, listed(GROUP)),
    "POST /participant-groups/": (
        only("name", name=TEXT, workspace_id=TEXT, organisation_id=TEXT, description=TEXT, participant_ids=TEXTS),
        201,
        GROUP,
    ),
    "GET /participant-groups/*/participants/": (None, 200, MEMBERS),
    "POST /participant-groups/*/participants/": (only("participant_ids", participant_ids=TEXTS), 200, MEMBERS),
    "GET /messages/": (
        None,
        200,
        listed(
            shaped(
                "id sender_id body sent_at channel_id",
                id=TEXT,
                sender_id=TEXT,
                body=TEXT,
                sent_at=TEXT,
                channel_id=TEXT,
            )
        ),
    ),
    "POST /messages/": (
        only("recipient_id body study_id", recipient_id=TEXT, body=TEXT, study_id=TEXT),
        204,
        None,
    ),
    "POST /messages/bulk/": (only("ids body study_id", ids=TEXTS, body=TEXT, study_id=TEXT), 204, None),
    "GET /hooks/secrets/": (None, 200, listed(shaped("", id=TEXT, value=TEXT, workspace_id=TEXT))),
    "POST /hooks/secrets/": (only("workspace_id", workspace_id=TEXT), 201, shaped("", id=TEXT, value=TEXT)),
    "GET /hooks/subscriptions/": (None, 200, listed(SUBSCRIPTION)),
    "POST /hooks/subscriptions/": (
        only("event_type target_url workspace_id", **SUBSCRIPTION_FIELDS),
        201,
        SUBSCRIPTION,
    ),
    "POST /hooks/subscriptions/*/": (only("secret", secret={"type": "string", "minLength": 1}), 200, SUBSCRIPTION),
}
"""By method and path, with ids as *: what a request has, the status of the answer, and what the answer has."""


def mistakes(value: Any, schema: Schema) -> list[str]:
    """How a value differs from a schema."""
    whole = {**schema, "$defs": {"filter": FILTER}}
    found = Draft202012Validator(whole).iter_errors(value)
    return [f"{'/'.join(map(str, one.absolute_path)) or 'body'}: {one.message}" for one in found]
