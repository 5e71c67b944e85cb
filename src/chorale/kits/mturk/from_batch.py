"""Creates studies from a Mechanical Turk layout and its batch file, or for scripts."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from chorale.contract.reading_time import reading_seconds
from chorale.contract.starting_pay import starting_pay, starting_seconds
from chorale.files.rows import read_rows
from chorale.files.shortening import shortened
from chorale.kits.mturk.layouts import (
    MOST_LAYOUT,
    chosen_fields,
    fill_in,
    hidden_fields,
    seconds_of,
    unknown_elements,
    variables_in,
    written_fields,
)
from chorale.kits.mturk.liquid_layouts import is_liquid, liquid_problem, row_problem
from chorale.model import Problem, UserError

MOST_PROBLEMS = 50
_TIMED = 200
"""The number of rows whose pages are timed: in a batch, all pages are much alike."""
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def study_from_batch(template: Path, html: Path, csv: Path) -> Iterator[tuple[str, str]]:
    """The files of a study (name and content), based on the template with another layout and other rows."""
    layout = _layout(html)
    columns, rows = _rows(csv, variables_in(layout), html)
    yield "batch.jsonl", "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    pay = _pay(layout, rows)
    yield "study.toml", _settings((template / "study.toml").read_text("utf-8"), layout, columns, pay)
    yield "guidelines.md", _GUIDELINES
    yield "README.md", _README
    yield "consent.md", _consent((template / "consent.md").read_text("utf-8"))


def study_for_scripts(template: Path) -> Iterator[tuple[str, str]]:
    """The files of a study without items (name and content), for HITs from scripts."""
    head, _, _ = _head((template / "study.toml").read_text("utf-8"), "Tasks").partition("judgments =")
    settings = (
        f"{head}\n"
        "[stage.items]\n"
        'file = "batch.jsonl"          # empty: HITs of scripts are not items of the stage\n\n'
        "[stage.pay]\n"
        "per_judgment = 0              # HITs have their own rewards\n\n"
        "[stage.options]\n"
        '# track_record = "ignore"     # requirements on approved work: `ignore` them, or count work approved `here`\n'
    )
    yield "study.toml", settings
    yield "batch.jsonl", ""
    yield "guidelines.md", _SCRIPTS_GUIDELINES
    yield "README.md", _SCRIPTS_README
    yield "consent.md", _consent((template / "consent.md").read_text("utf-8"))


def _consent(text: str) -> str:
    """The template's consent form, with placeholders for purpose and risks and without the section on known answers."""
    text = re.sub(r"(?s)## Known answers\n.*?(?=## )", "", text)
    for of_template, of_any_study in _CONSENT_CHANGES:
        text = text.replace(of_template, of_any_study)
    return text


