"""Settings and secrets of a study that are kept in its database."""

import secrets

from sqlalchemy import Connection, bindparam, delete, select

from chorale.store.prepared import Prepared, upsert
from chorale.store.schema import setting

_TIES = "ties"
_FEES = "fees"
_SCARCE_GOLD = "scarce gold"
_PEOPLE = "people"
_SETTING = Prepared(select(setting.c.value).where(setting.c.key == bindparam("key")))


def setting_value(tx: Connection, key: str) -> str | None:
    value: str | None = _SETTING.value(tx, key=key)
    return value


def set_setting(tx: Connection, key: str, value: str) -> None:
    tx.execute(
        upsert(tx, setting)
        .values(key=key, value=value)
        .on_conflict_do_update(index_elements=[setting.c.key], set_={"value": value})
    )


def remove_setting(tx: Connection, key: str) -> None:
    tx.execute(delete(setting).where(setting.c.key == key))


def draw_ties(tx: Connection) -> None:
    """Mark a new study as breaking ties between answers randomly."""
    set_setting(tx, _TIES, "random")


def ties_at_random(tx: Connection) -> bool:
    """Whether ties are broken randomly. Older studies keep using the first answer by name."""
    return setting_value(tx, _TIES) == "random"


def show_scarce_gold_less(tx: Connection) -> None:
    """Mark a new study as showing scarce gold less often, unless the study file says that gold is repeated."""
    set_setting(tx, _SCARCE_GOLD, "less")


def repeats_scarce_gold(tx: Connection) -> bool:
    """Whether scarce gold is repeated if the study file does not set this. Older studies keep repeating it."""
    return setting_value(tx, _SCARCE_GOLD) != "less"


def charge_platform_only(tx: Connection) -> None:
    """Mark a new study as booking fees only for people from its platform."""
    set_setting(tx, _FEES, "platform")


def charge_everybody(tx: Connection) -> None:
    """Book fees for everybody, since simulated people represent those of the platform."""
    tx.execute(delete(setting).where(setting.c.key == _FEES))


def mark_simulated(tx: Connection) -> None:
    """Mark a study as simulated."""
    set_setting(tx, _PEOPLE, "simulated")


def is_simulated(tx: Connection) -> bool:
    """Whether a study's people are simulated."""
    return setting_value(tx, _PEOPLE) == "simulated"


def fees_by_platform(tx: Connection) -> bool:
    """Whether fees are booked only for people from the platform. Older studies book them for everybody."""
    return setting_value(tx, _FEES) == "platform"


def known_secret(tx: Connection, name: str) -> str:
    """An existing secret."""
    return str(tx.execute(select(setting.c.value).where(setting.c.key == f"secret:{name}")).scalar_one())


def replace_secret(tx: Connection, name: str) -> None:
    """Replace a secret."""
    set_setting(tx, f"secret:{name}", secrets.token_urlsafe(32))


def secret(tx: Connection, name: str) -> str:
    """A random secret of this study, created at first use."""
    tx.execute(
        upsert(tx, setting).values(key=f"secret:{name}", value=secrets.token_urlsafe(32)).on_conflict_do_nothing()
    )
    return known_secret(tx, name)
