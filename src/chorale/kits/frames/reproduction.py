"""Dumitrache, Aroyo and Welty (2019), A Crowdsourced Frame Disambiguation Corpus with Ambiguity.

The frame-sentence scores give the row of the top frame (TC), the examples, and the size and ambiguity of the corpus.
Sentence quality (SQS) is read from its files, or computed from the raw judgments in a clone of the repository. The
output of the three systems was not published.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chorale.files.rows import read_rows
from chorale.kits.frames.files.scores import FrameScores, read_frame_scores
from chorale.kits.frames.metrics.agreement import frame_agreement
from chorale.kits.frames.reproduction_examples import EXAMPLES
from chorale.kits.frames.reproduction_framenet import RESOURCES, frame_cells
from chorale.kits.frames.reproduction_judgments import RawJudgments, largest_difference, read_qualities, read_raw
from chorale.model import Problem, UserError
from chorale.reproduce.contract import Cell, NeededFile, Paper, PaperData, Repository

_DIGESTS = {
    "FSS_01.csv": "828c56f9",
    "FSS_02.csv": "8a0182f5",
    "FSS_03.csv": "cc48d67b",
    "FSS_04.csv": "a46b2294",
    "FSS_05.csv": "74270e4d",
    "FSS_06.csv": "5d6d0534",
    "FSS_07.csv": "0f14b6ef",
    "WQS_01.csv": "a4771b60",
    "WQS_02.csv": "aae8c353",
    "WQS_03.csv": "3a2cc9f0",
    "WQS_04.csv": "db362ac0",
    "WQS_05.csv": "af273627",
    "WQS_06.csv": "7db11661",
    "WQS_07.csv": "68d786d1",
}
_BATCHES = tuple(range(1, 8))
_RAW = "frames/input/*/Batch_*.csv"
_RESTRICTED = tuple(range(1, 7))
"""Batches of the R-SET, inferred from their sizes and the paper's numbers. The files do not state them."""

_NO_SYSTEM = "The system's output was not published. `chorale baseline frames` runs systems of the same kinds."
_NO_QUALITY = "Needs {path}, or the raw judgments. Both are in the authors' repository."
_IN_FULL = "The paper counts all seven batches. Missing files: {missing}."
_RELEASE = "The release may differ from the corpus of the paper."
_CUT = "Truncated to three digits, our value is {cut:.3f}: the paper truncates instead of rounding."
_MAJORITY = (
    "A frame counts if more than half of the sentence's workers chose it, before weighting. Including exactly half, "
    "or using weighted scores, does not give the paper's numbers either."
)
_OLDER = "Needs FrameNet 1.5."
_FEES = "The files do not contain Mechanical Turk's fees."

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
_SCORE_OF = {
    "Kendall's tau AUC": "tau_auc",
    "Kendall's tau w-avg": "tau_w_avg",
    "Cos Sim AUC": "cosine_auc",
    "Cos Sim w-avg": "cosine_w_avg",
}


@dataclass(frozen=True, slots=True)
class _Batch:
    final: FrameScores
    initial: FrameScores
    words: frozenset[str]
    judgments: int | None
    """None without the file of worker quality."""
    qualities: Mapping[str, float] | None
    """SQS by sentence."""
    from_raw: float | None
    """Maximum difference between the scores computed from raw judgments and the published scores."""


def _cells(data: PaperData, progress: Callable[[int, int], None]) -> Iterator[Cell]:
    raw_files = data.find_all(_RAW)
    raw = read_raw(raw_files) if raw_files else None
    batches = {}
    for number in _BATCHES:
        path = data.find(_path("FSS", number))
        if path is not None:
            batches[number] = _batch(path, data.find(_path("WQS", number)), data.find(_path("SQS", number)), raw)
        progress(number, len(_BATCHES))
    if not batches:
        folders = " and ".join(map(str, data.folders))
        raise UserError(f"There are no files of frame-sentence scores in {folders}, such as {_path('FSS', 1)}.")
    yield from _corpus(batches)
    yield from _paid(raw, batches)
    yield from _examples(batches)
    yield from _table_2(batches)
    yield from frame_cells(data, [path for number in batches if (path := data.find(_path("FSS", number))) is not None])


