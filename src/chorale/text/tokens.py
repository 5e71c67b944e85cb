"""Tokenises text as in the Penn Treebank: punctuation, *do n't* and *Ann 's* are split, *43-year-old* is not.

Brackets and quotes are unchanged, so that the text can be reconstructed from tokens and their offsets.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_CHUNK = re.compile(r"\S+")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE)
_OPENING = "([{<\"'`“‘«„$£€¥#¿¡*"
_CLOSING = ")]}>\"'`”’»,;:!?%*"
_INSIDE = re.compile(r"\.{2,}|--+|[—…]|(?<=[^\W\d]),(?=\w)|[,;](?=[^\W\d])|(?<=\w)[(\[](?=\w)")
_CONTRACTION = re.compile(r"(?<=\w)(?:n['’]t|['’](?:s|m|d|re|ve|ll))$", re.IGNORECASE)
_CANNOT = re.compile(r"can(?=not$)", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+")
# Abbreviations that keep their full stop, except at the end of the text.
_ABBREVIATIONS = re.compile(
    "(?:mr|mrs|ms|dr|prof|rev|gen|gov|sen|rep|capt|lt|col|sgt|maj|st|mt|ft|nos?|vs|figs?|vols?|pp|cf|ph[.]d|"
    "jr|sr|inc|corp|co|ltd|bros|dept|est|etc|al|approx|eds?|ave|blvd|"
    "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)[.]",
    re.IGNORECASE,
)
# Words that start with an apostrophe.
_APOSTROPHE_WORD = re.compile(r"['’](?:\d\ds?|s|m|d|re|ve|ll|em|til|tis|twas)", re.IGNORECASE)
_LONGEST_CHUNK = 1000
"""Maximum length of a word. Longer sequences without a space are not analysed."""


class Token(NamedTuple):
    text: str
    start: int
    """The offset of its first character in the text."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokenize(text: str) -> list[Token]:
    """The tokens of a text, separated only by white space.

    >>> [token.text for token in tokenize("Mr. Lee's dog couldn't jump (43-year-old knees)...")]
    ['Mr.', 'Lee', "'s", 'dog', 'could', "n't", 'jump', '(', '43-year-old', 'knees', ')', '...']
    """
    chunks = list(_CHUNK.finditer(text))
    tokens: list[Token] = []
    for number, chunk in enumerate(chunks):
        following = chunks[number + 1][0] if number + 1 < len(chunks) else ""
        tokens += _of_chunk(chunk[0], chunk.start(), following)
    return tokens


def _of_chunk(chunk: str, start: int, following: str) -> Iterator[Token]:
    """Tokens of a sequence without spaces: split off punctuation around it, then split at punctuation within."""
    if len(chunk) > _LONGEST_CHUNK:
        yield Token(chunk, start)
        return
    first, last, ending = _peeled(chunk, following)
    yield from (Token(sign, start + place) for place, sign in enumerate(chunk[:first]))
    core, place = chunk[first:last], start + first
    if _ADDRESS.fullmatch(core):
        yield Token(core, place)
    else:
        end = 0
        for sign in _INSIDE.finditer(core):
            yield from _of_part(core[end : sign.start()], place + end)
            yield Token(sign[0], place + sign.start())
            end = sign.end()
        yield from _of_part(core[end:], place + end)
    yield from (Token(sign, start + place) for place, sign in ending)


def _peeled(chunk: str, following: str) -> tuple[int, int, list[tuple[int, str]]]:
    """The start and end of the word, and the punctuation after it."""
    first, last = 0, len(chunk)
    while first < last and chunk[first] in _OPENING and not _APOSTROPHE_WORD.fullmatch(chunk, first, last):
        first += 1
    ending: list[tuple[int, str]] = []
    while last > first and (size := _ending_size(chunk[first:last], following, closed=bool(ending))):
        last -= size
        ending.insert(0, (last, chunk[last : last + size]))
    return first, last, ending


def _ending_size(chunk: str, following: str, *, closed: bool) -> int:
    """The number of characters at the end that form a separate token."""
    if dots := re.search(r"\.{2,}$|…$|--+$|—$", chunk):
        return len(dots[0])
    if chunk[-1] in _CLOSING and not _CONTRACTION.search(chunk):
        return 1
    if chunk[-1] != "." or len(chunk) == 1:
        return 0
    return 0 if _keeps_stop(chunk, following, closed=closed) else 1


def _keeps_stop(chunk: str, following: str, *, closed: bool) -> bool:
    """Whether the full stop belongs to the word."""
    is_short = _ABBREVIATIONS.fullmatch(chunk) or _INITIALS.fullmatch(chunk)
    return bool(is_short) and (closed or following != "")


def _of_part(part: str, start: int) -> Iterator[Token]:
    """A word between punctuation, split before a contraction."""
    first, last, ending = _peeled(part, following=" ")
    yield from (Token(sign, start + place) for place, sign in enumerate(part[:first]))
    word = part[first:last]
    if word:
        cut, contraction = _CANNOT.match(word), _CONTRACTION.search(word)
        place = cut.end() if cut else contraction.start() if contraction else len(word)
        yield Token(word[:place], start + first)
        if place < len(word):
            yield Token(word[place:], start + first + place)
    yield from (Token(sign, start + place) for place, sign in ending)
