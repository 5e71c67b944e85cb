"""Parameters of each operation: types, limits and required values."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chorale.kits.mturk.api.errors import invalid, missing, out_of_range

Reader = Callable[[str, Any], Any]
"""Converts the value of a parameter, or raises an error."""

_ENTITY = re.compile(r"[A-Z0-9]{1,64}")
_MONEY = re.compile(r"\d{1,9}(?:\.\d{0,2})?", re.ASCII)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_TOKEN = re.compile(r"\S.{0,63}", re.DOTALL)
YEAR = 365 * 24 * 3600
LONGEST_QUESTION = 131_072


@dataclass(frozen=True, slots=True)
class Parameter:
    read: Reader
    required: bool = False
    default: Any = None


def text(most: int = 4000, fewest: int = 0) -> Reader:
    def read(name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise invalid(name, "must be text")
        if _UNSTORABLE.search(value):
            raise invalid(name, "has characters that can't be stored")
        if not fewest <= len(value) <= most:
            raise out_of_range(name, f"must have {fewest} to {most:,} characters, but has {len(value):,}")
        return value

    return read


def code(pattern: str, meaning: str) -> Reader:
    """A short code. `meaning` describes it, with an example."""
    matches = re.compile(pattern).fullmatch

    def read(name: str, value: Any) -> str:
        if not isinstance(value, str) or not matches(value):
            raise invalid(name, f"must be {meaning}, not {str(value)[:20]!r}")
        return value

    return read


def number(fewest: int, most: int) -> Reader:
    def read(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise invalid(name, "must be a whole number")
        if not fewest <= value <= most:
            raise out_of_range(name, f"must be between {fewest:,} and {most:,}, but is {value:,}")
        return value

    return read


def one_of(*choices: str) -> Reader:
    def read(name: str, value: Any) -> str:
        if value not in choices:
            raise invalid(name, f"must be one of {', '.join(choices)}")
        return str(value)

    return read


def several(each: Reader, most: int) -> Reader:
    def read(name: str, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise invalid(name, "must be a list")
        if len(value) > most:
            raise out_of_range(name, f"must have at most {most} entries, but has {len(value):,}")
        return [each(f"{name}[{place}]", one) for place, one in enumerate(value)]

    return read


def table(parameters: Mapping[str, Parameter]) -> Reader:
    def read(name: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise invalid(name, "must be an object")
        return read_table(parameters, value, f"{name}.")

    return read


def yes_or_no(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise invalid(name, "must be true or false")
    return value


def entity(name: str, value: Any) -> str:
    if not isinstance(value, str) or not _ENTITY.fullmatch(value):
        raise invalid(name, "must be an ID: 1 to 64 capital letters and digits")
    return value


def money(name: str, value: Any) -> int:
    """An amount in hundredths."""
    if not isinstance(value, str) or not _MONEY.fullmatch(value):
        raise invalid(name, "must be an amount like '0.05', as text")
    whole, _, part = value.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0"))


def money_as_sent(amount: int) -> str:
    return f"{amount // 100}.{amount % 100:02d}"


def moment(name: str, value: Any) -> int:
    """A time, in milliseconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**34:
        raise invalid(name, "must be a time, in seconds since 1970")
    return int(value * 1000)


def request_token(name: str, value: Any) -> str:
    if not isinstance(value, str) or not _TOKEN.fullmatch(value) or _UNSTORABLE.search(value):
        raise out_of_range(name, "must have 1 to 64 characters")
    return value


def must(read: Reader) -> Parameter:
    return Parameter(read, required=True)


def may(read: Reader, default: Any = None) -> Parameter:
    return Parameter(read, default=default)


