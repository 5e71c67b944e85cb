"""OpenAI's chat completions API, which most servers support."""

import math
from collections.abc import Mapping
from typing import Any

from chorale.model import ModelSettings
from chorale.platforms.models.exchange import CallOutcome, ModelRequest, Reply


class OpenAi:
    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings

    def headers(self, key: str | None) -> dict[str, str]:
        return {} if key is None else {"Authorization": f"Bearer {key}"}

    def request(self, asked: ModelRequest) -> tuple[str, dict[str, Any]]:
        """The URL and body of a request."""
        settings = self._settings
        messages = [{"role": "system", "content": asked.system}]
        messages += [{"role": one.role, "content": one.text} for one in asked.messages]
        body: dict[str, Any] = {"model": settings.asked_for, "messages": messages}
        body[settings.limit_name] = settings.max_tokens
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if settings.seed is not None:
            body["seed"] = settings.seed + asked.number
        if settings.structured:
            schema = {"name": "answer", "schema": asked.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if settings.confidence == "logprobs":
            body["logprobs"] = True
        return f"{settings.endpoint}/chat/completions", body

    def read(self, body: Mapping[str, Any]) -> Reply:
        """Parse a successful response."""
        choice = body["choices"][0]
        message = choice["message"]
        text = message.get("content") or ""
        usage = body.get("usage") or {}
        reply = Reply(
            CallOutcome.ANSWER,
            text,
            body.get("model"),
            usage.get("prompt_tokens"),
            usage.get("completion_tokens"),
            confidence=_probability(choice.get("logprobs")),
        )
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            return reply._replace(outcome=CallOutcome.REFUSAL, output=text or str(message.get("refusal") or ""))
        if choice.get("finish_reason") == "length":
            return reply._replace(outcome=CallOutcome.CUT)
        return reply if text.strip() else reply._replace(outcome=CallOutcome.EMPTY)


def _probability(logprobs: Any) -> float | None:
    """The joint probability of all tokens of an answer."""
    tokens = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not tokens:
        return None
    return min(1.0, math.exp(sum(float(token["logprob"]) for token in tokens)))
