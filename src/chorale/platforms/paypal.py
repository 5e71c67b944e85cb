"""PayPal Payouts: many payments in one request, which can be repeated without paying twice.

PayPal rejects a batch whose `sender_batch_id` it has seen in the last 30 days, and returns the existing batch. So a
request whose answer was lost is repeated with the same id: it either pays now or finds the existing batch.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import httpx2 as httpx

from chorale.model import UserError, money_number
from chorale.model.money import minor_units
from chorale.platforms.prolific import InDoubtError, RefusedError

ADDRESS = "https://api-m.paypal.com"
MOST_AT_ONCE = 500
"""Maximum number of payments per request. PayPal accepts 15,000, but its report on 500 fits on one page."""
REMEMBERED_DAYS = 30
"""How long PayPal rejects a batch that it has seen."""
TRIES = 5
FIRST_PAUSE = 0.5
BUSY = 429
SURELY_REFUSED = frozenset({400, 403, 404, 415, 422})
"""Statuses that mean this request was not accepted; PayPal may already have the batch from an earlier one."""
DUPLICATE = "USER_BUSINESS_ERROR"
LONGEST_RECEIVER = 127
ARRIVED = frozenset({"SUCCESS"})
FAILED = frozenset({"FAILED", "RETURNED", "BLOCKED", "REFUNDED", "REVERSED", "CANCELED"})
DENIED = "DENIED"
REFUSED_BATCH = frozenset({DENIED, "CANCELED"})
_ERROR_NAME = re.compile("[A-Z0-9_]{1,64}")
_RECEIVER = re.compile(r"items\W{1,2}(\d{1,5})\W{1,2}receiver$")
_BATCH_LINK = re.compile(r"/v1/payments/payouts/([A-Za-z0-9_-]{1,64})(?:[?#].*)?$")


class PayPalItem(NamedTuple):
    """A payment. `id` is ours, and PayPal uses it in reports."""

    id: str
    receiver: str
    amount: int
    currency: str


class PayPalBatch(NamedTuple):
    """A batch that PayPal has accepted."""

    id: str
    is_new: bool
    """Whether it has exactly the payments of this request; otherwise, those of an earlier one."""


class PayPalRefusedError(RefusedError):
    """PayPal has certainly not accepted a batch."""

    def __init__(self, message: str, status: int, receivers: frozenset[str]) -> None:
        super().__init__(message, status)
        self.receivers = receivers
        """Our ids of the payments whose address it rejects."""


class PayPalReport(NamedTuple):
    """PayPal's report on a batch."""

    id: str
    sender_batch_id: str
    fees: int | None
    arrived: frozenset[str]
    """Our ids of successful payments."""
    failed: Mapping[str, str]
    """Reasons of failed payments, by our id."""
    under_way: frozenset[str]
    is_complete: bool
    """Whether PayPal has finished the batch. Its list can still be incomplete for a while."""
    is_denied: bool
    """Whether PayPal made none of its payments, listed or not."""


class _Answer(NamedTuple):
    status: int
    body: dict[str, Any]
    lost: bool
    """Whether the answer to an earlier attempt was lost: PayPal may have received that attempt."""


