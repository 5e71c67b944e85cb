"""A small study with the four kinds of work on multiple-choice questions."""

import json
from pathlib import Path
from typing import Any

PASSAGE = (
    "The last tram stops at the depot, and whoever sleeps in it is woken by the driver. Since May a table with tea "
    "stands there. Two regulars now fall asleep on purpose, the driver says, and he has begun to bring a third cup."
)
TWO: dict[str, Any] = {
    "question_1": "What does the driver seem to think of those who sleep?",
    "options_1": ["He has come to like them", "He wants them gone", "He is afraid of them", "He does not notice them"],
    "right_1": "option1",
    "question_2": "Since when is there something to drink?",
    "options_2": ["Spring", "Autumn", "Always", "Never"],
    "right_2": "option1",
    "why_2": "May is a month of spring.",
}
TITLES = {
    "write": "Writing questions",
    "compare": "Which is better?",
    "grade": "Grading questions",
    "validate": "Answering questions",
}
STUDY = """\
study = { title = "Questions", contact = "team@example.org", consent = "text.md" }
"""
STAGE = """
[[stage]]
name = "{task}"
title = "{title}"
task = "mcq-{task}"
guidelines = "text.md"
judgments = 50
items = {{ file = "{task}.jsonl" }}
options = {{ {options} }}
"""


def write_mcq_study(folder: Path, last_option: str = "He does not notice them", *, answer_first: bool = False) -> Path:
    """A stage for every task, called after it; `last_option` is the last one of a question."""
    two = {**TWO, "options_1": [*TWO["options_1"][:3], last_option]}
    folder.mkdir(parents=True)
    (folder / "text.md").write_text("Read.\n")
    rows: dict[str, dict[str, Any]] = {
        "write": {"passage": PASSAGE},
        "compare": {"passage": PASSAGE, "criterion": "difficult", **two},
        "grade": {"passage": PASSAGE, **two},
        "validate": {"passage": PASSAGE, **two},
    }
    for task, row in rows.items():
        # Nobody writes about the same passage twice.
        made = [
            {
                "id": f"{task}{number}",
                **row,
                "passage": PASSAGE + f" That was {number}." * (task == "write" and number > 0),
            }
            for number in range(4)
        ]
        (folder / f"{task}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in made))
    options = {"write": "justify = true", "grade": "answer_first = true" if answer_first else ""}
    (folder / "study.toml").write_text(
        STUDY + "".join(STAGE.format(task=task, title=TITLES[task], options=options.get(task, "")) for task in rows)
    )
    return folder
