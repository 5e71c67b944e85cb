"""Words in all scripts, including scripts without spaces between words, such as Chinese and Thai."""

from functools import lru_cache
from unicodedata import category, name

CHARACTERS_OF_A_WORD = 2
"""Characters that take about as long to read as an English word, in scripts without spaces. The
estimated reading times are short: people read only 255 Chinese or 357 Japanese characters a minute aloud, though more
in silence (Trauzettel-Klosinski and Dietz 2012, IOVS 53, 5452).
"""
_WITHOUT_SPACES = (
    *("CJK ", "HIRAGANA ", "KATAKANA", "HALFWIDTH KATAKANA", "IDEOGRAPHIC ITERATION", "IDEOGRAPHIC NUMBER", "THAI "),
    *("LAO ", "KHMER ", "MYANMAR "),
)
"""Prefixes of Unicode names of scripts without spaces between words."""


@lru_cache(maxsize=8192)
def stands_alone(character: str) -> bool:
    """Whether a character belongs to a script without spaces between words."""
    return name(character, "").startswith(_WITHOUT_SPACES)


@lru_cache(maxsize=8192)
def _is_character(character: str) -> bool:
    return category(character)[0] in "LN" and stands_alone(character)


def with_spaces(text: str) -> str:
    """A text with spaces around every character of scripts without spaces.

    >>> with_spaces("走开 now")
    ' 走  开  now'
    """
    if text.isascii():
        return text
    return "".join(f" {character} " if _is_character(character) else character for character in text)


def count_words(text: str) -> int:
    """The number of words between spaces. In scripts without spaces, every character counts, as in word processors.

    >>> count_words("Go away, now!"), count_words("走开，now"), count_words("…")
    (3, 3, 1)
    """
    characters, rest = _counted(text)
    return characters + rest


def length_in_words(text: str) -> float:
    """The length of a text in words of the usual length.

    >>> length_in_words("Go away, now!"), length_in_words("你真是个傻瓜")
    (3.0, 3.0)
    """
    characters, rest = _counted(text)
    return rest + characters / CHARACTERS_OF_A_WORD


def _counted(text: str) -> tuple[int, int]:
    """The characters of scripts without spaces, and the words of others."""
    characters = 0 if text.isascii() else sum(map(_is_character, text))
    if not characters:
        return 0, len(text.split())
    # Punctuation between such characters is not a word.
    words = (word for word in with_spaces(text).split() if not _is_character(word[0]))
    return characters, sum(any(map(str.isalnum, word)) for word in words)
