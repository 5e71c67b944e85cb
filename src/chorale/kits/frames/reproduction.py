"""Dumitrache, Aroyo and Welty (2019): a corpus of frames with the crowd's doubts, and metrics that respect them.

The raw judgments and the sentence quality (SQS) were not released, and neither was the output of the three systems.
What can be computed again are the numbers that follow from the frame-sentence scores: the row of the top frame (TC),
the examples, and the size and ambiguity of the corpus.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chorale.files.rows import read_rows
from chorale.kits.frames.files.scores import FrameScores, read_frame_scores
from chorale.kits.frames.metrics.agreement import frame_agreement
from chorale.kits.frames.reproduction_framenet import RESOURCES, frame_cells
from chorale.model import Problem, UserError
from chorale.reproduce.checking import find
from chorale.reproduce.contract import Cell, NeededFile, Paper, Repository

_DIGESTS = {
    "FSS_01.csv": "828c56f9",
    "FSS_02.csv": "8a0182f5",
    "FSS_03.csv": "cc48d67b",
    "WQS_01.csv": "a4771b60",
    "WQS_02.csv": "aae8c353",
    "WQS_03.csv": "3a2cc9f0",
}
_BATCHES = tuple(range(1, 8))
_RESTRICTED = tuple(range(1, 7))
"""Batches of the R-SET. The files do not say so: their sizes and the paper's numbers do."""

_NO_SYSTEM = "The system's output was not released; `chorale baseline frames` runs systems of the same kinds."
_NO_QUALITY = "SQS was not released."
_IN_FULL = "Over all seven batches; these are missing: {missing}."
_RELEASE = "The release may differ from the corpus of the paper."
_CUT = "The paper cuts digits off instead of rounding, and so does this number."
_CUT_TOO = "Cut off after three digits, as the paper's examples are, ours is the same."

_EXAMPLES = {
    ("Table 1", 4, 2, "VID-303645", 0.319): {
        "part_piece": 0.499,
        "cause_harm": 0.4,
        "cutting": 0.394,
        "attack": 0.254,
        "hit_target": 0.227,
    },
    ("Table 3", 2, 1, "VID-003992", 0.771): {"inclusion": 0.89, "cause_to_be_included": 0.813},
    ("Table 3", 3, 2, "VID-004743", 0.628): {"endeavor_failure": 0.826, "success_or_failure": 0.8},
    ("Table 4", 1, 2, "VID-008713", 0.725): {"withdraw_from_participation": 0.955, "removing": 0.61},
    ("Table 4", 5, 1, "VID-008330", 0.453): {"cause_to_continue": 0.7, "activity_ongoing": 0.602},
    ("Table 5", 1, 7, "VID-001384", 0.284): {
        "arranging": 0.474,
        "adjusting": 0.4,
        "assessing": 0.298,
        "compatibility": 0.254,
        "undergo_change": 0.169,
    },
    ("Table 5", 2, 3, "VID-009930", 0.239): {"dodging": 0.477, "compliance": 0.248, "surpassing": 0.204, "none": 0.148},
    ("Table 5", 4, 3, "VID-000658", 0.172): {
        "difficulty": 0.372,
        "competition": 0.283,
        "taking_sides": 0.257,
        "communication": 0.154,
    },
}
"""Sentences that the paper prints: where, in which batch they are, their names and SQS; and the scores of frames."""

_TABLE_2 = {
    ("R-SET", "Kendall's tau AUC"): (0.339, 0.477, 0.279, 0.466),
    ("R-SET", "Kendall's tau w-avg"): (0.362, 0.497, 0.3, 0.48),
    ("R-SET", "Cos Sim AUC"): (0.57, 0.685, 0.518, 0.818),
    ("R-SET", "Cos Sim w-avg"): (0.608, 0.717, 0.545, 0.854),
    ("F-SET", "Kendall's tau AUC"): (0.269, 0.379, 0.253, 0.491),
    ("F-SET", "Kendall's tau w-avg"): (0.307, 0.421, 0.284, 0.501),
    ("F-SET", "Cos Sim AUC"): (0.453, 0.544, 0.511, 0.81),
    ("F-SET", "Cos Sim w-avg"): (0.515, 0.607, 0.539, 0.849),
}
_SCORE_OF = {"Kendall's tau AUC": "tau_auc", "Cos Sim AUC": "cosine_auc"}


@dataclass(frozen=True, slots=True)
class _Batch:
    final: FrameScores
    initial: FrameScores
    words: frozenset[str]
    judgments: int | None
    """None without the file of worker qualities."""


