"""The page of a form: HTML from the study file, with all texts escaped."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from chorale.kits.forms.task.choice_fields import levels_of
from chorale.kits.forms.task.fields import FormField
from chorale.kits.forms.task.settings import SAME, FieldSettings, FormOptions, Kind, PartSettings

BROWSER = Path(__file__).with_name("browser")
"""Scripts and templates of the page."""
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(BROWSER),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES = {Kind.CHOICES: Kind.CHOICE, Kind.POLYGONS: Kind.BOXES}
"""Kinds that share the template of another kind."""
_SHORT = {2: 40, 3: 20, 4: 12, 5: 9}
"""Maximum length of labels, by number of options, to fit into one row."""


def form_page(options: FormOptions, asked: Iterable[FormField]) -> str:
    """The page of a form, with the rules of its fields for the script. The server checks them again."""
    fields = [
        {
            "field": field.settings,
            "template": f"kinds/{_TEMPLATES.get(field.settings.kind, field.settings.kind)}.html",
            "rules": _rules(field),
            "levels": levels_of(field.settings),
            "options": field.options,
            "across": _across(field.settings),
        }
        for field in asked
    ]
    return _ENVIRONMENT.get_template("page.html").render(
        shows=_groups(options), fields=fields, same=SAME, given=_given(options)
    )


def _given(options: FormOptions) -> list[dict[str, str]] | None:
    """The questions whose answers reviewers see; None without review."""
    if options.review is None:
        return None
    return [{"name": field.name, "ask": field.ask} for field in options.fields]


def _groups(options: FormOptions) -> list[list[PartSettings]]:
    """Groups of parts that are shown side by side."""
    groups: list[list[PartSettings]] = []
    for part in options.shows:
        if part.beside and groups:
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def _across(field: FieldSettings) -> str:
    """CSS class of options that fit into one row on wide screens."""
    labels = [option.label for option in field.options or ()] or [words for _, words in levels_of(field)]
    labels += [field.none] if field.none else []
    fits = max(map(len, labels), default=0) <= _SHORT.get(len(labels), 0)
    return f"form-across-{len(labels)}" if fits else ""


def _rules(field: FormField) -> dict[str, Any]:
    """Rules that the page checks before submission."""
    settings = field.settings
    rules: dict[str, Any] = {"name": settings.name, "kind": settings.kind}
    rules |= {"ask": settings.ask, "required": settings.required}
    if settings.shown_if is not None:
        rules["shownIf"] = {"field": settings.shown_if.field, "is": settings.shown_if.is_}
    if settings.prefill is not None:
        rules["prefill"] = settings.prefill
    return rules | field.rules()
