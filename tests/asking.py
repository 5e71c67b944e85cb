"""A small QA-SRL study that tests make themselves: practice, writing, consolidation, validation."""

import json
from pathlib import Path
from typing import Any

from chorale.kits.qasrl.tasks.shared.predicates import view_of
from chorale.kits.qasrl.tasks.shared.prompting import WRITING

SELL = {
    "stem": "sell",
    "presentSingular3rd": "sells",
    "presentParticiple": "selling",
    "past": "sold",
    "pastParticiple": "sold",
}
PREDICATE: dict[str, Any] = {
    "sentence_id": "kiosk:1",
    "tokens": ["The", "twins", "and", "Ada", "sold", "lemonade", "to", "tourists", "at", "noon", "."],
    "verb_index": 4,
    "verb": "sold",
    "forms": SELL,
}
EXPERT = [
    {"question": "Who sold something?", "answers": [[0, 2], [3, 4]]},
    {"question": "What did someone sell?", "answers": [[5, 6]]},
    {"question": "Who did someone sell something to?", "answers": [[7, 8]]},
    {"question": "When did someone sell something?", "answers": [[8, 10]]},
]
STUDY = """
format = 1

[study]
title = "Who did what to whom?"
contact = "you@example.org"
consent = "consent.md"
seed = 5

[[stage]]
name = "practice"
title = "Practice"
task = "qasrl-write"
guidelines = "guidelines.md"

[stage.round]
file = "practice.jsonl"
feedback = "at once"

[[stage]]
name = "writing"
title = "Questions and answers"
task = "qasrl-write"
guidelines = "guidelines.md"
judgments = 2

[stage.items]
file = "items.jsonl"

[stage.pay]
per_judgment = 5
parts = { beyond = 2, amounts = [5, 6] }

[[stage]]
name = "consolidation"
title = "Putting questions together"
task = "qasrl-consolidate"
guidelines = "guidelines.md"
judgments = 1

[stage.items]
from = "writing"
of = "together"

[stage.pay]
per_judgment = 5
parts = { beyond = 0, amounts = [3] }

[[stage]]
name = "validation"
title = "Answering questions"
task = "qasrl-validate"
guidelines = "guidelines.md"
judgments = 2

[stage.items]
from = "writing"
of = "answers"
"""


FIRST_SET = EXPERT[:3]
SECOND_SET = [
    {"question": "Who sold something?", "answers": [[0, 4]]},
    {"question": "What did someone sell?", "answers": [[5, 6]]},
    {"question": "When was something sold?", "answers": [[9, 10]]},
]


def write_qasrl_study(folder: Path, predicates: int = 2, *, apart: bool = False) -> Path:
    """A study whose items are one predicate, so many times over; `apart`: no stage waits for another's answers."""
    folder.mkdir(parents=True)
    text = STUDY
    if apart:
        text = text.replace('from = "writing"\nof = "together"', 'file = "sets.jsonl"')
        text = text.replace('from = "writing"\nof = "answers"', 'file = "asked.jsonl"')
        sets = {**PREDICATE, "sets": [FIRST_SET, SECOND_SET]}
        write_rows(folder / "sets.jsonl", [{"id": f"sets-{number}", **sets} for number in range(1, predicates + 1)])
        asked = {**PREDICATE, "questions": EXPERT[:3]}
        write_rows(folder / "asked.jsonl", [{"id": f"asked-{number}", **asked} for number in range(1, predicates + 1)])
    (folder / "study.toml").write_text(text, "utf-8")
    (folder / "guidelines.md").write_text("Ask about the verb.", "utf-8")
    (folder / "consent.md").write_text("You can stop at any time.", "utf-8")
    items = [
        {"id": f"kiosk-{number}:4", **PREDICATE, "sentence_id": f"kiosk-{number}"}
        for number in range(1, predicates + 1)
    ]
    practice = {"id": "practice:4", **PREDICATE, "answer": EXPERT, "explanation": "The twins and Ada are two answers."}
    write_rows(folder / "items.jsonl", items)
    write_rows(folder / "practice.jsonl", [practice])
    return folder


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


SUGGESTED = [EXPERT[0], EXPERT[1], {"question": "Why did someone sell something?", "answers": [[8, 10]]}]
"""What a model suggests: two of the expert's questions, and one that the sentence does not answer."""
SUGGESTING = """
format = 1

[study]
title = "Who did what to whom?"
contact = "you@example.org"
consent = "consent.md"
seed = 5

[arms]
names = ["alone", "helped"]

[[model]]
name = "parser"
answers = "parser.jsonl"

[[stage]]
name = "writing"
title = "Questions and answers"
task = "qasrl-write"
guidelines = "guidelines.md"
items = { file = "items.jsonl" }
judgments = 4

[stage.pay]
per_judgment = 5
expected_seconds = 60

[stage.gold]
file = "gold.jsonl"
share = 0.3
floor = 0.0
feedback = "none"

[stage.models]
role = "suggest"
arms = ["helped"]

[stage.rehearsal]
truth = "truth.jsonl"
"""


def write_suggesting_qasrl_study(folder: Path, predicates: int = 12) -> Path:
    """A study with two arms, of which one sees what a parser asks. All sentences are alike but for one word."""
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(SUGGESTING, "utf-8")
    (folder / "guidelines.md").write_text("Ask about the verb.", "utf-8")
    (folder / "consent.md").write_text("You can stop at any time.", "utf-8")
    words = ["lemonade", "maps", "ice", "postcards", "cherries", "umbrellas"]
    rows = []
    for number in range(2 * predicates):
        tokens = [*PREDICATE["tokens"][:5], f"{words[number % 6]}{number}", *PREDICATE["tokens"][6:]]
        rows.append({**PREDICATE, "sentence_id": f"kiosk:{number}", "tokens": tokens})
    items, gold = rows[:predicates], rows[predicates:]
    write_rows(folder / "items.jsonl", [{"id": f"i{number}", **row} for number, row in enumerate(items)])
    write_rows(folder / "truth.jsonl", [{**row, "answer": EXPERT} for row in items])
    known = [{"id": f"g{number}", **row, "answer": EXPERT, "explanation": "So."} for number, row in enumerate(gold)]
    write_rows(folder / "gold.jsonl", known)
    said = [
        {"stage": "writing", "item": key, "output": {"answer": WRITING.write(view_of(row), SUGGESTED)}}
        for prefix, part in (("i", items), ("g", gold))
        for key, row in ((f"{prefix}{number}", row) for number, row in enumerate(part))
        if WRITING.write is not None
    ]
    write_rows(folder / "parser.jsonl", said)
    return folder
