"""Invitation links, and the addresses they were sent to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select, update

from chorale.store.recruiting_schema import invitation, invitation_address

SINGLE = "single"
REUSABLE = "reusable"


@dataclass(frozen=True, slots=True)
class InvitationRow:
    id: int
    nonce: str
    kind: str
    stage: str | None
    most: int | None
    uses: int
    made_at: int
    made_by: str
    revoked_at: int | None


def add(tx: Connection, nonce: str, kind: str, stage: str | None, most: int | None, now: int, by: str) -> int:
    values = {"nonce": nonce, "kind": kind, "stage": stage, "most": most, "uses": 0, "made_at": now, "made_by": by}
    return int(tx.execute(insert(invitation).values(**values).returning(invitation.c.id)).scalar_one())


def find(tx: Connection, nonce: str, *, lock: bool = False) -> InvitationRow | None:
    query = select(invitation).where(invitation.c.nonce == nonce)
    row = tx.execute(query.with_for_update() if lock else query).first()
    return None if row is None else InvitationRow(*row)


def all_of_them(tx: Connection) -> Sequence[InvitationRow]:
    return [InvitationRow(*row) for row in tx.execute(select(invitation).order_by(invitation.c.id))]


def newest(tx: Connection, limit: int, offset: int = 0) -> list[InvitationRow]:
    query = select(invitation).order_by(invitation.c.id.desc()).limit(limit).offset(offset)
    return [InvitationRow(*row) for row in tx.execute(query)]


def count(tx: Connection) -> int:
    return int(tx.execute(select(func.count()).select_from(invitation)).scalar_one())


def count_use(tx: Connection, invitation_id: int) -> None:
    tx.execute(update(invitation).where(invitation.c.id == invitation_id).values(uses=invitation.c.uses + 1))


def revoke(tx: Connection, invitation_id: int, now: int) -> bool:
    """Revoke a link; False if it is already revoked or does not exist."""
    query = update(invitation).where(invitation.c.id == invitation_id, invitation.c.revoked_at.is_(None))
    return bool(tx.execute(query.values(revoked_at=now)).rowcount)


def by_address(tx: Connection) -> dict[str, str]:
    """The content of valid links, by address."""
    query = select(invitation_address.c.address, invitation.c.nonce).join(
        invitation, invitation.c.id == invitation_address.c.invitation_id
    )
    return {str(row[0]): str(row[1]) for row in tx.execute(query.where(invitation.c.revoked_at.is_(None)))}


def addresses_of(tx: Connection) -> dict[str, str]:
    """The e-mail addresses of links, by the link's content, to pay people."""
    query = select(invitation.c.nonce, invitation_address.c.address).join(
        invitation, invitation.c.id == invitation_address.c.invitation_id
    )
    return {str(row[0]): str(row[1]) for row in tx.execute(query)}


def numbers_of(tx: Connection) -> dict[str, int]:
    """The numbers of links, by the link's content."""
    return {str(row[0]): int(row[1]) for row in tx.execute(select(invitation.c.nonce, invitation.c.id))}


def add_missing(tx: Connection, known: Iterable[tuple[InvitationRow, str | None]]) -> tuple[int, int]:
    """Add links from another state of the database with their addresses, and revoke those revoked there.

    Returns the numbers of added and of newly revoked links.
    """
    added = revoked = 0
    for row, address in known:
        here = find(tx, row.nonce)
        if here is None:
            number = add(tx, row.nonce, row.kind, row.stage, row.most, row.made_at, row.made_by)
            added += 1
            if address is not None and address not in by_address(tx):
                set_address(tx, address, number)
        else:
            number = here.id
        if row.revoked_at is not None and revoke(tx, number, row.revoked_at) and here is not None:
            revoked += 1
    return added, revoked


def set_address(tx: Connection, address: str, invitation_id: int) -> None:
    """Record the link of an address; a new link replaces a revoked one."""
    changed = tx.execute(
        update(invitation_address).where(invitation_address.c.address == address).values(invitation_id=invitation_id)
    ).rowcount
    if not changed:
        tx.execute(insert(invitation_address).values(address=address, invitation_id=invitation_id))
