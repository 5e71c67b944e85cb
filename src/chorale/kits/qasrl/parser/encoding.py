"""Sentences, their verbs and candidate spans as arrays of numbers.

Words and features are hashed to the same number on every machine. A model keeps numbers that are frequent enough in
training (`vocabulary`) and ignores the others. Pieces and tags are few, so they are hashed directly into buckets.
"""

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chorale.kits.qasrl.parser.candidates import candidates
from chorale.kits.qasrl.parser.clauses import NOBODY, Participants, participants, parts_below
from chorale.text.tagger import Sentence

PIECES, TAGS = 2**14, 2**12
"""Number of hash buckets per kind."""
STATES = 96
"""Width of the tagger's hidden states."""
EIGHTHS = 8
"""States are rounded to eighths, which saves three quarters of the memory without a loss in score."""
_MOST_CACHED = 2**16
_LONGEST_WORD = 40
_SHORTEST_PIECE, _LONGEST_PIECE = 3, 4
_LONGEST_PATH = 6
_BUCKETS = np.array([-30, -20, -12, -8, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 8, 12, 20, 30])
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EncodedSentence:
    """A sentence with its verbs, each with the candidate spans that do not contain the verb."""

    words: Codes
    pieces: tuple[tuple[int, ...], ...]
    tags: Codes
    """Tokens × 3: tag, relation, and both together."""
    states: NDArray[np.int8]
    """Tokens × `STATES`: hidden states of the tagger, in eighths."""
    texts: tuple[str, ...]
    """The original tokens, for a pretrained encoder."""
    verbs: tuple[int, ...]
    participants: Codes
    """Verbs × 2: the tokens that are subject and object, −1 for none."""
    verb_features: tuple[tuple[int, ...], ...]
    spans: Codes
    """Start, end and head of all spans, verb by verb."""
    span_features: Codes
    span_counts: tuple[int, ...]
    """Number of spans per verb."""


@lru_cache(_MOST_CACHED)
def code(text: str) -> int:
    """Hashes a text to the same number on every machine.

    >>> code("dog") == code("dog") != code("Dog")
    True
    """
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


@lru_cache(_MOST_CACHED)
def pieces_of(token: str) -> tuple[int, ...]:
    """Character n-grams of length three and four of a token, and its shape."""
    whole = f"<{token.casefold()[:_LONGEST_WORD]}>"
    pieces = [
        whole[start : start + size]
        for size in range(_SHORTEST_PIECE, _LONGEST_PIECE + 1)
        for start in range(len(whole) - size + 1)
    ]
    shape = re.sub("[a-z]+", "x", re.sub("[A-Z]+", "X", re.sub(r"\d+", "0", token[:_LONGEST_WORD])))
    return tuple(code(piece) % PIECES for piece in (*pieces, f"shape {shape}"))


def encode(
    sentence: Sentence, states: NDArray[np.float32], verbs: Sequence[int], about: Sequence[Iterable[str]] = ()
) -> EncodedSentence:
    """Encodes a sentence for the network. `about` are additional features of each verb, such as its source."""
    table = np.array(candidates(sentence), dtype=np.int64).reshape(-1, 4)
    coded = np.array(
        [_token_codes(token.tag, token.relation, token.lemma, token.text) for token in sentence], dtype=np.int64
    )
    below = parts_below(sentence)
    named = [participants(sentence, below, verb) for verb in verbs]
    texts = [_verb_features(sentence, below[verb], verb, of_verb) for verb, of_verb in zip(verbs, named, strict=True)]
    frames = np.array([code(features[-1]) for features in texts], dtype=np.int64)
    places = np.array(verbs, dtype=np.int64)
    apart = (table[:, 0] > places[:, None]) | (table[:, 1] <= places[:, None])
    row, column = np.nonzero(apart)
    spans = table[column]
    paths = np.array([_paths(sentence, verb) for verb in verbs], dtype=np.int64).reshape(len(verbs), len(sentence), 3)
    pairs = np.array(named, dtype=np.int64).reshape(-1, 2)
    links = _Links(places[row], pairs[row], frames[row], paths[row, spans[:, 2]])
    return EncodedSentence(
        words=coded[:, 3],
        pieces=tuple(pieces_of(token.text) for token in sentence),
        tags=np.stack([coded[:, 0], coded[:, 1], _mixed(9, coded[:, 0], coded[:, 1])], axis=1) % TAGS,
        states=np.clip(np.rint(states * EIGHTHS), -127, 127).astype(np.int8),
        texts=tuple(token.text for token in sentence),
        verbs=tuple(verbs),
        participants=pairs,
        verb_features=tuple(
            tuple(code(text) for text in (*features, *extra))
            for features, extra in zip(texts, about or [()] * len(verbs), strict=True)
        ),
        spans=spans[:, :3],
        span_features=_features(spans, links, coded, _prepositions(sentence, coded[:, 2])),
        span_counts=tuple(apart.sum(axis=1).tolist()),
    )


@lru_cache(_MOST_CACHED)
def _token_codes(tag: str, relation: str, lemma: str, text: str) -> tuple[int, int, int, int]:
    return code(f"tag {tag}"), code(f"relation {relation}"), code(lemma.lower()), code(text.lower())


