"""The study folder: every problem at once, each with its file, line, value and fix."""

import json
import os
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chorale.folder.reading import GoldRow, TruthRow, check_folder, did_you_mean, load_folder
from chorale.folder.templates import create_study, template_names
from chorale.model import NewItem, Problem, UserError
from examples import examples
from small_study import write_small_study

STUDY = """\
format = 1
[study]
title = "Phrases"
contact = "me@example.org"
consent = "consent.md"
[pay]
minimum_hourly = 1200
[[stage]]
name = "first"
title = "One"
task = "rules-meaningful"
guidelines = "one.md"
[stage.items]
file = "items.jsonl"
[stage.gold]
file = "gold.jsonl"
share = 0.5
after = 2
[stage.pay]
per_judgment = 3
expected_seconds = 8
[stage.rehearsal]
truth = "truth.jsonl"
[[stage]]
name = "second"
title = "Two"
task = "rules-entailment"
guidelines = "two.md"
[stage.items]
from = "first"
[stage.entry]
qualified_in = "first"
answered = 2
[stage.options]
meaningless_lhs = "set-aside"
"""
ROW = {"id": "a1", "rule_lhs": "buy", "rule_rhs": "own", "lhs": "she buy it", "rhs": "she own it"}
GOLD = {"id": "g1", "phrase": "she buy", "answer": "no", "explanation": "Cut off."}
FILES = {
    "study.toml": STUDY,
    "consent.md": "Do you agree?\n",
    "one.md": "# One\n",
    "two.md": "# Two\n",
    "items.jsonl": json.dumps(ROW) + "\n" + json.dumps({**ROW, "id": "a2"}) + "\n",
    "gold.jsonl": json.dumps(GOLD) + "\n" + json.dumps({**GOLD, "id": "g2"}) + "\n",
    "truth.jsonl": json.dumps({"phrase": "she buy it", "answer": "yes"}) + "\n",
}


