"""Passages for a study of questions: which are kept, and what became of the others."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from rich.table import Table

from chorale.kits.questions.files.passages import read_texts
from chorale.kits.questions.passages import Passage, prepare_passages
from chorale.model import UserError
from chorale.present.scoring import ScoreTable, score_table


@dataclass(frozen=True, slots=True)
class PassageReport:
    files: dict[str, list[dict[str, Any]]]
    """The rows of every file of items, by the part it is for; without parts all are in one, which has no name."""
    counts: dict[str, int]
    genres: dict[str, int]


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
    if not found.passages:
        raise UserError(f"no text has a passage of {fewest} to {most} words. Lower --min-words.")
    asked = sum((parts or {}).values())
    if asked > len(found.passages):
        raise UserError(
            f"the parts ask for {asked:,} passages, and the texts have {len(found.passages):,}, each counted once. "
            "Bring more texts, lower --min-words, or ask for fewer."
        )
    shares = _shared_out(found.passages, parts or {"": sample}, seed)
    kept = [one for share in shares.values() for one in share]
    return PassageReport(
        {name: [_row(one) for one in share] for name, share in shares.items()},
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


def _row(one: Passage) -> dict[str, Any]:
    return {"id": one.id, "passage": one.text, "genre": one.genre, "source": one.source}


def _shared_out(passages: Sequence[Passage], parts: Mapping[str, int | None], seed: int) -> dict[str, list[Passage]]:
    """For every part so many, or all if it does not say; each part in the order of the texts."""
    drawn = _drawn(passages, seed)
    found, start = {}, 0
    for name, count in parts.items():
        end = len(passages) if count is None else start + count
        found[name] = [passages[place] for place in sorted(drawn[start:end])]
        start = end
    return found


def _drawn(passages: Sequence[Passage], seed: int) -> list[int]:
    """Places in an order of chance, from every genre in turn: a large genre does not crowd out a small one."""
    by_genre: dict[str, list[int]] = {}
    for place, one in enumerate(passages):
        by_genre.setdefault(one.genre, []).append(place)
    rng = Random(seed)
    for places in by_genre.values():
        rng.shuffle(places)
    turns = [places[::-1] for _, places in sorted(by_genre.items())]
    return [places[turn] for turn in range(max(map(len, turns))) for places in turns if turn < len(places)]


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
