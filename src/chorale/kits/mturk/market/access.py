"""Access keys for scripts, created and revoked by the owner."""

import secrets
from dataclasses import dataclass

from chorale.engine.running import Study
from chorale.kits.mturk.store import keys
from chorale.model import UserError
from chorale.store import Tx, events

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class NewKey:
    access_key: str
    secret: str
    name: str


def make_key(tx: Tx, study: Study, name: str, by: str) -> NewKey:
    """Creates a key for a script. Its secret is shown only once."""
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise UserError(f"The name of a key must have 1 to {LONGEST_NAME} printable characters.")
    made = NewKey("CHORALE" + "".join(secrets.choice(_ALPHABET) for _ in range(13)), secrets.token_urlsafe(30), name)
    keys.add_key(tx, made.access_key, made.secret, name, study.clock())
    events.record(tx, study.clock(), "access key made", {"by": by, "key": made.access_key, "name": name})
    return made


def end_key(tx: Tx, study: Study, access_key: str, by: str, reason: str = "") -> None:
    if not keys.revoke(tx, access_key, study.clock()):
        raise UserError(f"No active key {access_key!r}. The list of keys shows which ones are active.")
    why = {"reason": reason} if reason else {}
    events.record(tx, study.clock(), "access key revoked", {"by": by, "key": access_key, **why})
