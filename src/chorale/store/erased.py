"""Placeholders for erased values."""

import hmac

from sqlalchemy import Connection

from chorale.store.settings import secret

ERASED = "erased:"
"""The prefix of an erased platform ID."""
ERASED_TEXT = "(erased)"


def erased_name(tx: Connection, name: str) -> str:
    """The placeholder of an erased ID or name: a keyed hash with this study's secret, to recognise it."""
    key = secret(tx, "erasure").encode()
    return ERASED + hmac.new(key, name.encode(), "sha256").hexdigest()[:32]
