"""Who may work on a HIT: what its qualification requirements say of what a worker has."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

APPROVED_HITS = "00000000000000000040"
APPROVED_PERCENT = "000000000000000000L0"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
MASTERS = ("2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6", "2NDP2L92HECWY8NS8H3CK0CP5L9GHO")
TRACK_RECORD = frozenset({APPROVED_HITS, APPROVED_PERCENT})
"""What can be counted here as well: how much of somebody's work was approved."""
KNOWN_TO_AMAZON = TRACK_RECORD | {LOCALE, ADULT, *MASTERS}
"""Qualifications that Mechanical Turk itself gave."""
_ORDERED: Mapping[str, Callable[[int, int], bool]] = {
    "LessThan": operator.lt,
    "LessThanOrEqualTo": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqualTo": operator.ge,
}


def holds(requirement: Mapping[str, Any], value: int | None) -> bool:
    """Whether a requirement is met by the value somebody has of the qualification; None if they do not have it.

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


def guards(requirement: Mapping[str, Any]) -> str:
    """What somebody who does not meet it is kept from: Accept, PreviewAndAccept or DiscoverPreviewAndAccept."""
    given = requirement.get("ActionsGuarded")
    return str(given) if given else "PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept"
