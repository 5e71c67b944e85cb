"""The only room that speaks SQL."""

from sqlalchemy import Connection as Tx

from chorale.store.database import Store
from chorale.store.opening import open_store, store_url

__all__ = ["Store", "Tx", "open_store", "store_url"]
