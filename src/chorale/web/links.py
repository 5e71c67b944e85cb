"""The links people are given: to arrive from a panel, by invitation, as an expert, or to set the console up."""

import re
import secrets
from collections.abc import Sequence

from chorale.model import ArrivalSettings, UserError
from chorale.store import Tx, events, people
from chorale.study import Study
from chorale.web.sessions import Sessions

OWNER = "owner"
EXPERT = "expert"
EXPERT_NAME = re.compile(r"[\w.@+-][\w .@+'-]{0,58}[\w.@+-]|\w")


def study_sessions(study: Study) -> Sessions:
    """The signer of a study's links and cookies."""
    return Sessions(study.store.write(lambda tx: people.secret(tx, "sessions")).result())


def arrival_url(base: str, arrival: ArrivalSettings) -> str:
    """What to paste into the panel; Prolific puts its own values in for what stands between %."""
    names = (arrival.worker_parameter, arrival.study_parameter, arrival.session_parameter)
    values = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    query = "&".join(f"{name}={{{{%{value}%}}}}" for name, value in zip(names, values, strict=True))
    return f"{base}/join?{query}"


def setup_link_path(study: Study) -> str | None:
    """Where the first owner chooses a password; None once there is one."""
    if study.store.read(people.has_owner).result():
        return None
    nonce = study.store.write(lambda tx: people.secret(tx, "setup")).result()
    return f"/setup/{study_sessions(study).link_token('setup', nonce)}"


def invitation_path(sessions: Sessions, invitation: str) -> str:
    """Lets one worker in; opened again, it is the same worker."""
    return f"/join/{sessions.link_token('invitation', invitation)}"


def expert_link_path(sessions: Sessions, name: str) -> str:
    """Signs in as the expert of that name."""
    return f"/expert/{sessions.link_token('expert', name)}"


def new_invitations(tx: Tx, study: Study, sessions: Sessions, count: int, by: str) -> Sequence[str]:
    """Paths for as many workers, and a note of who asked for them."""
    # The links themselves are kept nowhere: each is the key to somebody's work.
    events.record(tx, study.clock(), "invited", {"by": by, "invitations": count})
    return [invitation_path(sessions, secrets.token_urlsafe(12)) for _ in range(count)]


def new_expert_link(tx: Tx, study: Study, sessions: Sessions, name: str, by: str) -> str:
    """The path for an expert, and a note of who asked for it."""
    if not EXPERT_NAME.fullmatch(name):
        raise UserError("An expert's name has letters, digits, spaces and . @ + ' - in it, 60 at most.")
    known = people.find_requester(tx, name)
    if known is not None and known.role != EXPERT:
        raise UserError(f"{name!r} is the owner's name. Give the expert another one.")
    events.record(tx, study.clock(), "expert invited", {"by": by, "expert": name})
    return expert_link_path(sessions, name)
