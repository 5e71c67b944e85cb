"""Passages for a study of questions: which are kept, and what became of the others."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from rich.table import Table

from chorale.formats.passage_files import read_texts
from chorale.model import UserError
from chorale.report.scoring import ScoreTable, score_table
from chorale.text.passages import Passage, prepare_passages


@dataclass(frozen=True, slots=True)
class PassageReport:
    rows: list[dict[str, Any]]
    """As the file of items has them."""
    counts: dict[str, int]
    genres: dict[str, int]


def passages_of(
    paths: Sequence[Path],
    genres: Sequence[str],
    *,
    fewest: int,
    most: int,
    alike: float,
    sample: int | None,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> PassageReport:
    """The passages of files and folders, and how many were left out for what."""
    there: Counter[str] = Counter()
    chosen: list[Passage] = []
    wanted = {name.casefold() for name in genres}
    for text in read_texts(paths):
        there[text.genre] += 1
        if not wanted or text.genre.casefold() in wanted:
            chosen.append(Passage(text.id, text.text, text.genre, text.source))
    unknown = sorted(wanted - {name.casefold() for name in there})
    if unknown:
        known = ", ".join(sorted(name for name in there if name)) or "none"
        raise UserError(f"--genre {unknown[0]}: no text is of this genre. There are: {known}.")
    found = prepare_passages(chosen, fewest=fewest, most=most, alike=alike, progress=progress)
    kept = found.passages if sample is None else _drawn(found.passages, sample, seed)
    if not kept:
        raise UserError(f"no text has a passage of {fewest} to {most} words. Lower --min-words.")
    rows = [{"id": one.id, "passage": one.text, "genre": one.genre, "source": one.source} for one in kept]
    return PassageReport(
        rows,
        {
            "texts": len(chosen),
            "passages": len(kept),
            "too_short": found.too_short,
            "twice": found.twice,
            "nearly_twice": found.nearly_twice,
            "not_drawn": len(found.passages) - len(kept),
        },
        dict(sorted(Counter(one.genre for one in kept).items())),
    )


def _drawn(passages: Sequence[Passage], sample: int, seed: int) -> list[Passage]:
    """So many, from every genre in turn: a large genre does not crowd out a small one."""
    by_genre: dict[str, list[int]] = {}
    for place, one in enumerate(passages):
        by_genre.setdefault(one.genre, []).append(place)
    rng = Random(seed)
    for places in by_genre.values():
        rng.shuffle(places)
    turns = [places for _, places in sorted(by_genre.items())]
    chosen: list[int] = []
    while len(chosen) < min(sample, len(passages)):
        for places in turns:
            if places and len(chosen) < sample:
                chosen.append(places.pop())
    return [passages[place] for place in sorted(chosen)]


_WORDS = {
    "texts": "texts read",
    "passages": "passages kept",
    "too_short": "left out: too short",
    "twice": "left out: there already",
    "nearly_twice": "left out: nearly there already",
    "not_drawn": "left out: not drawn",
}


def passages_table(report: PassageReport) -> Table:
    rows: list[tuple[str, int]] = [(_WORDS[name], count) for name, count in report.counts.items()]
    rows += [(f"of the genre {name}", count) for name, count in report.genres.items() if name]
    return score_table(ScoreTable("Passages", ("what", "how many#"), rows))
