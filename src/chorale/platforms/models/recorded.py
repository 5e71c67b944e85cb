"""Replays recorded answers, to compare a published run without its models."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from chorale.files.shortening import shortened
from chorale.model import ModelSettings, UserError
from chorale.platforms.models.exchange import CallOutcome, ModelRequest, Reply, whole


class RecordedModel:
    """Answers from a JSONL file: rows with `output` and `prompt_sha256`, or `output`, `stage` and `item`.

    Rows of other models, by `model_name`, are left out.
    """

    def __init__(self, settings: ModelSettings, file: Path) -> None:
        self._by_prompt: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._by_item: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        self._others: set[str] = set()
        try:
            with file.open(encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        self._add(_row(line, file, number), settings.name)
        except OSError as error:
            raise UserError(f"{file} can't be read: {error.strerror}. Name a file with recorded answers.") from None
        if not self._by_prompt and not self._by_item:
            raise UserError(f"{file} has no answers of the model `{settings.name}`. {self._what_there_is()}")

    def _what_there_is(self) -> str:
        if self._others:
            named = ", ".join(f"`{name}`" for name in sorted(self._others)[:5])
            names = "one of these names" if len(self._others) > 1 else "this name"
            return f"It has answers of {named}: give the model {names} in study.toml, or leave `model_name` out."
        return "Each row needs `output`, and `stage` and `item` or `prompt_sha256`."

    def _add(self, row: dict[str, Any], name: str) -> None:
        if row.get("model_name") not in (None, name):
            self._others.add(str(row["model_name"])[:100])
            return
        if isinstance(row.get("output"), dict | list):
            row = {**row, "output": json.dumps(row["output"], ensure_ascii=False)}
        if not isinstance(row.get("output"), str):
            return
        if isinstance(row.get("prompt_sha256"), str):
            self._by_prompt[row["prompt_sha256"]].append(row)
        if isinstance(row.get("stage"), str) and isinstance(row.get("item"), str):
            self._by_item[row["stage"], row["item"]].append(row)

    async def ask(self, asked: ModelRequest) -> Reply:
        return self.replay(asked)

    def replay(self, asked: ModelRequest) -> Reply:
        """The recorded reply to a request."""
        rows = self._by_prompt.get(asked.prompt_sha256) or self._by_item.get((asked.stage, asked.item))
        if not rows:
            return Reply(CallOutcome.EMPTY, reason="no answer was recorded")
        # A corrected answer is recorded right after the one it corrects.
        row = rows[(asked.number + len(asked.messages) // 2) % len(rows)]
        outcome = row.get("outcome")
        known = CallOutcome(outcome) if outcome in set(CallOutcome) else CallOutcome.ANSWER
        return Reply(
            CallOutcome.ANSWER if known is CallOutcome.UNPARSABLE else known,
            row["output"],
            _text(row.get("version")),
            whole(row.get("input_tokens")),
            whole(row.get("output_tokens")),
        )

    async def close(self) -> None:
        self._by_prompt.clear()
        self._by_item.clear()


def _row(line: str, file: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise UserError(
            f"{file}, line {number}: is not a JSON object ({shortened(line.strip())}). Write one object per line."
        )
    return row


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
