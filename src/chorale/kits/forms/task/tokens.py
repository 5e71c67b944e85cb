"""Tokenized texts, the basis of spans."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from unicodedata import category

from chorale.text.scripts import stands_alone

CUT = ""
"""First element of a list of tokens and gaps, which distinguishes it from a list of tokens."""


def pieces(text: str | Sequence[str]) -> list[str]:
    """A text, or a list of its tokens, as alternating tokens and gaps, which join to the text.

    Words end at white space, and punctuation around a word is a separate token. In scripts without spaces between
    words, every character is a token.

    >>> pieces("Don't shout, please!")
    ["Don't", ' ', 'shout', '', ',', ' ', 'please', '', '!', '']
    >>> pieces("走开 now")
    ['走', '', '开', ' ', 'now', '']
    >>> pieces(["", "傻瓜", "", "走开", ""])
    ['傻瓜', '', '走开', '']
    """
    if not isinstance(text, str) and text and text[0] == CUT:
        return list(text[1:])
    if not isinstance(text, str):
        return [piece for number, token in enumerate(text, 1) for piece in (token, " " if number < len(text) else "")]
    return list(_cut(text))


@lru_cache(maxsize=4096)
def _cut(text: str) -> tuple[str, ...]:
    """Cached, because every answer about a text needs it."""
    cut: list[str] = []
    end = 0
    for chunk in re.finditer(r"\S+", text):
        if cut:
            cut[-1] = text[end : chunk.start()]
        for token in _peeled(chunk[0]):
            cut += [token, ""]
        end = chunk.end()
    return tuple(cut)


def tokens(text: str | Sequence[str]) -> list[str]:
    return pieces(text)[::2]


def excerpt(text: str | Sequence[str], start: int, end: int) -> str:
    """The text of a token range."""
    return "".join(pieces(text)[2 * start : 2 * end - 1])


def characters(text: str | Sequence[str], start: int, end: int) -> tuple[int, int]:
    """The character range of a token range in the displayed text, end exclusive.

    >>> characters("Don't shout, please!", 1, 3)
    (6, 12)
    """
    cut = pieces(text)
    first = sum(map(len, cut[: 2 * start]))
    return first, first + sum(map(len, cut[2 * start : 2 * end - 1]))


def tokens_at(text: str | Sequence[str], first: int, last: int) -> tuple[int, int] | None:
    """The token range of a character range, end exclusive; None if it has only gaps.

    >>> tokens_at("Don't shout, please!", 6, 12)
    (1, 3)
    """
    touched = [number for number, (low, high) in enumerate(_places(text)) if low < last and first < high]
    return (touched[0], touched[-1] + 1) if touched else None


def quoted_tokens(text: str | Sequence[str], quote: str) -> list[tuple[int, int]]:
    """Token ranges of a quotation, end exclusive.

    >>> quoted_tokens("No means no, and no.", "no")
    [(2, 3), (5, 6)]
    """
    whole, quote = "".join(pieces(text)), quote.strip()
    places = _places(text)
    starts = {low: number for number, (low, _) in enumerate(places)}
    ends = {high: number + 1 for number, (_, high) in enumerate(places)}
    matches = [match.start() for match in re.finditer(f"(?={re.escape(quote)})", whole)] if quote else []
    return [(starts[low], ends[low + len(quote)]) for low in matches if low in starts and low + len(quote) in ends]


def runs_together(text: str) -> bool:
    """Whether a text is in a script without spaces between words, so that its tokens are characters.

    >>> runs_together("你真是个大傻瓜，走开。"), runs_together("Don't shout, please!")
    (True, False)
    """
    return not text.isascii() and any(map(stands_alone, text))


def _places(text: str | Sequence[str]) -> list[tuple[int, int]]:
    """Start and end character of every token, end exclusive."""
    places: list[tuple[int, int]] = []
    at = 0
    for number, piece in enumerate(pieces(text)):
        if number % 2 == 0:
            places.append((at, at + len(piece)))
        at += len(piece)
    return places


def _peeled(chunk: str) -> Iterator[str]:
    if chunk.isalnum():
        yield from _words(chunk)
        return
    inner = [number for number, character in enumerate(chunk) if not _is_sign(character)]
    first, last = (inner[0], inner[-1] + 1) if inner else (len(chunk), len(chunk))
    yield from _signs(chunk[:first])
    if inner:
        yield from _words(chunk[first:last])
    yield from _signs(chunk[last:])


def _words(text: str) -> Iterator[str]:
    """Words as a whole, and characters of scripts without spaces one by one, with their combining marks."""
    if text.isascii():
        yield text
        return
    word = ""
    for character in text:
        if stands_alone(character) and category(character)[0] != "M":
            if word:
                yield word
            word = character
        elif category(character)[0] != "M" and word and stands_alone(word[0]):
            yield word
            word = character
        else:
            word += character
    yield word


def _is_sign(character: str) -> bool:
    # Joiners and variation selectors belong to the emoji around them.
    return category(character)[0] in "PS" or category(character) == "Cf" or "\ufe00" <= character <= "\ufe0f"


def _signs(text: str) -> Iterator[str]:
    """Symbols one by one, except ellipses and emoji of several characters."""
    for _, run in groupby(text, key=lambda character: character if category(character)[0] == "P" else "emoji"):
        yield "".join(run)
