"""Labels beside points: within the picture, and none on another."""

from collections.abc import Sequence
from dataclasses import dataclass

from chorale.present.svg.elements import fitted, text, text_width
from chorale.present.svg.frame import PlotFrame

_LINE = 14
_WIDEST = 180
_FURTHER = 9


@dataclass(frozen=True, slots=True)
class PlacedLabel:
    words: str
    more: str
    """All of it, where `words` were cut."""
    x: float
    y: float
    anchor: str

    @property
    def left(self) -> float:
        return self.x - text_width(self.words) if self.anchor == "end" else self.x

    @property
    def right(self) -> float:
        return self.left + text_width(self.words)

    def touches(self, other: "PlacedLabel") -> bool:
        apart = max(self.left, other.left) >= min(self.right, other.right)
        return not apart and abs(self.y - other.y) < _LINE


def place_label(x: float, y: float, words: str, others: Sequence[PlacedLabel], around: PlotFrame) -> PlacedLabel:
    """Above a point if there is room, or below it; where it is crowded on both sides, further away."""
    cut = fitted(words, _WIDEST)
    sides = [("end", x - 8), ("start", x + 8)]
    if x <= around.left + (around.right - around.left) * 0.7:
        sides.reverse()
    steps = [_LINE * number for number in range(_FURTHER)]
    heights = [y - 6, y + 16, *(y + 16 + step for step in steps[1:]), *(y - 6 - step for step in steps[1:])]
    heights = [height for height in heights if around.top - 2 + 10 <= height <= around.bottom - 2] or [y + 4]
    places = [PlacedLabel(cut, words, at, height, anchor) for height in heights for anchor, at in sides]
    inside = [place for place in places if place.left >= around.left and place.right <= around.width] or places
    return next((place for place in inside if not any(map(place.touches, others))), inside[0])


def label_texts(labels: Sequence[PlacedLabel]) -> list[str]:
    return [text(label.x, label.y, label.words, label.anchor, more=label.more) for label in labels]
