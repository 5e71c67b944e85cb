"""Converts a Label Studio labelling configuration to the options of a form."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from xml.etree import ElementTree

from chorale.model import UserError

_OBJECTS = {
    **dict.fromkeys(("Text", "HyperText"), None),
    "Image": "picture",
    **dict.fromkeys(("Audio", "AudioPlus"), "audio"),
    "Video": "video",
}
"""Tags that show a column, with the look in a form."""
_USUAL_LEVELS = 5
_NONE = "None of these"


@dataclass(frozen=True)
class StudioForm:
    """The columns and form of a configuration."""

    options: dict[str, Any]
    """The equivalent form."""
    stage: str | None = None
    """The stage, if Chorale wrote the configuration: its options are those of the stage's form."""


def form_in(xml: str, name: str) -> StudioForm:
    """The form of a configuration. Raises UserError for controls that a form does not support."""
    if "<!" in xml.replace("<!--", ""):
        raise UserError(
            f"{name} has a document type, an entity or CDATA. Remove everything that begins with <!, except comments."
        )
    try:
        root = ElementTree.fromstring(xml)  # noqa: S314 - without entities there is nothing to expand
    except ElementTree.ParseError as error:
        raise UserError(f"{name} is not valid XML: {error}. Export the labelling configuration again.") from None
    saved = _saved(root, name)
    objects = {
        tag.attrib["name"]: StudioObject(tag.attrib.get("value", "").removeprefix("$"), _OBJECTS[tag.tag])
        for tag in root.iter()
        if tag.tag in _OBJECTS and "name" in tag.attrib
    }
    if not objects and not saved:
        raise UserError(f"{name} has no supported display tag. Add one of: {', '.join(_OBJECTS)}.")
    known = {field["name"]: field for field in saved.get("fields", ())}
    fields = [*_known_fields(root, known), *_fields(root, objects, name, known)]
    if not fields:
        raise UserError(
            f"{name} has no control such as Choices, Labels, Rating or TextArea. Use the configuration of a project "
            "that has one."
        )
    if saved:
        return StudioForm({"shows": [], **saved, "fields": fields}, root.attrib.get("choraleStage"))
    # Images to draw on, recordings to mark and sides of a comparison are shown by their field.
    used = {field.get("item") for field in fields if field["kind"] in ("boxes", "polygons", "segments")}
    used |= {side for field in fields for side in field.get("sides", ())}
    shows = [
        {"item": each.column, **({"look": each.look} if each.look else {}), "optional": True}
        for each in dict.fromkeys(objects.values())
        if each.column not in used
    ]
    return StudioForm({"shows": shows, "fields": fields})


def _saved(root: ElementTree.Element, name: str) -> dict[str, Any]:
    """The options of the form that Chorale exported; empty for other configurations."""
    try:
        saved = json.loads(root.attrib.get("chorale", "{}"))
    except ValueError as error:
        words = f"{name}: the attribute `chorale` of <View> is not valid JSON ({error})."
        raise UserError(f"{words} Export the study again, or remove the attribute.") from None
    return saved if isinstance(saved, dict) else {}


class StudioObject(NamedTuple):
    """A tag that shows a column of the tasks."""

    column: str
    look: str | None
    """None for text."""


def _known_fields(root: ElementTree.Element, known: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The exported fields that still have a control. Options may have been added or removed since then."""
    controls = {field_of(tag.attrib["name"]): tag for tag in root.iter() if "toName" in tag.attrib}
    for field, saved in known.items():
        if field not in controls:
            continue
        options = {each["value"] if isinstance(each, dict) else each: each for each in saved.get("options", ())}
        values = [choice.attrib["value"] for choice in controls[field] if "value" in choice.attrib]
        changed = options and values and values != list(options)
        yield {**saved, "options": [options.get(each, each) for each in values]} if changed else saved


def field_of(control: str) -> str:
    """The field of a control: names of fields have no hyphen.

    >>> field_of("rubric-2")
    'rubric'
    """
    return control.partition("-")[0]


def _fields(
    root: ElementTree.Element, objects: dict[str, StudioObject], name: str, known: Collection[str]
) -> Iterator[dict[str, Any]]:
    asked = ""
    for tag in root.iter():
        if tag.tag == "Header":
            asked = tag.attrib.get("value", "")
        if "toName" not in tag.attrib or field_of(tag.attrib["name"]) in known:
            continue
        if tag.attrib.get("perRegion") == "true":
            words = f"{name} has the control <{tag.tag}> with perRegion, which is not supported."
            raise UserError(f"{words} Remove it from the configuration.")
        field = tag.attrib["name"]
        yield {
            "name": field,
            "ask": asked or tag.attrib.get("placeholder") or field,
            "required": False,
            **_kind(tag, objects, name, [each.attrib["value"] for each in root.iter("Relation")]),
        }
        asked = ""


def _kind(
    tag: ElementTree.Element, objects: dict[str, StudioObject], name: str, relations: list[str]
) -> dict[str, Any]:
    values = [choice.attrib["value"] for choice in tag if "value" in choice.attrib]
    shown = [objects[each] for each in tag.attrib["toName"].split(",") if each in objects]
    labels = {} if values == [tag.attrib["name"]] else {"options": values}
    match tag.tag:
        case "Choices" if tag.attrib.get("choice") == "multiple":
            return {"kind": "choices", "options": values, "min": 0, "none": _NONE}
        case "Choices":
            return {"kind": "choice", "options": values}
        case "Rating":
            return {"kind": "likert", "levels": int(tag.attrib.get("maxRating", _USUAL_LEVELS))}
        case "TextArea":
            return {"kind": "long_text"}
        case "Number":
            bounds: dict[str, Any] = {
                key: _number(tag.attrib[key]) for key in ("min", "max", "step") if key in tag.attrib
            }
            return {"kind": "number", **bounds}
        case "DateTime" if tag.attrib.get("only", "date") == "date":
            return {"kind": "date"}
        case "Pairwise" if len(shown) == 2:
            return {"kind": "pair", "sides": [each.column for each in shown]}
        case "RectangleLabels" | "Rectangle" if shown and shown[0].look == "picture":
            return {"kind": "boxes", "item": shown[0].column, "min": 0, **labels}
        case "PolygonLabels" | "Polygon" if shown and shown[0].look == "picture":
            return {"kind": "polygons", "item": shown[0].column, "min": 0, **labels}
        case "Labels" if shown and shown[0].look in ("audio", "video"):
            return {"kind": "segments", "item": shown[0].column, "min": 0, **labels}
        case "Labels" if shown and relations:
            between = {"relations": list(dict.fromkeys(relations))}
            return {"kind": "relations", "item": shown[0].column, "min": 0, "options": values, **between}
        case "Labels" if shown and shown[0].look is None:
            return {"kind": "spans", "item": shown[0].column, "min": 0, **labels}
    raise UserError(f"{name} has the control <{tag.tag}>, which is not supported. Remove it from the configuration.")


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() else number
