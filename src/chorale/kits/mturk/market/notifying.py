"""Notifications about HITs for the programs of requesters.

Notifications are stored in the transaction of their event. Those for an external queue are sent afterwards, at least
once, with retries for a limited time. All others stay in a queue on this site until a script receives them.
"""

import json
import logging
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from chorale.engine.running import Study
from chorale.kits.mturk.api import errors
from chorale.kits.mturk.api.names import id_from
from chorale.kits.mturk.api.queues import is_kept, queue_named
from chorale.kits.mturk.market.stage import Market
from chorale.kits.mturk.store import hits, notifications
from chorale.kits.mturk.store.hits import HitTypeRow

Request = dict[str, Any]
Reply = dict[str, Any]
MOST_TRIES = 8
FIRST_PAUSE_MS = int(timedelta(seconds=5).total_seconds() * 1000)
WAIT_SECONDS = 5
log = logging.getLogger("chorale.mturk")


def notify(market: Market, kind: HitTypeRow, event: str, hit: str, assignment: str | None = None) -> None:
    """Queues a notification if the HIT type subscribes to this event."""
    wanted = kind.notification
    if wanted is None or not kind.notifying or event not in wanted["EventTypes"]:
        return
    _enqueue(market, wanted, event, hit, kind.name, assignment)


def _enqueue(
    market: Market, wanted: dict[str, Any], event: str, hit: str, type_name: str, assignment: str | None
) -> None:
    notice = {
        "EventType": event,
        "EventTimestamp": datetime.fromtimestamp(market.now / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "HITId": hit,
        "HITTypeId": type_name,
        **({"AssignmentId": assignment} if assignment else {}),
    }
    transport, destination = wanted["Transport"], wanted["Destination"]
    if is_kept(transport, destination):
        transport, destination = notifications.QUEUE, queue_named(destination)
    content = json.dumps(notice, sort_keys=True)
    body = {
        "EventDocId": id_from("event", str(market.now), content).lower(),
        "EventDocVersion": wanted["Version"],
        "CustomerId": id_from("requester", market.study.settings.study.title),
        "Events": [notice],
    }
    notifications.add(market.tx, transport, destination, json.dumps(body), market.now)


def update_settings(market: Market, request: Request) -> Reply:
    kind = hits.type_called(market.tx, request["HITTypeId"])
    if kind is None:
        raise errors.unknown("HITType", request["HITTypeId"])
    wanted = request["Notification"]
    if wanted is None and request["Active"] is None:
        raise errors.missing("Notification or Active")
    if wanted is None and kind.notification is None:
        raise errors.invalid("Active", "requires a Notification first")
    if wanted is not None:
        _check(wanted)
    active = True if request["Active"] is None else request["Active"]
    hits.set_notification(market.tx, kind.id, wanted or kind.notification, active=active)
    return {}


def _check(wanted: dict[str, Any]) -> None:
    if wanted["Version"] not in ("2006-05-05", "2014-08-15"):
        raise errors.invalid("Notification.Version", "must be 2006-05-05 or 2014-08-15")
    if wanted["Transport"] == "SQS":
        try:
            parts = urlsplit(wanted["Destination"])
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise errors.invalid("Notification.Destination", "must be the http or https URL of a queue")


def send_test(market: Market, request: Request) -> Reply:
    wanted = request["Notification"]
    _check(wanted)
    hit, kind, assignment = (id_from(f"a test {what}") for what in ("HIT", "HIT type", "assignment"))
    _enqueue(market, wanted, request["TestEventType"], hit, kind, assignment)
    return {}


def send_due(study: Study) -> int:
    """Sends the due notifications and returns their number. Called outside of any transaction."""
    now = study.clock()
    waiting = study.store.read(lambda tx: notifications.due(tx, now, 20)).result()
    sent = 0
    for row in waiting:
        if _send(row.destination, row.body):
            sent += 1
            study.store.write(lambda tx, number=row.id: notifications.note_sent(tx, number, now)).result()  # type: ignore[misc]
        else:
            later = now + FIRST_PAUSE_MS * 2**row.tries if row.tries + 1 < MOST_TRIES else None
            study.store.write(lambda tx, number=row.id, due=later: notifications.note_failed(tx, number, due)).result()  # type: ignore[misc]
    return sent


def _send(queue: str, body: str) -> bool:
    form = urlencode({"Action": "SendMessage", "Version": "2012-11-05", "MessageBody": body}).encode()
    try:
        with urlopen(HttpRequest(queue, form), timeout=WAIT_SECONDS) as answer:  # noqa: S310 - http and https alone
            return bool(200 <= answer.status < 300)
    except (URLError, OSError, ValueError) as error:
        log.warning("a notification could not be sent to its queue: %s", type(error).__name__)
        return False