def _layout(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror}. Check the name of the layout file.") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text. Save the layout as UTF-8.") from None
    problem = None
    if len(text) > MOST_LAYOUT:
        problem = Problem(str(path), None, f"is longer than {MOST_LAYOUT:,} characters", "Link to large parts instead.")
    elif not text.strip():
        problem = Problem(str(path), None, "is empty", "Check the name of the HTML file.")
    elif (odd := _CONTROL.search(text)) is not None:
        line = text.count("\n", 0, odd.start()) + 1
        problem = Problem(str(path), line, "has a control character", "Remove it.", repr(odd[0]))
    elif (unknown := unknown_elements(text)) != []:
        line = text[: text.lower().find(f"<{unknown[0]}")].count("\n") + 1
        problem = Problem(
            str(path), line, "has an element that Chorale does not support", "Use another element.", f"<{unknown[0]}>"
        )
    elif is_liquid(text) and (fault := liquid_problem(text)) is not None:
        problem = Problem(str(path), None, fault, "Change the layout.")
    if problem is not None:
        raise UserError(f"{path} can't be used as a layout", [problem])
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _rows(path: Path, variables: list[str], html: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """Reads the columns of the batch file, and its rows as items."""
    if not path.is_file():
        raise UserError(f"{path} does not exist. Check the name of the batch file.")
    problems: list[Problem] = []
    rows: list[dict[str, Any]] = []
    columns: dict[str, None] = {}
    for row in read_rows(path, shown_as=str(path), problems=problems):
        values = {name: str(value) for name, value in row.values.items()}
        columns |= dict.fromkeys(values)
        if any(_CONTROL.search(value) for value in values.values()):
            problems.append(Problem(str(path), row.line, "contains control characters", "Remove them."))
        rows.append({"id": f"row-{len(rows) + 1:06d}", "input": values})
    for name in variables:
        if rows and name not in columns:
            listed = ", ".join(list(columns)[:10])
            message = f"has no column for the variable {shortened(name)} of {html} (columns found: {listed})"
            problems.append(Problem(str(path), 1, message, "Add the column, or remove the variable from the layout."))
    if not rows and not problems:
        problems.append(Problem(str(path), None, "has no rows", "Check the name of the batch file."))
    if problems:
        raise UserError(f"{path} can't be used as the batch of {html}", problems[:MOST_PROBLEMS])
    return list(columns), rows


def _pay(layout: str, rows: Sequence[dict[str, Any]]) -> str:
    """The table [stage.pay], from the pages of the first rows."""
    values = [row["input"] for row in rows[:_TIMED]]
    # `check` reports rows that the layout cannot show.
    shown = [each for each in values if not is_liquid(layout) or row_problem(layout, each) is None]
    seconds = starting_seconds([seconds_of(fill_in(layout, each)) for each in shown] or [seconds_of(layout)])
    pay = starting_pay(seconds + reading_seconds(_GUIDELINES) / len(rows))
    return (
        "[stage.pay]\n"
        f"per_judgment = {pay:<15}# the reward, in cents: set your own\n"
        f"expected_seconds = {seconds:<11}# estimated from the length of your pages; time yourself and correct it\n"
    )


def _settings(text: str, layout: str, columns: list[str], pay: str) -> str:
    """The template's study file with this layout, without settings for the template's rows."""
    title = re.search(r"<title[^>]{0,200}>([^<]{1,150})</title>", layout, re.IGNORECASE)
    shown = " ".join(title[1].split()) if title and title[1].strip() else "Answer the question"
    head = _head(text, shown)
    return (
        f"{head}"
        "# [stage.gold]              # rows with known answers, mixed into everybody's work: see the documentation\n"
        '# file = "gold.jsonl"\n\n'
        f"{pay}\n"
        "[stage.options]\n"
        f"columns = [{', '.join(map(_toml, columns))}]  # in the order of the results file\n"
        f"{_judged(layout)}\n"
        f"html = {_toml_text(layout)}\n"
    )


def _judged(layout: str) -> str:
    """The setting `judged`: the fields where people choose an answer. Hidden and text fields are named in a comment."""
    chosen, left_out = chosen_fields(layout), [*hidden_fields(layout), *written_fields(layout)]
    if not chosen or not left_out:
        return (
            "# judged = []                 # fields that are aggregated into labels (default: all except hidden ones)"
        )
    names = ", ".join(" ".join(name.split()) for name in left_out)
    return f"judged = [{', '.join(map(_toml, chosen))}]  # fields aggregated into labels; not: {names}"


def _head(text: str, title: str) -> str:
    """The template's study file up to its gold, with another title."""
    head, _, _ = text.partition("[stage.gold]")
    head = re.sub(r"(?m)^title = \".*?\"", lambda _: f"title = {_toml(title)}", head)
    return re.sub(r"(?m)^# The study: .*$", "# The study: made from a layout and a batch file of Mechanical Turk", head)


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _toml_text(text: str) -> str:
    """A long text as TOML, unescaped if possible so that it can be edited."""
    if "'''" not in text and not text.endswith("'"):
        return f"'''\n{text}'''"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"""\n{escaped}"""'


_GUIDELINES = """## What to do

Read the page and answer its questions. [what to look at and how to decide]

## Examples

[two or three examples with their answers]
"""
_README = """# A study from a layout for Mechanical Turk

| File | Content |
|---|---|
| `study.toml` | the study, and the layout under `[stage.options]` |
| `batch.jsonl` | the rows of the batch file |
| `guidelines.md` | what annotators read first; fill in the [placeholders], and delete what the layout itself explains |
| `consent.md` | the consent form; fill in the [placeholders] |

1. Set title, pay and the number of judgments in `study.toml`.
2. To use gold, write `gold.jsonl`: rows like those of `batch.jsonl`, each with an
   `answer` (an object with the fields that are to be graded) and an `explanation`.
   Then remove the # before `[stage.gold]` and `file` in `study.toml`, and add this
   section to `consent.md`, before “Risks”:

   ```
   ## Known answers

   Some questions have answers that we already know. They show us whether the task is
   understood. If too many of your answers to them are wrong, the study ends early for
   you. You are paid for everything you submitted until then.
   ```

3. Run `chorale check` with the name of this folder, then `chorale serve`.
4. `chorale export DIR --format mturk` writes the results in the format of
   Mechanical Turk's batch results.
"""
_CONSENT_CHANGES = (
    (
        """We want to find out which
sentences follow from others. You will read short sentences and answer a question
about each.""",
        "The purpose of\nthe study is [purpose of the study]. You will do short tasks.",
    ),
    (
        "the sentences you write, so please put nothing into them",
        "the texts you write, so please put nothing into them",
    ),
    ("Nothing here is meant to be upsetting. If something upsets you, skip it.", "[risks]"),
)
_SCRIPTS_GUIDELINES = """## What to do

Read the page and answer its questions.
"""
_SCRIPTS_README = """# A study for scripts made for Mechanical Turk

| File | Content |
|---|---|
| `study.toml` | the study: title, contact, budget |
| `batch.jsonl` | empty: all work comes from scripts |
| `guidelines.md` | not shown with HITs; keep it |
| `consent.md` | consent text, to be completed |

1. Set title, contact and `budget` in `study.toml`, and complete `consent.md`.
2. Run `chorale check` with the name of this folder, then `chorale serve`.
3. Run your script with `chorale mturk run DIR script.py`. It needs no change.
4. Review and pay in the console, under *People* → *HITs*, or with your script.
"""