def write_study(folder: Path, changes: dict[str, str | bytes | None] | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in {**FILES, **(changes or {})}.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        elif content is not None:
            (folder / name).write_text(content, encoding="utf-8")
    return folder


def toml(*replacements: tuple[str, str]) -> dict[str, str | bytes | None]:
    """A change of the study file: each text once, or its last occurrence."""
    text = STUDY
    for old, new in replacements:
        assert old in text
        text = new.join(text.rsplit(old, 1))
    return {"study.toml": text}


def rows(name: str, *rows: Any) -> dict[str, str | bytes | None]:
    return {name: "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)}


def items(*changes: dict[str, Any]) -> dict[str, str | bytes | None]:
    return rows("items.jsonl", *({**ROW, **change} for change in changes))


def gold(*changes: dict[str, Any]) -> dict[str, str | bytes | None]:
    return rows("gold.jsonl", *({**GOLD, **change} for change in changes))


def without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def found(problem: Problem) -> str:
    return " | ".join(map(str, (problem.file, problem.line, problem.message, problem.value, problem.fix)))


# A study without problems


def test_a_sound_study_is_read_whole(tmp_path: Path) -> None:
    folder = load_folder(write_study(tmp_path))
    assert check_folder(tmp_path) == (folder, [])
    assert folder.path == tmp_path
    assert folder.settings.study.title == "Phrases"
    assert folder.settings_text == STUDY
    assert folder.consent == "Do you agree?\n"
    first, second = folder.stages
    assert [item.key for item in first.items] == ["a1:lhs", "a1:rhs"]  # the phrases of a2 are the same
    assert [row["id"] for row in first.items[0].payload["also_left_of"]] == ["a2"]
    assert first.items[0].group == "a1"
    assert "id" not in first.items[0].payload["application"]
    payload = {"phrase": "she buy", "side": None, "application": None}
    assert first.gold[0] == GoldRow(NewItem(key="g1", payload=payload, group="g1"), "no", "Cut off.")
    assert first.truth == (TruthRow({"phrase": "she buy it"}, "yes"),)
    assert first.guidelines == "# One\n"
    assert (second.items, second.gold, second.truth) == ((), (), ())
    assert second.options.model_dump(mode="json") == {"meaningless_lhs": "set-aside"}
    assert second.settings is folder.settings.stage[1]


SOUND: dict[str, dict[str, str | bytes | None]] = {
    "byte order marks": {name: b"\xef\xbb\xbf" + content.encode() for name, content in FILES.items()},
    "Windows line breaks": {name: content.replace("\n", "\r\n").encode() for name, content in FILES.items()},
    "whole numbers as ids": items({"id": 1}, {"id": 2}),
    "any text": items({"lhs": "<script>alert('x')</script> \"=1+1\" \u202e", "id": "'; DROP TABLE"}, {}),
    "answers beside items": items({"answer": "yes", "explanation": "not for workers"}, {"id": "a2"}),
    "more columns": items({"source": "corpus 3", "n": [1, {"x": None}]}, {"id": "a2"}),
    "gold like an item": gold({"phrase": "she buy it"}, {"id": "g2"}),
    "truth with ids": rows("truth.jsonl", {"id": "", "phrase": "x", "answer": "no"}),
    "a stage without gold": toml(
        ('qualified_in = "first"\n', ""), ('[stage.gold]\nfile = "gold.jsonl"\nshare = 0.5\nafter = 2\n', "")
    ),
    "gold never shown": {**toml(("share = 0.5", "share = 0"), ('qualified_in = "first"\n', "")), **gold({})},
    "whole numbers as fractions": toml(("share = 0.5", "share = 0.5\nfloor = 1")),
    "a wage at the limit": toml(("expected_seconds = 8", "expected_seconds = 9")),
    "no expected time": toml(("expected_seconds = 8\n", ""), ("per_judgment = 3", "per_judgment = 0")),
    "as sure as what is released": toml(
        ('name = "first"', 'name = "first"\nrelease_confidence = 0.8'),
        ('from = "first"', 'from = "first"\nconfidence = 0.8'),
    ),
    "just enough gold for one person": toml(('name = "first"', 'name = "first"\nmax_per_worker = 4')),
    "a fee with two decimals": toml(("[pay]", "[pay]\nfee_percent = 33.33")),
    "parameters of another panel": toml(("[pay]", '[arrival]\nworker_parameter = "worker-id_2"\n[pay]')),
    "a table of judgments": toml(('name = "second"', 'name = "second"\njudgments = { min = 3, max = 5, until = 1 }')),
}


@pytest.mark.parametrize("case", SOUND)
def test_what_is_allowed(tmp_path: Path, case: str) -> None:
    folder, problems = check_folder(write_study(tmp_path, SOUND[case]))
    assert list(map(str, problems)) == []
    assert folder is not None


def test_csv_ids_stay_text_and_empty_cells_are_missing(tmp_path: Path) -> None:
    changes: dict[str, str | bytes | None] = {
        **toml(("items.jsonl", "items.csv"), ("gold.jsonl", "gold.csv")),
        "items.csv": "id,rule_lhs,rule_rhs,lhs,rhs,note\n007,buy,own,she buy it,'=1+1,\n008,buy,own,a,b,\n",
        "gold.csv": "id,phrase,side,answer,explanation\ng1,she buy,,no,Cut off.\ng2,she run,lhs,yes,Fine.\n",
    }
    folder = load_folder(write_study(tmp_path, changes))
    item = folder.stages[0].items[1]
    assert (item.key, item.payload["phrase"]) == ("007:rhs", "'=1+1")
    assert "note" not in item.payload["application"]
    assert [row.item.payload["side"] for row in folder.stages[0].gold] == [None, "lhs"]


# One problem each: the change, and what must be in the file, line, message, value and fix

Expected = tuple[str, int | None, str, str]
LONG = "x" * 2001
ONE_PROBLEM: dict[str, tuple[dict[str, str | bytes | None], Expected]] = {
    # The study file
    "not TOML": (
        toml(('title = "Two"', "title = Two")),
        ("study.toml", 26, "is not TOML: invalid value", "Put text in quotes"),
    ),
    "twice": (
        toml(('title = "Two"', 'title = "Two"\ntitle = "Three"')),
        ("study.toml", 27, "is not TOML: `title` occurs twice", "Remove one of them"),
    ),
    "cut off TOML": (
        {"study.toml": "[study]\na = '''\nx\n"},
        ("study.toml", 2, "is probably not closed", "triple quotes"),
    ),
    "open quote": (
        toml(('title = "Two"', 'title = "Two')),
        ("study.toml", 26, "is probably not closed", "Add the quote"),
    ),
    "open single quote": ({"study.toml": "[study]\na = 'b\nc = 1\n"}, ("study.toml", 2, "probably not closed", "")),
    "single quote open to another": ({"study.toml": "a = 'b\nc = 'd'\n"}, ("study.toml", 1, "probably not closed", "")),
    "open three quotes": ({"study.toml": 'a = """b\nc = 1\n'}, ("study.toml", 1, "probably not closed", "")),
    "quote open at the end": ({"study.toml": 'a = 1\nb = "c'}, ("study.toml", 2, "probably not closed", "")),
    "nested TOML": ({"study.toml": "a = " + "[" * 9999}, ("study.toml", None, "can't be read as TOML", "")),
    "endless number": ({"study.toml": "a = " + "1" * 9999}, ("study.toml", None, "can't be read as TOML", "")),
    "bytes": ({"study.toml": STUDY.encode().replace(b"Two", b"\xff")}, ("study.toml", 26, "UTF-8", r"\xff")),
    "raw NUL": ({"study.toml": STUDY.replace("Two", "\0")}, ("study.toml", 26, "NUL", "")),
    "unknown setting": (toml(("share =", "shares =")), ("study.toml", 17, "no setting `shares`", "mean `share`?")),
    "unknown table": (toml(("[stage.rehearsal]", "[stage.reharsal]")), ("study.toml", 22, "`reharsal`", "`rehearsal`")),
    "unknown top table": (toml(("[pay]", "[payment]\nx=1\n[pay]")), ("study.toml", 6, "`payment`", "mean `pay`?")),
    "unlike any setting": (
        toml(("share =", "zzz =")),
        (
            "study.toml",
            17,
            "`zzz`",
            "`after`, `bonus`, `feedback`, `file`, `floor`, `grace`, `pass_score`, `reuse`, `share`, `smoothing`",
        ),
    ),
    "unlike any in items": (toml(("[stage.entry]", "qq = 1\n[stage.entry]")), ("study.toml", 31, "`qq`", "`from`")),
    "name of Python's": (
        toml(('from = "first"', 'from_ = "first"')),
        ("study.toml", 30, "no setting `from_`", "mean `from`?"),
    ),
    "odd setting": (toml(("share = 0.5", '"a\\u0007`" = 1')), ("study.toml", 17, r"`a\x07``", "")),
    "unknown option": (
        toml(("meaningless_lhs", "meaningles_lhs")),
        ("study.toml", 35, "`meaningles_lhs`", "`meaningless_lhs`"),
    ),
    "option of another task": (
        toml(("[[stage]]", "[stage.options]\nx = 1\n[[stage]]")),
        ("study.toml", 25, "no setting `x`", "nothing can be set here"),
    ),
    "wrong option": (
        toml(("set-aside", "aside")),
        ("study.toml", 35, "`stage.options.meaningless_lhs` is not one", "'set-aside', 'non-entailing' or 'own-label'"),
    ),
    "missing title": (
        toml(('title = "One"\n', "")),
        ("study.toml", 8, "`stage.title` is missing", "Add it: Title that workers see"),
    ),
    "missing study": (
        toml(('[study]\ntitle = "Phrases"\ncontact = "me@example.org"\nconsent = "consent.md"\n', "")),
        ("study.toml", None, "`study` is missing", "Add [study]"),
    ),
    "no stages": (
        {"study.toml": STUDY[: STUDY.index("[[stage]]")]},
        ("study.toml", None, "`stage` is missing", "Add [[stage]]"),
    ),
    "empty list of stages": (
        {"study.toml": "stage = []\n" + STUDY[: STUDY.index("[[stage]]")]},
        ("study.toml", 1, "is an empty list", "Add at least one"),
    ),
    "a single stage": (
        {"study.toml": STUDY[: STUDY.rindex("[[stage]]")].replace("[[stage]]", "[stage]")},
        ("study.toml", 8, "is not a list", "Write its heading with double brackets: [[stage]]."),
    ),
    "stage of another type": (
        {"study.toml": "stage = [3]\n" + STUDY[: STUDY.index("[[stage]]")]},
        ("study.toml", 1, "is not a table", "3"),
    ),
    "number for text": (
        toml(('"Phrases"', "3")),
        ("study.toml", 3, "`study.title` is not text", "| 3 | Write text in quotes"),
    ),
    "text for number": (toml(("0.5", '"0.5"')), ("study.toml", 17, "is not a number", "'0.5'")),
    "text for whole number": (
        toml(("per_judgment = 3", 'per_judgment = "3"')),
        ("study.toml", 20, "is not a whole number", "'3'"),
    ),
    "fraction for whole number": (
        toml(("per_judgment = 3", "per_judgment = 3.5")),
        ("study.toml", 20, "is not a whole number", "3.5 | Write a whole number of the currency's smallest unit"),
    ),
    "boolean for number": (
        toml(("per_judgment = 3", "per_judgment = true")),
        ("study.toml", 20, "is not a whole number", "true"),
    ),
    "text for boolean": (
        toml(("answered = 2", 'answered = 2\nexclude_contributors = "no"')),
        ("study.toml", 34, "neither true nor false", "'no'"),
    ),
    "text for table": (
        toml(
            ('[stage.entry]\nqualified_in = "first"\nanswered = 2\n', ""),
            ('name = "second"', 'name = "second"\nentry = "all"'),
        ),
        (
            "study.toml",
            26,
            "is not a table",
            "'all' | Write its settings in braces: `entry = { NAME = VALUE, … }`. Possible",
        ),
    ),
    "file name for table of items": (
        toml(
            ('[stage.items]\nfile = "items.jsonl"\n', ""), ('name = "first"', 'name = "first"\nitems = "items.jsonl"')
        ),
        ("study.toml", 10, "is not a table", "| 'items.jsonl' | Write `items = { file = \"items.jsonl\" }`."),
    ),
    "too small": (
        toml(("answered = 2", "answered = 0")),
        ("study.toml", 33, "is below 1", "| 0 | Write a number from 1 up"),
    ),
    "nothing for the length": (
        toml(("per_judgment = 3", "per_judgment = 3\nby_length = { per_100_words = 0, most = 9 }")),
        ("study.toml", 21, "`stage.pay.by_length.per_100_words` is below 1", "| 0 | Write a number from 1 up"),
    ),
    "too large": (toml(("share = 0.5", "share = 0.6")), ("study.toml", 17, "is above 0.5", "0.6")),
    "short lease": (
        toml(('name = "second"', 'name = "second"\nlease_minutes = 0.5')),
        ("study.toml", 26, "`stage.lease_minutes` is below 1", "| 0.5 | Write a number from 1 up"),
    ),
    "empty": (toml(('"Phrases"', '""')), ("study.toml", 3, "is empty", "Fill it in")),
    "blank title": (toml(('"Phrases"', '"  "')), ("study.toml", 3, "`study.title` is blank", "'  ' | Fill it in")),
    "blank contact": (
        toml(('"me@example.org"', '" \\t  "')),
        ("study.toml", 4, "`study.contact` is blank", r"' \t  ' | Fill it in"),
    ),
    "blank stage title": (toml(('"Two"', '" "')), ("study.toml", 26, "`stage.title` is blank", "' ' | Fill it in")),
    "too short": (toml(('"me@example.org"', '"me"')), ("study.toml", 4, "is too short", "at least 3")),
    "too long": (toml(('"Phrases"', f'"{LONG}"')), ("study.toml", 3, "is too long", "at most 200")),
    "not a name": (
        toml(('name = "second"', 'name = "Second stage"')),
        ("study.toml", 25, "is not a name", "lower-case"),
    ),
    "not a currency": (
        toml(("[pay]", '[pay]\ncurrency = "dollars"')),
        ("study.toml", 7, "is not a currency code", "'dollars'"),
    ),
    "not an expression": (
        toml(("[pay]", '[arrival]\nworker_pattern = "("\n[pay]')),
        ("study.toml", 7, "`arrival.worker_pattern` is not a regular expression", "'('"),
    ),
    "no parameter name": (
        toml(("[pay]", '[arrival]\nworker_parameter = ""\n[pay]')),
        ("study.toml", 7, "`arrival.worker_parameter` is empty", "'' | Use 1 to 64 characters: A-Z"),
    ),
    "odd parameter name": (
        toml(("[pay]", '[arrival]\nsession_parameter = "a&b"\n[pay]')),
        ("study.toml", 7, "`arrival.session_parameter` is empty, too long, or has characters other than", "'a&b'"),
    ),
    "equal parameters": (
        toml(("[pay]", '[arrival]\nstudy_parameter = "id"\nsession_parameter = "id"\n[pay]')),
        (
            "study.toml",
            8,
            "`arrival.session_parameter` is the name of another",
            "'id' | Give each parameter a unique name",
        ),
    ),
    "parameter equal to a default": (
        toml(("[pay]", '[arrival]\nworker_parameter = "STUDY_ID"\n[pay]')),
        ("study.toml", 6, "`arrival.study_parameter` is the name of another", "'STUDY_ID'"),
    ),
    "reserved panel": (
        toml(("[pay]", '[arrival]\npanel = "invitation"\n[pay]')),
        (
            "study.toml",
            7,
            "is reserved for signed links, a public page, models or the team",
            "'invitation' | Choose another",
        ),
    ),
    "no place for the code": (
        toml(("[pay]", '[arrival]\ncompletion_url = "https://panel.example.org/done"\n[pay]')),
        ("study.toml", 7, "`arrival.completion_url` does not contain {code}", "done' | Write {code} where"),
    ),
    "fee of too many decimals": (
        toml(("[pay]", "[pay]\nfee_percent = 33.333")),
        ("study.toml", 7, "`pay.fee_percent` has more than two decimals", "| 33.333 | Round it"),
    ),
    "another format": (
        toml(("format = 1", "format = 2")),
        ("study.toml", 1, "not one of the allowed values", "| 2 | Write 1."),
    ),
    "file and from": (
        toml(('from = "first"', 'from = "first"\nfile = "items.jsonl"')),
        ("study.toml", 29, "`stage.items` needs exactly one of `file` and `from`", ""),
    ),
    "max below min": (
        toml(('name = "second"', 'name = "second"\njudgments = { min = 3, max = 2 }')),
        ("study.toml", 26, "`max` (2) is below `min` (3)", ""),
    ),
    "no judgments": (
        toml(('name = "second"', 'name = "second"\njudgments = { min = 0 }')),
        ("study.toml", 26, "`stage.judgments.min` is below 1", "0"),
    ),
    "no judgments, as a number": (
        toml(('name = "second"', 'name = "second"\njudgments = 0')),
        ("study.toml", 26, "`stage.judgments` is below 1", "0"),
    ),
    "escaped NUL": (toml(('"Two"', '"T\\u0000"')), ("study.toml", 26, "NUL", r"'T\x00'")),
    "not a number": (toml(("share = 0.5", "share = nan")), ("study.toml", 17, "not a finite number", "nan")),
    "large number": (toml(("[pay]", "seed = 0x" + "f" * 9000 + "\n[pay]")), ("study.toml", 6, "too large", "smaller")),
    "date": (toml(('"Two"', "2026-09-30")), ("study.toml", 26, "is a date", "2026-09-30")),
    "deep": (
        toml(
            ("[stage.options]", "[stage.options]\nmeaningless_lhs = " + "[" * 30 + "]" * 30 + "\n#"),
            ('meaningless_lhs = "set-aside"\n', ""),
        ),
        ("study.toml", 35, "nested too deeply", ""),
    ),
    # Stages
    "unknown task": (
        toml(("rules-entailment", "rules-entailement")),
        ("study.toml", 27, "no such task", "Did you mean `rules-entailment`?"),
    ),
    "unlike any task": (
        toml(("rules-entailment", "zzz")),
        ("study.toml", 27, "no such task", "`rules-entailment`, `rules-meaningful`"),
    ),
    "same name": (
        toml(('name = "second"', 'name = "first"'), ('qualified_in = "first"\n', "")),
        ("study.toml", 25, "name of an earlier stage", "'first'"),
    ),
    "from nowhere": (
        toml(('from = "first"', 'from = "frist"')),
        ("study.toml", 30, "no such earlier stage", "'frist' | Did you mean `first`?"),
    ),
    "less sure than what is released": (
        toml(('name = "first"', 'name = "first"\nrelease_confidence = 0.8')),
        (
            "study.toml",
            30,
            "`stage.items.confidence` is below the `release_confidence` of `first` (0.8)",
            "| 0.7 | Write at least 0.8",
        ),
    ),
    "no confidence at all": (
        toml(('from = "first"', 'from = "first"\nconfidence = 0')),
        ("study.toml", 31, "below the `release_confidence` of `first` (0.7)", "| 0.0 | Write at least 0.7"),
    ),
    "too little gold for one person": (
        toml(('name = "first"', 'name = "first"\nmax_per_worker = 3')),
        ("study.toml", 34, "workers see about 1.5 gold items in the stage `first`", "| 2 | Raise `max_per_worker`"),
    ),
    "from itself": (toml(('from = "first"', 'from = "second"')), ("study.toml", 30, "is the stage itself", "`first`")),
    "cannot derive": (
        toml(("rules-entailment", "rules-meaningful"), ('[stage.options]\nmeaningless_lhs = "set-aside"\n', "")),
        ("study.toml", 27, "can't derive", "'rules-meaningful' | Give the stage a `file`"),
    ),
    "qualified nowhere": (
        toml(('qualified_in = "first"', 'qualified_in = "third"')),
        ("study.toml", 32, "no such earlier stage", "`first`"),
    ),
    "qualified in itself": (
        toml(('qualified_in = "first"', 'qualified_in = "second"')),
        ("study.toml", 32, "is the stage itself", "'second'"),
    ),
    "qualified later": (
        toml(("[stage.gold]", '[stage.entry]\nqualified_in = "second"\n[stage.gold]')),
        ("study.toml", 16, "is a later stage", "'second' | Move"),
    ),
    "qualified without gold": (
        toml(('[stage.gold]\nfile = "gold.jsonl"\nshare = 0.5\nafter = 2\n', "")),
        ("study.toml", 28, "without gold", "'first'"),
    ),
    "qualified without share": (toml(("share = 0.5", "share = 0.0")), ("study.toml", 32, "without gold", "'first'")),
    "qualified by too much": (
        toml(("answered = 2", "answered = 3")),
        ("study.toml", 33, "has 2 gold rows", "at least 3"),
    ),
    "too little gold": (toml(("after = 2", "after = 3")), ("study.toml", 18, "gold.jsonl has 2 rows", "at least 3")),
    "little gold by default": (toml(("after = 2\n", "")), ("study.toml", 15, "gold.jsonl has 2 rows", "at least 4")),
    "wage": (
        toml(("expected_seconds = 8", "expected_seconds = 10")),
        ("study.toml", 20, "pays $10.80 an hour", "3 | Pay at least 4 ($0.04) per"),
    ),
    "no wage": (toml(("per_judgment = 3\n", "")), ("study.toml", 19, "pays $0.00 an hour", "Pay at least 3")),
    # Files
    "missing file": (toml(("items.jsonl", "itmes.jsonl")), ("study.toml", 14, "no such file", "mean `items.jsonl`?")),
    "missing folder": (toml(("one.md", "guide/lines.txt")), ("study.toml", 12, "no such file", "Create")),
    "file as folder": (toml(("one.md", "one.md/x")), ("study.toml", 12, "no such file", "Create")),
    "missing consent": ({"consent.md": None}, ("study.toml", 5, "no such file", "'consent.md'")),
    "missing gold": ({"gold.jsonl": None}, ("study.toml", 16, "no such file", "'gold.jsonl'")),
    "missing truth": ({"truth.jsonl": None}, ("study.toml", 23, "no such file", "'truth.jsonl' | Create")),
    "same name with another ending": (
        toml(("items.jsonl", "items.csv")),
        ("study.toml", 14, "no such file", "mean `items.jsonl`?"),
    ),
    "absolute": (toml(("one.md", "/etc/passwd")), ("study.toml", 12, "outside the study folder", "'/etc/passwd'")),
    "drive": (toml(("one.md", "C:/x.md")), ("study.toml", 12, "outside the study folder", "'C:/x.md'")),
    "parent": (toml(("one.md", "guide/../../x.md")), ("study.toml", 12, "outside the study folder", "")),
    "folder": (toml(("one.md", ".")), ("study.toml", 12, "is not a file", "'.'")),
    "long file name": (toml(("one.md", "x" * 300)), ("study.toml", 12, "can't be opened", "xxx")),
    "empty consent": ({"consent.md": " \n"}, ("consent.md", None, "is empty", "")),
    "empty guidelines": ({"two.md": ""}, ("two.md", None, "is empty", "")),
    "guidelines in bytes": ({"two.md": b"a\n\xff"}, ("two.md", 2, "UTF-8", "")),
    "guidelines with NUL": ({"two.md": "a\nb\n\0"}, ("two.md", 3, "NUL", "")),
    "items of another kind": (
        {**toml(("items.jsonl", "items.txt")), "items.txt": "x"},
        ("items.txt", None, "format", ".txt"),
    ),
    # Items
    "empty items": ({"items.jsonl": ""}, ("items.jsonl", None, "is empty", "")),
    "no items": (
        {**toml(("items.jsonl", "items.csv")), "items.csv": "id,lhs\n"},
        ("items.csv", None, "has no items", ""),
    ),
    "malformed item": (rows("items.jsonl", ROW, "{"), ("items.jsonl", 2, "is not JSON", "")),
    "no id": (rows("items.jsonl", ROW, without(ROW, "id")), ("items.jsonl", 2, "`id` is missing", "")),
    "null id": (items({}, {"id": None}), ("items.jsonl", 2, "`id` is missing", "")),
    "empty id": (items({}, {"id": ""}), ("items.jsonl", 2, "`id` is not valid", "''")),
    "long id": (items({}, {"id": "x" * 201}), ("items.jsonl", 2, "`id` is not valid", "1 to 200")),
    "id with control": (items({}, {"id": "a\tb"}), ("items.jsonl", 2, "`id` is not valid", r"'a\tb'")),
    "id with spaces": (items({}, {"id": " a"}), ("items.jsonl", 2, "`id` is not valid", "without spaces")),
    "boolean id": (items({}, {"id": True}), ("items.jsonl", 2, "`id` is not valid", "true")),
    "fractional id": (items({}, {"id": 1.5}), ("items.jsonl", 2, "`id` is not valid", "1.5")),
    "same id": (items({}, {"id": "b"}, {}), ("items.jsonl", 3, "is already used in line 1", "'a1'")),
    "same id in another type": (items({"id": 1}, {"id": "1"}), ("items.jsonl", 2, "is already used in line 1", "'1'")),
    "missing column": (rows("items.jsonl", without(ROW, "rhs")), ("items.jsonl", 1, "`rhs` is missing", "")),
    "blank text": (items({"rhs": " "}), ("items.jsonl", 1, "`rhs` is blank", "' '")),
    "empty text": (items({"rhs": ""}), ("items.jsonl", 1, "`rhs` is empty", "''")),
    "long text": (items({"rhs": LONG}), ("items.jsonl", 1, "`rhs` is too long", "2000")),
    "number as text": (items({"rhs": 3}), ("items.jsonl", 1, "`rhs` is not text", "3")),
    "NUL in text": (items({"rhs": "a\0"}), ("items.jsonl", 1, "NUL", r"a\x00")),
    "empty cell": (
        {**toml(("items.jsonl", "items.csv")), "items.csv": 'id,rule_lhs,rule_rhs,lhs,rhs\n1,"a\nb",c,d,e\n2,b,c,d,\n'},
        ("items.csv", 4, "`rhs` is empty", ""),
    ),
    # Gold
    "gold without id": (rows("gold.jsonl", GOLD, without(GOLD, "id")), ("gold.jsonl", 2, "`id` is missing", "")),
    "same gold": (gold({}, {}), ("gold.jsonl", 2, "is already used in line 1", "'g1'")),
    "gold without answer": (
        rows("gold.jsonl", GOLD, without({**GOLD, "id": "x"}, "answer")),
        ("gold.jsonl", 2, "`answer` is missing", ""),
    ),
    "wrong gold answer": (
        gold({}, {"id": "x", "answer": "maybe"}),
        ("gold.jsonl", 2, "`answer` is not one of", "'maybe' | Write 'yes' or 'no'"),
    ),
    "gold unexplained": (
        rows("gold.jsonl", GOLD, without({**GOLD, "id": "x"}, "explanation")),
        ("gold.jsonl", 2, "`explanation` is missing", "sentence"),
    ),
    "gold blankly explained": (
        gold({}, {"id": "x", "explanation": " "}),
        ("gold.jsonl", 2, "`explanation` is blank", "' '"),
    ),
    "gold explained in numbers": (
        gold({}, {"id": "x", "explanation": 1}),
        ("gold.jsonl", 2, "`explanation` is not text", "1"),
    ),
    "gold with a column too many": (
        gold({}, {"id": "x", "phrases": 1}),
        ("gold.jsonl", 2, "`phrases` is not expected", "mean `phrase`?"),
    ),
    "gold of another shape": (
        gold({}, {"id": "x", "side": "left"}),
        ("gold.jsonl", 2, "`side` is not one of", "'lhs' or 'rhs'"),
    ),
    "gold called like an item": (
        gold({}, {"id": "a1:lhs"}),
        ("gold.jsonl", 2, "is already used by an item", "'a1:lhs'"),
    ),
    "gold called like a group": (gold({}, {"id": "a2"}), ("gold.jsonl", 2, "is already used by an item", "'a2'")),
    "malformed gold": (rows("gold.jsonl", GOLD, "[]"), ("gold.jsonl", 2, "is not an object", "")),
    "empty gold": ({"gold.jsonl": ""}, ("gold.jsonl", None, "is empty", "")),
    "gold cells": (
        {**toml(("gold.jsonl", "gold.csv")), "gold.csv": "id,phrase,answer,explanation\na,x,yes,Yes.\nb,y,no,\n"},
        ("gold.csv", 3, "`explanation` is missing", ""),
    ),
    # Truth
    "truth without answer": (rows("truth.jsonl", {"phrase": "x"}), ("truth.jsonl", 1, "`answer` is missing", "")),
    "wrong truth": (
        rows("truth.jsonl", {"phrase": "x", "answer": 1}),
        ("truth.jsonl", 1, "`answer` is not one of", "1"),
    ),
    "truth of another shape": (
        rows("truth.jsonl", {"lhs": "x", "phrase": "y", "answer": "no"}),
        ("truth.jsonl", 1, "`lhs` is not expected", "`phrase`"),
    ),
}


@pytest.mark.parametrize("case", ONE_PROBLEM)
def test_a_mistake_is_one_problem(tmp_path: Path, case: str) -> None:
    changes, (file, line, message, rest) = ONE_PROBLEM[case]
    folder, problems = check_folder(write_study(tmp_path, changes))
    assert folder is None
    assert len(problems) == 1, list(map(found, problems))
    [problem] = problems
    assert (problem.file, problem.line) == (file, line), found(problem)
    assert message in problem.message
    assert rest in found(problem)
    assert problem.fix.endswith((".", "?"))
    for jargon in ("pydantic", "Input should", "validation", "Traceback"):
        assert jargon not in str(problem)


def test_gold_of_a_derived_stage_must_not_be_called_like_what_it_derives_from(tmp_path: Path) -> None:
    row = {"id": "a1", "lhs": "x", "rhs": "y", "answer": "no", "explanation": "No."}
    changes = {
        "study.toml": STUDY + '[stage.gold]\nfile = "more.jsonl"\nafter = 1\n',
        **rows("more.jsonl", row),
    }
    _, [problem] = check_folder(write_study(tmp_path, changes))
    assert (problem.file, problem.line, problem.value) == ("more.jsonl", 1, "'a1'")


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    changes: dict[str, str | bytes | None] = {
        **toml(
            ('title = "Phrases"', "titel = 1"),
            ('name = "first"\ntitle = "One"', 'name = "first"'),
            ("share = 0.5", "share = 7"),
            ("expected_seconds = 8", 'expected_seconds = 80\nexpected = "x"'),
            ("rules-entailment", "rules-entailments"),
            ('from = "first"', 'from = "none"'),
        ),
        **rows("items.jsonl", without(ROW, "id", "lhs"), {**ROW, "rhs": 1}),
        **gold({"answer": "x", "explanation": ""}),
        "truth.jsonl": "{",
        "consent.md": "",
        "one.md": None,
    }
    _, problems = check_folder(write_study(tmp_path, changes))
    assert [(problem.file, problem.line) for problem in problems] == [
        ("study.toml", 3),  # titel, for the missing title
        ("study.toml", 8),  # stage.title is missing
        ("study.toml", 11),  # one.md
        ("study.toml", 16),  # share
        ("study.toml", 17),  # too little gold
        ("study.toml", 19),  # the wage
        ("study.toml", 21),  # expected
        ("study.toml", 27),  # the task
        ("study.toml", 30),  # from
        ("study.toml", 33),  # answered: too little gold to qualify
        ("consent.md", None),
        ("gold.jsonl", 1),
        ("gold.jsonl", 1),
        ("items.jsonl", 1),
        ("items.jsonl", 1),
        ("items.jsonl", 2),
        ("truth.jsonl", 1),
    ]


def test_links_must_stay_in_the_folder(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("secret")
    study = write_study(tmp_path / "study")
    (study / "one.md").unlink()
    (study / "one.md").symlink_to(secret)
    (study / "two.md").rename(study / "other.md")
    (study / "two.md").symlink_to("other.md")
    _, [problem] = check_folder(study)
    assert (problem.file, problem.line, problem.value) == ("study.toml", 12, "'one.md'")
    assert "symbolic link to a file outside" in problem.message
    (study / "one.md").unlink()
    (study / "one.md").symlink_to("one.md")
    _, [problem] = check_folder(study)
    assert "can't be opened" in problem.message
    (study / "one.md").unlink()
    os.mkfifo(study / "one.md")
    _, [problem] = check_folder(study)
    assert "is not a file" in problem.message


def test_a_study_behind_a_link_is_read(tmp_path: Path) -> None:
    write_study(tmp_path / "study")
    (tmp_path / "link").symlink_to("study")
    assert check_folder(tmp_path / "link")[1] == []


def test_a_folder_that_does_not_exist_is_told(tmp_path: Path) -> None:
    folder, [problem] = check_folder(tmp_path / "nowhere")
    assert folder is None
    assert (problem.file, problem.message) == (str(tmp_path / "nowhere"), "no such folder")
    assert "chorale new" in problem.fix


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir])
def test_a_folder_that_is_no_study_is_told(tmp_path: Path, make: Any) -> None:
    path = tmp_path / "study"
    make(path)
    folder, [problem] = check_folder(path)
    assert folder is None
    assert (problem.file, problem.line) == ("study.toml", None)
    assert "not found in" in problem.message
    assert "chorale new" in problem.fix


def test_a_study_file_that_is_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "study.toml").mkdir()
    _, [problem] = check_folder(tmp_path)
    assert "can't be read" in problem.message


