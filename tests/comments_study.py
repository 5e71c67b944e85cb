"""A study as a new user brings it: 300 comments, a class, a span and a reason for each, by five people each."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from chorale.engine.opening import open_study
from chorale.engine.running import Study
from crowd import Person

COMMENTS = 300
PEOPLE = 5
CLASSES = ("fine", "rude", "hateful")
SEVERITY = 5
_OPENINGS = ("Honestly", "Well", "Listen", "Again", "Sorry", "Look")
_INSULTS = ("you clown", "total idiot", "what a mess", "go away", "shut up", "pure rubbish")
_ENDS = ("about the garden", "after the match", "on this page", "for the third time", "in our street")


@dataclass(frozen=True)
class Comment:
    key: str
    text: str
    kind: str
    start: int
    """The token the insult begins at."""


def comments(count: int = COMMENTS) -> list[Comment]:
    rng = Random(5)
    made = []
    for number in range(count):
        opening, insult, end = rng.choice(_OPENINGS), rng.choice(_INSULTS), rng.choice(_ENDS)
        text = f"{opening}, {insult} {end} number {number}."
        made.append(Comment(f"c{number:03d}", text, CLASSES[number % 3], 2))
    return made


def answer(comment: Comment, rng: Random, name: str) -> dict[str, Any]:
    """Right about the class nine times in ten, near with the rest, and with a reason that nobody else gives."""
    kind = comment.kind if rng.random() < 0.95 else rng.choice(CLASSES)
    start = comment.start + (rng.random() < 0.2)
    end = start + 1 + (rng.random() < 0.7)
    severity = min(SEVERITY, max(1, 1 + 2 * CLASSES.index(comment.kind) + rng.choice((-1, 0, 0, 0, 1))))
    spans = [] if kind == "fine" else [{"start": start, "end": end, "label": kind}]
    return {
        "class": kind,
        "spans": spans,
        "severity": severity,
        "reason": f"{name} finds that {rng.randrange(10**6)} says it",
    }


FIELDS = """
[stage.options]
shows = [{ item = "text" }]
[[stage.options.fields]]
name = "class"
kind = "choice"
ask = "What is it?"
options = ["fine", "rude", "hateful"]
[[stage.options.fields]]
name = "spans"
kind = "spans"
ask = "Which words?"
item = "text"
options = ["fine", "rude", "hateful"]
required = false
min = 0
[[stage.options.fields]]
name = "severity"
kind = "likert"
ask = "How bad is it?"
levels = 5
[[stage.options.fields]]
name = "reason"
kind = "long_text"
ask = "Why?"
"""


def write_comments_study(folder: Path, *, count: int = COMMENTS, extra: str = "", gold: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.md").write_text("Read the comment.\n")
    with (folder / "comments.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "source"])
        writer.writerows([one.key, one.text, "forum"] for one in comments(count))
    (folder / "gold.jsonl").write_text(
        gold
        or json.dumps(
            {"id": "g1", "text": "Go away, you clown!", "answer": {"class": "rude"}, "explanation": "It insults."}
        )
        + "\n"
    )
    (folder / "study.toml").write_text(
        f"""\
study = {{ title = "Comments", contact = "team@example.org", consent = "text.md", seed = 3 }}
arrival = {{ worker_pattern = "[a-z0-9-]+" }}

[[stage]]
name = "main"
title = "Judge comments"
task = "form"
guidelines = "text.md"
items = {{ file = "comments.csv" }}
judgments = {PEOPLE}
{extra}
[stage.gold]
file = "gold.jsonl"
share = 0.0
{FIELDS}"""
    )


def answer_comments(study: Study, *, count: int = COMMENTS, people: int = PEOPLE) -> None:
    by_text = {one.text: one for one in comments(count)}
    for number in range(people):
        rng, person = Random(number), Person(study, f"person-{number}")
        while (offer := person.next("main")).lease is not None:
            comment = by_text[(offer.view or {})["text"]]
            person.submit(offer, answer(comment, rng, person.pseudonym), f"key-{number:04d}-{comment.key}", 9000)


def comments_study(folder: Path, **settings: Any) -> Study:
    """The study, open, with all answers given."""
    count = settings.get("count", COMMENTS)
    write_comments_study(folder, **settings)
    study = open_study(folder)
    answer_comments(study, count=count)
    return study
