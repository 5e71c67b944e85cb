"""What annotators sign in with."""

import unicodedata


def login_of(name: str) -> str:
    """What tells names apart: neither case nor how a letter is encoded does.

    >>> login_of(" Zoë ") == login_of("ZOE\\u0308")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()