def test_loading_a_study_with_problems_raises_them_all(tmp_path: Path) -> None:
    write_study(tmp_path, {"one.md": "", "two.md": ""})
    with pytest.raises(UserError, match="has 2 problems") as raised:
        load_folder(tmp_path)
    assert [problem.file for problem in raised.value.problems] == ["one.md", "two.md"]
    write_study(tmp_path, {"one.md": ""})
    with pytest.raises(UserError, match="has 1 problem\n"):
        load_folder(tmp_path)


def test_a_required_setting_with_a_misspelt_name_is_one_problem(tmp_path: Path) -> None:
    """Before, the same slip was reported twice: as an unknown setting, and as a missing one."""
    write_small_study(tmp_path)
    written = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(written.replace("contact =", "contct =", 1))
    with pytest.raises(UserError) as wrong:
        load_folder(tmp_path)
    assert [one.message for one in wrong.value.problems] == ["there is no setting `contct` here"]
    (tmp_path / "study.toml").write_text(written.replace("contact =", "elsewhere =", 1))
    with pytest.raises(UserError) as wrong:
        load_folder(tmp_path)
    assert len(wrong.value.problems) == 2


def test_names_that_are_near() -> None:
    assert did_you_mean("Golden", ["gold", "pay"]) == "Did you mean `gold`?"
    assert did_you_mean("x", ["gold", "pay"]) == "Use one of: `gold`, `pay`."
    assert did_you_mean("x", []) == "None exist. Add one, or remove this setting."


