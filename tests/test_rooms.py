"""The rooms of the house keep to their doors; and the checks themselves refuse what they are there to refuse."""

from collections import Counter
from pathlib import Path

import pytest

from chorale.contract import installed_tasks
from chorale.folder.templates import templates_of
from chorale.registry import installed
from rooms import (
    beyond,
    class_names_with_several_meanings,
    cycles,
    imports_in_functions,
    impure,
    kit_entanglements,
    kits_named,
    lasting_names,
    lines_of_functions,
    lines_of_modules,
    misplaced,
    read_modules,
    room_of,
)

PACKAGE = Path(__file__).parent.parent / "src" / "chorale"

# The rooms, and what holds in them. Whoever moves a package changes these tables.
ROOMS = (
    *("audit", "cli", "contract", "engine", "exchange", "files", "folder", "kits", "metrics", "model", "monitor"),
    *("platforms", "present", "protocol", "registry", "rehearsal", "report", "reproduce", "store", "testing", "text"),
    "web",
)
# What people import, and how names are loaded late.
TOP_LEVEL = ("aggregate", "annotators", "coefficients", "evaluate", "lazy")
# What decides or computes, and neither sees nor changes the world: no clock, no file, no network, no other process.
_COMPUTING = frozenset(
    (
        *("__future__", "abc", "array", "bisect", "collections", "contextlib", "copy", "dataclasses", "decimal"),
        *("difflib", "enum", "fractions", "functools", "graphlib", "hashlib", "heapq", "itertools", "json", "math"),
        *("operator", "random", "re", "statistics", "string", "types", "typing", "unicodedata"),
    )
)
# `importlib` loads other modules of the same room when they are asked for; `sys` knows whether pandas is loaded.
PURE = {
    "model": _COMPUTING | {"pydantic", "importlib"},
    "protocol": _COMPUTING,
    "metrics.agreement": _COMPUTING | {"numpy", "highspy"},
    "metrics.aggregation": _COMPUTING | {"numpy", "pandas", "polars", "sys"},
    "metrics.irt": _COMPUTING | {"numpy"},
    "present.svg": _COMPUTING | {"html"},
}
ONLY_IN = dict.fromkeys(("sqlalchemy", "sqlite3", "apsw", "psycopg", "alembic"), "store")
KITS = "chorale.kits"
# Which kits a kit builds on: {"questions": {"forms"}}. All others know nothing of each other.
KITS_NEED: dict[str, set[str]] = {"qasrl": {"srl"}}
# Names of kits' parts that are words with other meanings.
ORDINARY = {"demo", "form", "forms", "frames", "keys", "questions", "rubric", "rules", "run"}
# Names of kits' parts that are nouns of the core: a family scores labels, which every study has.
NOUNS = {"labels"}
# Words of a kit that name no part of it: Mechanical Turk's tasks, and stages of a template.
WORDS_OF_KITS = {"HIT", "HITs", "hits", "entailment", "meaningful"}
# Where core may have a name of a kit's, and why. Migrations are left out: they are what was done at their time.
NAMED_IN_CORE = {
    ("chorale.cli.export", "labelstudio"),  # the format of an export, which a kit's command reads back
    ("chorale.exchange.export", "labelstudio"),  # the same
    ("chorale.files.batch_files", "mturk"),  # the platform that a file came from, and its workers with it
    ("chorale.model.extras", "rules"),  # an extra of the package, as pyproject.toml has it
    ("chorale.report.results", "questions"),  # the plural of a word
    ("chorale.web.signed_links", "keys"),  # the member of a JSON Web Key Set, as RFC 7517 has it
}
# Behind extras, or so slow to load that only what needs them may wait for them.
IMPORTED_LATE = (
    *("alembic", "babel", "boto3", "cryptography", "datasets", "duckdb", "highspy", "ibis", "lemminflect", "pandas"),
    *("polars", "pyarrow", "pyspark", "safetensors", "spacy", "torch", "transformers"),
)
MOST_LINES_OF_A_MODULE = 400
MOST_LINES_OF_A_FUNCTION = 60
# A migration is what was done at its time: it is neither split nor shortened afterwards.
NEVER_CHANGED = "chorale.store.migrations.versions."

