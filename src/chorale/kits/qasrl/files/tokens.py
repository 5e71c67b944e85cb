"""Reconciles different tokenizations of the same text."""

import re
from collections.abc import Sequence

from chorale.kits.qasrl.files.cells import RANGES, SEPARATOR

_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"'}
_ESCAPE = re.compile("|".join(map(re.escape, _ESCAPES)))
_TOKEN = re.compile(r"[^ \t\r\n\f\v]+")


def tokens_in(text: str) -> tuple[str, ...]:
    """The tokens of a text with spaces between them. Tokens of the QA-SRL Bank may contain non-breaking spaces.

    >>> tokens_in("328\\u00a01535 years .")
    ('328\\xa01535', 'years', '.')
    """
    return tuple(_TOKEN.findall(text))


def plain(text: str) -> str:
    """Replaces the Penn Treebank's escapes of brackets and quotes.

    >>> plain("-LRB- the wage rate -RRB-")
    '( the wage rate )'
    """
    return _ESCAPE.sub(lambda escape: _ESCAPES[escape[0]], text)


def same_tokens(tokens: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two token lists represent the same text with the same token boundaries."""
    return len(tokens) == len(others) and (
        tokens == others or all(plain(a) == plain(b) for a, b in zip(tokens, others, strict=True))
    )


def relocated(ranges: str, answers: str, tokens: Sequence[str]) -> str:
    """Moves the ranges of a cell to the positions of the answer texts in the sentence.

    Some parsers count their own tokens (`43-year-old` as five) but also write the text of the answer. The text then
    decides: the nearest occurrence is used. If the text does not occur, the numbers are kept.

    >>> relocated("4:6", "sat down", ["A", "43-year-old", "sat", "down"])
    '2:4'
    """
    spans, texts = ranges.split(SEPARATOR), answers.split(SEPARATOR)
    if not re.match(RANGES, ranges) or len(spans) != len(texts):
        return ranges
    return SEPARATOR.join(_moved(span, _squeezed(text), tokens) for span, text in zip(spans, texts, strict=True))


def _squeezed(text: str) -> str:
    return plain("".join(text.split())).lower()


def _moved(span: str, text: str, tokens: Sequence[str]) -> str:
    start, end = map(int, span.split(":"))
    if not text or (end <= len(tokens) and _squeezed("".join(tokens[start:end])) == text):
        return span
    begins, ends, whole = {}, {}, ""
    for number, token in enumerate(tokens):
        begins[len(whole)] = number
        whole += _squeezed(token)
        ends[len(whole)] = number + 1
    places = [
        (begins[at], ends[at + len(text)])
        for at in sorted(begins)
        if at + len(text) in ends and whole.startswith(text, at)
    ]
    if not places:
        return span
    first, last = min(places, key=lambda place: (abs(place[0] - start), place))
    return f"{first}:{last}"
