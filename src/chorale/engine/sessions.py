"""Workers' sessions: started at joining, bound to a pseudonym and an epoch, and ended for every copy of the cookie."""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from chorale.engine.running import Study
from chorale.model import Refusal, Worker
from chorale.model.wording import joined, worded
from chorale.store import Tx, epochs, erasing, sessions, team, workers
from chorale.store.epochs import Epoch
from chorale.store.sessions import SessionClaim

T = TypeVar("T")

SIGNED_OUT = "signed out"
REVOKED = "revoked"
RESTORED = "restored"
KEY_REPLACED = "key replaced"

ERASED = worded("Your data have been erased as described. Thank you for your time.")
"""The message for workers who withdrew or were erased."""
_AGAIN = worded("Open your link again to continue.")


class NewSession(NamedTuple):
    """The content of a cookie."""

    worker_id: int
    pseudonym: str
    epoch: str
    token: str
    """A random secret. The database stores only its digest."""


def digest_of(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def begin(tx: Tx, study: Study, worker: Worker) -> NewSession:
    """Start a session for a worker who has just been authenticated."""
    epoch, token = epochs.current(tx), secrets.token_urlsafe(18)
    sessions.begin(tx, digest_of(token), worker.id, worker.pseudonym, epoch.number, study.clock())
    return NewSession(worker.id, worker.pseudonym, epoch.mark, token)


def end(tx: Tx, study: Study, claim: SessionClaim) -> bool:
    """Sign out: the cookie becomes invalid, and so do copies of it."""
    return sessions.end(tx, claim.digest, SIGNED_OUT, study.clock())


def as_worker(tx: Tx, study: Study, claim: SessionClaim, act: Callable[..., T], *args: Any) -> T:
    """Run `act(tx, study, worker, …)` for the owner of the session, in the transaction that checks it."""
    check(tx, study, claim)
    return act(tx, study, claim.worker_id, *args)


def check(tx: Tx, study: Study, claim: SessionClaim) -> None:
    """Refuse a session that has ended or belongs to another worker, with the reason and what to do."""
    row = sessions.find(tx, claim.digest)
    worker = (claim.worker_id, claim.pseudonym)
    if row is None or (row.worker_id, row.pseudonym) != worker or row.worker_pseudonym != claim.pseudonym:
        raise _unknown(tx, study, claim)
    if row.ended_at is not None:
        raise _ended(tx, row.ended_by, row.ended_at)


def recognised(tx: Tx, claim: SessionClaim | None) -> Worker | None:
    """The worker of a session that is open or was ended only by a restore.

    This is for people without a personal link, who are known only by their browser. People with a password have to
    sign in again.
    """
    row = None if claim is None else sessions.find(tx, claim.digest)
    if row is None or (row.ended_at is not None and row.ended_by != RESTORED):
        return None
    if claim is None or (row.worker_id, row.worker_pseudonym) != (claim.worker_id, claim.pseudonym):
        return None
    if row.ended_at is not None and (workers.identity_of(tx, row.worker_id) or ("",))[0] == team.PANEL:
        return None
    return workers.find_worker(tx, row.worker_id)


def refuse_withdrawn(tx: Tx, worker_id: int) -> None:
    """Refuse a worker who has withdrawn or was erased, and still has a page open."""
    worker = workers.find_worker(tx, worker_id)
    if worker is not None and worker.consent_version == erasing.WITHDRAWN:
        raise _withdrawn()


def _withdrawn() -> Refusal:
    # Not `signed_out`: the page would keep an unsent answer and offer to send it later.
    return Refusal("participation_lost", ERASED, 410)


def _unknown(tx: Tx, study: Study, claim: SessionClaim) -> Refusal:
    worker = workers.find_worker(tx, claim.worker_id)
    happened = _what_happened(_ended_by(tx, claim), claim)
    if worker is not None and worker.pseudonym == claim.pseudonym:
        if worker.consent_version == erasing.WITHDRAWN:
            return _withdrawn()
        # They joined before the backup was made and signed in after it.
        return Refusal("signed_out", joined(happened, _AGAIN), 401)
    return Refusal(
        "participation_lost",
        joined(
            happened,
            worded(
                "This earlier state does not include you, so your answers are no longer part of the study. Open your "
                "link again to join as a new participant. To ask about pay for the lost answers, write to {contact} "
                "and give your participant ID, {id}.",
                contact=study.settings.study.contact,
                id=claim.pseudonym,
            ),
        ),
        410,
    )


def _ended_by(tx: Tx, claim: SessionClaim) -> Epoch:
    """The epoch that began when a session's epoch ended; the latest if the session's own was replaced by a restore."""
    there = epochs.all_epochs(tx)
    later = [after for before, after in pairwise(there) if before.mark == claim.epoch]
    return later[0] if later else there[-1]


def _what_happened(epoch: Epoch, claim: SessionClaim) -> str:
    if epoch.reason != epochs.RESTORED or epoch.mark == claim.epoch or epoch.backup_at is None:
        return worded("This study was reset to an earlier state.")
    return _restored(epoch.began_at, epoch.backup_at)


def _restored(at: int, backup_at: int) -> str:
    return worded(
        "This study was restored on {day} from a backup of {backup}.",
        day=moment_text(at),
        backup=moment_text(backup_at),
    )


def _ended(tx: Tx, why: str | None, at: int) -> Refusal:
    if why == REVOKED:
        message = worded(
            "Your access to this study ended on {day}. Answers are no longer accepted from you. If this is a mistake, "
            "ask the person who gave you the link.",
            day=moment_text(at),
        )
        return Refusal("revoked", message, 403)
    if why == RESTORED:
        # Not the latest restore: there may have been others since.
        backup_at = next((epoch.backup_at for epoch in epochs.all_epochs(tx) if epoch.began_at == at), None)
        happened = (
            worded("This study was restored on {day}.", day=moment_text(at))
            if backup_at is None
            else _restored(at, backup_at)
        )
        message = joined(happened, worded("Everything you submitted before the backup counts."))
    elif why == KEY_REPLACED:
        message = worded("Everyone was signed out of this study. Everything you submitted is saved.")
    else:
        message = worded("You are signed out. Everything you submitted is saved.")
    return Refusal("signed_out", joined(message, _AGAIN), 401)


def moment_text(at: int) -> str:
    """Format a time for people.

    >>> moment_text(1_793_588_400_000)
    '2 November 2026, 03:00 UTC'
    """
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"
