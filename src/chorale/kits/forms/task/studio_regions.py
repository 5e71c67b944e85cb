"""Boxes, polygons and segments as Label Studio regions, with image positions in percent."""

from collections.abc import Callable, Mapping
from typing import Any

from chorale.contract.fields import StudioControl
from chorale.kits.forms.task.studio import Options, Results, element
from chorale.model import Payload

_To = Callable[[Mapping[str, Any]], dict[str, Any]]


def boxes(name: str, options: Options) -> StudioControl:
    """`RectangleLabels` on an image."""
    parts = ("x", "y", "width", "height")
    return _regions(
        name,
        options,
        "RectangleLabels",
        lambda region: {part: round(region[part] * 100, 2) for part in parts} | {"rotation": 0},
        lambda value: {part: round(value[part] / 100, 4) for part in parts},
    )


def polygons(name: str, options: Options) -> StudioControl:
    """`PolygonLabels` on an image."""
    return _regions(
        name,
        options,
        "PolygonLabels",
        lambda region: {"points": [[round(x * 100, 2), round(y * 100, 2)] for x, y in region["points"]]},
        lambda value: {"points": [[round(x / 100, 4), round(y / 100, 4)] for x, y in value["points"]]},
    )


def audio_regions(name: str, options: Options) -> StudioControl:
    """`Labels` on audio."""
    parts = ("start", "end")
    return _regions(
        name,
        options,
        "Labels",
        lambda region: {part: region[part] for part in parts},
        lambda value: {part: round(value[part], 3) for part in parts},
    )


def _regions(name: str, options: Options, control: str, there: _To, back: _To) -> StudioControl:
    shown = options or ((name, name),)
    kind = control.lower()

    def tag(to: str) -> str:
        inner = "".join(element("Label", value=value) for value, _ in shown)
        return element(control, inner, name=name, toName=to)

    def results(value: Any, _item: Payload) -> Results:
        return [
            {
                "id": f"{name}-{number}",
                "type": kind,
                "value": {**there(region), kind: [region.get("label", name)]},
            }
            for number, region in enumerate(value, 1)
        ]

    def read(given: Results, _item: Payload) -> list[dict[str, Any]]:
        regions = [{**back(each["value"]), **({"label": each["value"][kind][0]} if options else {})} for each in given]
        return sorted(regions, key=lambda region: repr(sorted(region.items())))

    return StudioControl(tag, results, read)