def _path(kind: str, batch: int) -> str:
    return f"frames/{kind}_{batch:02d}.csv"


def _batch(scores: Path, workers: Path | None, clarity: Path | None, raw: RawJudgments | None) -> _Batch:
    final = read_frame_scores([scores], need_scores=True)
    judged = None if raw is None else raw.of(final.sentences)
    computed = judged.qualities() if judged else None
    qualities = None if clarity is None else read_qualities(clarity)
    if qualities is None and computed is not None:
        qualities = dict(zip(computed.units, computed.uqs.tolist(), strict=True))
    if qualities is not None and all(sentence in qualities for sentence in final.sentences):
        final = replace(final, quality=np.asarray([qualities[sentence] for sentence in final.sentences]))
    return _Batch(
        final,
        read_frame_scores([scores], initial=True, need_scores=True),
        frozenset(_column(scores, "word")),
        None if workers is None else sum(map(int, _column(workers, "judgment"))),
        qualities,
        None if computed is None else largest_difference(dict(computed.unit_annotation_scores()), _by_sentence(final)),
    )


def _by_sentence(scores: FrameScores) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    for sentence, frame, score in zip(scores.sentence, scores.frame, scores.score.tolist(), strict=True):
        table.setdefault(scores.sentences[sentence], {})[scores.frames[frame]] = score
    return table


def _column(path: Path, name: str) -> list[str]:
    problems: list[Problem] = []
    values = [str(row.values.get(name, "")) for row in read_rows(path, shown_as=str(path), problems=problems)]
    if problems or not all(values):
        raise UserError(f"{path} is invalid: it has rows without {name!r}.", problems[:1])
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
    of_words = "The files have word forms but no lemmas, so our value counts forms."
    yield of_all("Section 2.1", "unique lexical units", 1705, len(words), of_words)
    most = "Our value counts “none” as a candidate."
    yield Cell("Section 2.1", "maximum number of candidates of a word", 25, float(sizes.max()), 0, most)
    yield from _workers(batches)
    yield of_all("Section 2.3", "sentences with two majority frames", 720, int((chosen >= 2).sum()), _MAJORITY)
    yield of_all("Section 2.3", "sentences without a majority frame", 1514, int((chosen == 0).sum()), _MAJORITY)
    lacking = _missing(batches, _RESTRICTED)
    size = sum(len(batch.final.sentences) for number, batch in batches.items() if number in _RESTRICTED)
    why = (
        f"The R-SET is taken as batches 1 to 6. Missing files: {lacking}."
        if lacking
        else "The R-SET is taken as batches 1 to 6."
    )
    yield Cell("Section 3.2", "sentences of the R-SET", 4000, None if lacking else size, 0, why)
    yield Cell("Section 3.1", "frames that are not in FrameNet 1.5", 202, None, 0, _OLDER)
    if missing:
        there = ", ".join(map(str, sorted(batches)))
        yield Cell("Section 2", f"word-sentence pairs of batches {there}", None, len(sizes), 0)
        yield Cell("Section 2", f"unique frames of batches {there}", None, len(named), 0)


def _workers(batches: Mapping[int, _Batch]) -> Iterator[Cell]:
    counted = [batch for batch in batches.values() if batch.judgments is not None]
    judgments = sum(batch.judgments or 0 for batch in counted)
    sentences = sum(len(batch.final.sentences) for batch in counted)
    why = "Number of judgments per sentence." if counted else f"Needs files such as {_path('WQS', 1)}."
    yield Cell("Section 2.2", "workers per sentence", 15, judgments / sentences if sentences else None, 0, why)


def _paid(raw: RawJudgments | None, batches: Mapping[int, _Batch]) -> Iterator[Cell]:
    """Results from the raw judgments: the pay, and whether they reproduce the published scores."""
    needs = f"Needs the raw judgments, {_RAW}. They are in the authors' repository."
    pay = None if raw is None or not raw.rewards else float(np.mean(raw.rewards))
    yield Cell("Section 2.2", "pay for a judgment, $", 0.05, pay, 2, needs if pay is None else "")
    yield Cell("Section 2.2", "cost of a sentence, $", 1.35, None, 2, _FEES)
    differences = [batch.from_raw for batch in batches.values() if batch.from_raw is not None]
    name = "largest difference between the published FSS and those from raw judgments"
    yield Cell("Section 2.2", name, None, max(differences) if differences else None, 6, "" if differences else needs)


