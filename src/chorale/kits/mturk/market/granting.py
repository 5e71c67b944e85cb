"""Qualification types and their assignment to workers."""

from typing import Any

from chorale.kits.mturk.api import errors
from chorale.kits.mturk.api.answers import read_answer_key
from chorale.kits.mturk.api.questions import read_test
from chorale.kits.mturk.market.reviewing import send_message
from chorale.kits.mturk.market.stage import Market, as_seconds, page, turk_worker
from chorale.kits.mturk.store import hits, qualifications
from chorale.kits.mturk.store.qualifications import HeldRow, QualificationTypeRow, RequestRow
from chorale.model.plural import plural

Request = dict[str, Any]
Reply = dict[str, Any]


def type_as_sent(row: QualificationTypeRow) -> Reply:
    sent: Reply = {
        "QualificationTypeId": row.name,
        "CreationTime": as_seconds(row.created_at),
        "Name": row.title,
        "Description": row.description,
        "Keywords": row.keywords,
        "QualificationTypeStatus": row.status,
        "IsRequestable": row.status == "Active",
        "AutoGranted": row.auto_value is not None,
    }
    more = {
        "Test": row.test,
        "AnswerKey": row.answer_key,
        "TestDurationInSeconds": row.test_seconds,
        "RetryDelayInSeconds": row.retry_seconds,
        "AutoGrantedValue": row.auto_value,
    }
    return sent | {name: value for name, value in more.items() if value is not None}


def create_type(market: Market, request: Request) -> Reply:
    if qualifications.type_titled(market.tx, request["Name"]) is not None:
        # Scripts match the beginning of this sentence.
        raise errors.exists(
            "QualificationType", f"You have already created a QualificationType with this name. {request['Name']!r}"
        )
    name = market.new_id()
    values = {
        "name": name,
        "title": request["Name"],
        "keywords": request["Keywords"],
        "description": request["Description"],
        "status": request["QualificationTypeStatus"],
        "retry_seconds": request["RetryDelayInSeconds"],
        "created_at": market.now,
        **_test(request),
        **_auto(request, has_test=request["Test"] is not None),
    }
    qualifications.add_type(market.tx, values)
    return {"QualificationType": type_as_sent(market.qualification_type(name))}


def _test(request: Request) -> dict[str, Any]:
    test, key, seconds = request["Test"], request["AnswerKey"], request["TestDurationInSeconds"]
    if test is not None:
        read_test(test)
        if seconds is None:
            raise errors.missing("TestDurationInSeconds")
    if key is not None:
        if test is None:
            raise errors.invalid("AnswerKey", "requires a Test")
        read_answer_key(key)
    return {"test": test, "answer_key": key, "test_seconds": seconds}


def _auto(request: Request, *, has_test: bool) -> dict[str, Any]:
    if not request["AutoGranted"]:
        return {"auto_value": None}
    if has_test:
        raise errors.invalid("AutoGranted", "must not be true for a QualificationType with a Test")
    value = request["AutoGrantedValue"]
    return {"auto_value": 1 if value is None else value}


def update_type(market: Market, request: Request) -> Reply:
    row = market.qualification_type(request["QualificationTypeId"])
    values: dict[str, Any] = {}
    if request["Test"] is not None:
        values |= _test(request)
    elif request["AnswerKey"] is not None:
        if row.test is None:
            raise errors.invalid("AnswerKey", "requires a Test")
        read_answer_key(request["AnswerKey"])
        values["answer_key"] = request["AnswerKey"]
    if request["AutoGranted"] is not None:
        values |= _auto(request, has_test=bool(row.test or request["Test"]))
    plain = {"description": "Description", "status": "QualificationTypeStatus", "retry_seconds": "RetryDelayInSeconds"}
    values |= {column: request[name] for column, name in plain.items() if request[name] is not None}
    if values:
        qualifications.change_type(market.tx, row.id, **values)
    return {"QualificationType": type_as_sent(market.qualification_type(row.name))}


def get_type(market: Market, request: Request) -> Reply:
    return {"QualificationType": type_as_sent(market.qualification_type(request["QualificationTypeId"]))}


def delete_type(market: Market, request: Request) -> Reply:
    row = market.qualification_type(request["QualificationTypeId"])
    qualifications.change_type(market.tx, row.id, deleted_at=market.now)
    ended = hits.expire_requiring(market.tx, row.name, market.now)
    if ended:
        open_hits = plural(ended, "open HIT", "open HITs")
        market.warn(
            f"{open_hits} required this qualification and expired, because no worker has the qualification any more."
        )
    return {}


