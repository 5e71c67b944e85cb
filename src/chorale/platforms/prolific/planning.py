"""Plans requests to Prolific. Pure functions, so that they can be tested without the platform."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from chorale.model import ProlificStudy, UserError

MOST_AT_ONCE = 200
"""Maximum number of people per bulk payment."""
SHORTEST_REASON = 100
"""Minimum number of characters of a rejection's reason."""
CATEGORIES = (
    *("TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT"),
    *("MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER"),
)
# Statuses in which a place is free again.
FREED = frozenset({"RETURNED", "TIMED-OUT", "REJECTED"})
# Statuses in which Prolific's payment for a submission is known: its reward, or nothing.
CLOSED = frozenset({"APPROVED", "RETURNED", "TIMED-OUT"})
SCREENED_OUT = "SCREENED OUT"
# Statuses in which the payment is not known yet. In others, Prolific paid an amount that it does not report.
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
    """The body of a request to create a study.

    `codes` are for finished work and for people who were screened out. `signed`: Prolific signs the links for
    participants.
    """
    return {
        "name": settings.title or title,
        "internal_name": marker,
        "description": settings.description,
        "external_study_url": url,
        "prolific_id_option": "url_parameters",
        **({"is_external_study_url_secure": True} if signed else {}),
        "completion_codes": completion_codes(settings, codes),
        "total_available_places": settings.places,
        "estimated_completion_time": settings.minutes,
        "reward": settings.reward,
        "device_compatibility": list(settings.devices),
        "peripheral_requirements": [],
        **_audience(settings, group),
        "submissions_config": {
            "max_submissions_per_participant": settings.submissions_per_person,
            "max_concurrent_submissions": -1 if settings.at_once is None else settings.at_once,
        },
        **_if_set("maximum_allowed_time", settings.maximum_minutes),
        **_if_set("study_labels", [settings.label] if settings.label else None),
        **_if_set("content_warnings", [settings.content_warning] if settings.content_warning else None),
        **_if_set("content_warning_details", settings.content_warning_details),
        **_if_set("project", project),
    }


def completion_codes(settings: ProlificStudy, codes: tuple[str, str]) -> list[dict[str, Any]]:
    """The two completion codes, with Prolific's action for each.

    Prolific does not approve finished work automatically: Chorale or a person approves it.
    """
    review: dict[str, Any] = {"action": "MANUALLY_REVIEW"}
    out = review
    if settings.screenout == "fixed":
        out = {
            "action": "FIXED_SCREEN_OUT_PAYMENT",
            "fixed_screen_out_reward": settings.screenout_reward,
            "slots": settings.slots,
        }
    elif settings.screenout == "return":
        out = {"action": "REQUEST_RETURN", "return_reason": "You did not meet the requirements of the study."}
    return [
        {"code": codes[0], "code_type": "COMPLETED", "actions": [review]},
        {
            "code": codes[1],
            "code_type": "FIXED_SCREENOUT" if settings.screenout == "fixed" else "SCREENED_OUT",
            "actions": [out],
        },
    ]


def _audience(settings: ProlificStudy, group: str | None) -> dict[str, Any]:
    """Who can see the study: a filter set, or filters and participant groups."""
    if settings.filter_set is not None:
        return {"filter_set_id": settings.filter_set, **_if_set("filter_set_version", settings.filter_set_version)}
    filters = [one.body() for one in settings.filters]
    # A filter matches members of any of its groups: groups that must all match need separate filters.
    for allowed in (settings.allow_groups, () if group is None else (group,)):
        if allowed:
            filters.append({"filter_id": "participant_group_allowlist", "selected_values": list(allowed)})
    if settings.block_groups:
        filters.append({"filter_id": "participant_group_blocklist", "selected_values": list(settings.block_groups)})
    return {"filters": filters}


def _if_set(name: str, value: object) -> dict[str, Any]:
    return {} if value is None else {name: value}


_NAMES = {
    "name": "title",
    "reward": "reward",
    "estimated_completion_time": "expected time",
    "external_study_url": "address",
    "total_available_places": "places",
    "maximum_allowed_time": "time limit",
}


def changes_there(asked: Mapping[str, Any], actual: Mapping[str, Any]) -> list[str]:
    """The settings of a study that were changed on Prolific's own pages."""
    return [
        f"{_NAMES[key]}: {actual[key]!r} on Prolific, {asked[key]!r} in study.toml"
        for key in _NAMES
        if key in actual and key in asked and actual[key] != asked[key]
    ]


def checked_reason(reason: str, category: str) -> str:
    """The reason of a rejection; UserError if it is shorter than Prolific requires."""
    reason = " ".join(reason.split())
    if len(reason) < SHORTEST_REASON:
        raise UserError(
            f"The reason has {len(reason)} characters, but Prolific requires at least {SHORTEST_REASON}. Say what was "
            "wrong, and where, so that the person can understand it."
        )
    if category not in CATEGORIES:
        known = ", ".join(CATEGORIES)
        raise UserError(f"{category!r} is not a category of rejections on Prolific. Use one of {known}.")
    return reason


def has_arrived(before: Sequence[int], amount: int, reported: Sequence[int]) -> bool:
    """Whether a bonus of this amount is reported in addition to those that existed before it was paid.

    >>> has_arrived([50], 50, [50]), has_arrived([50], 50, [50, 50])
    (False, True)
    """
    return (Counter(reported) - Counter(before))[amount] > 0
