"""A trial with forms: people write, others grade it by a rubric, and the better ones go on to write more.

There are two arms, the same in everything but their names: a crowd may grade one of them with more care than the other.
"""

import json
from collections.abc import Callable
from pathlib import Path

from chorale.engine.running import Study
from chorale.store import arms
from crowd import Person, look

_SENTENCES = ("The ferry left early.", "Rain fell all night.", "The bakery was closed.", "Nobody heard the bell.")


def write_writing_study(folder: Path, *, texts: int = 8, budget: str = "", grading_pay: str = "finished = 500") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "consent.md").write_text("You agree to take part.\n")
    (folder / "guidelines.md").write_text("Write with care.\n")
    (folder / "message.md").write_text("You had {{ '%.2f' % score }}.\n")
    for name, count in (("practice", 4), ("final", texts)):
        rows = [
            {"id": f"{name}-{number}", "text": f"{_SENTENCES[number % len(_SENTENCES)]} ({name} {number})"}
            for number in range(count)
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "study.toml").write_text(
        _HEAD.format(budget=budget)
        + "".join(_ARM.format(arm=arm, grading_pay=grading_pay) for arm in ("careful", "quick"))
    )


def write_graded_study(folder: Path, written: int = 3) -> Callable[[Study], None]:
    """A study whose grading is for experts; and what fills it with things to grade."""
    write_writing_study(folder)
    settings = folder / "study.toml"
    text = settings.read_text().replace("grades = true\n", 'grades = true\nentry = { qualifications = ["expert"] }\n')
    settings.write_text(text.replace("finished = 500\n", ""))

    def write(study: Study) -> None:
        writer = Person(study, "writer")
        stage = f"{look(study, arms.arms_by_worker)[writer.pseudonym]}-practice"
        for number in range(written):
            answer = {"question": f"What did the town do on day {number}?", "kind": "what", "length": "one"}
            writer.judge(answer, stage)

    return write


_WRITING = """
[stage.options]
shows = [{ item = "text", label = "The text" }]
fields = [
  { name = "question", kind = "text", ask = "Your question", min = 3 },
  { name = "kind", kind = "choice", ask = "What is it about?", options = ["who", "what", "when", "where"] },
  { name = "length", kind = "choice", ask = "How long is its answer?", options = ["one", "two", "three", "more"] },
]
"""
_HEAD = """\
[study]
title = "Writing with feedback"
contact = "team@example.org"
consent = "consent.md"
seed = 5
[pay]
{budget}
[arms]
names = ["careful", "quick"]
"""
_ARM = (
    """
[[stage]]
name = "{arm}-practice"
title = "Writing"
task = "form"
guidelines = "guidelines.md"
arms = ["{arm}"]
judgments = 60
items = {{ file = "practice.jsonl" }}
pay = {{ per_judgment = 20, expected_seconds = 60 }}
"""
    + _WRITING.replace("{", "{{").replace("}", "}}")
    + """
[[stage]]
name = "{arm}-grades"
title = "Grading"
task = "form"
guidelines = "guidelines.md"
grades = true
judgments = 3
items = {{ from = "{arm}-practice", of = "answers" }}
[stage.pay]
per_judgment = 5
expected_seconds = 20
{grading_pay}
[stage.options]
shows = [{{ item = "text" }}, {{ item = "question", look = "heading" }}]
fields = [
  {{ name = "clear", kind = "likert", ask = "Is it clear?", levels = 5, points = [0, 0.25, 0.5, 0.75, 1] }},
  {{ name = "hard", kind = "likert", ask = "Is it hard?", levels = 5, points = [0, 0.25, 0.5, 0.75, 1] }},
]

[[gate]]
name = "{arm}-trained"
stage = "{arm}-practice"
graded = 4
top_share = 0.4
bonus = 100
message = "message.md"

[[stage]]
name = "{arm}-final"
title = "Writing more"
task = "form"
guidelines = "guidelines.md"
arms = ["{arm}"]
judgments = 2
items = {{ file = "final.jsonl" }}
pay = {{ per_judgment = 20, expected_seconds = 60 }}
[stage.entry]
qualifications = ["{arm}-trained"]
"""
    + _WRITING.replace("{", "{{").replace("}", "}}")
)
