"""Queued e-mail: invitations, and messages to people who were invited by e-mail."""

import hmac
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Case, Connection, Table, case, func, select, update

from chorale.model import MessageState
from chorale.store.prepared import upsert
from chorale.store.recruiting_schema import delivery, invitation, invitation_address, invitation_mail, mail_optout
from chorale.store.schema import message, worker_identity
from chorale.store.settings import known_secret, secret
from chorale.store.submissions import claim_delivery, note_delivery

_SECRET = "mail"  # noqa: S105 - what the secret is for
QUEUED, SENDING, SENT, FAILED, UNSUBSCRIBED = "queued", "sending", "sent", "failed", "unsubscribed"
WAITING = "waiting"
"""Rejected for now; will be retried."""
TO_SEND = (QUEUED, WAITING)


class Letter(NamedTuple):
    """An e-mail to be sent."""

    kind: str
    """`invitation` or `message`."""
    id: int
    nonce: str
    """The content of the person's link."""
    address: str
    waiting_since: int | None
    """When the mail server first rejected the e-mail temporarily; None if it did not."""
    title: str = ""
    body: str = ""


def queue_invitations(tx: Connection, nonces: Sequence[str], now: int) -> int:
    """Queue invitations for these links, each once; returns how many are new."""
    ids = tx.execute(select(invitation.c.id).where(invitation.c.nonce.in_(nonces))).scalars().all()
    new = 0
    for number in ids:
        made = upsert(tx, invitation_mail).values(invitation_id=number, state=QUEUED, at=now)
        new += int(tx.execute(made.on_conflict_do_nothing()).rowcount)
    return new


def letters(tx: Connection, messages_since: int | None) -> list[Letter]:
    """E-mail to send now: valid invitations, and messages since a time, if given.

    Oldest first, except that temporarily rejected ones come last, so that they do not block the rest.
    """
    queued = (
        select(invitation.c.id, invitation.c.nonce, invitation_address.c.address, _waiting_since(invitation_mail))
        .join(invitation_address, invitation_address.c.invitation_id == invitation.c.id)
        .join(invitation_mail, invitation_mail.c.invitation_id == invitation.c.id)
        .where(invitation_mail.c.state.in_(TO_SEND), invitation.c.revoked_at.is_(None))
        .order_by(invitation.c.id)
    )
    waiting = [Letter("invitation", *row) for row in tx.execute(queued)]
    if messages_since is not None:
        waiting += _messages(tx, messages_since)
    return sorted(waiting, key=lambda letter: letter.waiting_since is not None)


def _messages(tx: Connection, since: int) -> list[Letter]:
    own = (worker_identity.c.panel == "invitation") & (worker_identity.c.external_id == invitation.c.nonce)
    written = (
        select(message.c.id, invitation.c.nonce, invitation_address.c.address, _waiting_since(delivery))
        .add_columns(message.c.title, message.c.body)
        .join(worker_identity, worker_identity.c.worker_id == message.c.worker_id)
        .join(invitation, own)
        .join(invitation_address, invitation_address.c.invitation_id == invitation.c.id)
        .outerjoin(delivery, delivery.c.message_id == message.c.id)
        .where(message.c.state == MessageState.SENT, message.c.sent_at >= since)
        .where(delivery.c.state.is_(None) | delivery.c.state.in_(TO_SEND))
        .order_by(message.c.id)
    )
    return [Letter("message", *row) for row in tx.execute(written)]


def _waiting_since(table: Table) -> Case[int]:
    return case((table.c.state == WAITING, table.c.at))


def claim(tx: Connection, letter: Letter, state: str, now: int) -> bool:
    """Mark an e-mail as being sent, or as not to be sent; False if another process has it, or it was erased."""
    if letter.kind == "message":
        return claim_delivery(tx, letter.id, state, now, delivery.c.state.in_(TO_SEND))
    holds = select(invitation.c.id).where(invitation.c.revoked_at.is_(None))
    query = update(invitation_mail).where(
        invitation_mail.c.invitation_id == letter.id,
        invitation_mail.c.state.in_(TO_SEND),
        invitation_mail.c.invitation_id.in_(holds),
    )
    return bool(tx.execute(query.values(state=state, at=now)).rowcount)


def note(tx: Connection, letter: Letter, state: str, at: int) -> None:
    """Record the result of sending an e-mail."""
    if letter.kind == "message":
        note_delivery(tx, letter.id, state, at)
        return
    own = (invitation_mail.c.invitation_id == letter.id) & (invitation_mail.c.state == SENDING)
    tx.execute(update(invitation_mail).where(own).values(state=state, at=at))


def states(tx: Connection) -> dict[str, int]:
    """Numbers of e-mails by state."""
    counts: dict[str, int] = {}
    for table in (invitation_mail, delivery):
        for state, count in tx.execute(select(table.c.state, func.count()).group_by(table.c.state)):
            counts[state] = counts.get(state, 0) + int(count)
    return counts


def queue_again(tx: Connection, now: int) -> int:
    """Queue e-mails again that were being sent when the connection was lost; returns how many."""
    to_invited = select(message.c.id).join(worker_identity, worker_identity.c.worker_id == message.c.worker_id)
    to_invited = to_invited.where(worker_identity.c.panel == "invitation")
    again = (
        update(invitation_mail).where(invitation_mail.c.state == SENDING),
        update(delivery).where(delivery.c.state == SENDING, delivery.c.message_id.in_(to_invited)),
    )
    return sum(int(tx.execute(query.values(state=QUEUED, at=now)).rowcount) for query in again)


def opt_out(tx: Connection, nonce: str, now: int) -> bool:
    """Send no more e-mail to the address that a link was sent to; False if there is none."""
    query = select(invitation_address.c.address).join(invitation, invitation.c.id == invitation_address.c.invitation_id)
    address = tx.execute(query.where(invitation.c.nonce == nonce)).scalar()
    if address is None:
        return False
    # Created here if it is missing, since readers can't write.
    secret(tx, _SECRET)
    tx.execute(upsert(tx, mail_optout).values(digest=digest_of(tx, address), at=now).on_conflict_do_nothing())
    return True


def opted_out(tx: Connection) -> set[str]:
    """The digests of all addresses that want no more e-mail."""
    return set(tx.execute(select(mail_optout.c.digest)).scalars())


def digest_of(tx: Connection, address: str) -> str:
    """The digest of an address for opt-outs."""
    return hmac.new(known_secret(tx, _SECRET).encode(), address.lower().encode(), "sha256").hexdigest()
