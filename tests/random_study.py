"""Studies of every shape a protocol can have, drawn by hypothesis: small, and all of them sound."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

TONES = ("kind", "rude")
RUBRIC = ("poor", "fair", "good")
POINTS = (0.0, 0.5, 1.0)
ROUND = 3
GOLD = 12


@dataclass(frozen=True)
class Drawn:
    """What varies from one study to the next."""

    seed: int = 1
    pay: str = ""
    arms: str = ""
    """The table, if there are arms."""
    round_size: int = ROUND
    feedback: str = "later"
    finished: int = 0
    first: str = "threshold = 0.5"
    """The rule of the gate after the round."""
    promotes: bool = False
    second: str = "threshold = 0.5"
    """The rule of the gate after grading."""
    over_both: bool = False
    """Whether that gate looks at the round once more."""
    gold: str = ""
    items: int = 2
    judgments: int = 1
    more: str = ""
    """A sample of the reviews that gets more judgments."""
    share: float = 1.0
    """Of the answers that are reviewed."""
    of_each: int | None = None
    """How many of everybody's answers are graded, if not all."""
    graders: int = 1
    grades_by: str = "expert"
    needs_round: bool = True
    limit: int | None = None
    budget: int | None = None
    """All the study may cost. As `studies` draws it, so much more than the least it can cost."""
    messages: bool = True
    names: tuple[str, ...] = field(default=("write-a", "write-b"))


def right_tone(view: dict[str, Any]) -> str:
    """The texts of these studies end with the tone they have."""
    return str(view["text"].split()[-1])


@st.composite
def rules(draw: st.DrawFn, *, together: bool | None = None, rubric: bool = False) -> str:
    """The rule of a gate. Nothing comes after the one whose answers have a rubric: it may let a single person pass."""
    bonus = draw(st.sampled_from(("", "bonus = 7\n")))
    if rubric:
        bonus += draw(st.sampled_from(("", "criteria = { quality = 0.5 }\n")))
    review = draw(st.sampled_from(("", "review = true\n")))
    if together is None:
        together = draw(st.booleans())
    if not together:
        return f"threshold = {draw(st.sampled_from((0.0, 0.4, 0.75)))}\n{bonus}{review}"
    rule = draw(
        st.sampled_from(
            (
                "top_share = 0.6",
                "top_share = 1.0",
                f"top = {1 if rubric else 3}",
                f"top = {2 if rubric else 6}",
                'threshold = 0.5\ndecides = "together"',
            )
        )
    )
    floor = "" if rule.startswith("threshold") else draw(st.sampled_from(("", "floor = 0.4\n")))
    workers = draw(st.sampled_from(("", f"workers = {2 if rubric else 4}\n")))
    return f"{rule}\n{floor}{workers}{bonus}{review}"


@st.composite
def studies(draw: st.DrawFn) -> Drawn:
    by_workers = draw(st.booleans())
    arms = ""
    if draw(st.booleans()):
        arms = f'[arms]\nnames = ["left", "right"]\nweights = {draw(st.sampled_from(("[1, 1]", "[1, 2]", "[2, 3]")))}\n'
        arms += draw(st.sampled_from(("", 'after = "trained"\n'))) + draw(st.sampled_from(("", 'stratify = "panel"\n')))
    gold = ""
    if draw(st.booleans()):
        gold = (
            f"share = {draw(st.sampled_from((0.5, 0.2)))}\nfloor = {draw(st.sampled_from((0.8, 0.5, 0.0)))}\n"
            f"after = {draw(st.integers(1, 3))}\n"
            + draw(st.sampled_from(("", "window = 2\n")))
            + draw(st.sampled_from(("", "smoothing = 1.5\n")))
            + draw(st.sampled_from(("", "bonus = { right = 1, of = 2, amount = 5 }\n")))
        )
    return Drawn(
        seed=draw(st.integers(0, 50)),
        pay=draw(st.sampled_from(("", "fee_percent = 33.3\n"))),
        arms=arms,
        round_size=draw(st.sampled_from((ROUND, 2))),
        feedback=draw(st.sampled_from(("at once", "later"))),
        finished=draw(st.sampled_from((0, 11))),
        first=draw(rules(together=True if by_workers else None)),
        promotes=by_workers,
        second=draw(rules(rubric=True)),
        over_both=draw(st.booleans()),
        gold=gold,
        items=draw(st.sampled_from((4, 2, 6))),
        judgments=draw(st.integers(1, 2)),
        more=draw(st.sampled_from(("", "share = 0.5", "items = 1"))),
        share=draw(st.sampled_from((1.0, 0.5))),
        of_each=draw(st.sampled_from((None, 1))),
        graders=draw(st.integers(1, 2)),
        grades_by="grader" if by_workers else "expert",
        needs_round=draw(st.booleans()),
        limit=draw(st.sampled_from((None, 4))),
        budget=draw(st.sampled_from((None, None, 0, 60))),
        messages=draw(st.booleans()),
    )


