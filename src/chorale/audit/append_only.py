"""Check that the database still refuses changes to what is append-only."""

from chorale.store import Tx
from chorale.store.append_only import unprotected_tables


def protection_differences(tx: Tx) -> list[str]:
    """Tables whose rows can be changed, because somebody removed the triggers that refuse it."""
    return [
        f"table {name}: the triggers that refuse changes are missing, so its rows could be changed"
        for name in unprotected_tables(tx)
    ]
