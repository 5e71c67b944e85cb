"""Packages that only some baselines need."""

from importlib.util import find_spec

from chorale.model import UserError


def need_models(*packages: str) -> None:
    """Refuse what needs these packages where they are not installed."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise UserError(f"This needs {' and '.join(missing)}. Install it: pip install 'chorale[models]'")
