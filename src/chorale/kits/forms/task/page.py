"""A form's page: HTML from what the study file says, with everything in it escaped."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from chorale.kits.forms.task.settings import SAME, FieldSettings, FormOptions, Kind
from chorale.kits.forms.task.text_fields import TextField

BROWSER = Path(__file__).with_name("browser")
"""What runs in the browser, and the templates of the page."""
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(BROWSER),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES = {Kind.CHOICES: Kind.CHOICE}
"""Kinds that look like another."""
_SHORT = {2: 40, 3: 20, 4: 12, 5: 9}
"""How long the labels of so many options may be, in characters, to stand in one row."""


def form_page(options: FormOptions) -> str:
    """The page of a form. The fields' rules go along for the module; the server checks them again."""
    fields = [
        {
            "field": field,
            "template": f"kinds/{_TEMPLATES.get(field.kind, field.kind)}.html",
            "rules": _rules(field),
            "levels": levels_of(field),
            "across": _across(field),
        }
        for field in options.fields
    ]
    return _ENVIRONMENT.get_template("page.html").render(shows=options.shows, fields=fields, same=SAME)


def levels_of(field: FieldSettings) -> list[tuple[int, str]]:
    """The levels of a scale, each with its words, if it has any."""
    if field.kind is not Kind.LIKERT:
        return []
    count, labels = field.scale, field.labels or ()
    ends = {1: labels[0], count: labels[-1]} if len(labels) == 2 else dict(enumerate(labels, 1))
    return [(level, ends.get(level, "")) for level in range(1, count + 1)]


def _across(field: FieldSettings) -> str:
    """The class of options that stand in one row where the screen is wide; otherwise they stand below each other."""
    labels = [option.label for option in field.options or ()] or [words for _, words in levels_of(field)]
    labels += [field.none] if field.none else []
    fits = max(map(len, labels), default=0) <= _SHORT.get(len(labels), 0)
    return f"form-across-{len(labels)}" if fits else ""


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
