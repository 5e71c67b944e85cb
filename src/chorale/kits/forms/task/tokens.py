"""Texts as tokens: what spans are counted in."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from unicodedata import category


def pieces(text: str | Sequence[str]) -> list[str]:
    """A text, or a list of its tokens, as token, gap, token, gap and so on; joined, they are the text.

    Words end at white space, and signs around a word are tokens of their own. Where words are not written apart, give a
    list of tokens.

    >>> pieces("Don't shout, please!")
    ["Don't", ' ', 'shout', '', ',', ' ', 'please', '', '!', '']
    """
    if not isinstance(text, str):
        return [piece for number, token in enumerate(text, 1) for piece in (token, " " if number < len(text) else "")]
    cut: list[str] = []
    end = 0
    for chunk in re.finditer(r"\S+", text):
        if cut:
            cut[-1] = text[end : chunk.start()]
        for token in _peeled(chunk[0]):
            cut += [token, ""]
        end = chunk.end()
    return cut


def tokens(text: str | Sequence[str]) -> list[str]:
    return pieces(text)[::2]


def excerpt(text: str | Sequence[str], start: int, end: int) -> str:
    """The text from one token up to another."""
    return "".join(pieces(text)[2 * start : 2 * end - 1])


def _peeled(chunk: str) -> Iterator[str]:
    inner = [number for number, character in enumerate(chunk) if not _is_sign(character)]
    first, last = (inner[0], inner[-1] + 1) if inner else (len(chunk), len(chunk))
    yield from _signs(chunk[:first])
    if inner:
        yield chunk[first:last]
    yield from _signs(chunk[last:])


def _is_sign(character: str) -> bool:
    # Joiners and variation selectors belong to the emoji around them.
    return category(character)[0] in "PS" or category(character) == "Cf" or "\ufe00" <= character <= "\ufe0f"


def _signs(text: str) -> Iterator[str]:
    """Signs one by one, but an ellipsis of dots, or an emoji of several characters, in one piece."""
    for _, run in groupby(text, key=lambda character: character if category(character)[0] == "P" else "emoji"):
        yield "".join(run)
