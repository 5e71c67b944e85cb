"""The walks of docs/architecture.md name functions that exist, and every step is called from one above it."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "chorale"
_PLACE = re.compile(r"`([\w/]+\.py):([\w.]+)`")


def walks() -> dict[str, list[tuple[int, list[tuple[str, str]]]]]:
    """By the heading of the walk: the number of every step, and the places it names."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    section = re.split(
        r"^## ", text.partition("\n## Four walks through the code\n")[2], maxsplit=1, flags=re.MULTILINE
    )[0]
    found = {}
    for part in re.split(r"^### ", section, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        steps = re.findall(r"^(\d+)\. (.+(?:\n {3,}.+)*)", body, re.MULTILINE)
        found[heading] = [(int(number), _PLACE.findall(step)) for number, step in steps]
    return found


@cache
def names_in(module: str) -> frozenset[str]:
    """The functions and classes of a module, also those inside others; methods and fields with their class."""
    tree = ast.parse((PACKAGE / module).read_text("utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            inside = (getattr(each, "name", None) or _field(each) for each in node.body)
            names |= {f"{node.name}.{name}" for name in inside if name}
    return frozenset(names)


def _field(node: ast.stmt) -> str | None:
    return node.target.id if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else None


WALKS = walks()
STEPS = [(walk, number, places) for walk, steps in WALKS.items() for number, places in steps]


def test_there_are_four_walks() -> None:
    assert len(WALKS) == 4
    assert all(len(steps) >= 8 for steps in WALKS.values())


@pytest.mark.parametrize(("walk", "number", "places"), STEPS)
def test_every_step_names_functions_that_exist(walk: str, number: int, places: list[tuple[str, str]]) -> None:
    assert places, f"step {number} of {walk} names no function"
    for module, name in places:
        assert (PACKAGE / module).is_file(), module
        assert name in names_in(module), f"{module} has no {name}"


@pytest.mark.parametrize("walk", WALKS)
def test_every_step_is_called_from_one_above_it(walk: str) -> None:
    above: set[str] = set()
    for number, places in WALKS[walk]:
        above |= {module for module, _ in places}
        # The first step of a list is where something comes in from outside.
        for module, name in places if number > 1 else ():
            called = name.rpartition(".")[2]
            text = "".join((PACKAGE / caller).read_text("utf-8") for caller in above)
            uses = re.findall(rf"(?<!def )(?<!class )\b{called}\b", text)
            assert uses, f"no step above {module}:{name} names it"
