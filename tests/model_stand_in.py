"""A stand-in for servers of models: speaks OpenAI's chat completions and Anthropic's messages, with faults.

It replays recorded answers, or makes them up by a function of the prompt.
"""

import asyncio
import json
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

KEY = "sk-a-key-of-the-stand-in"
Answer = Callable[[str, dict[str, Any]], Any]
"""From the user's message and the whole request to what the model says: text, or a value that becomes JSON."""


@dataclass
class ModelStandIn:
    """What it does, and what it has seen."""

    answer: Answer = lambda _text, _body: {"answer": "yes"}
    address: str = ""
    faults: deque[str] = field(default_factory=deque)
    """What goes wrong with the next requests: busy, 500, slow, cut, refusal, empty, schema, json, drop,
    declined, unreadable, or ok."""
    pause: float = 0.0
    """Seconds that every request takes."""
    slow: float = 3.0
    retry_after: str = "0"
    key: str | None = None
    """The key that requests must have, if any."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keep_requests: bool = True
    prompts: Counter[str] = field(default_factory=Counter)
    served: int = 0
    now: int = 0
    most_at_once: int = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        try:
            status, reply, headers = await self._reply(scope, json.loads(body or b"{}"))
        finally:
            self.now -= 1
        if status == 0:
            raise ConnectionResetError
        raw = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        sent = [(b"content-type", b"application/json"), (b"content-length", str(len(raw)).encode()), *headers]
        await send({"type": "http.response.start", "status": status, "headers": sent})
        await send({"type": "http.response.body", "body": raw})

    async def _reply(self, scope: Any, body: dict[str, Any]) -> tuple[int, Any, list[tuple[bytes, bytes]]]:
        is_openai = scope["path"].endswith("/chat/completions")
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        given = headers.get("authorization", "").removeprefix("Bearer ") if is_openai else headers.get("x-api-key", "")
        if self.key is not None and given != self.key:
            return 401, {"error": {"message": f"Incorrect API key provided: {given}"}}, []
        if self.keep_requests:
            self.requests.append(body)
        self.served += 1
        fault = self.faults.popleft() if self.faults else "ok"
        if self.pause:
            await asyncio.sleep(self.pause)
        match fault:
            case "busy":
                return 429, {"error": {"message": "slow down"}}, [(b"retry-after", self.retry_after.encode())]
            case "500":
                return 500, b"oh no", []
            case "declined":
                return 400, {"error": {"message": "the prompt is too long"}}, []
            case "unreadable":
                return 200, b"<html>", []
            case "drop":
                return 0, b"", []
            case "slow":
                await asyncio.sleep(self.slow)
        text = body["messages"][-1]["content"]
        if self.keep_requests:
            self.prompts[text] += 1
        said = self.answer(body["messages"][0 if not is_openai else 1]["content"], body)
        make = self._openai if is_openai else self._anthropic
        return 200, make(said, fault, body), []

    def _openai(self, said: Any, fault: str, body: dict[str, Any]) -> dict[str, Any]:
        text = _faulty(said if isinstance(said, str) else json.dumps(said), fault)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if fault == "refusal":
            message |= {"content": None, "refusal": "I can't help with that."}
        choice: dict[str, Any] = {"index": 0, "message": message}
        choice["finish_reason"] = "length" if fault == "cut" else "stop"
        if body.get("logprobs"):
            choice["logprobs"] = {"content": [{"token": "x", "logprob": -0.105360516}, {"token": "y", "logprob": 0.0}]}
        usage = {"prompt_tokens": _tokens(body), "completion_tokens": len(text) // 4 + 1}
        return {"id": "c1", "model": f"{body['model']}-2026-10-01", "choices": [choice], "usage": usage}

    def _anthropic(self, said: Any, fault: str, body: dict[str, Any]) -> dict[str, Any]:
        text = _faulty(said if isinstance(said, str) else json.dumps(said), fault)
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        if body.get("tools") and not isinstance(said, str) and fault == "ok":
            content = [{"type": "tool_use", "id": "t1", "name": "answer", "input": said}]
        reason = {"cut": "max_tokens", "refusal": "refusal"}.get(fault, "end_turn")
        usage = {"input_tokens": _tokens(body), "output_tokens": len(text) // 4 + 1}
        return {"model": f"{body['model']}-20261001", "content": content, "stop_reason": reason, "usage": usage}


def _tokens(body: dict[str, Any]) -> int:
    return sum(len(one["content"]) for one in body["messages"]) // 4 + len(body.get("system", "")) // 4


def _faulty(text: str, fault: str) -> str:
    match fault:
        case "cut" | "json":
            return text[: len(text) // 2]
        case "empty" | "refusal":
            return ""
        case "schema":
            return json.dumps({"answer": {"something": "else"}})
    return text


@contextmanager
def model_stand_in(**settings: Any) -> Iterator[ModelStandIn]:
    """The stand-in, listening on a port of its own, in a thread of its own."""
    world = ModelStandIn(**settings)
    server = uvicorn.Server(uvicorn.Config(world, port=0, log_level="critical", lifespan="off", access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the stand-in did not start")
        threading.Event().wait(0.01)
    world.address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
    try:
        yield world
    finally:
        server.should_exit = True
        thread.join()
