"""Settings of a study that are kept in its database."""

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.dialects import postgresql, sqlite

from chorale.store.prepared import Prepared
from chorale.store.schema import setting

_SETTING = Prepared(select(setting.c.value).where(setting.c.key == bindparam("key")))


def setting_value(tx: Connection, key: str) -> str | None:
    value: str | None = _SETTING.value(tx, {"key": key})
    return value


def set_setting(tx: Connection, key: str, value: str) -> None:
    upsert = postgresql.insert if tx.dialect.name == "postgresql" else sqlite.insert
    tx.execute(
        upsert(setting)
        .values(key=key, value=value)
        .on_conflict_do_update(index_elements=[setting.c.key], set_={"value": value})
    )
