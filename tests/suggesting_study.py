"""A study in which a model suggests answers to some workers, and how people write is counted."""

import json
from pathlib import Path
from typing import Any

SENTENCE = "Some suggestions are wrong on purpose."
WRITING = "We count how much of an answer is pasted, and how often the page is left."


def write_suggesting_study(
    folder: Path, *, items: int = 8, gold: int = 12, wrong: float = 0.5, arms: bool = True, writing: bool = False
) -> None:
    """A form with a tone and a reason. The recorded model says "rude" about everything, which odd gold is not."""
    folder.mkdir(parents=True, exist_ok=True)
    told = f"\n\n{WRITING}" if writing else ""
    (folder / "consent.md").write_text(f"You agree to take part.\nSome suggestions\nare wrong on purpose.{told}\n")
    (folder / "guidelines.md").write_text("Read the message.\n")
    write_rows(folder / "items.jsonl", [{"id": f"i{n}", "message": f"Message {n}"} for n in range(items)])
    rows: list[dict[str, Any]] = [
        {
            "id": f"g{n}",
            "message": f"Gold {n}",
            "answer": {"tone": "rude" if n % 2 == 0 else "kind"},
            "explanation": "It is so.",
        }
        for n in range(gold)
    ]
    write_rows(folder / "gold.jsonl", rows)
    said = {"answer": {"tone": "rude", "why": "It sounds so."}}
    keys = [*(f"i{n}" for n in range(items)), *(f"g{n}" for n in range(gold))]
    write_rows(folder / "recorded.jsonl", [{"stage": "main", "item": key, "output": said} for key in keys])
    (folder / "study.toml").write_text(_settings(wrong, arms, writing))


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _settings(wrong: float, arms: bool, writing: bool) -> str:
    return f"""\
[study]
title = "Tone"
contact = "team@example.org"
consent = "consent.md"
seed = 3

[arrival]
worker_pattern = "[A-Za-z0-9-]{{1,64}}"
completion_code = "DONE1"
screenout_code = "OUT1"

{"[arms]" if arms else ""}
{'names = ["plain", "helped"]' if arms else ""}

{f'[writing]{chr(10)}disclosure = "{WRITING}"' if writing else ""}

[[model]]
name = "m1"
answers = "recorded.jsonl"

[[stage]]
name = "main"
title = "Tone"
task = "form"
guidelines = "guidelines.md"
items = {{ file = "items.jsonl" }}
judgments = 4

[stage.pay]
per_judgment = 5

[stage.gold]
file = "gold.jsonl"
share = 0.5
floor = 0.0
feedback = "none"

[stage.models]
role = "suggest"
{'arms = ["helped"]' if arms else ""}
wrong = {wrong}
disclosure = "{SENTENCE}"

[[stage.options.shows]]
item = "message"

[[stage.options.fields]]
name = "tone"
kind = "choice"
ask = "How does it sound?"
options = ["rude", "kind"]

[[stage.options.fields]]
name = "why"
kind = "long_text"
ask = "Why?"
required = false
gold = "none"
"""
