"""A stand-in for PayPal's Payouts: checks every request by a schema, pays a batch once, and can fail in between.

The schema has the fields and limits of PayPal's public OpenAPI file (payments_payouts_batch_v1, version 1.9) that
Chorale uses, in our words.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from jsonschema import Draft202012Validator

CLIENT_ID, SECRET, TOKEN = "an-id", "a-secret", "a-token"
_TEXT = {"type": "string", "minLength": 1}
CREATE = {
    "type": "object",
    "required": ["sender_batch_header", "items"],
    "additionalProperties": False,
    "properties": {
        "sender_batch_header": {
            "type": "object",
            "required": ["sender_batch_id"],
            "additionalProperties": False,
            "properties": {
                "sender_batch_id": {**_TEXT, "maxLength": 256},
                "email_subject": {**_TEXT, "maxLength": 255},
            },
        },
        "items": {
            "type": "array",
            "minItems": 1,
            "maxItems": 15000,
            "items": {
                "type": "object",
                "required": ["amount", "receiver", "recipient_type"],
                "additionalProperties": False,
                "properties": {
                    "recipient_type": {"enum": ["EMAIL"]},
                    "amount": {
                        "type": "object",
                        "required": ["value", "currency"],
                        "additionalProperties": False,
                        "properties": {
                            "value": {"type": "string", "pattern": r"^[0-9]+(\.[0-9]{2})?$", "maxLength": 32},
                            "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
                        },
                    },
                    "receiver": {**_TEXT, "maxLength": 127, "pattern": "@"},
                    "sender_item_id": {**_TEXT, "maxLength": 63},
                    "note": {**_TEXT, "maxLength": 4000},
                },
            },
        },
    },
}


class StandIn:
    """Batches by id, and what is to go wrong."""

    def __init__(self) -> None:
        self.batches: dict[str, dict[str, Any]] = {}
        self.requests = 0
        self.lose_before = 0
        """So many requests to pay are lost before they are taken."""
        self.lose_after = 0
        """So many answers to requests that were taken are lost."""
        self.refuse = False
        self.no_token = 0
        """So many requests for a token are answered with a failure."""
        self.show_items = True
        self.states: dict[str, str] = {}
        """The state of payments to a receiver; SUCCESS if not given."""
        self.complaints: list[str] = []
        self.lock = threading.Lock()
        self.address = ""

    def paid(self) -> dict[str, int]:
        """How much has arrived where, in cents."""
        sums: dict[str, int] = {}
        for batch in self.batches.values():
            for item in batch["items"]:
                if self.states.get(item["receiver"], "SUCCESS") == "SUCCESS":
                    cents = round(float(item["amount"]["value"]) * 100)
                    sums[item["receiver"]] = sums.get(item["receiver"], 0) + cents
        return sums

    def create(self, body: Any) -> tuple[int, Any] | None:
        """What a request to pay is answered with; nothing where the connection is lost."""
        with self.lock:
            self.requests += 1
            problems = [*Draft202012Validator(CREATE).iter_errors(body)]
            self.complaints += [error.message for error in problems]
            if problems:
                details = [{"field": "/".join(map(str, ["", *error.absolute_path]))} for error in problems]
                return 400, {"name": "VALIDATION_ERROR", "message": "Invalid request", "details": details}
            if self.refuse:
                return 422, {"name": "INSUFFICIENT_FUNDS", "message": "Sender has insufficient funds"}
            if self.lose_before:
                self.lose_before -= 1
                return None
            header = body["sender_batch_header"]
            for number, batch in self.batches.items():
                if batch["header"]["sender_batch_id"] == header["sender_batch_id"]:
                    link = f"{self.address}/v1/payments/payouts/{number}"
                    links = [{"href": link, "rel": "self", "method": "GET"}]
                    return 400, {"name": "USER_BUSINESS_ERROR", "message": "Duplicate batch", "links": links}
            number = f"BATCH{len(self.batches) + 1}"
            self.batches[number] = {"header": header, "items": body["items"]}
            if self.lose_after:
                self.lose_after -= 1
                return None
            return 201, {"batch_header": {"payout_batch_id": number, "batch_status": "PENDING"}}

    def show(self, number: str) -> tuple[int, Any]:
        batch = self.batches.get(number)
        if batch is None:
            return 404, {"name": "INVALID_RESOURCE_ID", "message": "Not found"}
        items = [
            {
                "payout_item_id": f"{number}-{index}",
                "transaction_status": (state := self.states.get(item["receiver"], "SUCCESS")),
                "payout_item": item,
                **(
                    {"errors": {"name": "RECEIVER_ACCOUNT_LOCKED", "message": f"{item['receiver']} is locked"}}
                    if state == "FAILED"
                    else {}
                ),
            }
            for index, item in enumerate(batch["items"])
        ]
        fees = {"currency": items[0]["payout_item"]["amount"]["currency"], "value": f"{0.25 * len(items):.2f}"}
        header = {"payout_batch_id": number, "batch_status": "SUCCESS", "fees": fees}
        return 200, {
            "batch_header": {**header, "sender_batch_header": batch["header"]},
            "items": items * self.show_items,
        }


@contextmanager
def paypal_stand_in() -> Iterator[StandIn]:
    world = StandIn()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path == "/v1/oauth2/token" and world.no_token:
                world.no_token -= 1
                self._answer(503, {})
                return
            if self.path == "/v1/oauth2/token":
                known = "Basic " in self.headers.get("Authorization", "") and b"client_credentials" in body
                self._answer(200 if known else 401, {"access_token": TOKEN})
                return
            assert self.headers["Authorization"] == f"Bearer {TOKEN}"
            answer = world.create(json.loads(body))
            if answer is None:
                self.close_connection = True
            else:
                self._answer(*answer)

        def do_GET(self) -> None:
            self._answer(*world.show(self.path.rpartition("/")[2].partition("?")[0]))

        def _answer(self, status: int, body: Any) -> None:
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    world.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield world
    finally:
        server.shutdown()
        server.server_close()