# Whatever the files hold


@given(name=st.sampled_from(sorted(FILES)), content=st.binary())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_bytes_raise(tmp_path: Path, name: str, content: bytes) -> None:
    folder, problems = check_folder(write_study(tmp_path, {name: content}))
    assert (folder is None) == bool(problems)


@given(name=st.sampled_from(sorted(FILES)), data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_damage_raises(tmp_path: Path, name: str, data: st.DataObject) -> None:
    content = FILES[name].encode()
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 8)))
    damaged = content[:start] + data.draw(st.binary(max_size=4)) + content[end:]
    folder, problems = check_folder(write_study(tmp_path, {name: damaged}))
    assert (folder is None) == bool(problems)
    assert all(str(problem).isprintable() for problem in problems), problems


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)


@given(
    name=st.sampled_from(["items.jsonl", "gold.jsonl", "truth.jsonl"]),
    field=st.sampled_from([*ROW, *GOLD, "side", "application", "other"]),
    value=json_values,
)
@example(name="items.jsonl", field="other", value=float("inf"))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_value_raises(tmp_path: Path, name: str, field: str, value: Any) -> None:
    row = {**json.loads(FILES[name].splitlines()[0]), field: value}
    folder, problems = check_folder(write_study(tmp_path, rows(name, row, {**row, "id": "z"})))
    assert (folder is None) == bool(problems)


