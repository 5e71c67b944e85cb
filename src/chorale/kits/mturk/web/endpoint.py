"""The endpoint for scripts: JSON 1.1 over POST, signed with Signature Version 4."""

import asyncio
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from fastapi import APIRouter, Request, Response

from chorale.engine.running import Study
from chorale.kits.mturk.api import errors, queues
from chorale.kits.mturk.api.errors import TurkError
from chorale.kits.mturk.api.requests import OPERATIONS
from chorale.kits.mturk.api.signing import SKEW_SECONDS, Credential, SignedRequest, check_signature, read_credential
from chorale.kits.mturk.market import queueing
from chorale.kits.mturk.market.operations import TWICE_MS, Call, Performed, perform, replayed
from chorale.kits.mturk.store import keys
from chorale.model.problems import UnavailableError
from chorale.store import Tx
from chorale.web.outages import RETRY_AFTER_SECONDS
from chorale.web.serving import Site

TARGET = "MTurkRequesterServiceV20170117."
MEDIA_TYPE = "application/x-amz-json-1.1"
WARNING_HEADER = "X-Chorale-Warning"
MOST_REMEMBERED = 100_000
LOOK_AGAIN_SECONDS = 0.5
log = logging.getLogger("chorale.mturk")


def add_endpoint(router: APIRouter, site: Site) -> None:
    """`POST /` and `POST /mturk`: either can be a script's `endpoint_url`."""
    used = _UsedSignatures()

    @router.post("/", include_in_schema=False)
    @router.post("/mturk", include_in_schema=False)
    async def operate(request: Request) -> Response:
        try:
            performed = await _answer(site, request, used)
            return _with_warnings(_json(performed.body, 200), performed.warnings)
        except TurkError as error:
            return _json(error.body, error.status)
        except UnavailableError as error:
            site.outages.failed(error)
            away = TurkError(
                "AWS.ServiceUnavailable", "The database is not available. Try again.", "ServiceUnavailable", 503
            )
            response = _json(away.body, away.status)
            response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
            return response
        except Exception:
            log.exception("an operation failed")
            fault = TurkError("AWS.ServiceUnavailable", "Internal server error. Try again.", "ServiceFault", 500)
            return _json(fault.body, 500)


def _with_warnings(response: Response, warnings: Sequence[str]) -> Response:
    """Adds warnings in a header. boto3 passes headers to scripts but drops unknown fields."""
    for warning in warnings:
        # The constant text is the template, so that the log contains no other strings.
        log.warning(warning)
    if warnings:
        response.headers[WARNING_HEADER] = " ".join(warnings)
    return response


async def _answer(site: Site, request: Request, used: "_UsedSignatures") -> Performed:
    signed = SignedRequest(
        request.method,
        request.scope["raw_path"].decode("latin-1").partition("?")[0],
        request.scope["query_string"].decode("latin-1"),
        [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in request.scope["headers"]],
        await request.body(),
    )
    now = time.time()
    credential = read_credential(signed, now)
    secret = await site.read(_secret, credential.key)
    if secret is None:
        raise errors.refused_signature("UnrecognizedClientException", "The access key is unknown or was revoked.")
    check_signature(signed, credential, secret)
    call = _call(signed, credential)
    if credential.service == queues.SERVICE:
        return Performed(await _ask_queue(site, call, site.base_url(request)))
    if call.changes:
        return await site.write(perform, call)
    # The database stores signatures of requests that change data. Repeating a read at once is harmless, but a later
    # repetition means that somebody has intercepted the request.
    if not used.note(credential.signature, now):
        raise replayed()
    return await site.read(perform, call)


async def _ask_queue(site: Site, call: Call, base: str) -> dict[str, Any]:
    if call.operation == "ReceiveMessage":
        await _wait_for_message(site, queues.read_queue_request(call.operation, call.body))
    return await (site.write if call.changes else site.read)(queueing.ask_queue, call, base)


async def _wait_for_message(site: Site, asked: dict[str, Any]) -> None:
    """Waits for the requested time, or until there is a notification."""
    until = time.monotonic() + asked["WaitTimeSeconds"]
    while time.monotonic() < until and not await site.read(queueing.has_message, asked["queue"]):
        await asyncio.sleep(LOOK_AGAIN_SECONDS)


def _secret(tx: Tx, _study: Study, access_key: str) -> str | None:
    return keys.secret_of(tx, access_key)


def _call(signed: SignedRequest, credential: Credential) -> Call:
    target = signed.header("x-amz-target")
    prefix, known = (queues.TARGET, queues.OPERATIONS) if credential.service == queues.SERVICE else (TARGET, OPERATIONS)
    operation = target.removeprefix(prefix)
    if not target.startswith(prefix) or operation not in known:
        raise TurkError("AWS.UnknownOperation", f"Unknown operation {target[:100]!r}.", "UnknownOperationException")
    try:
        body = json.loads(signed.body or b"{}")
    except (ValueError, RecursionError):
        raise TurkError("AWS.InvalidRequest", "The request is not valid JSON.", "SerializationException") from None
    attempt = f"{signed.header('amz-sdk-invocation-id')} {signed.header('amz-sdk-request')}".strip()
    return Call(operation, body, credential.signature, attempt[:200])


def _json(body: dict[str, Any], status: int) -> Response:
    text = json.dumps(body, ensure_ascii=True)
    return Response(text, status, media_type=MEDIA_TYPE, headers={"x-amzn-RequestId": str(uuid4())})


class _UsedSignatures:
    """Signatures of read requests, until they expire."""

    def __init__(self) -> None:
        self._used_at: OrderedDict[str, float] = OrderedDict()

    def note(self, signature: str, now: float) -> bool:
        """Stores a signature. False if it was already used, unless its first use was a short time ago."""
        while self._used_at:
            oldest, at = next(iter(self._used_at.items()))
            if now - at <= 2 * SKEW_SECONDS and len(self._used_at) < MOST_REMEMBERED:
                break
            del self._used_at[oldest]
        return now - self._used_at.setdefault(signature, now) <= TWICE_MS / 1000
