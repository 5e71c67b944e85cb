"""Sentences for workers: English text that remembers its source, so that a page can show it in another language.

`worded` and `counted` are what `python -m chorale.testing.languages` looks for when it collects sentences to translate.
"""

from collections.abc import Mapping
from typing import Any


class Wording(str):
    """An English sentence, with its source and values."""

    source: str
    """The sentence with its placeholders, such as `Finish {part} first.`"""
    several: str | None
    """The source for numbers other than 1, if the sentence depends on a number."""
    number: int
    """The number that it depends on."""
    values: Mapping[str, Any]

    def __new__(cls, source: str, several: str | None, number: int, values: Mapping[str, Any]) -> "Wording":
        english = source if several is None or number == 1 else several
        made = super().__new__(cls, english.format(**{name: _english(value) for name, value in values.items()}))
        made.source, made.several, made.number, made.values = source, several, number, values
        return made


def worded(source: str, /, **values: Any) -> Wording:
    """A sentence for workers.

    >>> worded("Finish {part} first.", part="“Practice”")
    'Finish “Practice” first.'
    """
    return Wording(source, None, 1, values)


def counted(number: int, one: str, several: str, /, **values: Any) -> Wording:
    """A sentence for workers that depends on a number, which its placeholder `{count}` shows.

    >>> counted(1, "{count} skip left", "{count} skips left"), counted(1200, "{count} skip left", "{count} skips left")
    ('1 skip left', '1,200 skips left')
    """
    return Wording(one, several, number, {"count": number, **values})


def quoted(text: str) -> Wording:
    """A text in the quotation marks of the page's language.

    >>> quoted("Practice")
    '“Practice”'
    """
    return worded("“{text}”", text=text)


def joined(*parts: str, by: str = " ") -> Wording:
    """Join sentences, or parts of one; empty ones are left out."""
    given = {f"part{number}": part for number, part in enumerate(filter(None, parts))}
    return Wording(by.join(f"{{{name}}}" for name in given), None, 1, given)


def _english(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