def write_study(folder: Path, drawn: Drawn) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "consent.md").write_text("You agree to take part.\n")
    (folder / "guidelines.md").write_text("Say what tone it has.\n")
    (folder / "message.md").write_text(
        "{{ '%.2f' % score }} of {{ '%.2f' % average }}, {{ passed }}.\n"
        "{% for one in answers %}\n- {{ one.item }}: {{ one.reasons | join('; ') }}\n{% endfor %}\n"
    )
    _rows(folder / "round.jsonl", [_known("r", number) for number in range(ROUND)])
    _rows(folder / "gold.jsonl", [_known("g", number) for number in range(GOLD)])
    for name in drawn.names:
        # The arms work on the same things, under the same names.
        _rows(folder / f"{name}.jsonl", [{"id": f"i{n}", "text": _text("item", n)} for n in range(drawn.items)])
    (folder / "study.toml").write_text(_toml(drawn))


def _text(kind: str, number: int) -> str:
    return f"{kind} {number} {TONES[number % 2]}"


def _known(letter: str, number: int) -> dict[str, Any]:
    tone = TONES[number % 2]
    return {"id": f"{letter}{number}", "text": _text(letter, number), "answer": {"tone": tone}, "explanation": tone}


def _rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


_TONE_FORM = """
[stage.options]
shows = [{ item = "text" }]
fields = [{ name = "tone", kind = "choice", ask = "Which tone?", options = ["kind", "rude"] }]
"""
_RUBRIC_FORM = """
[stage.options]
shows = [{ item = "text" }, { item = "tone" }]
[[stage.options.fields]]
name = "quality"
kind = "choice"
ask = "How good?"
options = ["poor", "fair", "good"]
points = [0, 0.5, 1]
"""
_REVIEW_FORM = """
[stage.options]
shows = [{ item = "text" }, { item = "tone" }, { item = "quality" }]
fields = [{ name = "agree", kind = "choice", ask = "Do you agree?", options = ["yes", "no"] }]
"""


def _toml(drawn: Drawn) -> str:
    budget = "" if drawn.budget is None else f"budget = {drawn.budget}\n"
    message = 'message = "message.md"\n' if drawn.messages else ""
    promote = 'promote = { to = "grader", top_share = 0.5 }\n' if drawn.promotes else ""
    gold = "" if not drawn.gold else f'[stage.gold]\nfile = "gold.jsonl"\n{drawn.gold}'
    limit = "" if drawn.limit is None else f"max_per_worker = {drawn.limit}\n"
    entry = 'entry = { qualifications = ["trained"] }\n' if drawn.needs_round else ""
    arms = ("left", "right") if drawn.arms else ("", "")
    writing = "".join(
        f"""
[[stage]]
name = "{name}"
title = "Writing"
task = "form"
guidelines = "guidelines.md"
items = {{ file = "{name}.jsonl" }}
judgments = {drawn.judgments}
{f'arms = ["{arm}"]' if arm else ""}
{entry}{limit}{_TONE_FORM}
[stage.pay]
per_judgment = 3
{gold}
"""
        for name, arm in zip(drawn.names, arms, strict=True)
    )
    more = f", sample = {{ {drawn.more}, judgments = 3 }}" if drawn.more else ""
    of_each = "" if drawn.of_each is None else f", per_worker = {drawn.of_each}"
    sources = ", ".join(f'"{name}"' for name in drawn.names)
    return f"""\
[study]
title = "Drawn by chance"
contact = "team@example.org"
consent = "consent.md"
seed = {drawn.seed}
[arrival]
worker_pattern = "[A-Za-z0-9-]{{1,64}}"
[pay]
{drawn.pay}{budget}
{drawn.arms}
[[stage]]
name = "training"
title = "Training"
task = "form"
guidelines = "guidelines.md"
{_TONE_FORM}
[stage.round]
file = "round.jsonl"
size = {drawn.round_size}
feedback = "{drawn.feedback}"
[stage.pay]
per_judgment = 2
finished = {drawn.finished}
{writing}
[[stage]]
name = "grading"
title = "Grading"
task = "form"
guidelines = "guidelines.md"
items = {{ from = [{sources}], of = "answers"{of_each} }}
judgments = {drawn.graders}
grades = true
entry = {{ qualifications = ["{drawn.grades_by}"] }}
{_RUBRIC_FORM}
[stage.pay]
per_judgment = 4

[[stage]]
name = "review"
title = "Review"
task = "form"
guidelines = "guidelines.md"
items = {{ from = "grading", of = "answers", sample = {drawn.share} }}
judgments = {{ min = 1, max = 1{more} }}
{_REVIEW_FORM}
[stage.pay]
per_judgment = 1

[[gate]]
name = "trained"
stage = "training"
{drawn.first}
{promote}{message}
[[gate]]
name = "writer"
stage = [{'"training", ' if drawn.over_both else ""}"{drawn.names[0]}"]
{drawn.second}
{message}
"""
