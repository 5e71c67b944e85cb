"""Access keys, used signatures and request tokens."""

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from chorale.kits.mturk.store.schema import key, request, signature


@dataclass(frozen=True, slots=True)
class KeyRow:
    access_key: str
    name: str
    made_at: int
    revoked_at: int | None


def add_key(tx: Connection, access_key: str, secret: str, name: str, now: int) -> None:
    tx.execute(insert(key).values(access_key=access_key, secret=secret, name=name, made_at=now))


def secret_of(tx: Connection, access_key: str) -> str | None:
    """The secret of an active key, or None."""
    query = select(key.c.secret).where(key.c.access_key == access_key, key.c.revoked_at.is_(None))
    return tx.execute(query).scalar()


def keys(tx: Connection) -> list[KeyRow]:
    """All keys without secrets, oldest first."""
    query = select(key.c.access_key, key.c.name, key.c.made_at, key.c.revoked_at).order_by(key.c.id)
    return [KeyRow(*row) for row in tx.execute(query)]


def revoke(tx: Connection, access_key: str, now: int) -> bool:
    """Revokes a key. False if there is no active key with this name."""
    query = update(key).where(key.c.access_key == access_key, key.c.revoked_at.is_(None)).values(revoked_at=now)
    return bool(tx.execute(query).rowcount)


def note_signature(tx: Connection, text: str, now: int) -> int | None:
    """Stores a signature. Returns the time of its first use if it was already used."""
    upsert = postgresql.insert if tx.dialect.name == "postgresql" else sqlite.insert
    if tx.execute(upsert(signature).values(signature=text, at=now).on_conflict_do_nothing()).rowcount:
        return None
    return int(tx.execute(select(signature.c.at).where(signature.c.signature == text)).scalar_one())


def forget_signatures(tx: Connection, before: int) -> None:
    """Deletes signatures that have expired."""
    tx.execute(delete(signature).where(signature.c.at < before))


def made_by(tx: Connection, operation: str, token: str, since: int) -> str | None:
    """Result of a recent request with this token, if any."""
    query = select(request.c.made).where(
        request.c.operation == operation, request.c.token == token, request.c.at >= since
    )
    return tx.execute(query).scalar()


def note_request(tx: Connection, operation: str, token: str, made: str, now: int) -> None:
    upsert = postgresql.insert if tx.dialect.name == "postgresql" else sqlite.insert
    tx.execute(
        upsert(request)
        .values(operation=operation, token=token, made=made, at=now)
        .on_conflict_do_update(index_elements=[request.c.operation, request.c.token], set_={"made": made, "at": now})
    )
