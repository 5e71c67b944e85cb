"""Signed links: invitations, links for experts and viewers, and the link to set up the console."""

import re

from chorale.engine.arrivals import new_invitation
from chorale.engine.keys import SIGNING_KEY
from chorale.engine.running import Study
from chorale.model import UserError
from chorale.store import Tx, events, requesters, settings
from chorale.store.invitations import SINGLE
from chorale.web.sessions import Sessions

OWNER = "owner"
EXPERT = "expert"
VIEWER = "viewer"
"""Can open most pages of the console, without platform IDs, and can't change anything."""
QUEUE = "/console/queue"
"""The start page of experts."""
EXPERT_NAME = re.compile(r"[\w.@+-][\w .@+'-]{0,58}[\w.@+-]|\w")


def study_sessions(study: Study) -> Sessions:
    """The signer of a study's links and cookies."""
    return Sessions(study.store.write(lambda tx: settings.secret(tx, SIGNING_KEY)).result())


def signing_key(tx: Tx, _study: Study) -> str:
    """The key that signs links and cookies now."""
    return settings.known_secret(tx, SIGNING_KEY)


def setup_link_path(study: Study) -> str | None:
    """The path where the first owner chooses a password; None once there is an owner."""
    if study.store.read(requesters.has_owner).result():
        return None
    nonce = study.store.write(lambda tx: settings.secret(tx, "setup")).result()
    return f"/setup/{study_sessions(study).link_token('setup', nonce)}"


def invitation_path(sessions: Sessions, invitation: str) -> str:
    """The path of an invitation link."""
    return f"/join/{sessions.link_token('invitation', invitation)}"


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
) -> list[str]:
    """Create invitation links, and log who requested them; returns their paths."""
    evidence = {"by": by, "invitations": count, **({"kind": kind} if kind != SINGLE else {})}
    events.record(tx, study.clock(), "invited", {**evidence, **({} if stage is None else {"stage": stage})})
    nonces = [new_invitation(tx, study, by, kind=kind, stage=stage, most=most) for _ in range(count)]
    return [invitation_path(sessions, nonce) for nonce in nonces]


def team_link_path(sessions: Sessions, token: str) -> str:
    """The path of the one-time link where an annotator chooses a password."""
    return f"/team/{sessions.link_token('team', token)}"


def staff_link_path(sessions: Sessions, role: str, name: str) -> str:
    """The path of the link that signs in the expert or viewer with this name."""
    return f"/{role}/{sessions.link_token(role, name)}"


def new_staff_link(tx: Tx, study: Study, sessions: Sessions, role: str, name: str, by: str) -> str:
    """Create a link for an expert or viewer, and log who requested it; returns its path."""
    _check_name(tx, name, role)
    events.record(tx, study.clock(), f"{role} invited", {"by": by, role: name})
    return staff_link_path(sessions, role, name)


def _check_name(tx: Tx, name: str, role: str) -> None:
    if not EXPERT_NAME.fullmatch(name):
        who = "an expert" if role == EXPERT else "a viewer"
        raise UserError(
            f"{name[:80]!r} cannot be {who}'s name. Use up to 60 letters, digits, spaces and . _ @ + ' -, and no "
            "space or ' at the start or end."
        )
    known = requesters.find_requester(tx, name)
    if known is not None and known.role != role:
        raise UserError(f"The name {name!r} is already in use ({known.role}). Give the {role} another name.")
    if requesters.is_erased(tx, name) or (known is not None and known.revoked_at is not None):
        raise UserError(f"The link of {name!r} was revoked and cannot be used again. Give the {role} another name.")
