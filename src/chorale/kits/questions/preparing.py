"""Passages to write questions about: cut from texts to a length, each there once, and counted.

After Nangia et al. (2021, section 3.1), whose passages come from ten genres of the Open American National Corpus.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from rich.table import Table

from chorale.kits.questions.files.texts import SourceText, read_texts
from chorale.metrics.score_table import ScoreTable
from chorale.model import UserError
from chorale.present.scoring import score_table
from chorale.text.alike import alike_pairs, words_of

_BLANK_LINE = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])")


@dataclass(frozen=True, slots=True)
class PreparedPassages:
    passages: tuple[SourceText, ...]
    too_short: int
    """Ends of texts with too few words left."""
    twice: int
    """Passages that are the same word for word."""
    nearly_twice: int
    """Passages that share nearly all their words, three in a row, with one that is there."""
    left_out: dict[str, str]
    """The texts that no passage is of, by their ids, with why."""


def cut(text: str, fewest: int, most: int) -> Iterator[tuple[str, bool]]:
    """Pieces of a text in its order, each with whether it is long enough.

    Whole paragraphs are put together until they have `fewest` words; where that would be more than `most`, they are
    cut at the ends of sentences; a single sentence that is longer is cut between words.

    >>> [piece for piece, enough in cut("One two. Three four.\\n\\nFive six seven.", 3, 5) if enough]
    ['One two. Three four.', 'Five six seven.']
    """
    waiting: list[str] = []
    for part in (part for paragraph in _paragraphs(text) for part in _parts(paragraph, most)):
        if waiting and _length(waiting) + len(part.split()) > most:
            yield "\n\n".join(waiting), _length(waiting) >= fewest
            waiting = []
        waiting.append(part)
        if _length(waiting) >= fewest:
            yield "\n\n".join(waiting), True
            waiting = []
    if waiting:
        yield "\n\n".join(waiting), False


def prepare_passages(
    texts: Iterable[SourceText],
    *,
    fewest: int = 60,
    most: int = 250,
    alike: float = 0.8,
    progress: Callable[[int, int], None] | None = None,
) -> PreparedPassages:
    """Passages of texts, in their order; a passage that is nearly one before it is left out."""
    passages: list[SourceText] = []
    seen: set[str] = set()
    too_short = twice = 0
    left_out: dict[str, str] = {}
    of_text: list[str] = []
    for text in texts:
        number = 0
        left_out[text.id] = f"fewer than {fewest} words"
        for piece, enough in cut(text.text, fewest, most):
            if not enough:
                too_short += 1
                continue
            number += 1
            key = " ".join(words_of(piece))
            if key in seen:
                left_out[text.id] = "duplicate of an earlier text"
                twice += 1
                continue
            seen.add(key)
            passages.append(replace(text, id=f"{text.id}#{number}", text=piece))
            of_text.append(text.id)
    near: set[int] = set()
    # Pairs come one by one: what is nearly a passage before it is not compared with those behind it.
    for _, right, _ in alike_pairs([_sequences(words_of(one.text)) for one in passages], alike, progress, leaving=near):
        near.add(right)
    left_out |= {of_text[place]: "near-duplicate of an earlier text" for place in near}
    kept = [place for place in range(len(passages)) if place not in near]
    for place in kept:
        left_out.pop(of_text[place], None)
    return PreparedPassages(tuple(passages[place] for place in kept), too_short, twice, len(near), left_out)


def _sequences(words: Sequence[str]) -> frozenset[str]:
    """Three words in a row: long texts share many single words by chance."""
    return frozenset(" ".join(words[place : place + 3]) for place in range(max(1, len(words) - 2)))


def _paragraphs(text: str) -> Iterator[str]:
    lines = (" ".join(part.split()) for part in _BLANK_LINE.split(text.replace("\r\n", "\n").replace("\r", "\n")))
    return filter(None, lines)


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


@dataclass(frozen=True, slots=True)
class PassageReport:
    files: dict[str, list[dict[str, Any]]]
    """The rows of every file of items, by the part it is for; without parts all are in one, which has no name."""
    counts: dict[str, int]
    genres: dict[str, int]
    left_out: dict[str, str]
    """The texts that no passage is of, by their ids, with why."""


def passages_of(
    paths: Sequence[Path],
    genres: Sequence[str],
    *,
    fewest: int,
    most: int,
    alike: float,
    sample: int | None = None,
    parts: Mapping[str, int] | None = None,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> PassageReport:
    """The passages of files and folders, and how many were left out for what.

    `parts` says how many go to each of several files; none goes to two of them.
    """
    there: Counter[str] = Counter()
    chosen: list[SourceText] = []
    wanted = {name.casefold() for name in genres}
    for text in read_texts(paths):
        there[text.genre] += 1
        if not wanted or text.genre.casefold() in wanted:
            chosen.append(text)
    unknown = sorted(wanted - {name.casefold() for name in there})
    if unknown:
        known = ", ".join(sorted(name for name in there if name)) or "none"
        raise UserError(f"--genre {unknown[0]}: no text is of this genre. There are: {known}.")
    prepared = prepare_passages(chosen, fewest=fewest, most=most, alike=alike, progress=progress)
    if not prepared.passages:
        raise UserError(f"no text has a passage of {fewest} to {most} words. Lower --min-words.")
    asked = sum((parts or {}).values())
    if asked > len(prepared.passages):
        raise UserError(
            f"the parts ask for {asked:,} passages, and the texts have {len(prepared.passages):,}, each counted once. "
            "Bring more texts, lower --min-words, or ask for fewer."
        )
    shares = _shared_out(prepared.passages, parts or {"": sample}, seed)
    kept = [one for share in shares.values() for one in share]
    return PassageReport(
        {
            name: [{"id": one.id, "passage": one.text, "genre": one.genre, "source": one.source} for one in share]
            for name, share in shares.items()
        },
        {
            "texts": len(chosen),
            "passages": len(kept),
            "too_short": prepared.too_short,
            "twice": prepared.twice,
            "nearly_twice": prepared.nearly_twice,
            "not_drawn": len(prepared.passages) - len(kept),
        },
        dict(sorted(Counter(one.genre for one in kept).items())),
        prepared.left_out,
    )


def _shared_out(
    passages: Sequence[SourceText], parts: Mapping[str, int | None], seed: int
) -> dict[str, list[SourceText]]:
    """For every part so many, or all if it does not say; each part in the order of the texts."""
    drawn = _drawn(passages, seed)
    shares, start = {}, 0
    for name, count in parts.items():
        end = len(passages) if count is None else start + count
        shares[name] = [passages[place] for place in sorted(drawn[start:end])]
        start = end
    return shares


def _drawn(passages: Sequence[SourceText], seed: int) -> list[int]:
    """Places in an order of chance, from every genre in turn: a large genre does not crowd out a small one."""
    by_genre: dict[str, list[int]] = {}
    for place, passage in enumerate(passages):
        by_genre.setdefault(passage.genre, []).append(place)
    rng = Random(seed)
    for places in by_genre.values():
        rng.shuffle(places)
    turns = [places[::-1] for _, places in sorted(by_genre.items())]
    return [places[turn] for turn in range(max(map(len, turns))) for places in turns if turn < len(places)]


_WORDS = {
    "texts": "texts read",
    "passages": "passages kept",
    "too_short": "left out: too short",
    "twice": "left out: duplicate",
    "nearly_twice": "left out: near-duplicate",
    "not_drawn": "left out: not sampled",
}


def passages_table(report: PassageReport) -> Table:
    rows: list[tuple[str, int]] = [(_WORDS[name], count) for name, count in report.counts.items()]
    rows += [(f"of the genre {name}", count) for name, count in report.genres.items() if name]
    return score_table(ScoreTable("Passages", ("what", "how many#"), rows))
