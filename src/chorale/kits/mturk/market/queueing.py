"""Notification queues on this site: receive, delete and count."""

import base64
import binascii
from collections.abc import Callable
from hashlib import md5
from typing import Any

from chorale.engine.running import Study
from chorale.kits.mturk.api import errors
from chorale.kits.mturk.api.queues import PATH, queue_named, read_queue_request
from chorale.kits.mturk.market.operations import Call, refuse_replay
from chorale.kits.mturk.market.stage import Market, market_of
from chorale.kits.mturk.store import notifications
from chorale.store import Tx

Request = dict[str, Any]
Reply = dict[str, Any]


def ask_queue(tx: Tx, study: Study, call: Call, site: str) -> Reply:
    """Carries out a queue operation. `site` is the URL prefix of queues."""
    request = read_queue_request(call.operation, call.body)
    market = market_of(tx, study)
    if call.changes:
        refuse_replay(market, call)
    if call.operation in ("CreateQueue", "GetQueueUrl"):
        return {"QueueUrl": f"{site}{PATH}{request['queue']}"}
    return _WORK[call.operation](market, request)


def has_message(tx: Tx, study: Study, url: str) -> bool:
    return notifications.waiting(tx, queue_named(url), study.clock()) > 0


def _attributes(market: Market, request: Request) -> Reply:
    count = notifications.waiting(market.tx, request["queue"], market.now)
    return {
        "Attributes": {
            "QueueArn": f"arn:aws:sqs:us-east-1:000000000000:{request['queue']}",
            "ApproximateNumberOfMessages": str(count),
        }
    }


def _receive(market: Market, request: Request) -> Reply:
    again_at = market.now + request["VisibilityTimeout"] * 1000
    rows = notifications.receive(
        market.tx, request["queue"], market.now, again_at, min(10, request["MaxNumberOfMessages"])
    )
    messages = [
        {
            "MessageId": f"{row.id:032x}",
            "ReceiptHandle": base64.urlsafe_b64encode(f"{row.id}:{row.tries}".encode()).decode(),
            # Checksum that the API requires to detect transmission errors.
            "MD5OfBody": md5(row.body.encode(), usedforsecurity=False).hexdigest(),
            "Body": row.body,
        }
        for row in rows
    ]
    return {"Messages": messages} if messages else {}


def _number(handle: str) -> int:
    try:
        number, _, _ = base64.urlsafe_b64decode(handle.encode()).decode().partition(":")
        if number.isdecimal() and len(number) < 19:
            return int(number)
    except (ValueError, binascii.Error):
        pass
    raise errors.invalid("ReceiptHandle", "was not issued by this queue")


def _delete(market: Market, request: Request) -> Reply:
    notifications.take_out(market.tx, request["queue"], market.now, [_number(request["ReceiptHandle"])])
    return {}


def _delete_several(market: Market, request: Request) -> Reply:
    numbers = [_number(one["ReceiptHandle"]) for one in request["Entries"]]
    notifications.take_out(market.tx, request["queue"], market.now, numbers)
    return {"Successful": [{"Id": one["Id"]} for one in request["Entries"]], "Failed": []}


def _purge(market: Market, request: Request) -> Reply:
    notifications.take_out(market.tx, request["queue"], market.now)
    return {}


def _leave(_market: Market, _request: Request) -> Reply:
    """Attributes for permissions and retention have no effect here."""
    return {}


_WORK: dict[str, Callable[[Market, Request], Reply]] = {
    "GetQueueAttributes": _attributes,
    "SetQueueAttributes": _leave,
    "ReceiveMessage": _receive,
    "DeleteMessage": _delete,
    "DeleteMessageBatch": _delete_several,
    "PurgeQueue": _purge,
}
