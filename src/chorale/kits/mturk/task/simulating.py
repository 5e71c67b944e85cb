"""Answers of simulated workers to a layout: a guess for every standard field of the page."""

from collections.abc import Mapping
from html.parser import HTMLParser
from random import Random
from typing import Any

from chorale.model import Answer

_FILLER = "simulated words that say nothing"
_UNASKED = frozenset(("button", "file", "hidden", "image", "password", "reset", "submit"))
_MOST_FIELDS, _LONGEST_NAME, _LONGEST_VALUE = 500, 200, 20_000


def guessed(view: Mapping[str, Any], known: Answer, rng: Random | None) -> Answer:
    """The known answer, with guesses for missing fields. Amazon's elements stay unanswered.

    >>> guessed({"html": "<input type=radio name=a value=yes><input type=radio name=a value=no>"}, None, None)
    {'a': 'yes'}
    """
    fields = _Fields()
    fields.feed(view["html"])
    fields.close()
    return fields.guess(rng) | (known or {})


class _Fields(HTMLParser):
    """The fields of a page: the options of each, and which texts are required."""

    def __init__(self) -> None:
        super().__init__()
        self._one_of: dict[str, list[str]] = {}
        self._any_of: dict[str, list[str]] = {}
        self._texts: dict[str, str] = {}
        self._select = ""
        self._option_without_value = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")[:_LONGEST_NAME]
        value = given.get("value", "on")[:_LONGEST_VALUE]
        kind = given.get("type", "text").lower() if tag == "input" else tag
        if kind == "select":
            self._select = name
        elif kind == "option" and self._select:
            self._option_without_value = "value" not in given
            if given.get("value"):
                self._one_of.setdefault(self._select, []).append(value)
        elif name and kind == "radio":
            self._one_of.setdefault(name, []).append(value)
        elif name and kind == "checkbox":
            self._any_of.setdefault(name, []).append(value)
        elif name and "required" in given and (tag == "textarea" or (tag == "input" and kind not in _UNASKED)):
            self._texts[name] = given.get("min") or "1" if kind in ("number", "range") else _FILLER

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""

    def handle_data(self, data: str) -> None:
        if self._select and self._option_without_value and data.strip():
            self._one_of.setdefault(self._select, []).append(data.strip()[:_LONGEST_VALUE])
            self._option_without_value = False

    def guess(self, rng: Random | None) -> dict[str, str]:
        """A value for every field. Without random numbers, the first option and no checked box."""
        answer = dict(self._texts)
        for name, options in self._one_of.items():
            answer[name] = rng.choice(options) if rng else options[0]
        for name, boxes in self._any_of.items():
            ticked = [box for box in boxes if rng and rng.random() < 1 / 2]
            if ticked:
                answer[name] = "|".join(ticked)[:_LONGEST_VALUE]
        return dict(list(answer.items())[:_MOST_FIELDS])