def _mixed(kind: int, *columns: Codes) -> Codes:
    """Combines several arrays of numbers into one; `kind` separates features with equal values."""
    total = np.array([kind * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)
    for column in columns:
        total = (column.astype(np.uint64) + total) * np.uint64(0xBF58476D1CE4E5B9)
        total = total ^ (total >> np.uint64(29))
    return (total >> np.uint64(8)).astype(np.int64)


def _prepositions(sentence: Sentence, lemmas: Codes) -> Codes:
    """The word that introduces each token: itself, or its preposition or marker."""
    prepositions = np.zeros(len(sentence), dtype=np.int64)
    for place, token in enumerate(sentence):
        above = sentence[token.head]
        if token.relation in ("prep", "agent", "dative", "prt") or token.pos == "ADP":
            prepositions[place] = lemmas[place]
        elif above.pos in ("ADP", "SCONJ") and token.head != place:
            prepositions[place] = lemmas[token.head]
        elif token.relation in ("mark", "advmod") and token.head != place:
            prepositions[token.head] = lemmas[place]
    return prepositions


def _paths(sentence: Sentence, verb: int) -> list[tuple[int, int, int]]:
    """The dependency path from each token to the verb: relations up, relations down, and length."""
    down: dict[int, tuple[int, int]] = {}
    place, so_far, length = verb, 17, 0
    while place not in down:
        down[place] = so_far, length
        if length < _LONGEST_PATH:
            so_far = code(f"{so_far} {sentence[place].relation}")
        length += 1
        place = sentence[place].head
    ways: dict[int, tuple[int, int, int]] = {token: (19, *of_down) for token, of_down in down.items()}
    for token in range(len(sentence)):
        climbed = []
        place = token
        while place not in ways:
            climbed.append(place)
            place = sentence[place].head
        up, of_down, length = ways[place]
        for below in reversed(climbed):
            up, length = _climb(up, sentence[below].relation) if length < _LONGEST_PATH else up, length + 1
            ways[below] = up, of_down, length
    return [ways[token] for token in range(len(sentence))]


@lru_cache(_MOST_CACHED)
def _climb(above: int, relation: str) -> int:
    return code(f"{relation} {above}")


class _Links(NamedTuple):
    """Syntactic relations between each span and its verb."""

    verb: Codes
    participants: Codes
    frame: Codes
    path: Codes


def _features(spans: Codes, links: _Links, coded: Codes, prepositions: Codes) -> Codes:
    """Features of each span and its verb other than the words: spans × features, hashed."""
    start, end, head, cut = spans.T
    up, down, length = links.path.T
    tags, relations, lemmas, _ = coded.T
    verb, frame = links.verb, links.frame
    after = (start > verb).astype(np.int64)
    gap = np.digitize(np.where(after == 1, start - verb, end - 1 - verb), _BUCKETS)
    long = np.digitize(end - start, _BUCKETS)
    introduced = prepositions[head]
    following = np.append(tags, 3)[end]
    before = np.append(tags, 5)[start - 1]  # Before the first token: the appended value.
    taken = (head == links.participants[:, 0]) + 2 * (head == links.participants[:, 1])
    columns = [
        _mixed(1, up, down, after),
        _mixed(2, up, down, after, cut),
        _mixed(3, up, down, introduced),
        _mixed(4, tags[head], relations[head], up, down),
        _mixed(5, gap, np.minimum(length, _LONGEST_PATH)),
        _mixed(6, long, cut, tags[head]),
        _mixed(7, lemmas[verb], up, down, after),
        _mixed(8, lemmas[verb], introduced, after),
        _mixed(10, lemmas[head], taken),
        _mixed(11, tags[start], before, cut),
        _mixed(12, tags[end - 1], following, cut),
        _mixed(13, frame, up, down),
        _mixed(14, taken, tags[verb], tags[head]),
        _mixed(15, introduced, lemmas[head]),
        _mixed(16, introduced, tags[head], relations[head]),
        _mixed(17, lemmas[start], after, taken),
    ]
    return np.stack(columns, axis=1)


def _verb_features(sentence: Sentence, below: Sequence[int], verb: int, named: Participants) -> list[str]:
    """Features of the verb: its form, its governor and its dependents; finally its frame."""
    token = sentence[verb]
    texts = [f"verb {token.lemma.lower()}", f"form {token.tag}", f"in {token.relation} {sentence[token.head].tag}"]
    kinds = []
    for place in below:
        other = sentence[place]
        if other.pos == "PUNCT":
            continue
        side = "after" if place > verb else "before"
        kinds.append(other.relation)
        texts.append(f"has {other.relation} {side}")
        texts.append(f"has {other.relation} {other.tag}")
        texts.append(f"has {other.relation} {other.lemma.lower()}")
    for role, place in named._asdict().items():
        if place == NOBODY:
            texts.append(f"{role} nobody")
        else:
            other = sentence[place]
            texts.append(f"{role} {other.lemma.lower()}")
            texts.append(f"{role} {other.tag}")
            texts.append(f"{role} {other.relation} {token.tag}")
    words = [sentence[place] for place in below]
    helping = " ".join(other.text.lower() for other in words if other.helps or other.relation == "neg")
    texts.append(f"helped {helping} {token.tag}")
    texts.append(f"verb {token.lemma.lower()} {token.tag} {'object' if named.object != NOBODY else ''}")
    texts.append(f"frame {token.tag} {' '.join(sorted(set(kinds)))}")
    return texts
