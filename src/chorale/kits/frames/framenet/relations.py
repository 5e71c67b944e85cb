"""Typed relations between frames."""

from collections import defaultdict
from dataclasses import dataclass, field

_PARENT_CHILD = {"Inheritance", "Using", "Perspective_on", "Subframe"}
"""Relation types where one frame is above the other: it is more general, presupposed, neutral, or the whole."""


@dataclass(frozen=True, slots=True)
class FrameLink:
    """A FrameNet relation: `above` is the more general frame, or the one that comes first."""

    kind: str
    below: str
    above: str


@dataclass(frozen=True, slots=True)
class FrameLinks:
    """All relations, by frame."""

    links: tuple[FrameLink, ...]
    _of: dict[str, list[FrameLink]] = field(default_factory=lambda: defaultdict(list), init=False, repr=False)

    def __post_init__(self) -> None:
        for link in self.links:
            self._of[link.below].append(link)

    def between(self, first: str, second: str) -> tuple[FrameLink, ...]:
        """The relations that directly link two frames, in either direction."""
        pairs = ((first, second), (second, first))
        return tuple(link for below, above in pairs for link in self._of.get(below, ()) if link.above == above)

    def parents(self, frame: str) -> frozenset[str]:
        """Frames directly above this frame."""
        return frozenset(link.above for link in self._of.get(frame, ()) if link.kind in _PARENT_CHILD)
