"""Counted judgments of consecutive items, read in batches."""

from collections import defaultdict
from typing import Any

from sqlalchemy import Connection

from chorale.model import GoldSettings, Judgment
from chorale.store.labels import COUNTED, as_judgments
from chorale.store.schema import response

_AT_ONCE = 1_000
"""Number of items per batch."""

_QUERY = COUNTED.with_only_columns(response.c.item_id, *COUNTED.selected_columns).order_by(
    response.c.item_id, response.c.id
)


class JudgmentsInOrder:
    """Judgments by item, fastest if items come by id, as from `items.all_items`."""

    def __init__(self, tx: Connection, rule: GoldSettings | None) -> None:
        self._tx, self._rule = tx, rule
        self._ids = range(0)
        self._rows: dict[int, list[Any]] = {}

    def of(self, item_id: int) -> tuple[Judgment, ...]:
        """The counted judgments of an item, each with its worker's current trust by the stage's rule."""
        if item_id not in self._ids:
            self._ids = range(item_id, item_id + _AT_ONCE)
            rows: dict[int, list[Any]] = defaultdict(list)
            query = _QUERY.where(response.c.item_id >= self._ids.start, response.c.item_id < self._ids.stop)
            for number, *row in self._tx.execute(query):
                rows[number].append(row)
            self._rows = dict(rows)
        return as_judgments(self._rows.get(item_id, ()), self._rule)
