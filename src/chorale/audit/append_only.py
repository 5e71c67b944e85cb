"""Check that the database still refuses changes to append-only tables."""

from chorale.store import Tx
from chorale.store.append_only import unprotected_tables


def protection_differences(tx: Tx) -> list[str]:
    """Append-only tables whose rows could be changed, because the triggers that refuse changes were removed."""
    return [
        f"table {name}: the triggers that refuse changes are missing, so its rows could be changed"
        for name in unprotected_tables(tx)
    ]
