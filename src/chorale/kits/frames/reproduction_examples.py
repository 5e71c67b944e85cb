"""The sentences that Dumitrache et al. (2019) print, with their quality and their frames' scores."""

from collections.abc import Mapping
from typing import NamedTuple


class PaperRow(NamedTuple):
    """A sentence of Tables 1, 3, 4 and 5."""

    table: str
    number: int
    batch: int
    sentence: str
    quality: float
    """SQS."""
    frames: Mapping[str, float]
    """Frame-sentence scores, as printed."""


EXAMPLES = (
    PaperRow("Table 1", 1, 5, "VID-003022", 0.652, {"improvement_or_decline": 0.823, "cause_to_make_progress": 0.683}),
    PaperRow("Table 1", 2, 4, "VID-002158", 0.626, {"accomplishment": 0.764, "successful_action": 0.709}),
    PaperRow("Table 1", 3, 4, "VID-001475", 0.511, {"communication": 0.522, "statement": 0.703}),
    PaperRow(
        "Table 1", 4, 2, "VID-303645", 0.319,
        {"part_piece": 0.499, "cause_harm": 0.4, "cutting": 0.394, "attack": 0.254, "hit_target": 0.227},
    ),
    PaperRow(
        "Table 1", 5, 4, "VID-048301", 0.308,
        {"left_to_do": 0.497, "remainder": 0.478, "state_continue": 0.319, "existence": 0.155},
    ),
    PaperRow("Table 1", 6, 2, "VID-103294", 0.283, {"assessing": 0.421, "dimension": 0.402, "importance": 0.128}),
    PaperRow(
        "Table 1", 7, 7, "VID-065583", 0.24,
        {"reshaping": 0.495, "arranging": 0.356, "body_movement": 0.298, "cause_motion": 0.249},
    ),
    PaperRow("Table 3", 1, 2, "VID-010281", 0.795, {"activity_ongoing": 0.862, "process_continue": 0.86}),
    PaperRow("Table 3", 2, 1, "VID-003992", 0.771, {"inclusion": 0.89, "cause_to_be_included": 0.813}),
    PaperRow("Table 3", 3, 2, "VID-004743", 0.628, {"endeavor_failure": 0.826, "success_or_failure": 0.8}),
    PaperRow("Table 3", 4, 4, "VID-005381", 0.598, {"using_resource": 0.831, "using": 0.554, "tool_purpose": 0.336}),
    PaperRow("Table 3", 5, 2, "VID-004486", 0.504, {"receiving": 0.751, "getting": 0.556}),
    PaperRow(
        "Table 3", 6, 2, "VID-004505", 0.467,
        {"dominate_situation": 0.638, "dominate_competitor": 0.579, "being_in_control": 0.327},
    ),
    PaperRow("Table 4", 1, 2, "VID-008713", 0.725, {"withdraw_from_participation": 0.955, "removing": 0.61}),
    PaperRow("Table 4", 2, 3, "VID-006261", 0.68, {"differentiation": 0.867, "distinctiveness": 0.703}),
    PaperRow("Table 4", 3, 4, "VID-005427", 0.654, {"improvement_or_decline": 0.787, "cause_to_make_progress": 0.732}),
    PaperRow("Table 4", 4, 6, "VID-009033", 0.65, {"emphasizing": 0.764, "convey_importance": 0.638}),
    PaperRow("Table 4", 5, 1, "VID-008330", 0.453, {"cause_to_continue": 0.7, "activity_ongoing": 0.602}),
    PaperRow("Table 4", 6, 4, "VID-003287", 0.29, {"taking_time": 0.41, "expend_resource": 0.365}),
    PaperRow(
        "Table 5", 1, 7, "VID-001384", 0.284,
        {"arranging": 0.474, "adjusting": 0.4, "assessing": 0.298, "compatibility": 0.254, "undergo_change": 0.169},
    ),
    PaperRow(
        "Table 5", 2, 3, "VID-009930", 0.239,
        {"dodging": 0.477, "compliance": 0.248, "surpassing": 0.204, "none": 0.148},
    ),
    PaperRow("Table 5", 3, 7, "VID-010275", 0.201, {"education_teaching": 0.384, "communication": 0.35, "none": 0.153}),
    PaperRow(
        "Table 5", 4, 3, "VID-000658", 0.172,
        {"difficulty": 0.372, "competition": 0.283, "taking_sides": 0.257, "communication": 0.154},
    ),
    PaperRow(
        "Table 5", 5, 6, "VID-006808", 0.134,
        {"speed_description": 0.39, "assistance": 0.209, "self_motion": 0.165, "travel": 0.16, "causation": 0.124},
    ),
)  # fmt: skip
