"""Messages to workers, and blocking of workers."""

from hashlib import sha256
from typing import Any

from chorale.kits.mturk.api import errors
from chorale.kits.mturk.api.errors import TurkError
from chorale.kits.mturk.market.reviewing import send_message
from chorale.kits.mturk.market.stage import Market, page, turk_worker
from chorale.kits.mturk.store import qualifications
from chorale.store import events

Request = dict[str, Any]
Reply = dict[str, Any]


def notify_workers(market: Market, request: Request) -> Reply:
    """Sends a message to the overview of each worker. Reports unknown workers."""
    failed = []
    content = sha256(f"{request['Subject']}\0{request['MessageText']}".encode()).hexdigest()[:16]
    for name in dict.fromkeys(request["WorkerIds"]):
        try:
            worker = market.worker(name)
        except TurkError as error:
            failed.append(
                {
                    "NotifyWorkersFailureCode": "HardFailure",
                    "NotifyWorkersFailureMessage": error.message,
                    "WorkerId": name,
                }
            )
            continue
        send_message(market, worker, f"mturk:notice:{market.now}:{content}", request["Subject"], request["MessageText"])
    return {"NotifyWorkersFailureStatuses": failed}


def block(market: Market, request: Request) -> Reply:
    worker = market.worker(request["WorkerId"])
    if qualifications.add_block(market.tx, worker, request["Reason"], market.now):
        events.record(market.tx, market.now, "blocked", {"reason": request["Reason"]}, worker_id=worker)
    return {}


def unblock(market: Market, request: Request) -> Reply:
    worker = market.worker(request["WorkerId"])
    if not qualifications.end_block(market.tx, worker):
        raise errors.invalid("WorkerId", "is not blocked")
    events.record(market.tx, market.now, "unblocked", {"reason": request["Reason"]}, worker_id=worker)
    return {}


def list_blocks(market: Market, request: Request) -> Reply:
    blocks, beside = page(
        request, "blocks", lambda limit, after: qualifications.blocks(market.tx, limit, after), lambda row: row[0]
    )
    sent = [{"WorkerId": turk_worker(name), "Reason": reason} for _, name, reason in blocks]
    return {**beside, "WorkerBlocks": sent}
