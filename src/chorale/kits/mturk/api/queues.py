"""Notification queues with the API of Amazon SQS."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from chorale.kits.mturk.api.requests import Parameter, may, must, number, read_request, several, table, text

SERVICE = "sqs"
TARGET = "AmazonSQS."
PATH = "/mturk/queue/"
"""Path of queue URLs on this site."""
LONGEST_WAIT = 20
_UNNAMEABLE = re.compile(r"[^A-Za-z0-9_-]+")
_URL = {"QueueUrl": must(text(2000, 1))}
_HANDLE = {"ReceiptHandle": must(text(200, 1))}

OPERATIONS: Mapping[str, Mapping[str, Parameter]] = {
    "CreateQueue": {"QueueName": must(text(80, 1))},
    "GetQueueUrl": {"QueueName": must(text(80, 1))},
    "GetQueueAttributes": _URL,
    "SetQueueAttributes": _URL,
    "ReceiveMessage": {
        **_URL,
        "MaxNumberOfMessages": may(number(1, 10), 1),
        "VisibilityTimeout": may(number(0, 43_200), 30),
        "WaitTimeSeconds": may(number(0, LONGEST_WAIT), 0),
    },
    "DeleteMessage": {**_URL, **_HANDLE},
    "DeleteMessageBatch": {**_URL, "Entries": must(several(table({"Id": must(text(80, 1)), **_HANDLE}), 10))},
    "PurgeQueue": _URL,
}
"""Operations on a queue with their parameters. Other parameters are ignored."""


def read_queue_request(operation: str, body: Any) -> dict[str, Any]:
    """The parameters of a request, with the name of the queue in `queue`."""
    read = read_request(operation, body, OPERATIONS)
    return {**read, "queue": queue_named(read.get("QueueName") or read["QueueUrl"])}


def queue_named(destination: str) -> str:
    """The queue name of a URL, topic or e-mail address: the part after the last slash or colon.

    >>> queue_named("https://sqs.us-east-1.amazonaws.com/1234/hits"), queue_named("me@example.org")
    ('hits', 'me-example-org')
    """
    last = re.split(r"[/:]", destination.rstrip("/:"))[-1]
    return _UNNAMEABLE.sub("-", last)[:80] or "queue"


def is_kept(transport: str, destination: str) -> bool:
    """Whether notifications go into a queue on this site, because they cannot be sent to an external queue.

    Amazon's queues only accept requests signed with AWS keys, which stay with their owner.
    """
    if transport != "SQS":
        return True
    parts = urlsplit(destination)
    host = parts.hostname or ""
    return parts.path.startswith(PATH) or host == "amazonaws.com" or host.endswith(".amazonaws.com")
