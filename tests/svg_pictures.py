"""Looking at pictures: their shapes and texts, and whether a line runs behind a box."""

import re
from dataclasses import dataclass
from itertools import combinations, pairwise
from xml.etree import ElementTree

from chorale.present.svg.elements import text_width

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def words(svg: str) -> list[str]:
    """The texts of a picture, without tooltips."""
    return [element.text or "" for element in parsed(svg).iter(f"{SVG}text")]


@dataclass(frozen=True)
class Area:
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Area") -> bool:
        apart = self.left >= other.right or other.left >= self.right
        return not (apart or self.top >= other.bottom or other.top >= self.bottom)


def text_areas(svg: str) -> list[tuple[str, Area]]:
    """About where every text stands. Nothing is turned or scaled in pictures."""
    areas = []
    for element in parsed(svg).iter(f"{SVG}text"):
        x, y, shown = float(element.attrib["x"]), float(element.attrib["y"]), element.text or ""
        # Real letters are a little narrower than they are counted.
        wide = 0.93 * text_width(shown)
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[element.attrib["text-anchor"]]
        areas.append((shown, Area(left, y - 9, left + wide, y + 2)))
    return areas


def overlapping_texts(svg: str) -> list[tuple[str, str]]:
    return [(one, other) for (one, a), (other, b) in combinations(text_areas(svg), 2) if a.overlaps(b)]


def texts_outside(svg: str) -> list[str]:
    wide, high = map(float, parsed(svg).attrib["viewBox"].split()[2:])
    return [
        shown
        for shown, area in text_areas(svg)
        if area.left < 0 or area.top < 0 or area.right > wide + 1 or area.bottom > high + 1
    ]


def boxes(svg: str) -> list[Area]:
    """The nodes of a graph."""
    return [
        Area(x, y, x + float(element.attrib["width"]), y + float(element.attrib["height"]))
        for element in parsed(svg).iter(f"{SVG}rect")
        if element.get("stroke") == "currentColor"
        for x, y in [(float(element.attrib["x"]), float(element.attrib["y"]))]
    ]


def links_behind_boxes(svg: str) -> list[tuple[str, Area]]:
    """The links that run through a node: a few points on every step of each are looked at."""
    areas = [Area(box.left + 1, box.top + 1, box.right - 1, box.bottom - 1) for box in boxes(svg)]
    wrong = []
    for path in parsed(svg).iter(f"{SVG}path"):
        route = path.attrib["d"]
        steps = [
            (kind, [(float(x), float(y)) for x, y in re.findall(r"([-\d.]+),([-\d.]+)", numbers)])
            for kind, numbers in re.findall(r"([MLC])([^MLC]*)", route)
        ]
        for (_, before), (kind, places) in pairwise(steps):
            corners = [before[-1], *places] if kind == "C" else [before[-1], before[-1], places[-1], places[-1]]
            for number in range(21):
                x, y = _on_curve(corners, number / 20)
                wrong += [(route, area) for area in areas if area.left < x < area.right and area.top < y < area.bottom]
    return wrong


def _on_curve(corners: list[tuple[float, float]], at: float) -> tuple[float, float]:
    shares = ((1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at**2 * (1 - at), at**3)
    x, y = (sum(share * corner[axis] for share, corner in zip(shares, corners, strict=True)) for axis in (0, 1))
    return x, y
