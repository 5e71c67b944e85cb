"""The database: the only package that contains SQL."""

from sqlalchemy import Connection as Tx
from sqlalchemy.engine import URL as DatabaseAddress  # noqa: N811 - a class

from chorale.store.database import Store
from chorale.store.loading import LoadingStore
from chorale.store.memory import MemoryStore, open_memory_store
from chorale.store.opening import open_loading_store, open_store, store_url

__all__ = [
    "DatabaseAddress",
    "LoadingStore",
    "MemoryStore",
    "Store",
    "Tx",
    "open_loading_store",
    "open_memory_store",
    "open_store",
    "store_url",
]