@given(
    line=st.sampled_from([line for line in STUDY.splitlines() if "=" in line]),
    value=st.sampled_from(
        [
            *["1", "-1", "0.5", "nan", "true", "[]", "[1, {}]", "{}", "{ a = 1 }", "2026-01-01", "12:00:00"],
            *['""', '"x"', '"/"', '".."', '"\\u0000"', '"\\n"', "'''\n\n'''", '"first"', '"second"', f"0x{'f' * 40}"],
        ]
    ),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(80, 300))
def test_no_setting_raises(tmp_path: Path, line: str, value: str) -> None:
    text = STUDY.replace(line, f"{line.partition('=')[0]}= {value}")
    tomllib.loads(text)
    folder, problems = check_folder(write_study(tmp_path, {"study.toml": text}))
    assert (folder is None) == bool(problems)
    assert all(str(problem).isprintable() for problem in problems), problems


# Templates


@pytest.mark.parametrize("template", template_names())
def test_a_template_is_a_study_without_problems(tmp_path: Path, template: str) -> None:
    files = create_study(tmp_path / "deep" / "study", template)
    assert tmp_path / "deep" / "study" / "study.toml" in files
    assert all(path.is_file() for path in files)
    assert list(map(str, check_folder(tmp_path / "deep" / "study")[1])) == []
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["study"]


