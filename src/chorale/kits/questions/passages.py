"""Passages to write questions about: cut from longer texts to a length, each there once.

After Nangia et al. (2021, section 3.1), whose passages come from ten genres of the Open American National Corpus.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chorale.text.alike import alike_pairs, words_of

_BLANK_LINE = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])")


@dataclass(frozen=True, slots=True)
class Passage:
    id: str
    text: str
    genre: str
    source: str
    """The file it comes from."""


@dataclass(frozen=True, slots=True)
class Prepared:
    passages: tuple[Passage, ...]
    too_short: int
    """Ends of texts with too few words left."""
    twice: int
    """Passages that are there already, word for word."""
    nearly_twice: int
    """Passages that share nearly all their words, three in a row, with one that is there."""


def cut(text: str, fewest: int, most: int) -> Iterator[tuple[str, bool]]:
    """Pieces of a text in its order, each with whether it is long enough.

    Whole paragraphs are put together until they have `fewest` words; where that would be more than `most`, they are
    cut at the ends of sentences, and a sentence that is longer by itself at a word.

    >>> [piece for piece, enough in cut("One two. Three four.\\n\\nFive six seven.", 3, 5) if enough]
    ['One two. Three four.', 'Five six seven.']
    """
    waiting: list[str] = []
    for paragraph in _paragraphs(text):
        for part in _parts(paragraph, most):
            if waiting and _length(waiting) + len(part.split()) > most:
                yield _joined(waiting), _length(waiting) >= fewest
                waiting = []
            waiting.append(part)
            if _length(waiting) >= fewest:
                yield _joined(waiting), True
                waiting = []
    if waiting:
        yield _joined(waiting), False


def prepare_passages(
    texts: Iterable[Passage],
    *,
    fewest: int = 60,
    most: int = 250,
    alike: float = 0.8,
    progress: Callable[[int, int], None] | None = None,
) -> Prepared:
    """Passages of texts, in their order; a passage that is nearly one before it is left out."""
    found: list[Passage] = []
    seen: set[str] = set()
    too_short = twice = 0
    for text in texts:
        number = 0
        for piece, enough in cut(text.text, fewest, most):
            if not enough:
                too_short += 1
                continue
            number += 1
            key = " ".join(words_of(piece))
            if key in seen:
                twice += 1
                continue
            seen.add(key)
            found.append(replace(text, id=f"{text.id}#{number}", text=piece))
    near = _near(found, alike, progress)
    kept = tuple(one for place, one in enumerate(found) if place not in near)
    return Prepared(kept, too_short, twice, len(near))


def _near(passages: Sequence[Passage], alike: float, progress: Callable[[int, int], None] | None) -> set[int]:
    """Places of passages that are nearly one that is kept before them."""
    gone: set[int] = set()
    sets = [_sequences(words_of(one.text)) for one in passages]
    for _, right, _ in alike_pairs(sets, alike, progress, leaving=gone):
        gone.add(right)
    return gone


def _sequences(words: Sequence[str]) -> frozenset[str]:
    """Three words in a row: long texts share many single words by chance."""
    return frozenset(" ".join(words[place : place + 3]) for place in range(max(1, len(words) - 2)))


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in _BLANK_LINE.split(text.replace("\r\n", "\n").replace("\r", "\n")):
        line = " ".join(paragraph.split())
        if line:
            yield line


def _parts(paragraph: str, most: int) -> Iterator[str]:
    """A paragraph, or as many of its sentences as fit, again and again."""
    words = paragraph.split()
    if len(words) <= most:
        yield paragraph
        return
    waiting: list[str] = []
    for sentence in _SENTENCE_END.split(paragraph):
        if waiting and _length(waiting) + len(sentence.split()) > most:
            yield " ".join(waiting)
            waiting = []
        words = sentence.split()
        pieces = [" ".join(words[start : start + most]) for start in range(0, len(words), most)]
        yield from pieces[:-1]
        waiting += pieces[-1:]
    if waiting:
        yield " ".join(waiting)


def _length(parts: Sequence[str]) -> int:
    return sum(len(part.split()) for part in parts)


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(parts)