def _majorities(scores: FrameScores) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    """Number of majority frames per sentence."""
    chosen = (scores.score > 0.5) & (scores.frame != _code(scores, "none"))
    return np.bincount(scores.sentence[chosen], minlength=len(scores.sentences))


def _code(scores: FrameScores, frame: str) -> int:
    return scores.frames.index(frame) if frame in scores.frames else -1


def _missing(batches: Mapping[int, _Batch], wanted: tuple[int, ...]) -> str:
    return ", ".join(Path(_path("FSS", number)).name for number in wanted if number not in batches)


# The examples


def _examples(batches: Mapping[int, _Batch]) -> Iterator[Cell]:
    for example in EXAMPLES:
        table, number = example.table, example.number
        batch = batches.get(example.batch)
        known = batch is not None and batch.qualities is not None
        quality = batch.qualities.get(example.sentence) if batch is not None and batch.qualities is not None else None
        lacking = (
            "The file does not contain the example." if known else _NO_QUALITY.format(path=_path("SQS", example.batch))
        )
        yield _compared(table, f"example {number}, SQS", example.quality, quality, lacking)
        for frame, printed in example.frames.items():
            ours = None if batch is None else _score(batch.final, example.sentence, frame)
            lacking = (
                f"Needs {_path('FSS', example.batch)}." if batch is None else "The file does not contain the example."
            )
            yield _compared(table, f"example {number}, {frame}", printed, ours, lacking)


def _compared(table: str, name: str, paper: float, ours: float | None, lacking: str, otherwise: str = _RELEASE) -> Cell:
    """A published number next to our unrounded number. Truncated numbers in the paper do not count as equal."""
    cell = Cell(table, name, paper, ours, 3)
    if ours is None:
        return replace(cell, reason=lacking)
    if cell.agrees:
        return cell
    # Four digits show the difference.
    return replace(cell, shown=4, reason=_CUT.format(cut=paper) if _cut(ours) == paper else otherwise)


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
        ours = None if scores is None else scores.get(_SCORE_OF[row])
        if ours is None and not _missing(batches, parts[part]):
            lacking = _NO_QUALITY.format(path=_path("SQS", _without_quality(batches, parts[part])))
        else:
            lacking = f"Missing files: {_missing(batches, parts[part])}."
        otherwise = "The assignment of batches to the R-SET is inferred." if part == "R-SET" else _RELEASE
        yield _compared("Table 2", f"{part}, {row}, TC", printed[3], ours, lacking, otherwise)
    if _missing(batches, _BATCHES):
        there = tuple(sorted(batches))
        in_parts = _top(batches, there) or {}
        shown = ", ".join(map(str, there))
        for row, name in _SCORE_OF.items():
            if name in in_parts:
                yield Cell("Table 2", f"batches {shown}, {row}, TC", None, in_parts[name], 3)


def _without_quality(batches: Mapping[int, _Batch], numbers: tuple[int, ...]) -> int:
    return next(number for number in numbers if batches[number].final.quality is None)


def _top(batches: Mapping[int, _Batch], numbers: tuple[int, ...]) -> dict[str, float] | None:
    """The scores of the crowd's top frame only, or None if a batch is missing."""
    if any(number not in batches for number in numbers):
        return None
    of_batches = [frame_agreement(batches[n].final, batches[n].final, top=True) for n in numbers]
    rows = np.concatenate([agreement.statistics().rows for agreement in of_batches])
    # Weighted averages need the quality of all sentences.
    rated = next((agreement for agreement in of_batches if agreement.quality is None), of_batches[0])
    return {name: float(value) for name, value in rated.metric().formula(rows).items()}


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
            files=(
                *(_needed(kind, batch) for kind in ("FSS", "WQS", "SQS") for batch in _BATCHES),
                NeededFile(_RAW, "data/naacl2019/input/*/Batch_*.csv", optional=True),
            ),
        ),
        *RESOURCES,
    ),
    cells=_cells,
)