class PayPal:
    """A client for PayPal's API. The id and secret are sent only in the request for a token."""

    def __init__(
        self, client_id: str, secret: str, address: str = ADDRESS, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._client = httpx.Client(base_url=address.rstrip("/"), timeout=30.0)
        self._sleep = sleep
        self._credentials = (client_id, secret)
        self._token: str | None = None

    def __enter__(self) -> "PayPal":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def pay(self, sender_batch_id: str, items: Sequence[PayPalItem], note: str) -> PayPalBatch:
        """Request a payout.

        Repeating it with the same `sender_batch_id` pays nothing more. Raises PayPalRefusedError if PayPal has
        certainly not accepted it, InDoubtError if that is unknown.
        """
        body = {
            "sender_batch_header": {"sender_batch_id": sender_batch_id, "email_subject": note[:255]},
            "items": [
                {
                    "recipient_type": "EMAIL",
                    "amount": {"value": money_number(item.amount, item.currency), "currency": item.currency},
                    "receiver": item.receiver,
                    "sender_item_id": item.id,
                    "note": note,
                }
                for item in items
            ],
        }
        status, answer, lost = self._ask("POST", "/v1/payments/payouts", body)
        if status < 300 and "batch_header" in answer:
            return PayPalBatch(str(answer["batch_header"]["payout_batch_id"]), is_new=True)
        known = _known_batch(answer)
        if known is not None and self._is_called(known, sender_batch_id):
            return PayPalBatch(known, is_new=False)
        message = f"PayPal refused the payout: {_message(answer, status)}"
        if lost or known is not None or status not in SURELY_REFUSED or answer.get("name") == DUPLICATE:
            raise InDoubtError(message)
        raise PayPalRefusedError(message, status, frozenset(items[index].id for index in _refused(answer, len(items))))

    def _is_called(self, batch_id: str, sender_batch_id: str) -> bool:
        try:
            return self.report(batch_id).sender_batch_id == sender_batch_id
        except RefusedError:
            return False

    def report(self, batch_id: str) -> PayPalReport:
        """The state of a batch."""
        status, answer, _ = self._ask("GET", f"/v1/payments/payouts/{batch_id}?page=1&page_size=1000")
        if status >= 300 or "batch_header" not in answer:
            raise RefusedError(f"PayPal does not show payout {batch_id}: {_message(answer, status)}", status)
        header = answer["batch_header"]
        arrived, under_way, failed = set(), set(), {}
        for item in answer.get("items", ()):
            ours, state = str(item["payout_item"].get("sender_item_id", "")), str(item.get("transaction_status", ""))
            if state in ARRIVED:
                arrived.add(ours)
            elif state in FAILED or header.get("batch_status") in REFUSED_BATCH:
                # Only the name of an error: its message may contain the receiver.
                name = str(item.get("errors", {}).get("name", ""))
                failed[ours] = f"PayPal reports {name if _ERROR_NAME.fullmatch(name) else state}"
            else:
                under_way.add(ours)
        fees = header.get("fees", {})
        return PayPalReport(
            batch_id,
            str(header.get("sender_batch_header", {}).get("sender_batch_id", "")),
            minor_units(str(fees["value"]), str(fees["currency"])) if "value" in fees else None,
            frozenset(arrived),
            failed,
            frozenset(under_way),
            header.get("batch_status") in {"SUCCESS", *REFUSED_BATCH},
            header.get("batch_status") == DENIED,
        )

    def _ask(self, method: str, path: str, body: Any = None) -> _Answer:
        """Send a request, repeatedly after a lost connection, a failure or a rate limit: every request here can be
        repeated.
        """
        pause, lost = FIRST_PAUSE, False
        for attempt in range(TRIES):
            if attempt:
                self._sleep(pause)
                pause *= 2
            if not self.sign_in():
                continue
            try:
                headers = {"Authorization": f"Bearer {self._token}"}
                answer = self._client.request(method, path, json=body, headers=headers)
            except httpx.TransportError:
                lost = True
                continue
            if answer.status_code == 401:
                self._token = None
            elif answer.status_code < 500 and answer.status_code != BUSY:
                return _Answer(answer.status_code, _json(answer), lost)
            lost = lost or answer.status_code >= 500
        raise InDoubtError("PayPal did not answer. Try again in a few minutes: nobody is paid twice.")

    def sign_in(self) -> bool:
        """Get a token if there is none; False if PayPal can't issue one now.

        UserError if it rejects the id and secret.
        """
        if self._token is None:
            try:
                answer = self._client.post(
                    "/v1/oauth2/token", data={"grant_type": "client_credentials"}, auth=self._credentials
                )
            except httpx.TransportError:
                return False
            if answer.status_code in (400, 401, 403):
                raise UserError("PayPal refused the client id and secret. Copy them again from its developer pages.")
            self._token = _json(answer).get("access_token") or None
        return self._token is not None


def _json(answer: httpx.Response) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _known_batch(answer: Mapping[str, Any]) -> str | None:
    """The existing batch named in the rejection of a duplicate."""
    links = [*answer.get("links", ()), *(one for error in answer.get("details", ()) for one in error.get("link", ()))]
    hrefs = (str(link.get("href", "")) for link in links if isinstance(link, dict))
    return next((found[1] for href in hrefs if (found := _BATCH_LINK.search(href))), None)


def _refused(answer: Mapping[str, Any], count: int) -> set[int]:
    """The payments that an answer rejects because of their address."""
    fields = (str(error.get("field", "")) for error in answer.get("details", ()) if isinstance(error, dict))
    named = {int(found[1]) for field in fields if (found := _RECEIVER.search(field))}
    return {index for index in named if index < count}


def _message(answer: Mapping[str, Any], status: int) -> str:
    return str(answer.get("message") or answer.get("name") or f"status {status}")
