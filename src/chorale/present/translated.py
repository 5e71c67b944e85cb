"""Languages other than English: sentences from catalogues; plural forms, numbers, money and dates by Babel."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

from babel import Locale
from babel.dates import format_date
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_currency, format_decimal, get_currency_precision

from chorale.model.money import minor_digits
from chorale.model.wording import Wording
from chorale.present.language import Language

_LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"
_FORMULA = re.compile(r"[n0-9 %<>=!&|?:()]+")


class Translated(Language):
    """A language with catalogues. Sentences without a translation stay English."""

    def __init__(self, code: str, folders: Sequence[Path]) -> None:
        self.code = code
        self._locale = Locale.parse(code, sep="-")
        self.direction = self._locale.text_direction
        catalogues = [read_catalogue(path) for folder in folders if (path := folder / f"{code}.po").is_file()]
        whole = Catalog(locale=self._locale)
        for catalogue in catalogues:
            whole.mime_headers = catalogue.mime_headers
            for message in _complete(catalogue):
                whole.add(message.id, message.string)
        compiled = BytesIO()
        write_mo(compiled, whole)
        compiled.seek(0)
        self._catalogue = GNUTranslations(compiled)
        self.for_browser = _script(code, catalogues, str(whole.plural_expr))

    def template(self, text: Wording) -> str:
        if text.several is None:
            return self._catalogue.gettext(text.source)
        return self._catalogue.ngettext(text.source, text.several, text.number)

    def number(self, value: float) -> str:
        return format_decimal(value, locale=self._locale, decimal_quantization=False)

    def money(self, amount: int, currency: str) -> str:
        return _money(self._locale, amount, currency)

    def day(self, day: date) -> str:
        return format_date(day, "long", locale=self._locale)


def read_catalogue(path: Path) -> Catalog:
    """Read a catalogue from its file."""
    with path.open("rb") as file:
        return read_po(file, locale=path.stem.replace("-", "_"))


def _complete(catalogue: Iterable[Message]) -> Iterator[Message]:
    """The messages that are translated, in all their forms."""
    for message in catalogue:
        forms = (message.string,) if isinstance(message.string, str) else message.string or ("",)
        if message.id and all(forms):
            yield message


def _script(code: str, catalogues: Iterable[Catalog], plural: str) -> str:
    """A script with translations for scripts. The plural formula is the same in C and in JavaScript."""
    if not _FORMULA.fullmatch(plural):
        raise ValueError(f"not a formula for plural forms: {plural}")
    sentences = {
        message.id if isinstance(message.id, str) else message.id[0]: message.string
        for catalogue in catalogues
        for message in _complete(catalogue)
        if any(place.endswith(".js") for place, _ in message.locations)
    }
    words = json.dumps({"language": code, "messages": sentences}, ensure_ascii=False, sort_keys=True)
    return f"globalThis.choraleWords = {{ ...{words}, plural: (n) => Number({plural}) }};\n"


@lru_cache(maxsize=4096)
def _money(locale: Locale, amount: int, currency: str) -> str:
    digits = minor_digits(currency)
    exact = Decimal(amount).scaleb(-digits)
    # Use the ledger's number of decimals, even if Babel has another for the currency.
    known = digits == get_currency_precision(currency)
    text = format_currency(exact, currency, locale=locale, currency_digits=known, decimal_quantization=known)
    # Keep a sign with the Latin letters before it in right-to-left text.
    return f"{text}{_LEFT_TO_RIGHT}" if locale.text_direction == "rtl" and text[-2:-1].isascii() else text