def _cells(data: Path, progress: Callable[[int, int], None]) -> Iterator[Cell]:
    batches = {}
    for number in _BATCHES:
        path = find(data, _path("FSS", number))
        if path is not None:
            batches[number] = _batch(path, find(data, _path("WQS", number)))
        progress(number, len(_BATCHES))
    if not batches:
        raise UserError(f"{data} has none of the frame-sentence scores, such as {_path('FSS', 1)}.")
    yield from _corpus(batches)
    yield from _examples(batches)
    yield from _table_2(batches)
    yield from frame_cells(data, [path for number in batches if (path := find(data, _path("FSS", number))) is not None])


def _path(kind: str, batch: int) -> str:
    return f"frames/{kind}_{batch:02d}.csv"


def _batch(scores: Path, workers: Path | None) -> _Batch:
    return _Batch(
        read_frame_scores([scores], need_scores=True),
        read_frame_scores([scores], initial=True, need_scores=True),
        frozenset(_column(scores, "word")),
        None if workers is None else sum(map(int, _column(workers, "judgment"))),
    )


def _column(path: Path, name: str) -> list[str]:
    problems: list[Problem] = []
    values = [str(row.values.get(name, "")) for row in read_rows(path, shown_as=str(path), problems=problems)]
    if problems or not all(values):
        raise UserError(f"{path} can't be used: it has rows without {name!r}.", problems[:1])
    return values


# The corpus


def _corpus(batches: Mapping[int, _Batch]) -> Iterator[Cell]:
    missing = _missing(batches, _BATCHES)
    reason = _IN_FULL.format(missing=missing) if missing else ""
    words = frozenset[str]().union(*(batch.words for batch in batches.values()))
    named = frozenset[str]().union(*(batch.final.frames for batch in batches.values())) - {"none"}
    sizes = np.concatenate([np.bincount(batch.final.sentence) for batch in batches.values()])
    chosen = np.concatenate([_majorities(batch.initial) for batch in batches.values()])

    def of_all(table: str, name: str, paper: float, ours: float, why: str = "") -> Cell:
        differs = "" if ours == paper else _RELEASE
        return Cell(table, name, paper, None if missing else ours, 0, reason or why or differs)

    yield of_all("Section 2.1", "word-sentence pairs", 5042, len(sizes))
    yield of_all("Section 2.1", "unique frames", 742, len(named), "Frames of the candidate lists, without “none”.")
    of_words = "The files have word forms, and no lemmas: ours counts forms."
    yield of_all("Section 2.1", "unique lexical units", 1705, len(words), of_words)
    most = "Ours counts “none” as a candidate."
    yield Cell("Section 2.1", "candidates of a word, at most", 25, float(sizes.max()), 0, most)
    yield from _workers(batches)
    by_choice = "A frame counts if more than half of the sentence's workers chose it, before weighting."
    yield of_all("Section 2.3", "sentences with two frames of a majority", 720, int((chosen >= 2).sum()), by_choice)
    yield of_all("Section 2.3", "sentences without a frame of a majority", 1514, int((chosen == 0).sum()), by_choice)
    lacking = _missing(batches, _RESTRICTED)
    size = sum(len(batch.final.sentences) for number, batch in batches.items() if number in _RESTRICTED)
    why = f"Batches 1 to 6; these are missing: {lacking}." if lacking else "Taken as batches 1 to 6."
    yield Cell("Section 3.2", "sentences of the R-SET", 4000, None if lacking else size, 0, why)
    yield Cell("Section 3.1", "frames that FrameNet 1.5 lacks", 202, None, 0, "Needs FrameNet 1.5.")
    if missing:
        there = ", ".join(map(str, sorted(batches)))
        yield Cell("Section 2", f"word-sentence pairs of batches {there}", None, len(sizes), 0)
        yield Cell("Section 2", f"unique frames of batches {there}", None, len(named), 0)


def _workers(batches: Mapping[int, _Batch]) -> Iterator[Cell]:
    counted = [batch for batch in batches.values() if batch.judgments is not None]
    judgments = sum(batch.judgments or 0 for batch in counted)
    sentences = sum(len(batch.final.sentences) for batch in counted)
    why = "Judgments over sentences." if counted else f"Needs {_path('WQS', 1)} and its kin."
    yield Cell("Section 2.2", "workers a sentence", 15, judgments / sentences if sentences else None, 0, why)


