"""The links people are given: to arrive from a panel, by invitation, as an expert, or to set the console up."""

import re
from collections.abc import Sequence

from chorale.engine.arrivals import arrival_url, new_invitation
from chorale.engine.keys import SIGNING_KEY
from chorale.engine.running import Study
from chorale.model import UserError
from chorale.store import Tx, events, requesters, settings
from chorale.store.invitations import SINGLE
from chorale.web.sessions import Sessions

__all__ = [
    "DESK",
    "EXPERT",
    "OWNER",
    "VIEWER",
    "arrival_url",
    "expert_link_path",
    "invitation_path",
    "new_expert_link",
    "new_invitations",
    "new_viewer_link",
    "setup_link_path",
    "study_sessions",
    "viewer_link_path",
]

OWNER = "owner"
EXPERT = "expert"
VIEWER = "viewer"
"""Sees what the owner sees, without the platform's ids, and changes nothing."""
DESK = "/console/desk"
"""Where experts start from, and come back to."""
EXPERT_NAME = re.compile(r"[\w.@+-][\w .@+'-]{0,58}[\w.@+-]|\w")


def study_sessions(study: Study) -> Sessions:
    """The signer of a study's links and cookies."""
    return Sessions(study.store.write(lambda tx: settings.secret(tx, SIGNING_KEY)).result())


def signing_key(tx: Tx, _study: Study) -> str:
    """The key that signs links and cookies now."""
    return settings.known_secret(tx, SIGNING_KEY)


def setup_link_path(study: Study) -> str | None:
    """Where the first owner chooses a password; None once there is one."""
    if study.store.read(requesters.has_owner).result():
        return None
    nonce = study.store.write(lambda tx: settings.secret(tx, "setup")).result()
    return f"/setup/{study_sessions(study).link_token('setup', nonce)}"


def invitation_path(sessions: Sessions, invitation: str) -> str:
    """Lets people in who were invited."""
    return f"/join/{sessions.link_token('invitation', invitation)}"


def expert_link_path(sessions: Sessions, name: str) -> str:
    """Signs in as the expert of that name."""
    return f"/expert/{sessions.link_token('expert', name)}"


def new_invitations(
    tx: Tx,
    study: Study,
    sessions: Sessions,
    count: int,
    by: str,
    *,
    kind: str = SINGLE,
    stage: str | None = None,
    most: int | None = None,
) -> Sequence[str]:
    """Paths of new links, and a note of who asked for them."""
    evidence = {"by": by, "invitations": count, **({"kind": kind} if kind != SINGLE else {})}
    events.record(tx, study.clock(), "invited", {**evidence, **({} if stage is None else {"stage": stage})})
    nonces = [new_invitation(tx, study, by, kind=kind, stage=stage, most=most) for _ in range(count)]
    return [invitation_path(sessions, nonce) for nonce in nonces]


def viewer_link_path(sessions: Sessions, name: str) -> str:
    """Signs in as the viewer of that name."""
    return f"/viewer/{sessions.link_token('viewer', name)}"


def new_expert_link(tx: Tx, study: Study, sessions: Sessions, name: str, by: str) -> str:
    """The path for an expert, and a note of who asked for it."""
    _check_name(tx, name, EXPERT)
    events.record(tx, study.clock(), "expert invited", {"by": by, "expert": name})
    return expert_link_path(sessions, name)


def new_viewer_link(tx: Tx, study: Study, sessions: Sessions, name: str, by: str) -> str:
    """The path for a viewer, and a note of who asked for it."""
    _check_name(tx, name, VIEWER)
    events.record(tx, study.clock(), "viewer invited", {"by": by, "viewer": name})
    return viewer_link_path(sessions, name)


def _check_name(tx: Tx, name: str, role: str) -> None:
    if not EXPERT_NAME.fullmatch(name):
        who = "An expert" if role == EXPERT else "A viewer"
        raise UserError(f"{who}'s name has letters, digits, spaces and . @ + ' - in it, 60 at most.")
    known = requesters.find_requester(tx, name)
    if known is not None and known.role != role:
        raise UserError(f"{name!r} is the {known.role}'s name. Give the {role} another one.")
    if known is not None and known.revoked_at is not None:
        raise UserError(f"The link of {name!r} was revoked, and would work again. Give the {role} another name.")