def list_types(market: Market, request: Request) -> Reply:
    types, beside = page(
        request,
        "qualification-types",
        lambda limit, after: qualifications.types(
            market.tx, limit, after, query=request["Query"], requestable=request["MustBeRequestable"]
        ),
    )
    return {**beside, "QualificationTypes": [type_as_sent(row) for row in types]}


def associate(market: Market, request: Request) -> Reply:
    kind = market.qualification_type(request["QualificationTypeId"])
    worker = market.worker(request["WorkerId"])
    grant(market, kind, worker, request["IntegerValue"], say=request["SendNotification"])
    return {}


def grant(market: Market, kind: QualificationTypeRow, worker: int, value: int, *, say: bool) -> None:
    qualifications.grant(market.tx, kind.id, worker, value, market.now)
    if say:
        body = f"You now have the qualification “{kind.title}”. Tasks that require it may be available to you."
        send_message(market, worker, f"mturk:granted:{kind.id}:{market.now}", "You got a qualification", body)


def disassociate(market: Market, request: Request) -> Reply:
    kind = market.qualification_type(request["QualificationTypeId"])
    worker = market.worker(request["WorkerId"])
    if not qualifications.revoke(market.tx, kind.id, worker):
        raise errors.wrong_state("Qualification", "The worker does not have this qualification.")
    if request["Reason"]:
        body = f"You no longer have the qualification “{kind.title}”. The reason given:\n\n> {request['Reason']}"
        subject = "You no longer have a qualification"
        send_message(market, worker, f"mturk:revoked:{kind.id}:{market.now}", subject, body)
    return {}


def held_as_sent(row: HeldRow, kind: str) -> Reply:
    return {
        "QualificationTypeId": kind,
        "WorkerId": turk_worker(row.pseudonym),
        "GrantTime": as_seconds(row.granted_at),
        "IntegerValue": row.value,
        "Status": row.status,
    }


def get_score(market: Market, request: Request) -> Reply:
    kind = market.qualification_type(request["QualificationTypeId"])
    row = qualifications.held(market.tx, kind.id, market.worker(request["WorkerId"]))
    if row is None:
        raise errors.unknown("Qualification", f"{kind.name} of {request['WorkerId']}")
    return {"Qualification": held_as_sent(row, kind.name)}


def list_holders(market: Market, request: Request) -> Reply:
    kind = market.qualification_type(request["QualificationTypeId"])
    holders, beside = page(
        request,
        "holders",
        lambda limit, after: qualifications.holders(market.tx, kind.id, limit, after, request["Status"]),
    )
    return {**beside, "Qualifications": [held_as_sent(row, kind.name) for row in holders]}


def list_requests(market: Market, request: Request) -> Reply:
    name = request["QualificationTypeId"]
    if name is not None:
        market.qualification_type(name)
    requests, beside = page(
        request, "requests", lambda limit, after: qualifications.open_requests(market.tx, name, limit, after)
    )
    return {**beside, "QualificationRequests": [_request_as_sent(row) for row in requests]}


def _request_as_sent(row: RequestRow) -> Reply:
    sent: Reply = {
        "QualificationRequestId": row.name,
        "QualificationTypeId": row.type,
        "WorkerId": turk_worker(row.pseudonym),
        "SubmitTime": as_seconds(row.at),
    }
    return sent | {name: text for name, text in (("Test", row.test), ("Answer", row.answer)) if text is not None}


def accept_request(market: Market, request: Request) -> Reply:
    row = _open_request(market, request)
    qualifications.change_request(market.tx, row.id, state="granted")
    grant(market, market.qualification_type(row.type), row.worker_id, request["IntegerValue"], say=True)
    return {}


def reject_request(market: Market, request: Request) -> Reply:
    row = _open_request(market, request)
    qualifications.change_request(market.tx, row.id, state="rejected", reason=request["Reason"])
    kind = market.qualification_type(row.type)
    body = f"You did not get the qualification “{kind.title}”."
    if request["Reason"]:
        body += f" The reason given:\n\n> {request['Reason']}"
    send_message(market, row.worker_id, f"mturk:request:{row.id}", "About your qualification", body)
    return {}


def _open_request(market: Market, request: Request) -> RequestRow:
    name = request["QualificationRequestId"]
    row = qualifications.request_called(market.tx, name, lock=True)
    if row is None or row.state == "testing":
        raise errors.unknown("QualificationRequest", name)
    if row.state != "open":
        raise errors.wrong_state("QualificationRequest", f"The request was already {row.state}.")
    return row