# What is left to be put right. These may only shrink: what is better than its entry fails until the entry follows.
LONG_MODULES: dict[str, int] = {}
LONG_FUNCTIONS: dict[str, int] = {}
# For extras, and for what takes long to load and few need.
IMPORTS_IN_FUNCTIONS = {
    "chorale.engine.quality": 2,
    "chorale.kits.forms.commands.pdf_pages": 1,
    "chorale.kits.frames.commands.baseline": 1,
    "chorale.kits.frames.commands.train": 2,
    "chorale.kits.mturk.liquid_layouts": 1,
    "chorale.kits.qasrl.commands.parsing": 1,
    "chorale.kits.qasrl.commands.prepare": 1,
    "chorale.kits.qasrl.commands.train": 3,
    "chorale.kits.qasrl.parser.running": 1,
    "chorale.kits.qasrl.parser.saved": 1,
    "chorale.kits.qasrl.parser.training": 1,
    "chorale.kits.questions.baselines.naming": 3,
    "chorale.kits.questions.commands.train": 3,
    "chorale.kits.rules.learning.pipeline": 3,
    "chorale.metrics.aggregation.dataframes": 1,
    "chorale.present.languages": 1,
    "chorale.rehearsal.crowd_file": 1,
    "chorale.store.database": 2,
}
CYCLES: list[list[str]] = []
# Names that say nothing about the thing they name. In a comprehension they are read where they are made.
VAGUE_NAMES = ("found", "told", "one", "what")
# Where they mean something.
VAGUE_NAMES_LEFT = {
    ("chorale.kits.mturk.store.hits", "told"),  # the name of a column, which every study of that kind has
    ("chorale.model.plural", "one"),  # the form of a word for one thing
    ("chorale.model.wording", "one"),  # the same
    ("chorale.present.language", "one"),  # the same
    ("chorale.web.console.worker", "what"),  # the name of a field of a form in the browser
}

MODULES = read_modules(PACKAGE)


def test_every_room_is_in_the_table() -> None:
    assert {room_of(name) for name in MODULES} - {"", "__main__", "py"} == {*ROOMS, *TOP_LEVEL}
    assert {part.split(".")[0] for part in PURE} | set(ONLY_IN.values()) <= set(ROOMS)


def names_of_kits() -> set[str]:
    """What installed kits and their parts are called."""
    names = {export.name for task in installed_tasks().values() for export in task.exports}
    for kit in installed().kits.values():
        parts = (kit.tasks, kit.families, kit.readers, kit.aggregators, kit.tokenizers, kit.papers, kit.exports)
        names |= {kit.name, *(name for part in parts for name in part)}
        names |= {section.name for section in kit.sections} | {folder.name for folder in templates_of(kit)}
        names |= {command.path[-1] for command in kit.commands}
    return names


def test_the_tree_keeps_every_rule() -> None:
    # One test, since reading the whole tree takes longer than all the checks.
    core = {name: source for name, source in MODULES.items() if not name.startswith((f"{KITS}.", NEVER_CHANGED))}
    changing = {name: source for name, source in MODULES.items() if not name.startswith(NEVER_CHANGED)}
    broken = {
        "decisions and measures do no input or output": list(impure(MODULES, PURE)),
        "only the store knows databases": list(misplaced(MODULES, ONLY_IN, KITS)),
        "kits know only those they declare": list(kit_entanglements(MODULES, KITS_NEED, KITS)),
        "a class name has one meaning": list(class_names_with_several_meanings(MODULES)),
        "modules are short": list(beyond(lines_of_modules(MODULES), MOST_LINES_OF_A_MODULE, LONG_MODULES)),
        "functions are short": list(beyond(lines_of_functions(changing), MOST_LINES_OF_A_FUNCTION, LONG_FUNCTIONS)),
    }
    assert broken == {rule: [] for rule in broken}
    assert cycles(MODULES) == CYCLES
    assert set(kits_named(core, names_of_kits() - NOUNS | WORDS_OF_KITS, ORDINARY)) == NAMED_IN_CORE
    assert set(lasting_names(changing, VAGUE_NAMES)) == VAGUE_NAMES_LEFT
    # More is a new one; fewer is an entry that must follow.
    late = imports_in_functions(MODULES, IMPORTED_LATE)
    assert Counter(each.importer for each in late) == IMPORTS_IN_FUNCTIONS


