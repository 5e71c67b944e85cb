"""Checks qualification requirements of HITs against the qualifications of a worker."""

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

APPROVED_HITS = "00000000000000000040"
APPROVED_PERCENT = "000000000000000000L0"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
MASTERS = (
    *("2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"),
    *("2NDP2L92HECWY8NS8H3CK0CP5L9GHO", "21VZU98JHSTLZ5BPP4A9NOBJEK3DPG"),
)
TRACK_RECORD = frozenset({APPROVED_HITS, APPROVED_PERCENT})
"""System qualifications that can also be computed on this site, from approved work."""
SYSTEM_TYPES: Mapping[str, str] = {
    APPROVED_HITS: "number of approved HITs",
    APPROVED_PERCENT: "approval rate",
    LOCALE: "locale",
    ADULT: "adult content",
    **dict.fromkeys(MASTERS, "Masters"),
    # From earlier versions of the API: rates of submitted, abandoned, returned and rejected assignments.
    "00000000000000000000": "submission rate",
    "00000000000000000070": "abandonment rate",
    "000000000000000000E0": "return rate",
    "000000000000000000S0": "rejection rate",
}
"""System qualifications of Mechanical Turk, with their names."""
_NO_VALUE = ("Exists", "DoesNotExist")
_ORDERED: Mapping[str, Callable[[int, int], bool]] = {
    "LessThan": operator.lt,
    "LessThanOrEqualTo": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqualTo": operator.ge,
}


def holds(requirement: Mapping[str, Any], value: int | None) -> bool:
    """Whether a requirement is met by a qualification value (None for workers without the qualification).

    >>> asked = {"Comparator": "GreaterThanOrEqualTo", "IntegerValues": [80]}
    >>> holds(asked, 80), holds(asked, 79), holds(asked, None)
    (True, False, False)
    """
    comparator = requirement["Comparator"]
    if comparator == "DoesNotExist":
        return value is None
    if value is None:
        return False
    wanted = requirement.get("IntegerValues") or []
    match comparator:
        case "Exists":
            return True
        case "In":
            return value in wanted
        case "NotIn":
            return value not in wanted
        case "EqualTo":
            return value in wanted[:1]
        case "NotEqualTo":
            return value not in wanted[:1]
    return bool(wanted) and _ORDERED[comparator](value, wanted[0])


def lacks_value(requirement: Mapping[str, Any]) -> bool:
    """Whether a requirement has no value to compare with, so that nobody could meet it."""
    values = requirement.get("LocaleValues" if requirement["QualificationTypeId"] == LOCALE else "IntegerValues")
    return requirement["Comparator"] not in _NO_VALUE and not values


def is_checked(name: str, *, counted: bool) -> bool:
    """Whether a qualification can be checked here. `counted`: approved work is counted on this site."""
    return name not in SYSTEM_TYPES or (counted and name in TRACK_RECORD)


def unchecked(requirements: Iterable[Mapping[str, Any]], *, counted: bool) -> tuple[str, ...]:
    """A warning with advice for each requirement that only Mechanical Turk could check.

    >>> unchecked([{"QualificationTypeId": LOCALE}], counted=False)
    ('The locale requirement is not checked: any worker may accept the HIT. Set it on your recruitment platform.',)
    """
    names = [one["QualificationTypeId"] for one in requirements]
    return tuple(
        dict.fromkeys(
            f"The {SYSTEM_TYPES[name]} requirement is not checked: any worker may accept the HIT. {_instead(name)}"
            for name in names
            if not is_checked(name, counted=counted)
        )
    )


def _instead(name: str) -> str:
    if name in TRACK_RECORD:
        return 'To check it against approved work on this site, set track_record = "here" under [stage.options].'
    if name in MASTERS:
        return "Use your own qualification type instead."
    return "Set it on your recruitment platform."


def guards(requirement: Mapping[str, Any]) -> str:
    """Actions guarded by a requirement: Accept, PreviewAndAccept or DiscoverPreviewAndAccept."""
    given = requirement.get("ActionsGuarded")
    return str(given) if given else "PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept"
