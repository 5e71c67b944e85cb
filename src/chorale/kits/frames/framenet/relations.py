"""How frames are related, with the kind of relation."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

PARENT_CHILD = ("Inheritance", "Using", "Perspective_on", "Subframe")
"""Kinds that put one frame above another: it is more general, presupposed, neutral, or the whole."""


@dataclass(frozen=True, slots=True)
class FrameLink:
    """One relation of FrameNet's: `above` is the more general frame, or the one that comes first."""

    kind: str
    below: str
    above: str


@dataclass(frozen=True, slots=True)
class FrameLinks:
    """All relations, by frame."""

    links: tuple[FrameLink, ...]
    _above: Mapping[str, Mapping[str, tuple[str, ...]]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        above: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for link in self.links:
            above[link.below][link.above].append(link.kind)
        plain = {below: {name: tuple(kinds) for name, kinds in found.items()} for below, found in above.items()}
        object.__setattr__(self, "_above", plain)

    def between(self, first: str, second: str) -> tuple[FrameLink, ...]:
        """The relations that directly link two frames, either way round."""
        return tuple(
            FrameLink(kind, below, above)
            for below, above in ((first, second), (second, first))
            for kind in self._above.get(below, {}).get(above, ())
        )

    def parents(self, frame: str, kinds: Iterable[str] = PARENT_CHILD) -> frozenset[str]:
        """Frames that are directly above this one."""
        wanted = set(kinds)
        return frozenset(name for name, found in self._above.get(frame, {}).items() if wanted.intersection(found))
