"""The key that signs links and cookies, and its replacement."""

from chorale.engine.running import Study
from chorale.engine.sessions import KEY_REPLACED
from chorale.store import Tx, events, requesters, sessions, settings, team

SIGNING_KEY = "sessions"


def replace_key(tx: Tx, study: Study, by: str) -> int:
    """Replace the key and end every session; returns the number of workers' sessions. Earlier links become invalid."""
    settings.replace_secret(tx, SIGNING_KEY)
    ended = sessions.end_all(tx, KEY_REPLACED, study.clock())
    requesters.end_all_sessions(tx)
    team.end_all_sessions(tx)
    events.record(tx, study.clock(), "signing key replaced", {"by": by, "sessions ended": ended})
    return ended
