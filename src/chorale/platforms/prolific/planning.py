"""What to ask of Prolific: pure, so that all of it can be tried without a platform."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from chorale.model import ProlificStudy, UserError

MOST_AT_ONCE = 200
"""People in one bulk payment."""
SHORTEST_REASON = 100
"""Characters that the reason of a rejection must have."""
CATEGORIES = (
    *("TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT"),
    *("MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER"),
)
# Statuses in which a place is free again.
FREED = frozenset({"RETURNED", "TIMED-OUT", "REJECTED"})
# Statuses in which it is known what Prolific has paid for a submission: its reward, or nothing.
CLOSED = frozenset({"APPROVED", "RETURNED", "TIMED-OUT"})
# Statuses in which that is not known yet. In others it paid something, and does not say how much.
OPEN = frozenset({"RESERVED", "ACTIVE", "AWAITING REVIEW", "PROCESSING"})


def study_body(
    settings: ProlificStudy,
    *,
    title: str,
    marker: str,
    url: str,
    codes: tuple[str, str],
    project: str | None,
    group: str | None,
    signed: bool = False,
) -> dict[str, Any]:
    """A study as Prolific wants it described. `codes` are for finished work and for people who were stopped early.

    `signed`: Prolific is to sign the links it sends people to.
    """
    filters: list[dict[str, Any]] = [_filter(one.model_dump()) for one in settings.filters]
    if group is not None:
        filters.append({"filter_id": "participant_group_allowlist", "selected_values": [group]})
    review = [{"action": "MANUALLY_REVIEW"}]
    return {
        "name": settings.title or title,
        "internal_name": marker,
        "description": settings.description,
        "external_study_url": url,
        "prolific_id_option": "url_parameters",
        **({"is_external_study_url_secure": True} if signed else {}),
        "completion_codes": [
            {"code": codes[0], "code_type": "COMPLETED", "actions": review},
            {"code": codes[1], "code_type": "OTHER", "actions": review},
        ],
        "total_available_places": settings.places,
        "estimated_completion_time": settings.minutes,
        "reward": settings.reward,
        "device_compatibility": list(settings.devices),
        "peripheral_requirements": [],
        "filters": filters,
        **({} if project is None else {"project": project}),
    }


def _filter(given: Mapping[str, Any]) -> dict[str, Any]:
    if given["selected_values"]:
        return {"filter_id": given["filter_id"], "selected_values": list(given["selected_values"])}
    chosen = {side: given[side] for side in ("lower", "upper") if given[side] is not None}
    return {"filter_id": given["filter_id"], "selected_range": chosen}


_NAMES = {
    "name": "title",
    "reward": "reward",
    "estimated_completion_time": "expected time",
    "external_study_url": "address",
    "total_available_places": "places",
}


def changes_there(asked: Mapping[str, Any], actual: Mapping[str, Any]) -> list[str]:
    """What is no longer as it was asked for: somebody has changed the study on Prolific's own pages."""
    return [
        f"{_NAMES[key]}: {actual[key]!r} there, {asked[key]!r} asked for"
        for key in _NAMES
        if key in actual and key in asked and actual[key] != asked[key]
    ]


def checked_reason(reason: str, category: str) -> str:
    """The reason of a rejection, if it is as long as Prolific demands."""
    reason = " ".join(reason.split())
    if len(reason) < SHORTEST_REASON:
        raise UserError(
            f"The reason has {len(reason)} characters, and Prolific asks for at least {SHORTEST_REASON}. Say what was "
            "wrong, and where, so that the person can understand it."
        )
    if category not in CATEGORIES:
        known = ", ".join(CATEGORIES)
        raise UserError(f"{category!r} is not a category of rejections on Prolific. Use one of {known}.")
    return reason


def has_arrived(before: Sequence[int], amount: int, reported: Sequence[int]) -> bool:
    """Whether a bonus of this amount is among those reported, beside the ones that were there before it was paid.

    >>> has_arrived([50], 50, [50]), has_arrived([50], 50, [50, 50])
    (False, True)
    """
    return (Counter(reported) - Counter(before))[amount] > 0