EVENT_TYPES = (
    *(f"Assignment{what}" for what in ("Accepted", "Abandoned", "Returned", "Submitted", "Rejected", "Approved")),
    *(f"HIT{what}" for what in ("Created", "Expired", "Reviewable", "Extended", "Disposed")),
    "Ping",
)
COMPARATORS = (
    *("LessThan", "LessThanOrEqualTo", "GreaterThan", "GreaterThanOrEqualTo", "EqualTo", "NotEqualTo"),
    *("Exists", "DoesNotExist", "In", "NotIn"),
)
_COUNTRY = code(r"[A-Z]{2}", "a country code of two capital letters (ISO 3166), such as US")
_SUBDIVISION = code(r"[A-Z0-9]{1,3}", "a region code without the country (ISO 3166-2), such as CA for US-CA")
_VALUE = number(-(2**31), 2**31 - 1)
_QUALIFICATION_TYPE = {"QualificationTypeId": must(entity)}
_REQUIREMENT = table(
    {
        **_QUALIFICATION_TYPE,
        "Comparator": must(one_of(*COMPARATORS)),
        "IntegerValues": may(several(_VALUE, 15)),
        "LocaleValues": may(several(table({"Country": must(_COUNTRY), "Subdivision": may(_SUBDIVISION)}), 30)),
        "RequiredToPreview": may(yes_or_no),
        "ActionsGuarded": may(one_of("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept")),
    }
)
_NOTIFICATION = table(
    {
        "Destination": must(text(2000, 1)),
        "Transport": must(one_of("Email", "SQS", "SNS")),
        "Version": must(text(20)),
        "EventTypes": must(several(one_of(*EVENT_TYPES), 20)),
    }
)
_PAGE = {"NextToken": may(text(255, 1)), "MaxResults": may(number(1, 100), 10)}
_TYPE = {
    "AutoApprovalDelayInSeconds": may(number(0, 30 * 24 * 3600), 30 * 24 * 3600),
    "AssignmentDurationInSeconds": must(number(30, YEAR)),
    "Reward": must(money),
    "Title": must(text(128, 1)),
    "Keywords": may(text(1000), ""),
    "Description": must(text(2000, 1)),
    "QualificationRequirements": may(several(_REQUIREMENT, 10), []),
}
_VALUES = several(text(4000), 100)
_KEY = {"Key": must(text(200, 1))}
_MAP_ENTRY = table({**_KEY, "Values": must(_VALUES)})
_POLICY_PARAMETER = table({**_KEY, "Values": may(_VALUES, []), "MapEntries": may(several(_MAP_ENTRY, 100), [])})
_POLICY = table({"PolicyName": must(text(200)), "Parameters": may(several(_POLICY_PARAMETER, 30), [])})
_NEW_HIT = {
    "MaxAssignments": may(number(1, 1_000_000_000), 1),
    "LifetimeInSeconds": must(number(30, YEAR)),
    "Question": may(text(LONGEST_QUESTION, 1)),
    "RequesterAnnotation": may(text(255), ""),
    "UniqueRequestToken": may(request_token),
    "AssignmentReviewPolicy": may(_POLICY),
    "HITReviewPolicy": may(_POLICY),
    "HITLayoutId": may(entity),
    "HITLayoutParameters": may(several(table({"Name": must(text(200, 1)), "Value": must(text(64_000))}), 200), []),
}
_HIT = {"HITId": must(entity)}
_ASSIGNMENT = {"AssignmentId": must(entity)}
_WORKER = {"WorkerId": must(entity)}
_TEST = {
    "Test": may(text(LONGEST_QUESTION, 1)),
    "AnswerKey": may(text(LONGEST_QUESTION, 1)),
    "TestDurationInSeconds": may(number(1, YEAR)),
    "RetryDelayInSeconds": may(number(0, YEAR)),
    "AutoGranted": may(yes_or_no),
    "AutoGrantedValue": may(_VALUE),
}
_STATUS = one_of("Active", "Inactive")

