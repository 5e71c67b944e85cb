"""Splits texts into passages of a given length for question writing, without duplicates.

Follows Nangia et al. (2021, section 3.1), who use ten genres of the Open American National Corpus.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from rich.table import Table

from chorale.kits.questions.files.columns import LONGEST_PASSAGE
from chorale.kits.questions.files.texts import SourceText, other_files, read_texts
from chorale.metrics.score_table import ScoreTable
from chorale.model import UserError
from chorale.model.problems import MOST_PROBLEMS
from chorale.present.scoring import score_table
from chorale.text.alike import alike_pairs, words_of

_BLANK_LINE = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])")


@dataclass(frozen=True, slots=True)
class PreparedPassages:
    passages: tuple[SourceText, ...]
    too_short: int
    """Number of text endings with too few words."""
    too_long: int
    """Number of passages with more characters than a page shows, such as lists without spaces."""
    twice: int
    """Number of exact duplicates."""
    nearly_twice: int
    """Number of passages that share nearly all word trigrams with an earlier passage."""
    left_out: dict[str, str]
    """Texts without a passage, by ID, with the reason."""


def cut(text: str, fewest: int, most: int) -> Iterator[tuple[str, bool]]:
    """The pieces of a text in order, each with whether it is long enough.

    Whole paragraphs are joined until they have `fewest` words. If that exceeds `most`, they are split at sentence ends;
    a longer single sentence is split between words.

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
    """Passages of texts in order, without near-duplicates of earlier passages."""
    passages: list[SourceText] = []
    seen: set[str] = set()
    too_short = too_long = twice = 0
    left_out: dict[str, str] = {}
    of_text: list[str] = []
    for text in texts:
        number = 0
        left_out[text.id] = _without_passage(text, fewest)
        for piece, enough in cut(text.text, fewest, most):
            if not enough:
                too_short += 1
                continue
            number += 1
            if len(piece) > LONGEST_PASSAGE:
                left_out[text.id] = f"a passage of more than {LONGEST_PASSAGE:,} characters"
                too_long += 1
                continue
            key = " ".join(words_of(piece))
            if key in seen:
                left_out[text.id] = "duplicate of an earlier text"
                twice += 1
                continue
            seen.add(key)
            passages.append(replace(text, id=f"{text.id}#{number}", text=piece))
            of_text.append(text.id)
    near: set[int] = set()
    # Pairs are generated one by one, so a near-duplicate is not compared with later passages.
    for _, right, _ in alike_pairs([_sequences(words_of(one.text)) for one in passages], alike, progress, leaving=near):
        near.add(right)
    left_out |= {of_text[place]: "near-duplicate of an earlier text" for place in near}
    kept = [place for place in range(len(passages)) if place not in near]
    for place in kept:
        left_out.pop(of_text[place], None)
    return PreparedPassages(tuple(passages[place] for place in kept), too_short, too_long, twice, len(near), left_out)


def _without_passage(text: SourceText, fewest: int) -> str:
    """Reason why a text has no passage, if none is found."""
    if text.unreadable is not None:
        return text.unreadable.message.removeprefix("is ")
    return f"fewer than {fewest} words" if text.text.strip() else "empty"


def _sequences(words: Sequence[str]) -> frozenset[str]:
    """Word trigrams, because long texts share many single words."""
    return frozenset(" ".join(words[place : place + 3]) for place in range(max(1, len(words) - 2)))


def _paragraphs(text: str) -> Iterator[str]:
    lines = (" ".join(part.split()) for part in _BLANK_LINE.split(text.replace("\r\n", "\n").replace("\r", "\n")))
    return filter(None, lines)


def _parts(paragraph: str, most: int) -> Iterator[str]:
    """Paragraphs, or the longest runs of their sentences that fit."""
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
    """The rows of each items file, by part. Without parts, all rows are in one unnamed part."""
    counts: dict[str, int]
    genres: dict[str, int]
    left_out: dict[str, str]
    """Texts without a passage, by ID, with the reason."""


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
    """Reads the passages of files and folders, and counts those left out by reason.

    `parts` sets the number of passages per file. Each passage is in only one file.
    """
    there: Counter[str] = Counter()
    chosen: list[SourceText] = []
    wanted = {name.casefold() for name in genres}
    for text in read_texts(paths):
        there[text.genre] += 1
        if not wanted or text.genre.casefold() in wanted:
            chosen.append(text)
    if unknown := sorted(wanted - {name.casefold() for name in there}):
        known = ", ".join(sorted(name for name in there if name)) or "none"
        raise UserError(f"--genre {unknown[0]}: no text has this genre. Available genres: {known}.")
    prepared = prepare_passages(chosen, fewest=fewest, most=most, alike=alike, progress=progress)
    unreadable = [text.unreadable for text in chosen if text.unreadable is not None]
    if len(unreadable) == len(chosen):
        raise UserError("The texts can't be used", unreadable[:MOST_PROBLEMS])
    if not prepared.passages:
        raise UserError(f"No text has a passage of {fewest} to {most} words. Lower --min-words.")
    asked = sum((parts or {}).values())
    if asked > len(prepared.passages):
        raise UserError(
            f"The parts need {asked:,} passages, but the texts have only {len(prepared.passages):,} without "
            "duplicates. Add more texts, lower --min-words, or reduce the parts."
        )
    shares = _shared_out(prepared.passages, parts or {"": sample}, seed)
    kept = [one for share in shares.values() for one in share]
    return PassageReport(
        {
            name: [{"id": one.id, "passage": one.text, "genre": one.genre, "source": one.source} for one in share]
            for name, share in shares.items()
        },
        {
            "texts": len(chosen) - len(unreadable),
            "passages": len(kept),
            "unreadable": len(unreadable),
            "other_files": other_files(paths),
            "other_genres": there.total() - len(chosen),
            "too_short": prepared.too_short,
            "too_long": prepared.too_long,
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
    """Assigns passages to parts: the requested number, or all. Each part is in the order of the texts."""
    drawn = _drawn(passages, seed)
    shares, start = {}, 0
    for name, count in parts.items():
        end = len(passages) if count is None else start + count
        shares[name] = [passages[place] for place in sorted(drawn[start:end])]
        start = end
    return shares


def _drawn(passages: Sequence[SourceText], seed: int) -> list[int]:
    """Random order that alternates between genres, so that large genres do not dominate."""
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
    "unreadable": "left out: unreadable file",
    "other_files": "left out: file that is not .txt",
    "other_genres": "left out: text of another genre",
    "too_short": "left out: too short",
    "too_long": "left out: too long",
    "twice": "left out: duplicate",
    "nearly_twice": "left out: near-duplicate",
    "not_drawn": "left out: not sampled",
}

_SHOWN_IF_ANY = {"other_files", "other_genres", "too_long"}


def passages_table(report: PassageReport) -> Table:
    counts = {name: count for name, count in report.counts.items() if count or name not in _SHOWN_IF_ANY}
    rows: list[tuple[str, int]] = [(_WORDS[name], count) for name, count in counts.items()]
    rows += [(f"of the genre {name}", count) for name, count in report.genres.items() if name]
    return score_table(ScoreTable("Passages", ("quantity", "number#"), rows))