def test_the_rules_template_is_the_study_of_the_paper(tmp_path: Path) -> None:
    create_study(tmp_path, "rules")
    meaningful, entailment = load_folder(tmp_path).stages
    assert (len(meaningful.items), len(meaningful.gold), len(meaningful.truth)) == (240, 36, 240)
    assert (len(entailment.items), len(entailment.gold), len(entailment.truth)) == (0, 30, 96)
    for stage in (meaningful, entailment):
        assert (stage.settings.judgments.min, stage.settings.judgments.max) == (3, 3)
        assert stage.settings.gold is not None
        assert (stage.settings.gold.share, stage.settings.release_confidence) == (0.1, 0.7)
    assert entailment.settings.sources == ("meaningful",)
    assert not entailment.settings.entry.exclude_contributors


def test_every_phrase_of_the_rules_template_has_its_truth(tmp_path: Path) -> None:
    create_study(tmp_path, "rules")
    meaningful, _ = load_folder(tmp_path).stages
    views = {row.view["phrase"] for row in meaningful.truth}
    assert {item.payload["phrase"] for item in meaningful.items} == views


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="is not empty"):
        create_study(tmp_path, "rules")
    with pytest.raises(UserError, match="is a file"):
        create_study(tmp_path / "notes.txt", "rules")
    with pytest.raises(UserError, match="can't be written"):
        create_study(tmp_path / "notes.txt" / "study", "rules")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_the_present_folder_can_become_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Path("study.toml") in create_study(Path(), "rules")
    assert check_folder(Path())[1] == []


@pytest.mark.parametrize(("name", "fix"), [("rule", "Did you mean `rules`"), ("../rules", "`rules`"), ("", "`rules`")])
def test_unknown_templates_are_told(tmp_path: Path, name: str, fix: str) -> None:
    with pytest.raises(UserError, match=fix):
        create_study(tmp_path / "study", name)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def disk_full(source: Path, target: Path) -> None:
        if target.name == "study.toml":
            raise OSError(28, "No space left on device")
        target.touch()

    monkeypatch.setattr(shutil, "copyfile", disk_full)
    with pytest.raises(UserError, match="No space left"):
        create_study(tmp_path / "study", "rules")
    assert list(tmp_path.iterdir()) == []
