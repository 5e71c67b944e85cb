"""Small studies for tests, with everything about them adjustable."""

import json
from pathlib import Path


def write_small_study(
    folder: Path,
    *,
    applications: int = 4,
    gold: int = 6,
    judgments: str = "3",
    share: float = 0.0,
    floor: float = 0.6,
    after: int = 2,
    feedback: str = "at once",
    grace: int = 30,
    reuse: bool | None = True,
    pay: int = 3,
    fee_percent: float = 0,
    meaningful_extra: str = "",
    entailment_extra: str = "exclude_contributors = false",
    meaningless_lhs: str = "set-aside",
    texts: tuple[str, str] = ("the crew paint the hull", "the crew cover the hull"),
    seed: int = 7,
) -> None:
    """A rules study of two stages. Gold answers are "yes" for even and "no" for odd numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "consent.md").write_text("You agree to take part.\n")
    (folder / "guidelines.md").write_text("Say whether it means something.\n")
    _write_rows(
        folder / "items.jsonl",
        [
            {
                "id": f"a{number:05d}",
                "rule_lhs": "paint",
                "rule_rhs": "cover",
                "lhs": f"{texts[0]} {number}",
                "rhs": f"{texts[1]} {number}",
            }
            for number in range(applications)
        ],
    )
    explanation = "The expert says so, gold number {}."
    _write_rows(
        folder / "gold1.jsonl",
        [
            {
                "id": f"g{number}",
                "phrase": f"a gold phrase {number}",
                "answer": "no" if number % 2 else "yes",
                "explanation": explanation.format(number),
            }
            for number in range(gold)
        ],
    )
    _write_rows(
        folder / "gold2.jsonl",
        [
            {
                "id": f"h{number}",
                "lhs": f"gold left {number}",
                "rhs": f"gold right {number}",
                "answer": "no" if number % 2 else "yes",
                "explanation": explanation.format(number),
            }
            for number in range(gold)
        ],
    )
    gold_table = f'share = {share}\nfloor = {floor}\nafter = {after}\nfeedback = "{feedback}"\ngrace = {grace}\n'
    gold_table += "" if reuse is None else f"reuse = {str(reuse).lower()}\n"
    (folder / "study.toml").write_text(
        f"""\
[study]
title = "A small study"
contact = "team@example.org"
consent = "consent.md"
seed = {seed}

[arrival]
worker_pattern = "[A-Za-z0-9-]{{1,64}}"
completion_code = "DONE1"
screenout_code = "OUT1"

[pay]
fee_percent = {fee_percent}

[[stage]]
name = "meaningful"
title = "Is it meaningful?"
task = "rules-meaningful"
guidelines = "guidelines.md"
items = {{ file = "items.jsonl" }}
judgments = {judgments}
pay = {{ per_judgment = {pay} }}
{meaningful_extra}
[stage.gold]
file = "gold1.jsonl"
{gold_table}
[[stage]]
name = "entailment"
title = "Does it follow?"
task = "rules-entailment"
guidelines = "guidelines.md"
items = {{ from = "meaningful", confidence = 0.7 }}
judgments = {judgments}
pay = {{ per_judgment = {pay + 1} }}
options = {{ meaningless_lhs = "{meaningless_lhs}" }}
[stage.entry]
{entailment_extra}
[stage.gold]
file = "gold2.jsonl"
{gold_table}"""
    )


def _write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
