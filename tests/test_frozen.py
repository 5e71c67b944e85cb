"""Task code cannot change what it is handed: labels, evidence and what others see stay as they were."""

import copy
import json
import pickle
import re
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Select, select

from chorale.audit.verify import verify
from chorale.contract import Task, installed_tasks
from chorale.engine.opening import open_study
from chorale.model.frozen import FrozenDict, FrozenList, FrozenValueError, frozen
from chorale.store import Tx
from chorale.store.schema import event, grade, item, response
from crowd import Person, look

VALUE = {"tags": ["b", "a"], "spans": [{"start": 1, "end": 2}], "text": "x", "none": None}

CHANGES: list[Callable[[Any], object]] = [
    lambda value: value.sort(),
    lambda value: value.reverse(),
    lambda value: value.append("new"),
    lambda value: value.extend(["new"]),
    lambda value: value.insert(0, "new"),
    lambda value: value.remove(value[0]),
    lambda value: value.pop(),
    lambda value: value.clear(),
    lambda value: value.__setitem__(0, "new"),
    lambda value: value.__delitem__(0),
    lambda value: value.__iadd__(["new"]),
    lambda value: value.__imul__(2),
    lambda value: value.update(new=1),
    lambda value: value.setdefault("new", 1),
    lambda value: value.popitem(),
    lambda value: value.pop(next(iter(value))),
    lambda value: value.__setitem__("new", 1),
    lambda value: value.__delitem__(next(iter(value))),
    lambda value: value.__ior__({"new": 1}),
]


def vandalise(value: Any) -> None:
    """Change whatever can be changed, all the way down."""
    if isinstance(value, list | tuple):
        for inner in value:
            vandalise(inner)
    elif isinstance(value, dict):
        for inner in list(value.values()):
            vandalise(inner)
    elif is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            vandalise(getattr(value, part.name))
    for change in CHANGES:
        with suppress(FrozenValueError, AttributeError, TypeError, StopIteration):
            change(value)


def test_frozen_values_read_like_plain_ones() -> None:
    value = frozen(VALUE)
    assert value == VALUE
    assert json.dumps(value) == json.dumps(VALUE)
    assert repr(value) == repr(VALUE)
    assert isinstance(value, FrozenDict) and isinstance(value["spans"], FrozenList)
    assert frozen(value) is value
    assert {**value, "tags": sorted(value["tags"])}["tags"] == ["a", "b"]


def test_nothing_changes_them() -> None:
    value = frozen(VALUE)
    vandalise(value)
    assert value == VALUE
    with pytest.raises(FrozenValueError, match="Copy it first"):
        value["tags"].sort()


def test_copies_of_them_can_be_changed() -> None:
    value = copy.deepcopy(frozen(VALUE))
    value["spans"][0]["end"] = 9
    value["tags"].sort()
    assert value == {**VALUE, "tags": ["a", "b"], "spans": [{"start": 1, "end": 9}]}
    assert isinstance(pickle.loads(pickle.dumps(frozen(VALUE)))["tags"], FrozenList)


# A hostile task


def hostile(task: Task) -> Task:
    """The task with every function of it changing all it gets, before it answers and after."""

    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        def vandal(*args: Any) -> Any:
            vandalise(args)
            result = function(*args)
            vandalise(args)
            return result

        return vandal

    parts = {}
    for name in ("shape", "form", "grading", "combining", "deriving", "explaining"):
        part = getattr(task, name)
        functions = {each.name: getattr(part, each.name) for each in fields(part)}
        parts[name] = replace(
            part,
            **{
                each: wrapped(function)
                for each, function in functions.items()
                if callable(function) and not isinstance(function, type)
            },
        )
    configure = task.options.configure
    options = replace(task.options, configure=configure and (lambda given: hostile(configure(given))))
    return replace(task, options=options, **parts)


def write_study(folder: Path) -> None:
    folder.mkdir()
    rows = [{"id": f"i{number}", "text": f"one two three {number}"} for number in range(4)]
    answer = {"some": ["c", "b"], "words": [{"start": 0, "end": 2}]}
    gold = [{"id": f"g{n}", "text": f"four five six {n}", "answer": answer, "explanation": "So."} for n in range(4)]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    (folder / "text.md").write_text("Read.\n")
    fields_ = """\
fields = [
  { name = "some", kind = "choices", ask = "Which?", options = ["c", "b", "a"] },
  { name = "words", kind = "spans", ask = "Where?", item = "text" },
]
"""
    (folder / "study.toml").write_text(
        f"""\
[study]
title = "Lists"
contact = "team@example.org"
consent = "text.md"
seed = 3
[[stage]]
name = "first"
title = "Mark"
task = "form"
guidelines = "text.md"
items = {{ file = "items.jsonl" }}
gold = {{ file = "gold.jsonl", share = 0.5, floor = 0 }}
[stage.options]
shows = [{{ item = "text" }}]
{fields_}
[[stage]]
name = "second"
title = "Look again"
task = "form"
guidelines = "text.md"
items = {{ from = "first", of = "answers" }}
judgments = 1
[stage.options]
shows = [{{ item = "text" }}, {{ item = "some" }}]
fields = [{{ name = "good", kind = "choice", ask = "Is it?", options = ["yes", "no"] }}]
"""
    )


def rows(query: Select[Any], tx: Tx) -> list[str]:
    """In an order that depends neither on names nor on who came first."""
    return sorted(re.sub(r"w-\w+", "", repr(row)) for row in tx.execute(query))


def story(folder: Path) -> dict[str, Any]:
    """What is stored after a few people have worked, apart from moments and tokens."""
    write_study(folder)
    with closing(open_study(folder)) as study:
        answers = [
            {"some": ["c", "b"], "words": [{"start": 2, "end": 3}, {"start": 0, "end": 1}]},
            {"some": ["b", "a"], "words": [{"start": 0, "end": 2}]},
            {"some": ["c", "a"], "words": [{"start": 1, "end": 3}]},
        ]
        for number, answer in enumerate(answers):
            person = Person(study, f"person-{number}")
            while (offer := person.next("first")).lease is not None:
                person.submit(offer, answer)
        reviewer = Person(study, "reviewer")
        while (offer := reviewer.next("second")).lease is not None:
            reviewer.submit(offer, {"good": "yes"})
        given = response.join(item, item.c.id == response.c.item_id)
        columns = {
            "responses": select(item.c.payload, response.c.answer).select_from(given).where(response.c.kind != "gold"),
            "grades": select(response.c.answer, grade.c.score, grade.c.reasons)
            .select_from(response.join(grade))
            .distinct(),
            "items": select(item.c.payload, item.c.label, item.c.confidence, item.c.state),
            "labelled": select(event.c.evidence).where(event.c.kind == "labelled"),
        }
        stored = {name: look(study, partial(rows, query)) for name, query in columns.items()}
        return {**stored, "differences": look(study, lambda tx: verify(tx, study)).differences}


def test_a_hostile_task_changes_no_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = story(tmp_path / "plain")
    assert plain["differences"] == []
    assert all(plain[name] for name in ("responses", "grades", "items", "labelled"))
    tasks: Any = installed_tasks()
    monkeypatch.setitem(tasks._loaded, "form", hostile(installed_tasks()["form"]))
    assert story(tmp_path / "hostile") == plain
