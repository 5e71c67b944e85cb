"""A labelling configuration of Label Studio as the options of a form."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from chorale.model import UserError

_OBJECTS = ("Text", "HyperText", "Paragraphs")
_USUAL_LEVELS = 5
_NONE = "None of these"


@dataclass(frozen=True)
class StudioForm:
    """What a configuration shows and asks."""

    columns: tuple[str, ...]
    """The columns that are shown, in their order."""
    options: dict[str, Any]
    """The form that asks the same."""


def form_in(xml: str, name: str) -> StudioForm:
    """The form that a configuration describes; UserError for what a form can't ask."""
    if "<!" in xml.replace("<!--", ""):
        raise UserError(f"{name} declares a document type or entities. Remove everything that begins with <!.")
    try:
        root = ElementTree.fromstring(xml)  # noqa: S314 - without entities there is nothing to expand
    except ElementTree.ParseError as error:
        raise UserError(f"{name} is not XML: {error}. Export the labelling configuration again.") from None
    objects = {
        tag.attrib["name"]: tag.attrib.get("value", "").removeprefix("$")
        for tag in root.iter()
        if tag.tag in _OBJECTS and "name" in tag.attrib
    }
    if not objects:
        raise UserError(f"{name} shows no text: it has none of the tags {', '.join(_OBJECTS)}.")
    fields = list(_fields(root, objects, name))
    if not fields:
        raise UserError(f"{name} asks nothing: it has no control such as Choices, Labels, Rating or TextArea.")
    columns = tuple(dict.fromkeys(objects.values()))
    shows = [{"item": column, "optional": True} for column in columns]
    return StudioForm(columns, {"shows": shows, "fields": fields})


def _fields(root: ElementTree.Element, objects: dict[str, str], name: str) -> Iterator[dict[str, Any]]:
    asked = ""
    for tag in root.iter():
        if tag.tag == "Header":
            asked = tag.attrib.get("value", "")
        if "toName" not in tag.attrib:
            continue
        field = tag.attrib["name"]
        yield {
            "name": field,
            "ask": asked or tag.attrib.get("placeholder") or field,
            "required": False,
            **_kind(tag, objects, name),
        }
        asked = ""


def _kind(tag: ElementTree.Element, objects: dict[str, str], name: str) -> dict[str, Any]:
    values = [choice.attrib["value"] for choice in tag if "value" in choice.attrib]
    match tag.tag:
        case "Choices" if tag.attrib.get("choice") == "multiple":
            return {"kind": "choices", "options": values, "min": 0, "none": _NONE}
        case "Choices":
            return {"kind": "choice", "options": values}
        case "Rating":
            return {"kind": "likert", "levels": int(tag.attrib.get("maxRating", _USUAL_LEVELS))}
        case "TextArea":
            return {"kind": "long_text"}
        case "Labels":
            column = objects.get(tag.attrib["toName"], "")
            labels = {} if values == [tag.attrib["name"]] else {"options": values}
            return {"kind": "spans", "item": column, "min": 0, "overlap": True, **labels}
    raise UserError(f"{name} has the control <{tag.tag}>, which can't be imported. Remove it from the configuration.")
