"""Phrases with their applications, as stored by task 1 and read by task 2."""

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from chorale.model import Payload, SourceItem

ALSO_LEFT_OF = "also_left_of"
"""Field of a phrase: additional applications with this left side, each with its `id`. Absent if there are none."""


def same_text(phrase: str) -> str:
    """A key that is equal for phrases with the same text, ignoring spaces and the encoding of accents."""
    return " ".join(unicodedata.normalize("NFC", phrase).split())


def phrase_text(payload: Payload) -> str:
    return same_text(payload["phrase"])


class JudgedSides(NamedTuple):
    """An application with its two phrases as items of task 1."""

    key: str
    application: dict[str, Any]
    lhs: SourceItem
    rhs: SourceItem


def judged_sides(phrases: Iterable[SourceItem]) -> Iterator[JudgedSides]:
    """The applications of phrases, in the order of their left sides. Both sides of each application are included."""
    phrases = [phrase for phrase in phrases if phrase.payload.get("application") is not None]
    by_key = {phrase.key: phrase for phrase in phrases}
    by_text = {(phrase.group, phrase_text(phrase.payload)): phrase for phrase in phrases}
    for lhs in phrases:
        for key, application in _left_side_of(lhs):
            # A right phrase of an earlier row is found by its text.
            rhs = by_key.get(f"{key}:rhs") or by_text.get((lhs.group, same_text(application["rhs"])))
            if rhs is not None:
                yield JudgedSides(key, application, lhs, rhs)


def _left_side_of(phrase: SourceItem) -> Iterator[tuple[str, dict[str, Any]]]:
    """The applications with this left phrase, with their IDs."""
    if phrase.payload["side"] == "lhs":
        yield phrase.key.removesuffix(":lhs"), dict(phrase.payload["application"])
    for row in phrase.payload.get(ALSO_LEFT_OF, ()):
        yield row["id"], {name: value for name, value in row.items() if name != "id"}
