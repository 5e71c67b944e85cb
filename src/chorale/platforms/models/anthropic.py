"""Anthropic's messages API. A schema is requested as the input of a tool that the model must use."""

import json
from collections.abc import Mapping
from typing import Any

from chorale.model import ModelSettings
from chorale.platforms.models.exchange import CallOutcome, ModelRequest, Reply, whole

VERSION = "2023-06-01"
_TOOL = "answer"


class Anthropic:
    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings

    def headers(self, key: str | None) -> dict[str, str]:
        return {"anthropic-version": VERSION, **({} if key is None else {"x-api-key": key})}

    def request(self, asked: ModelRequest) -> tuple[str, dict[str, Any]]:
        """The URL and body of a request."""
        settings = self._settings
        body: dict[str, Any] = {
            "model": settings.asked_for,
            "system": asked.system,
            "messages": [{"role": one.role, "content": one.text} for one in asked.messages],
            "max_tokens": settings.max_tokens,
        }
        if settings.temperature is not None:
            body["temperature"] = min(1.0, settings.temperature)
        if settings.structured:
            tool = {"name": _TOOL, "description": "Submit the annotation.", "input_schema": asked.schema}
            body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": _TOOL}}
        address = str(settings.endpoint)
        return f"{address if address.endswith('/v1') else address + '/v1'}/messages", body

    def read(self, body: Mapping[str, Any]) -> Reply:
        """Parse a successful response."""
        texts = []
        for part in body["content"]:
            if part["type"] == "tool_use":
                texts = [json.dumps(part["input"], ensure_ascii=False)]
                break
            if part["type"] == "text":
                texts.append(part["text"])
        text = "".join(texts)
        usage = body.get("usage") or {}
        cached = sum(whole(usage.get(name)) or 0 for name in ("cache_creation_input_tokens", "cache_read_input_tokens"))
        given = whole(usage.get("input_tokens"))
        reply = Reply(
            CallOutcome.ANSWER,
            text,
            body.get("model"),
            None if given is None else given + cached,
            usage.get("output_tokens"),
        )
        if body.get("stop_reason") == "refusal":
            return reply._replace(outcome=CallOutcome.REFUSAL)
        if body.get("stop_reason") == "max_tokens":
            return reply._replace(outcome=CallOutcome.CUT)
        return reply if text.strip() else reply._replace(outcome=CallOutcome.EMPTY)