OPERATIONS: Mapping[str, Mapping[str, Parameter]] = {
    "CreateHIT": {**_TYPE, **_NEW_HIT},
    "CreateHITType": _TYPE,
    "CreateHITWithHITType": {"HITTypeId": must(entity), **_NEW_HIT},
    "GetHIT": _HIT,
    "ListHITs": _PAGE,
    "ListReviewableHITs": {
        "HITTypeId": may(entity),
        "Status": may(one_of("Reviewable", "Reviewing"), "Reviewable"),
        **_PAGE,
    },
    "ListHITsForQualificationType": {**_QUALIFICATION_TYPE, **_PAGE},
    "UpdateExpirationForHIT": {**_HIT, "ExpireAt": must(moment)},
    "UpdateHITReviewStatus": {**_HIT, "Revert": may(yes_or_no, default=False)},
    "UpdateHITTypeOfHIT": {**_HIT, "HITTypeId": must(entity)},
    "DeleteHIT": _HIT,
    "CreateAdditionalAssignmentsForHIT": {
        **_HIT,
        "NumberOfAdditionalAssignments": must(number(1, 1_000_000_000)),
        "UniqueRequestToken": may(request_token),
    },
    "ListAssignmentsForHIT": {
        **_HIT,
        "AssignmentStatuses": may(several(one_of("Submitted", "Approved", "Rejected"), 3)),
        **_PAGE,
    },
    "GetAssignment": _ASSIGNMENT,
    "GetFileUploadURL": {**_ASSIGNMENT, "QuestionIdentifier": must(text(200))},
    "ApproveAssignment": {
        **_ASSIGNMENT,
        "RequesterFeedback": may(text(1024)),
        "OverrideRejection": may(yes_or_no, default=False),
    },
    "RejectAssignment": {**_ASSIGNMENT, "RequesterFeedback": must(text(1024))},
    "SendBonus": {
        **_WORKER,
        **_ASSIGNMENT,
        "BonusAmount": must(money),
        "Reason": must(text(4000, 1)),
        "UniqueRequestToken": may(request_token),
    },
    "ListBonusPayments": {"HITId": may(entity), "AssignmentId": may(entity), **_PAGE},
    "GetAccountBalance": {},
    "CreateQualificationType": {
        "Name": must(text(200, 1)),
        "Keywords": may(text(1000), ""),
        "Description": must(text(2000, 1)),
        "QualificationTypeStatus": must(_STATUS),
        **_TEST,
    },
    "UpdateQualificationType": {
        **_QUALIFICATION_TYPE,
        "Description": may(text(2000, 1)),
        "QualificationTypeStatus": may(_STATUS),
        **_TEST,
    },
    "GetQualificationType": _QUALIFICATION_TYPE,
    "DeleteQualificationType": _QUALIFICATION_TYPE,
    "ListQualificationTypes": {
        "Query": may(text(200)),
        "MustBeRequestable": must(yes_or_no),
        "MustBeOwnedByCaller": may(yes_or_no, default=False),
        **_PAGE,
    },
    "ListQualificationRequests": {"QualificationTypeId": may(entity), **_PAGE},
    "AcceptQualificationRequest": {"QualificationRequestId": must(entity), "IntegerValue": may(_VALUE, 1)},
    "RejectQualificationRequest": {"QualificationRequestId": must(entity), "Reason": may(text(1024), "")},
    "ListWorkersWithQualificationType": {**_QUALIFICATION_TYPE, "Status": may(one_of("Granted", "Revoked")), **_PAGE},
    "GetQualificationScore": {**_QUALIFICATION_TYPE, **_WORKER},
    "AssociateQualificationWithWorker": {
        **_QUALIFICATION_TYPE,
        **_WORKER,
        "IntegerValue": may(_VALUE, 1),
        "SendNotification": may(yes_or_no, default=True),
    },
    "DisassociateQualificationFromWorker": {**_WORKER, **_QUALIFICATION_TYPE, "Reason": may(text(1024), "")},
    "NotifyWorkers": {
        "Subject": must(text(200, 1)),
        "MessageText": must(text(4096, 1)),
        "WorkerIds": must(several(entity, 100)),
    },
    "CreateWorkerBlock": {**_WORKER, "Reason": must(text(1024, 1))},
    "DeleteWorkerBlock": {**_WORKER, "Reason": may(text(1024), "")},
    "ListWorkerBlocks": _PAGE,
    "UpdateNotificationSettings": {
        "HITTypeId": must(entity),
        "Notification": may(_NOTIFICATION),
        "Active": may(yes_or_no),
    },
    "SendTestEventNotification": {"Notification": must(_NOTIFICATION), "TestEventType": must(one_of(*EVENT_TYPES))},
    "ListReviewPolicyResultsForHIT": {
        **_HIT,
        "PolicyLevels": may(several(one_of("Assignment", "HIT"), 2)),
        "RetrieveActions": may(yes_or_no),
        "RetrieveResults": may(yes_or_no),
        **_PAGE,
    },
}
"""Every operation of version 2017-01-17 with its parameters."""


def read_request(
    operation: str, body: Any, known: Mapping[str, Mapping[str, Parameter]] = OPERATIONS
) -> dict[str, Any]:
    """All parameters of a request. Missing parameters have their default or None."""
    if not isinstance(body, dict):
        raise invalid("The request", "must be a JSON object")
    return read_table(known[operation], body)


def read_table(parameters: Mapping[str, Parameter], given: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    read: dict[str, Any] = {}
    for name, parameter in parameters.items():
        value = given.get(name)
        if value is None:
            if parameter.required:
                raise missing(before + name)
            read[name] = parameter.default
        else:
            read[name] = parameter.read(before + name, value)
    return read
