"""Names of a package that are imported when they are first used: importing the package itself costs nothing."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package (PEP 562) whose names live in these modules.

    A name that is called like its module is the module. No other module may be called like a name: importing the
    module would put it in the name's place.
    """

    def attribute(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        value = home if homes[name] == f"{package}.{name}" else getattr(home, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        module = vars(sys.modules[package])
        return sorted({*module["__all__"], *homes, *(name for name in module if name.startswith("__"))})

    return attribute, names
