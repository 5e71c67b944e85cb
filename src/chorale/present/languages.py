"""The languages of worker pages. Sentences in the code are in English, and catalogues have the translations.

Chorale's own catalogues are in this folder, those of a kit in `Kit.catalogues`: one file per language, in the `.po`
format of gettext. For English, neither catalogues nor Babel are read.
"""

from functools import lru_cache
from pathlib import Path

from chorale.present.language import ENGLISH, Language

CATALOGUES = Path(__file__).with_name("catalogues")


def languages() -> list[str]:
    """The codes of all languages of worker pages."""
    return sorted([ENGLISH, *(path.stem for path in CATALOGUES.glob("*.po"))])


@lru_cache(maxsize=32)
def language_of(code: str, folders: tuple[Path, ...] = ()) -> Language:
    """The language with this code, with Chorale's own catalogue and those in the folders."""
    if code == ENGLISH:
        return Language()
    from chorale.present.translated import Translated  # noqa: PLC0415 - Babel is of the extra `site`

    return Translated(code, (CATALOGUES, *folders))
