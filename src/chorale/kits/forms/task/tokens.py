"""Texts as tokens: what spans are counted in."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from unicodedata import category, name


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


def characters(text: str | Sequence[str], start: int, end: int) -> tuple[int, int]:
    """The characters from one token up to another, in the text as it is shown; the end is not included.

    >>> characters("Don't shout, please!", 1, 3)
    (6, 12)
    """
    cut = pieces(text)
    first = sum(map(len, cut[: 2 * start]))
    return first, first + sum(map(len, cut[2 * start : 2 * end - 1]))


def tokens_at(text: str | Sequence[str], first: int, last: int) -> tuple[int, int] | None:
    """The tokens that some characters lie in, the end not included; None where there are only gaps.

    >>> tokens_at("Don't shout, please!", 6, 12)
    (1, 3)
    """
    touched = [number for number, (low, high) in enumerate(_places(text)) if low < last and first < high]
    return (touched[0], touched[-1] + 1) if touched else None


def quoted_tokens(text: str | Sequence[str], quote: str) -> list[tuple[int, int]]:
    """Where a quotation occurs that begins and ends with tokens, the end not included.

    >>> quoted_tokens("No means no, and no.", "no")
    [(2, 3), (5, 6)]
    """
    whole, quote = "".join(pieces(text)), quote.strip()
    places = _places(text)
    starts = {low: number for number, (low, _) in enumerate(places)}
    ends = {high: number + 1 for number, (_, high) in enumerate(places)}
    found = [match.start() for match in re.finditer(f"(?={re.escape(quote)})", whole)] if quote else []
    return [(starts[low], ends[low + len(quote)]) for low in found if low in starts and low + len(quote) in ends]


_WITHOUT_SPACES = ("CJK ", "HIRAGANA ", "KATAKANA ", "THAI ", "LAO ", "KHMER ", "MYANMAR ")
"""How the names of characters begin in scripts that do not part words by spaces."""
_RUN = 5
"""Characters of such a script in one token from which it is taken for several words."""


def runs_together(text: str) -> bool:
    """Whether a text is in a script without spaces, so that whole sentences become one token.

    >>> runs_together("你真是个大傻瓜，走开。"), runs_together("Don't shout, please!")
    (True, False)
    """
    return not text.isascii() and any(
        sum(name(character, "").startswith(_WITHOUT_SPACES) for character in token) >= _RUN for token in tokens(text)
    )


def _places(text: str | Sequence[str]) -> list[tuple[int, int]]:
    """The first character of every token, and the one after its last."""
    places: list[tuple[int, int]] = []
    at = 0
    for number, piece in enumerate(pieces(text)):
        if number % 2 == 0:
            places.append((at, at + len(piece)))
        at += len(piece)
    return places


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
