"""Which servers use a database now, and of which version: two versions of Chorale must not share one.

An older version knows nothing of what a newer one keeps beside it, and both would write. So every server notes that it
is there, again and again. Other versions refuse to open the database meanwhile, and so leave its schema alone.
"""

import json
import time
from typing import NamedTuple

from sqlalchemy import Connection, text

from chorale import __version__
from chorale.model import UserError
from chorale.store.settings import remove_setting, set_setting

NOTED_FOR_SECONDS = 60
"""How long a server counts as being there after it was last noted: one that was killed notes nothing more."""
_KEY = "serving:"


class OtherVersionError(UserError):
    """The database belongs to another version of Chorale by now."""


class Serving(NamedTuple):
    """A server, as it was last noted."""

    version: str
    seconds_ago: int


def version_with(schema: str) -> str:
    """This version: programs with the same number and another schema are not the same."""
    return f"{__version__} (schema {schema})"


def note(tx: Connection, process: str, schema: str) -> None:
    """Note that a server is there. One whose database was brought to another version meanwhile is refused."""
    there = tx.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if there != schema:
        raise OtherVersionError(
            f"The database was brought to schema {there!r} by another version of Chorale, and this server has schema "
            f"{schema!r}. Start the server again with that version."
        )
    set_setting(tx, _KEY + process, json.dumps({"version": version_with(schema), "at": int(time.time())}))


def end(tx: Connection, process: str) -> None:
    """Note that a server has stopped."""
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
