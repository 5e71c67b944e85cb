"""The languages that worker pages can be in. Sentences are English in the code, and catalogues have the others.

Chorale's own catalogues are beside this module, and a kit's where it says (`Kit.catalogues`): one file per language, in
the `.po` format of gettext. For English, neither catalogues nor Babel are read.
"""

from functools import lru_cache
from pathlib import Path

from chorale.present.language import ENGLISH, Language

CATALOGUES = Path(__file__).with_name("catalogues")


def languages() -> list[str]:
    """The codes of the languages that worker pages can be in."""
    return sorted([ENGLISH, *(path.stem for path in CATALOGUES.glob("*.po"))])


@lru_cache(maxsize=32)
def language_of(code: str, folders: tuple[Path, ...] = ()) -> Language:
    """The language with this code, with the catalogues in some folders besides Chorale's own."""
    if code == ENGLISH:
        return Language()
    from chorale.present.translated import Translated  # noqa: PLC0415 - Babel is of the extra `site`

    return Translated(code, (CATALOGUES, *folders))
