"""The language of worker pages: English, and the markup for translatable text in HTML."""

import re
from collections.abc import Callable
from datetime import date
from html import escape, unescape
from typing import Any

from chorale.model import money_text
from chorale.model.wording import Wording, counted, worded

ENGLISH = "en"


class Language:
    """The language of worker pages: English; `translated.Translated` has the others."""

    code = ENGLISH
    direction = "ltr"
    """`rtl` for languages that are written from right to left."""
    for_browser = ""
    """A script with translations for other scripts; empty for English."""

    def say(self, source: str, /, **values: Any) -> str:
        """A sentence in this language."""
        return self.translated(worded(source, **values))

    def say_count(self, number: int, one: str, several: str, /, **values: Any) -> str:
        """A sentence in the plural form for a number."""
        return self.translated(counted(number, one, several, **values))

    def translated(self, text: str) -> str:
        """Translate a `Wording`; other text is returned unchanged."""
        if not isinstance(text, Wording):
            return text
        return self.template(text).format(**{name: self.shown(value) for name, value in text.values.items()})

    def template(self, text: Wording) -> str:
        """A translated sentence with its placeholders not filled in."""
        return text.source if text.several is None or text.number == 1 else text.several

    def shown(self, value: Any) -> str:
        """A value for a placeholder."""
        return self.translated(value) if isinstance(value, str) else self.number(value)

    def number(self, value: float) -> str:
        """A number formatted for this language."""
        return f"{value:,}"

    def money(self, amount: int, currency: str) -> str:
        """An amount in minor units, formatted for this language."""
        return money_text(amount, currency)

    def day(self, day: date) -> str:
        """A date with the month in words."""
        return f"{day.day} {day:%B %Y}"


_TRANSLATED = re.compile(r'<(?P<tag>[^<>]*?) data-say(?:="(?P<names>[a-z -]*)")?(?P<rest>[^<>]*)>(?P<text>[^<]*)')


def translated_html(html: str, say: Callable[[str], str]) -> str:
    """Translate the text of elements with `data-say`, and the attributes that `data-say` names.

    >>> translated_html('<p data-say>Yes</p><i data-say="title" title="Yes">Yes</i>', {"Yes": "Ja"}.get)
    '<p>Ja</p><i title="Ja">Yes</i>'
    """

    def replaced(match: re.Match[str]) -> str:
        opening, text, names = f"<{match['tag']}{match['rest']}>", match["text"], match["names"]
        for name in (names or "").split():
            opening = re.sub(rf'(?<= {name}=")([^"]*)', lambda value: _again(value[1], say), opening)
        return opening + (text if names else _again(text, say))

    return _TRANSLATED.sub(replaced, html)


def said_in(html: str) -> list[str]:
    """The sentences that `translated_html` looks up."""
    sources: list[str] = []
    translated_html(html, lambda source: sources.append(source) or source)  # type: ignore[func-returns-value]
    return sources


def _again(text: str, say: Callable[[str], str]) -> str:
    """Translate a sentence, keeping the white space around it."""
    source = text.strip()
    return text.replace(source, escape(say(unescape(source)))) if source else text
