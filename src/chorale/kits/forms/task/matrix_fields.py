"""Matrix ratings: a table with one row per rated aspect, all on the same scale."""

from collections.abc import Mapping
from random import Random
from typing import Any, ClassVar, cast

from chorale.contract.fields import FieldKind, Scale, StudioControl
from chorale.kits.forms.task import studio_parts
from chorale.kits.forms.task.fields import FormField, Votes, corrected
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.settings import Kind
from chorale.metrics.aggregation import trust_weighted_share
from chorale.model import Payload

Ratings = Mapping[str, int]


class MatrixField(FormField):
    """A level of the scale for every row."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.MATRIX,)
    columns: ClassVar[tuple[str, ...]] = ("row", "value")
    kind = FieldKind.OTHER
    scale = Scale.OTHER

    @property
    def _rows(self) -> dict[str, str]:
        return {row.value: row.label for row in self.settings.rows or ()}

    @property
    def options(self) -> tuple[tuple[Any, str], ...]:
        return tuple((level, "") for level in range(1, self.settings.scale + 1))

    def schema(self) -> dict[str, Any]:
        level = {"type": "integer", "minimum": 1, "maximum": self.settings.scale}
        rows = dict.fromkeys(self._rows, level)
        return {"type": "object", "properties": rows, "required": list(rows), "additionalProperties": False}

    def parse(self, raw: Any) -> dict[str, int]:
        if not isinstance(raw, dict) or any(row not in self._rows for row in raw):
            raise invalid(f"is not an object with a level for each of {', '.join(self._rows)}", raw)
        missing = [label for row, label in self._rows.items() if row not in raw]
        if missing:
            raise ValueError(f"has no level for {', '.join(missing)}")
        for level in raw.values():
            if type(level) is not int or not 1 <= level <= self.settings.scale:
                raise invalid(f"has a level that is not from 1 to {self.settings.scale}", level)
        return {row: raw[row] for row in self._rows}

    def mistake(self, value: Ratings, gold: Ratings) -> str | None:
        far = [row for row in self._rows if abs(value[row] - gold[row]) > (self.settings.tolerance or 0)]
        return "; ".join(f"{row}: {corrected(str(value[row]), str(gold[row]))}" for row in far) or None

    def distance(self, left: Ratings, right: Ratings) -> float:
        """Mean distance in steps over the rows."""
        apart = [abs(left[row] - right[row]) / (self.settings.scale - 1) for row in self._rows]
        return sum(apart) / len(apart)

    def combine(self, votes: Votes, draw: int) -> tuple[dict[str, int], float]:
        """Aggregates each row separately. The confidence is that of the least certain row."""
        shares = {
            row: trust_weighted_share([(value[row], trust) for value, trust in votes], draw) for row in self._rows
        }
        decided = {row: share for row, share in shares.items() if share is not None}
        return {row: cast(int, share.answer) for row, share in decided.items()}, min(
            share.confidence for share in decided.values()
        )

    def guess(self, _view: Mapping[str, Any], rng: Random | None) -> dict[str, int]:
        return {row: rng.randint(1, self.settings.scale) if rng else 1 for row in self._rows}

    def words(self, value: Ratings, _item: Payload) -> str:
        return ", ".join(f"{label}: {value[row]}" for row, label in self._rows.items())

    def label(self, value: Ratings) -> list[str]:
        return [f"{row}:{level}" for row, level in value.items()]

    def rows(self, value: Ratings, _item: Payload) -> list[dict[str, Any]]:
        return [{"row": row, "value": level} for row, level in value.items()]

    def studio(self) -> StudioControl:
        return studio_parts.ratings(self.settings.name, self._rows, self.settings.scale)

    def rules(self) -> dict[str, Any]:
        return {"rows": [[row, label] for row, label in self._rows.items()]}
