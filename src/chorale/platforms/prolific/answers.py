"""Parsed responses of Prolific's API."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chorale.platforms.prolific.transport import STRANGE, InDoubtError


@dataclass(frozen=True, slots=True)
class RemoteStudy:
    """A study on Prolific."""

    id: str
    status: str
    places: int
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reported:
    """A submission on Prolific."""

    id: str
    study_id: str
    participant: str
    status: str
    code: str | None
    bonuses: tuple[int, ...] = ()
    """In minor units. Reported only for a single submission."""


@dataclass(frozen=True, slots=True)
class BonusBatch:
    """Bonuses that are set up but not paid yet."""

    id: str
    amount: int | None
    total: int | None
    """Total with fees and taxes, in minor units."""


def study_in(fields: Mapping[str, Any]) -> RemoteStudy:
    return RemoteStudy(
        id_in(fields), str(fields.get("status", "")), minor(fields.get("total_available_places")) or 0, fields
    )


def submission_in(submission: Mapping[str, Any]) -> Reported:
    """Parse a submission. Lists use other names for the participant and the code than single submissions."""
    code = submission.get("entered_code")
    if code is None:
        code = submission.get("study_code")
    return Reported(
        id=id_in(submission),
        study_id=str(submission.get("study_id") or ""),
        participant=str(submission.get("participant") or submission.get("participant_id") or ""),
        # Spelled with a space, an underscore or a hyphen, depending on the endpoint.
        status=str(submission.get("status", "")).upper().replace("_", " ").replace("TIMED OUT", "TIMED-OUT"),
        code=None if code is None else str(code),
        bonuses=tuple(minor(bonus) or 0 for bonus in submission.get("bonus_payments") or ()),
    )


def minor(amount: object) -> int | None:
    try:
        return round(float(amount)) if isinstance(amount, int | float | str) and amount != "" else None
    except (ValueError, OverflowError):
        raise InDoubtError(STRANGE) from None


def id_in(fields: Mapping[str, Any], name: str = "id") -> str:
    if not isinstance(fields.get(name), str):
        raise InDoubtError(STRANGE)
    return str(fields[name])
