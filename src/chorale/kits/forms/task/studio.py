"""Label Studio controls and results shared by several kinds of fields."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from xml.sax.saxutils import quoteattr

from chorale.contract.fields import StudioControl, plain_text
from chorale.model import Payload

Results = Sequence[Mapping[str, Any]]
Options = Sequence[tuple[Any, str]]


def element(tag: str, inner: str = "", /, **attributes: Any) -> str:
    """An escaped tag of a labelling configuration.

    >>> element("Choice", value="a & b")
    '<Choice value="a &amp; b"/>'
    """
    given = "".join(f" {name}={quoteattr(str(value))}" for name, value in attributes.items())
    return f"<{tag}{given}>{inner}</{tag}>" if inner else f"<{tag}{given}/>"


def choices(name: str, options: Options, *, several: bool) -> StudioControl:
    """A `Choices` control: one option, or any number of them."""

    def tag(to: str) -> str:
        inner = "".join(element("Choice", value=plain_text(value), hint=words) for value, words in options)
        return element("Choices", inner, name=name, toName=to, choice="multiple" if several else "single")

    by_text = {plain_text(value): value for value, _ in options}

    def results(value: Any, _item: Payload) -> Results:
        chosen = value if several else [value]
        return [{"type": "choices", "value": {"choices": [plain_text(each) for each in chosen]}}]

    def read(given: Results, _item: Payload) -> Any:
        chosen = [by_text.get(each, each) for result in given for each in result["value"]["choices"]]
        return chosen if several else chosen[0]

    return StudioControl(tag, results, read)


def rating(name: str, levels: int) -> StudioControl:
    """A `Rating` control: levels from 1 up."""
    return StudioControl(
        lambda to: element("Rating", name=name, toName=to, maxRating=levels),
        lambda value, _: [{"type": "rating", "value": {"rating": value}}],
        lambda given, _: given[0]["value"]["rating"],
    )


def number(name: str, low: float | None, high: float | None, step: float | None) -> StudioControl:
    """A `Number` control."""
    bounds = {"min": low, "max": high, "step": step}
    given = {key: f"{value:g}" for key, value in bounds.items() if value is not None}
    return StudioControl(
        lambda to: element("Number", name=name, toName=to, **given),
        lambda value, _: [{"type": "number", "value": {"number": value}}],
        lambda results, _: results[0]["value"]["number"],
    )


def day(name: str) -> StudioControl:
    """A `DateTime` control that asks for a date."""
    return StudioControl(
        lambda to: element("DateTime", name=name, toName=to, only="date", format="%Y-%m-%d"),
        lambda value, _: [{"type": "datetime", "value": {"datetime": value}}],
        lambda results, _: str(results[0]["value"]["datetime"])[:10],
    )


def text_area(name: str, ask: str, *, written: bool = False) -> StudioControl:
    """A `TextArea` control for texts, or for other values as JSON."""

    def results(value: Any, _item: Payload) -> Results:
        if not written:
            return [{"type": "textarea", "value": {"text": [json.dumps(value, ensure_ascii=False)]}}]
        return [{"type": "textarea", "value": {"text": [value] if isinstance(value, str) else list(value)}}]

    return StudioControl(partial(_text_area_tag, name, ask), results, partial(_read_text, written))


def _text_area_tag(name: str, ask: str, to: str) -> str:
    return element("TextArea", name=name, toName=to, placeholder=ask)


def _read_text(written: bool, given: Results, _item: Payload) -> Any:
    texts = [each for result in given for each in result["value"]["text"]]
    if not written:
        return json.loads(texts[0])
    return texts[0] if len(texts) == 1 else texts
