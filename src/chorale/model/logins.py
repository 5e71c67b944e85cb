"""The names that annotators sign in with."""

import unicodedata


def login_of(name: str) -> str:
    """The normalised form of a name: case and Unicode composition are ignored.

    >>> login_of(" Zoë ") == login_of("ZOE\\u0308")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()
