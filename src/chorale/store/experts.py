"""Erasing the names of experts, who sign their decisions with them."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, select, update

from chorale.store.codec import as_text
from chorale.store.erased import ERASED_TEXT, erased_name
from chorale.store.erased_labels import rewrite
from chorale.store.schema import event, requester, worker

_SIGNED, _INVITED = ("by", "name"), ("expert", "viewer")
"""Where the evidence of events has the names of staff."""


def erase_expert(tx: Connection, name: str, worker_id: int, now: int) -> str:
    """Revoke an expert's link and replace their name, also in the log; returns the placeholder for it.

    In the log, their participant ID stands for them. Their decisions stay.
    """
    placeholder = erased_name(tx, name)
    revoked = func.coalesce(requester.c.revoked_at, now)
    gone = {"name": placeholder, "revoked_at": revoked, "session_version": requester.c.session_version + 1}
    tx.execute(update(requester).where(requester.c.name == name).values(**gone))
    pseudonym = str(tx.execute(select(worker.c.pseudonym).where(worker.c.id == worker_id)).scalar_one())
    named = event.c.evidence.contains(as_text(name), autoescape=True)
    new = dict.fromkeys(_SIGNED, pseudonym) | dict.fromkeys(_INVITED, placeholder)
    rewrite(tx, named, lambda evidence: _without_name(evidence, name, new))
    return placeholder


def _without_name(evidence: dict[str, Any], name: str, new: Mapping[str, str]) -> bool:
    named = {key: value for key, value in new.items() if evidence.get(key) == name}
    if "name" in named and "reason" in evidence:
        evidence["reason"] = ERASED_TEXT
    evidence.update(named)
    listed = evidence.get("revoked")
    if not isinstance(listed, list) or name not in listed:
        return bool(named)
    evidence["revoked"] = [new["name"] if one == name else one for one in listed]
    return True
