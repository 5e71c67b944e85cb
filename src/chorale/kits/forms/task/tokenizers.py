"""Tokenizers by their names in study files: Chorale's own, and those of installed kits."""

import re
from collections.abc import Callable, Sequence
from unicodedata import category

from chorale.kits.forms.task.tokens import CUT, tokens
from chorale.registry import blaming, clash, tokenizers

Tokenizer = Callable[[str], Sequence[str]]
WORDS = "words"


def _spaces(text: str) -> list[str]:
    return text.split()


def _characters(text: str) -> list[str]:
    """Characters without white space, each with its combining marks.

    >>> _characters("né\u0301 走")
    ['n', 'é\u0301', '走']
    >>> _characters("e \u0301e")
    ['e', '\u0301', 'e']
    """
    characters: list[str] = []
    for place, character in enumerate(text):
        if characters and category(character)[0] == "M" and not text[place - 1].isspace():
            characters[-1] += character
        elif not character.isspace():
            characters.append(character)
    return characters


OWN: dict[str, Tokenizer] = {WORDS: tokens, "spaces": _spaces, "characters": _characters}


def known_tokenizers() -> list[str]:
    """Valid names in a study file."""
    return [*OWN, *(name for name in tokenizers() if name not in OWN)]


def tokenizer_called(name: str) -> Tokenizer:
    """A tokenizer by name. Raises KeyError if unknown."""
    of_kits = tokenizers()
    if name in OWN and name in of_kits:
        raise clash("tokenizer", name, of_kits.kits_with(name), own=True)
    return OWN[name] if name in OWN else of_kits[name]


def cut_by(name: str, text: str) -> list[str]:
    """A text split into tokens and gaps by a tokenizer, for storage. Raises ValueError if a token is not in the text.

    >>> cut_by("characters", "走开 now")
    ['', '走', '', '开', ' ', 'n', '', 'o', '', 'w', '']
    """
    with blaming(f"tokenizer `{name}`"):
        cut = list(tokenizer_called(name)(text))
    pieces = [CUT]
    end = 0
    for token in cut:
        at = text.find(token, end) if isinstance(token, str) and token.strip() else -1
        if at < 0:
            raise ValueError(
                f"cannot be split by the tokenizer `{name}`: its token {token!r} is not in the text there."
            )
        if len(pieces) > 1:
            pieces[-1] = text[end:at]
        elif re.search(r"\S", text[:at]):
            raise ValueError(f"cannot be split by the tokenizer `{name}`: it omits the beginning of the text.")
        pieces += [token, ""]
        end = at + len(token)
    if not cut:
        raise ValueError(f"cannot be split by the tokenizer `{name}`: it finds no token in the text.")
    pieces[-1] = text[end:].rstrip()
    return pieces
