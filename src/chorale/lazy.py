"""Names that are loaded when they are first used: for packages, and for the commands of the command line.

A package lists which module defines which names. Importing the package then imports none of its modules:

    __getattr__, __dir__ = attach(__name__, {"money": ("money_text",), "nouns": ("Item", "Label")})

Type checkers read the same names from imports under `if TYPE_CHECKING`, which a test compares with the table.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module

TYPE_CHECKING = False  # importing `chorale` itself takes a few milliseconds; importing typing would double that
if TYPE_CHECKING:
    from typing import Any


def attach(package: str, names: Mapping[str, Iterable[str]]) -> "tuple[Callable[[str], Any], Callable[[], list[str]]]":
    """The `__getattr__` and `__dir__` of a package whose modules define these names.

    A module listed without names is itself exported. No module of the package may have the same name as an object that
    is exported: importing the module would replace the object.
    """
    places = {name: f"{package}.{module}:{name}" for module, inside in names.items() for name in inside}
    places |= {module: f"{package}.{module}" for module, inside in names.items() if not inside}

    def get(name: str) -> "Any":
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = load(places[name])
        # Later lookups find the name without calling this function.
        setattr(sys.modules[package], name, value)
        return value

    def names_there() -> list[str]:
        module = vars(sys.modules[package])
        public = module.get("__all__", module)
        return sorted({*public, *places, *(name for name in module if name.startswith("__"))})

    return get, names_there


def load(place: str) -> "Any":
    """Imports an object by its path, `package.module:name`, or a module."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name) if name else import_module(module)
