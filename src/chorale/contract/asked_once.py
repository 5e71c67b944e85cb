"""Rows with the same question: each question is asked once, and groups that share a question are merged."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from chorale.model import NewItem, Payload


@dataclass(frozen=True)
class AskedOnce:
    """How items of several rows are recognised as the same question."""

    identity: Callable[[Payload], str]
    """Takes an item. Returns a text: items with the same text ask the same question."""
    absorb: Callable[[NewItem, NewItem], Payload]
    """Takes an item and a later duplicate. Returns the payload that represents both.

    The worker's view must not change: rows can be added while a study runs.
    """
    since: int = 1
    """The first version of the task that merges duplicates. A stage started with an earlier version keeps them."""

    def merged(self, items: Iterable[NewItem]) -> list[NewItem]:
        """One item per question, with the key of the first. Groups that share a question are merged."""
        kept: dict[str, NewItem] = {}
        groups = _Groups()
        for item in items:
            asked = self.identity(item.payload)
            first = kept.get(asked)
            groups.join(item.group, item.group if first is None else first.group)
            kept[asked] = item if first is None else replace(first, payload=self.absorb(first, item))
        return [replace(item, group=groups.name(item.group)) for item in kept.values()]

    def groups(self, items: Iterable[NewItem]) -> Mapping[str, str]:
        """The group of each question."""
        return {self.identity(item.payload): item.group for item in items}


class _Groups:
    """A union-find structure over groups; each is named after its first member."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}
        self._place: dict[str, int] = {}

    def name(self, group: str) -> str:
        while (above := self._above[group]) != group:
            self._above[group] = self._above[above]
            group = above
        return group

    def join(self, left: str, right: str) -> None:
        for group in (right, left):
            self._place.setdefault(self._above.setdefault(group, group), len(self._place))
        first, later = sorted((self.name(left), self.name(right)), key=self._place.__getitem__)
        self._above[later] = first
