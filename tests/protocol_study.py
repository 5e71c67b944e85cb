"""A small study with a round, a gate, arms and two production stages, with everything about them adjustable."""

import json
from pathlib import Path

ROUND = 4


def write_protocol_study(
    folder: Path,
    *,
    gate: str = "threshold = 0.75",
    round_extra: str = 'feedback = "later"',
    round_pay: str = "per_judgment = 2",
    pay: str = "",
    arms: str = "",
    arms_of: tuple[str, str] = ("", ""),
    entry: str = 'qualifications = ["trained"]',
    message: str | None = "You had {{ '%.2f' % score }}, on average people had {{ '%.2f' % average }}.\n",
    items: int = 4,
    judgments: str = "1",
    extra: str = "",
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "consent.md").write_text("You agree to take part.\n")
    (folder / "guidelines.md").write_text("Say whether it means something.\n")
    if message is not None:
        (folder / "message.md").write_text(message)
    _rows(
        folder / "round.jsonl",
        [
            {
                "id": f"r{number}",
                "phrase": f"a round phrase {number}",
                "answer": "no" if number % 2 else "yes",
                "explanation": f"Because {number}.",
            }
            for number in range(ROUND)
        ],
    )
    for letter in "ab":
        _rows(
            folder / f"items-{letter}.jsonl",
            [
                {
                    "id": f"{letter}{n}",
                    "rule_lhs": "x",
                    "rule_rhs": "y",
                    "lhs": f"{letter} lhs {n}",
                    "rhs": f"{letter} rhs {n}",
                }
                for n in range(items)
            ],
        )
    stages = "".join(
        f"""
[[stage]]
name = "work-{letter}"
title = "Work {letter}"
task = "rules-meaningful"
guidelines = "guidelines.md"
items = {{ file = "items-{letter}.jsonl" }}
judgments = {judgments}
pay = {{ per_judgment = 3 }}
{f"arms = [{arm}]" if arm else ""}
[stage.entry]
{entry}
"""
        for letter, arm in zip("ab", arms_of, strict=True)
    )
    (folder / "study.toml").write_text(
        f"""\
[study]
title = "A small protocol"
contact = "team@example.org"
consent = "consent.md"
seed = 11
[arrival]
worker_pattern = "[A-Za-z0-9-]{{1,64}}"
[pay]
{pay}
{arms}
[[stage]]
name = "training"
title = "Training"
task = "rules-meaningful"
guidelines = "guidelines.md"
[stage.round]
file = "round.jsonl"
{round_extra}
[stage.pay]
{round_pay}
{stages}
[[gate]]
name = "trained"
stage = "training"
{gate}
{'message = "message.md"' if message is not None else ""}
{extra}
"""
    )


def _rows(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
