"""Odd replies of servers of models: none of them crashes a run, costs a wrong amount or shows a key."""

import asyncio
import gzip
from collections.abc import Callable
from typing import Any

import httpx2 as httpx
import pytest

from chorale.model import ModelSettings
from chorale.platforms.models import CallOutcome, ModelRequest, Reply
from chorale.platforms.models import server as http_server
from chorale.platforms.models.exchange import ChatMessage


def ask(answer: Callable[[httpx.Request], httpx.Response], **settings: Any) -> tuple[Reply, list[float]]:
    """What comes of a request to a server that answers so, and the pauses between tries."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def asked() -> Reply:
        given = {"name": "m", "endpoint": "http://localhost:1/v1", "tries": 2, **settings}
        client = http_server.ServerModel(ModelSettings(**given), sleep=sleep)
        client._idle.append(httpx.AsyncClient(transport=httpx.MockTransport(answer)))
        try:
            return await client.ask(ModelRequest("Be brief.", [ChatMessage("user", "Hello")], {}, "s", "i", "0"))
        finally:
            await client.close()

    return asyncio.run(asked()), pauses


def test_a_key_is_cleared_before_a_message_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-0123456789abcdef"
    monkeypatch.setenv("A_KEY", key)
    message = "x" * 290 + key
    reply, _ = ask(lambda _: httpx.Response(400, json={"error": {"message": message}}), key="A_KEY")
    assert key[:8] not in str(reply.reason)
    body = {"model": f"m-{key}", "choices": [{"message": {"content": "a"}}]}
    reply, _ = ask(lambda _: httpx.Response(200, json=body), key="A_KEY")
    assert reply.version == "m-[key]"


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("count", [-5, 1.5, "7", True, [3], 10**30])
def test_token_counts_are_whole_numbers_or_none(count: Any, protocol: str) -> None:
    usage = dict.fromkeys(("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"), count)
    content = [{"type": "text", "text": "a"}]
    body = {"model": ["m"], "choices": [{"message": {"content": "a"}}], "content": content, "usage": usage}
    reply, _ = ask(lambda _: httpx.Response(200, json=body), protocol=protocol)
    assert (reply.outcome, reply.input_tokens, reply.output_tokens, reply.version) == (
        CallOutcome.ANSWER,
        None,
        None,
        None,
    )


def _not_gzip(_: httpx.Request) -> httpx.Response:
    body = gzip.compress(b"{}")[:-9] + b"no gzip at all"
    return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(b"junk" + body))


@pytest.mark.parametrize("answer", [_not_gzip, lambda _: httpx.Response(200, content=b"[" * 200_000)])
def test_replies_that_cannot_be_read_are_failures_and_no_crash(
    answer: Callable[[httpx.Request], httpx.Response],
) -> None:
    reply, _ = ask(answer)
    assert reply.outcome.may_be_better_later
    assert reply.tries == 2


@pytest.mark.parametrize("asked", ["nan", "inf", "-inf", "1e999"])
def test_a_pause_without_end_is_not_kept(asked: str) -> None:
    _, pauses = ask(lambda _: httpx.Response(429, headers={"retry-after": asked}, json={}))
    assert all(0 < pause < 1 for pause in pauses)
    assert len(pauses) == 1
