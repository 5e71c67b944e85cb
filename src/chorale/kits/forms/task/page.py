"""A form's page: HTML from what the study file says, with everything in it escaped."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from chorale.kits.forms.task.choice_fields import levels_of
from chorale.kits.forms.task.settings import SAME, FieldSettings, FormOptions, Kind
from chorale.kits.forms.task.text_fields import TextField

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def form_page(options: FormOptions) -> str:
    """The page of a form. The fields' rules go along for the module; the server checks them again."""
    fields = [{"field": field, "rules": _rules(field), "levels": levels_of(field)} for field in options.fields]
    return _ENVIRONMENT.get_template("page.html").render(shows=options.shows, fields=fields, Kind=Kind, same=SAME)


def _rules(field: FieldSettings) -> dict[str, Any]:
    """What the page checks before anything is sent."""
    rules: dict[str, Any] = {"name": field.name, "kind": field.kind, "ask": field.ask, "required": field.required}
    if field.shown_if is not None:
        rules["shownIf"] = {"field": field.shown_if.field, "is": field.shown_if.is_}
    match field.kind:
        case Kind.CHOICES:
            rules |= {"min": field.least, "max": field.max or len(field.options or ())}
        case Kind.TEXT | Kind.LONG_TEXT:
            rules |= {"min": field.least, "max": TextField(field).most}
            rules |= {"minWords": field.min_words or 0, "maxWords": field.max_words}
        case Kind.SPANS:
            labels = [[option.value, option.label] for option in field.options or ()]
            rules |= {"min": field.least, "max": field.max, "item": field.item}
            rules |= {"overlap": field.overlap, "labels": labels}
    return rules
