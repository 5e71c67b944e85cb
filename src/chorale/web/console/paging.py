"""Pages of tables, by their number."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Query

T = TypeVar("T")
PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]
RowNumber = Annotated[int | None, Query(ge=1, le=2**53)]


@dataclass(frozen=True, slots=True)
class Paging:
    """A page of a table."""

    number: int
    total: int
    size: int

    @property
    def last(self) -> int:
        return max(1, -(-self.total // self.size))

    @property
    def first(self) -> int:
        """The place of the first row shown; 0 for a page without rows."""
        return (self.number - 1) * self.size + 1 if self.number <= self.last and self.total else 0

    @property
    def end(self) -> int:
        """The place of the last row shown."""
        return min(self.number * self.size, self.total) if self.first else 0

    def rows(self, of: Sequence[T]) -> Sequence[T]:
        """The rows of this page."""
        start = (self.number - 1) * self.size
        return of[start : start + self.size]