# The checks themselves


@pytest.mark.parametrize(
    "statement",
    [
        "import httpx2",
        "import os",
        "import os.path as paths",
        "from urllib.request import urlopen",
        "import urllib",
        "from pathlib import Path",
        "import time",
        "import numpy",
        "if True:\n    import socket",
        "def f():\n    import subprocess",
        "text = open('file').read()",
        "os = __import__('os')",
        "from . import other",
    ],
)
def test_a_pure_room_refuses(statement: str) -> None:
    (line,) = impure({"chorale.protocol.pay": statement}, PURE)
    assert line.startswith("chorale.protocol.pay, line ")
    assert "`protocol` may not" in line


@pytest.mark.parametrize(
    "statement",
    [
        "from collections.abc import Sequence",
        "from chorale.model import Refusal",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pathlib import Path",
        "opened = file.open()",
    ],
)
def test_a_pure_room_allows(statement: str) -> None:
    assert list(impure({"chorale.protocol.pay": statement}, PURE)) == []
    assert list(impure({"chorale.web.pages": "import os"}, PURE)) == []


@pytest.mark.parametrize(
    "statement",
    [
        "import sqlalchemy",
        "from sqlalchemy.engine import Connection",
        "import sqlite3",
        "import apsw",
        "import psycopg.rows",
        "from alembic import command",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sqlalchemy import Connection",
        "def f():\n    import sqlalchemy",
    ],
)
def test_a_database_library_is_refused_outside_of_the_store(statement: str) -> None:
    for elsewhere in ("chorale.engine.paying", "chorale.kits.forms", "chorale.kits.forms.task", "chorale.kits.store"):
        (line,) = misplaced({elsewhere: statement}, ONLY_IN, KITS)
        assert line.endswith("which only `store` may")
    for place in ("chorale.store.ledger", "chorale.kits.forms.store.schema"):
        assert list(misplaced({place: statement}, ONLY_IN, KITS)) == []


@pytest.mark.parametrize(
    ("importer", "statement", "refused"),
    [
        ("chorale.web.app", "from chorale.kits.qasrl import KIT", True),
        ("chorale.web.app", "import chorale.kits.qasrl.reading", True),
        ("chorale.cli", "def f():\n    from chorale.kits import qasrl", True),
        ("chorale.cli", "where = {'qasrl': 'chorale.kits.qasrl:KIT'}", True),
        ("chorale.kits", "from chorale.kits.qasrl import KIT", True),
        ("chorale.kits.frames.page", "from chorale.kits.qasrl import KIT", True),
        ("chorale.kits.questions.page", "from chorale.kits.forms import fields", False),
        ("chorale.kits.forms.page", "from chorale.kits.questions import KIT", True),
        ("chorale.kits.qasrl.page", "from chorale.kits.qasrl.reading import read", False),
        ("chorale.kits.qasrl.page", "from chorale.model import Item", False),
        ("chorale.kitsch", "import chorale.kitsch.qasrl", False),
    ],
)
def test_kits_are_kept_apart(importer: str, statement: str, refused: bool) -> None:
    modules = {importer: statement, "chorale.kits.qasrl": "", "chorale.kits.forms": "", "chorale.kits.forms.fields": ""}
    assert bool(list(kit_entanglements(modules, {"questions": {"forms"}}, KITS))) is refused


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("table = 'mturk_hit'", True),
        ("import chorale.store.mturk", True),
        ("def mturk_rows(): pass", True),
        ("class MturkRows: pass", True),
        ("def f(hits, *, mturk=1): pass", True),
        ("help = 'jsonl, csv or qasrl-csv.'", True),
        ("default = 'rules'", True),
        ("text = 'task = \"form\"'", True),
        ("message = 'a stage of the task `form`'", True),
        ("rules = forms = 1", False),
        ("message = 'Forms have rules.'", False),
        ('def f():\n    "As mturk does."', False),
        ("# mturk", False),
    ],
)
def test_names_of_kits_are_seen(statement: str, named: bool) -> None:
    names = {"mturk", "qasrl-csv", "form", "rules"}
    assert bool(list(kits_named({"chorale.web.app": statement}, names, ORDINARY))) is named


