"""Packages whose names are loaded when they are first used."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import chorale
from chorale.lazy import attach, load

PACKAGE = Path(chorale.__file__).parent
LAZY = [
    ".".join(("chorale", *path.parent.relative_to(PACKAGE).parts))
    for path in sorted(PACKAGE.rglob("__init__.py"))
    if "attach(" in path.read_text("utf-8")
]


def names_for_checkers(module: ModuleType) -> set[str]:
    """The names that type checkers see: imports of the module, at its top or under TYPE_CHECKING."""
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module != "chorale.lazy"]
    return {
        alias.name for node in imports if f"{node.module}.".startswith(f"{module.__name__}.") for alias in node.names
    }


def test_some_packages_are_lazy() -> None:
    assert {"chorale.cli", "chorale.model"} <= set(LAZY)


@pytest.mark.parametrize("name", LAZY)
def test_what_a_lazy_package_offers_is_there_for_people_and_for_checkers(name: str) -> None:
    module = importlib.import_module(name)
    assert set(module.__all__) <= set(dir(module))
    assert {each for each in module.__all__ if not each.startswith("__")} == names_for_checkers(module)
    for each in module.__all__:
        value = getattr(module, each)
        assert getattr(module, each) is value
        assert vars(module)[each] is value


@pytest.mark.parametrize("name", LAZY)
def test_a_name_that_a_lazy_package_has_not_is_no_attribute(name: str) -> None:
    module = importlib.import_module(name)
    with pytest.raises(AttributeError, match=rf"module '{name}' has no attribute 'nothing'"):
        _ = module.nothing


def test_importing_a_lazy_package_imports_none_of_its_modules() -> None:
    code = "import sys, chorale.model; print(*(name for name in sys.modules if name.startswith('chorale')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == ["chorale", "chorale.lazy", "chorale.model"]


def test_a_module_that_can_not_be_imported_is_not_hidden() -> None:
    get, there = attach("chorale.lazy", {"nothing_there": ("Name",)})
    assert "Name" in there()
    with pytest.raises(ModuleNotFoundError, match="nothing_there"):
        get("Name")


def test_a_place_names_a_module_and_what_is_in_it() -> None:
    assert load("chorale.lazy:load") is load
