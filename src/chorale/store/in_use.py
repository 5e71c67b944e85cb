"""Tracks the servers that use a database and their versions: two versions of Chorale must not share one.

An older version does not know a newer one's data, and both would write. So every server regularly records that it is
running. Meanwhile, other versions refuse to open the database, and do not change its schema.
"""

import json
import time
from typing import NamedTuple

from sqlalchemy import Connection, text

from chorale import __version__
from chorale.model import UserError
from chorale.store.settings import remove_setting, set_setting

NOTED_FOR_SECONDS = 60
"""How long a server counts as running after its last record, since a killed server can't sign off."""
_KEY = "serving:"


class OtherVersionError(UserError):
    """The database was updated by another version of Chorale."""


class Serving(NamedTuple):
    """A server's latest record."""

    version: str
    seconds_ago: int


def version_with(schema: str) -> str:
    """This version with its schema, since builds with the same number can have different schemas."""
    return f"{__version__} (schema {schema})"


def note(tx: Connection, process: str, schema: str) -> None:
    """Record that a server is running. It is refused if another version has updated the database."""
    there = tx.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if there != schema:
        raise OtherVersionError(
            f"Another version of Chorale updated the database to schema {there!r}, but this server has schema "
            f"{schema!r}. Start the server again with that version."
        )
    set_setting(tx, _KEY + process, json.dumps({"version": version_with(schema), "at": int(time.time())}))


def end(tx: Connection, process: str) -> None:
    """Record that a server has stopped."""
    remove_setting(tx, _KEY + process)


def others(connection: Connection, schema: str) -> list[Serving]:
    """The running servers of other versions."""
    query = text("SELECT value FROM setting WHERE key LIKE :keys").bindparams(keys=f"{_KEY}%")
    now, mine = int(time.time()), version_with(schema)
    noted = [json.loads(value) for value in connection.execute(query).scalars()]
    there = [Serving(str(one["version"]), abs(now - int(one["at"]))) for one in noted]
    return [one for one in there if one.version != mine and one.seconds_ago < NOTED_FOR_SECONDS]


def refuse_others(connection: Connection, schema: str) -> None:
    """Refuse to open a database that a server of another version uses."""
    there = others(connection, schema)
    if there:
        raise OtherVersionError(
            f"A server of Chorale {there[0].version} uses this database and reported {there[0].seconds_ago} s ago. "
            f"This is Chorale {version_with(schema)}, and two versions can't share a database. Stop that server "
            f"first; if it was killed, wait {NOTED_FOR_SECONDS} s. Nothing was changed."
        )