def _majorities(scores: FrameScores) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    """How many frames more than half of the workers chose, sentence by sentence."""
    chosen = (scores.score > 0.5) & (scores.frame != _code(scores, "none"))
    return np.bincount(scores.sentence[chosen], minlength=len(scores.sentences))


def _code(scores: FrameScores, frame: str) -> int:
    return scores.frames.index(frame) if frame in scores.frames else -1


def _missing(batches: Mapping[int, _Batch], wanted: tuple[int, ...]) -> str:
    return ", ".join(Path(_path("FSS", number)).name for number in wanted if number not in batches)


# The examples


def _examples(batches: Mapping[int, _Batch]) -> Iterator[Cell]:
    for (table, number, batch, sentence, quality), frames in _EXAMPLES.items():
        yield Cell(table, f"example {number}, SQS", quality, None, 3, _NO_QUALITY)
        scores = batches[batch].final if batch in batches else None
        for frame, printed in frames.items():
            ours = None if scores is None else _score(scores, sentence, frame)
            lacking = f"Needs {_path('FSS', batch)}."
            why = lacking if scores is None else "The file does not have it." if ours is None else _CUT
            yield Cell(table, f"example {number}, {frame}", printed, None if ours is None else _cut(ours), 3, why)


def _score(scores: FrameScores, sentence: str, frame: str) -> float | None:
    if sentence not in scores.sentences:
        return None
    place = (scores.sentence == scores.sentences.index(sentence)) & (scores.frame == _code(scores, frame))
    return float(scores.score[place][0]) if place.any() else None


def _cut(value: float) -> float:
    return math.floor(value * 1000 + 1e-9) / 1000


# Table 2


def _table_2(batches: Mapping[int, _Batch]) -> Iterator[Cell]:
    parts = {"R-SET": _RESTRICTED, "F-SET": _BATCHES}
    top = {part: _top(batches, numbers) for part, numbers in parts.items()}
    for (part, row), printed in _TABLE_2.items():
        for system, paper in zip(("OS", "OS+", "FS"), printed, strict=False):
            yield Cell("Table 2", f"{part}, {row}, {system}", paper, None, 3, _NO_SYSTEM)
        scores = top[part]
        ours = None if scores is None or row not in _SCORE_OF else scores[_SCORE_OF[row]]
        cell = Cell("Table 2", f"{part}, {row}, TC", printed[3], ours, 3)
        if row not in _SCORE_OF:
            why = _NO_QUALITY
        elif ours is None:
            why = f"These are missing: {_missing(batches, parts[part])}."
        elif cell.agrees:
            why = ""
        elif _cut(ours) == printed[3]:
            why = _CUT_TOO
        else:
            why = "Which batches are the R-SET is inferred." if part == "R-SET" else _RELEASE
        yield replace(cell, reason=why)
    if _missing(batches, _BATCHES):
        there = tuple(sorted(batches))
        in_parts = _top(batches, there) or {}
        for row, name in _SCORE_OF.items():
            shown = ", ".join(map(str, there))
            yield Cell("Table 2", f"batches {shown}, {row}, TC", None, in_parts.get(name), 3)


def _top(batches: Mapping[int, _Batch], numbers: tuple[int, ...]) -> dict[str, float] | None:
    """The scores of the crowd's top frame alone; None if a batch is missing."""
    if any(number not in batches for number in numbers):
        return None
    of_batches = [frame_agreement(batches[n].final, batches[n].final, top=True) for n in numbers]
    rows = np.concatenate([agreement.statistics().rows for agreement in of_batches])
    return {name: float(value) for name, value in of_batches[0].metric().formula(rows).items()}


def _needed(kind: str, batch: int) -> NeededFile:
    path = Path(_path(kind, batch))
    origin = f"data/naacl2019/output/{path.name}"
    return NeededFile(str(path), origin, _DIGESTS.get(path.name), optional=(kind, batch) != ("FSS", 1))


PAPER = Paper(
    name="dumitrache2019",
    title="A Crowdsourced Frame Disambiguation Corpus with Ambiguity (Dumitrache, Aroyo and Welty, NAACL 2019)",
    repositories=(
        Repository(
            name="CrowdTruth/FrameDisambiguation",
            address="https://github.com/CrowdTruth/FrameDisambiguation",
            commit="8539c8f8ddedb287de692d562c1936702399fc5f",
            licence="not stated",
            files=tuple(_needed(kind, batch) for kind in ("FSS", "WQS") for batch in _BATCHES),
        ),
        *RESOURCES,
    ),
    cells=_cells,
)
