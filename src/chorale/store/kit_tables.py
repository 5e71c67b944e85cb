"""Tables of kits in the databases of studies that use them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, MetaData, Table, inspect
from sqlalchemy.schema import CreateIndex, CreateTable

from chorale.model import UserError
from chorale.store.locks import Alone, lock
from chorale.store.settings import set_setting, setting_value


@dataclass(frozen=True, slots=True)
class KitTables:
    metadata: MetaData
    """The kit's current tables, with unique names.

    They may refer to the study's tables, by columns of `chorale.store.schema`, but not to those of other kits.
    """
    changes: Sequence[Callable[[Connection], None]] = ()
    """Changes of the tables since the kit's first version, oldest first.

    Each is applied once to a database that has the tables, after its own schema was updated. Changes are only added,
    never removed.
    """
    identities: Sequence[Table] = ()
    """Tables with identities. They must be small: they are rewritten after an erasure."""


def are_current(tx: Connection, tables: Mapping[str, KitTables]) -> bool:
    """Whether all tables, by kit, exist in their current form."""
    return all(setting_value(tx, _key(kit)) == str(len(one.changes)) for kit, one in tables.items())


def bring_up_to_date(tx: Connection, tables: Mapping[str, KitTables]) -> None:
    """Create the tables of these kits, or apply missing changes."""
    lock(tx, Alone.BRINGS_STUDY_IN)
    there = set(inspect(tx).get_table_names())
    for kit, kit_tables in tables.items():
        made = int(setting_value(tx, _key(kit)) or 0)
        if made > len(kit_tables.changes):
            raise UserError(
                f"This study was last opened with a newer version of the kit `{kit}`. Update the package of the kit, "
                "then open the study again. Nothing was changed."
            )
        if there.isdisjoint(kit_tables.metadata.tables):
            create_tables(tx, kit_tables.metadata)
        else:
            for change in kit_tables.changes[made:]:
                change(tx)
        set_setting(tx, _key(kit), str(len(kit_tables.changes)))


def create_tables(tx: Connection, metadata: MetaData, without_indexes: Collection[str] = ()) -> None:
    for table in metadata.sorted_tables:
        tx.execute(CreateTable(table))
        for index in table.indexes:
            if index.name not in without_indexes:
                tx.execute(CreateIndex(index))


def _key(kit: str) -> str:
    return f"tables of {kit}"
