"""Region fields for images, audio and video: boxes, polygons, time segments."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, ClassVar

from chorale.contract.fields import FieldKind, Scale, StudioControl
from chorale.kits.forms.task.fields import FormField, Votes
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.overlaps import (
    Region,
    alike,
    box_overlap,
    clusters,
    polygon_overlap,
    segment_overlap,
)
from chorale.kits.forms.task.settings import Kind
from chorale.kits.forms.task.studio_regions import audio_regions, boxes, polygons
from chorale.model import Payload
from chorale.model.plural import plural
from chorale.model.wording import worded

MOST_REGIONS = 200
MOST_POINTS = 200
MOST_SECONDS = 24 * 3600
ENOUGH = 0.8
_DIGITS = 4
"""Precision of positions in an image, as fractions of its width and height."""
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_SECONDS = {"type": "number", "minimum": 0, "maximum": MOST_SECONDS}


class RegionField(FormField):
    """A list of regions with optional labels."""

    kind = FieldKind.REGIONS
    scale = Scale.REGIONS
    shape: ClassVar[Mapping[str, Any]]
    """The JSON schema of the parts of a region."""

    @property
    def column(self) -> str:
        return self.settings.item or ""

    @property
    def _labels(self) -> tuple[str, ...]:
        return tuple(value for value, _ in self.options)

    @abstractmethod
    def place(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """The normalised region. Raises ValueError if it is invalid."""

    @abstractmethod
    def overlap(self, left: Region, right: Region) -> float: ...

    @abstractmethod
    def middle(self, regions: Sequence[tuple[Region, float]]) -> dict[str, Any]:
        """The aggregate of regions that several people marked, without its label."""

    @abstractmethod
    def made_up(self, number: int, count: int, rng: Random | None) -> dict[str, Any]: ...

    @abstractmethod
    def place_words(self, region: Region) -> str: ...

    def schema(self) -> dict[str, Any]:
        parts = {**self.shape, **({"label": {"enum": list(self._labels)}} if self._labels else {})}
        each = {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
        return {"type": "array", "items": each}

    def parse(self, raw: Any) -> list[dict[str, Any]]:
        if not isinstance(raw, list) or len(raw) > MOST_REGIONS:
            raise invalid(f"is not a list of up to {MOST_REGIONS} regions", raw)
        regions = [self._region(each) for each in raw]
        least, most = self.settings.least, self.settings.most
        if len(regions) < least:
            raise ValueError(f"has {plural(len(regions), 'region', 'regions')} but must have at least {least}")
        if most is not None and len(regions) > most:
            raise ValueError(f"has {plural(len(regions), 'region', 'regions')} but must have at most {most}")
        return sorted(regions, key=lambda region: repr(sorted(region.items())))

    def _region(self, raw: Any) -> dict[str, Any]:
        wanted = {*self.shape, *(("label",) if self._labels else ())}
        if not isinstance(raw, dict) or raw.keys() != wanted:
            raise invalid(f"has a region whose keys are not exactly {', '.join(sorted(wanted))}", raw)
        place = self.place(raw)
        if not self._labels:
            return place
        if raw["label"] not in self._labels:
            raise invalid(f"has a region whose label is not one of {', '.join(self._labels)}", raw["label"])
        return {**place, "label": raw["label"]}

    def alike(self, left: Sequence[Region], right: Sequence[Region]) -> float:
        return alike(left, right, self.overlap)

    def mistake(self, value: Sequence[Region], gold: Sequence[Region]) -> str | None:
        overlap, enough = self.alike(value, gold), self.settings.enough or ENOUGH
        return None if overlap >= enough else f"different regions than gold: overlap {overlap:.2f}, below {enough:g}"

    def distance(self, left: Sequence[Region], right: Sequence[Region]) -> float:
        return 0.0 if left == right else 1 - self.alike(left, right)

    def combine(self, votes: Votes, _draw: int) -> tuple[list[dict[str, Any]], float]:
        """Regions marked by more than half of the workers, weighted by quality. The confidence is the mean overlap of
        the answers with them.
        """
        whole = sum(trust for _, trust in votes)
        kept = []
        for cluster in clusters(votes, self.overlap):
            support = sum(trust for _, trust in cluster)
            if support > whole / 2:
                label = cluster[0][0].get("label")
                kept.append((support, {**self.middle(cluster), **({} if label is None else {"label": label})}))
        kept.sort(key=lambda each: (-each[0], repr(sorted(each[1].items()))))
        chosen = [region for _, region in kept[: self.settings.most]]
        result = sorted(chosen, key=lambda region: repr(sorted(region.items())))
        return result, sum(trust * self.alike(value, result) for value, trust in votes) / whole

    def guess(self, _view: Mapping[str, Any], rng: Random | None) -> list[dict[str, Any]]:
        least = max(1, self.settings.least)
        count = rng.randint(least, max(least, min(self.settings.most or least + 1, least + 1))) if rng else least
        made = []
        for number in range(count):
            label = (rng.choice(self._labels) if rng else self._labels[0]) if self._labels else None
            made.append({**self.made_up(number, count, rng), **({"label": label} if label else {})})
        return self.parse(made)

    def words(self, value: Sequence[Region], _item: Payload) -> str:
        labels = dict(self.options)
        shown = [
            f"{labels[region['label']]}: {self.place_words(region)}" if "label" in region else self.place_words(region)
            for region in value
        ]
        return "; ".join(shown) or worded("nothing")

    def rows(self, value: Sequence[Region], _item: Payload) -> list[dict[str, Any]]:
        return [dict(region) for region in value]

    def rules(self) -> dict[str, Any]:
        bounds = {"min": self.settings.least, "max": self.settings.most, "item": self.column}
        return {**bounds, "labels": [list(each) for each in self.options]}


class BoxField(RegionField):
    """Boxes on an image, in fractions of its width and height."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.BOXES,)
    columns: ClassVar[tuple[str, ...]] = ("label", "x", "y", "width", "height")
    shape: ClassVar[Mapping[str, Any]] = dict.fromkeys(("x", "y", "width", "height"), _SHARE)

    def place(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        x, y, width, height = (_share(raw[name]) for name in ("x", "y", "width", "height"))
        if width <= 0 or height <= 0 or x + width > 1.0001 or y + height > 1.0001:
            raise invalid("has a box that is empty or extends beyond the image", raw)
        return {
            "x": x,
            "y": y,
            "width": min(width, round(1 - x, _DIGITS)),
            "height": min(height, round(1 - y, _DIGITS)),
        }

    def overlap(self, left: Region, right: Region) -> float:
        return box_overlap(left, right)

    def middle(self, regions: Sequence[tuple[Region, float]]) -> dict[str, Any]:
        return _mean(regions, ("x", "y", "width", "height"), _DIGITS)

    def made_up(self, number: int, count: int, rng: Random | None) -> dict[str, Any]:
        width = 1 / count
        inset = rng.uniform(0.1, 0.3) if rng else 0.2
        x, y = number * width + inset * width, inset
        return {"x": round(x, 4), "y": round(y, 4), "width": round(width * 0.5, 4), "height": 0.5}

    def place_words(self, region: Region) -> str:
        return f"{region['width']:.0%} × {region['height']:.0%} ({region['x']:.0%}, {region['y']:.0%})"

    def studio(self) -> StudioControl:
        return boxes(self.settings.name, self.options)


class PolygonField(RegionField):
    """Polygons on an image, in fractions of its width and height."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.POLYGONS,)
    columns: ClassVar[tuple[str, ...]] = ("label", "points")
    shape: ClassVar[Mapping[str, Any]] = {"points": {"type": "array", "minItems": 3}}

    def place(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        points = raw["points"]
        if not isinstance(points, list) or not 3 <= len(points) <= MOST_POINTS:
            raise invalid(f"has a polygon that does not have 3 to {MOST_POINTS} points", points)
        for point in points:
            if not isinstance(point, list) or len(point) != 2:
                raise invalid("has a point that is not a pair of numbers", point)
        return {"points": [[_share(x), _share(y)] for x, y in points]}

    def overlap(self, left: Region, right: Region) -> float:
        return polygon_overlap(left, right)

    def middle(self, regions: Sequence[tuple[Region, float]]) -> dict[str, Any]:
        """The polygon most similar to the others, because corners of different polygons cannot be averaged."""
        best = max(regions, key=lambda one: sum(trust * self.overlap(one[0], other) for other, trust in regions))
        return {"points": [list(point) for point in best[0]["points"]]}

    def made_up(self, number: int, count: int, rng: Random | None) -> dict[str, Any]:
        box = BoxField(self.settings).made_up(number, count, rng)
        x, y, width, height = box["x"], box["y"], box["width"], box["height"]
        return {"points": [[x, y], [round(x + width, 4), y], [round(x + width / 2, 4), round(y + height, 4)]]}

    def place_words(self, region: Region) -> str:
        return " ".join(f"({x:.0%}, {y:.0%})" for x, y in region["points"])

    def studio(self) -> StudioControl:
        return polygons(self.settings.name, self.options)


class SegmentField(RegionField):
    """Segments of audio or video, in seconds."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SEGMENTS,)
    columns: ClassVar[tuple[str, ...]] = ("label", "start", "end")
    shape: ClassVar[Mapping[str, Any]] = dict.fromkeys(("start", "end"), _SECONDS)

    def place(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        start, end = (_number(raw[name], MOST_SECONDS, 3) for name in ("start", "end"))
        if end <= start:
            raise invalid("has a segment whose end is not after its start", raw)
        return {"start": start, "end": end}

    def overlap(self, left: Region, right: Region) -> float:
        return segment_overlap(left, right)

    def middle(self, regions: Sequence[tuple[Region, float]]) -> dict[str, Any]:
        return _mean(regions, ("start", "end"), 3)

    def made_up(self, number: int, _count: int, rng: Random | None) -> dict[str, Any]:
        start = number * 2 + (rng.uniform(0, 0.5) if rng else 0)
        return {"start": round(start, 3), "end": round(start + (rng.uniform(0.3, 1) if rng else 1), 3)}

    def place_words(self, region: Region) -> str:
        return f"{region['start']:g}–{region['end']:g} s"

    def studio(self) -> StudioControl:
        return audio_regions(self.settings.name, self.options)


def _number(raw: Any, most: float, digits: int) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not 0 <= raw <= most:
        raise invalid(f"has a number that is not from 0 to {most:g}", raw)
    return round(float(raw), digits)


def _share(raw: Any) -> float:
    return _number(raw, 1, _DIGITS)


def _mean(regions: Sequence[tuple[Region, float]], names: Sequence[str], digits: int) -> dict[str, Any]:
    whole = sum(trust for _, trust in regions)
    return {name: round(sum(trust * region[name] for region, trust in regions) / whole, digits) for name in names}