def test_circles_are_found_and_types_make_none() -> None:
    modules = {
        "chorale.a": "from chorale.b import x",
        "chorale.b": "from chorale import c",
        "chorale.c": "def f():\n    import chorale.a",
        "chorale.d": "from chorale.e import x",
        "chorale.e": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import chorale.d",
        "chorale": "",
    }
    assert cycles(modules) == [["chorale.a", "chorale.b", "chorale.c"]]


def test_sizes_are_held_and_the_list_of_exceptions_only_shrinks() -> None:
    long = "def f():\n" + "    x = 1\n" * 60
    assert lines_of_functions({"chorale.a": f"class A:\n    {long}".replace("\n    x", "\n        x")}) == {
        "chorale.a.A.f": 61
    }
    sizes = lines_of_functions({"chorale.a": long})
    assert list(beyond(sizes, 60, {})) == ["chorale.a.f has 61 lines, at most 60 are allowed"]
    assert list(beyond(sizes, 60, {"chorale.a.f": 61})) == []
    assert list(beyond(sizes, 61, {"chorale.a.f": 61})) == ["chorale.a.f is no longer too long: take it off the list"]
    assert list(beyond({}, 60, {"chorale.a.f": 61})) == ["chorale.a.f is no longer too long: take it off the list"]
    assert lines_of_modules({"chorale.a": long}) == {"chorale.a": 61}


def test_class_names_with_several_meanings_are_seen() -> None:
    modules = {"chorale.a": "class A:\n    class B: ...\nclass C: ...\n", "chorale.b": "class A: ...\nclass B: ...\n"}
    assert list(class_names_with_several_meanings(modules)) == ["A: chorale.a, chorale.b"]


def test_imports_in_functions_are_seen() -> None:
    source = (
        "import json\n\nclass A:\n    def f(self):\n        import torch.nn\n        from chorale.model import Item\n"
    )
    (found,) = imports_in_functions({"chorale.a": source}, ["torch"])
    assert str(found) == "chorale.a, line 6: imports chorale.model"


@pytest.mark.parametrize(
    ("statement", "lasts"),
    [
        ("found = 1", True),
        ("def f(found): ...", True),
        ("def f(*, a, found=1): ...", True),
        ("class A:\n    found: int", True),
        ("self.found = 1", True),
        ("def found(): ...", True),
        ("for found in []:\n    f(found)", True),
        ("if (found := f()): ...", True),
        ("a, (b, *found) = c", True),
        ("[g(found) for found in c]", False),
        ("f(lambda found: found)", False),
        ("[found for a in b if (found := f(a))]", False),
        ("f(x.found, found=1)", False),
    ],
)
def test_names_that_last_are_seen(statement: str, lasts: bool) -> None:
    assert list(lasting_names({"chorale.a": statement}, ["found"])) == [("chorale.a", "found")] * lasts
