"""Nangia et al. (2021): which protocol makes for difficult questions that people can still answer.

Of the four protocols, the final data of BASELINE, CROWD and JUSTIFICATION can be had; the final file of EXPERT can't.
Which four of ten votes made the gold was drawn, and the draw was not published: the paper's numbers are compared with
the interval that holds 95% of all draws.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chorale.kits.questions.files.questions import McqQuestions, read_mcq
from chorale.kits.questions.metrics import McqMeasures, Section, alpha_over_draws, measure_mcq
from chorale.kits.questions.metrics.wording import is_generic
from chorale.metrics import Interval
from chorale.reproduce.checking import find
from chorale.reproduce.contract import Cell, NeededFile, Paper, Repository

_DRAWS = 2000
_SEED = 1
_ROBERTA, _UNIFIED = "roberta_large", "unifiedqa_v2_11b"
_DATASETS = ("baseline", "justification", "crowd", "expert")
_NO_FILE = {
    "expert": "The final expert file can't be had.",
    "justification": "nangia/justification.json is not in the data folder.",
}
_MISSING_RUN = "The mean of the five runs that were released; the paper's is of six."
_MISSING_RECORDS = "18 baseline and 24 justification records are missing from the release."
_OTHER_DRAW = "The paper's draw of the gold votes is outside the middle 95% of ours."
_RELEASED = "The release may differ from the data of the paper."
_PARTIAL = "The predictions of the partial-input models were not released; `chorale baseline mcq` has a light model's."
_TRANSFER = "The predictions of the models trained on the other datasets were not released."
_FOR_IRT = "The 90 models' responses to these questions were not released; `chorale irt` takes such files."
_WHICH_ALPHA = "Which records and votes entered is not stated: here validators' votes on what a draw of the gold keeps."
_NO_SIXTH_RUN = "No sixth run could make up for it: the released predictions are not those behind the paper's number."
_BY_HAND = "The paper's is of 200 questions judged by hand; ours of all, by rule."


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of Table 1. The gaps are the paper's, which rounds before it subtracts in some places."""

    section: Section
    dataset: str
    kept: int
    human: float | None
    roberta: float
    spread: float
    roberta_gap: float | None
    unified: float
    unified_gap: float | None


_TABLE_1 = (
    _Row("all", "baseline", 1492, None, 88.8, 0.2, None, 93.6, None),
    _Row("all", "justification", 1437, None, 86.5, 0.6, None, 91.4, None),
    _Row("all", "crowd", 1544, None, 81.8, 0.7, None, 88.1, None),
    _Row("all", "expert", 1500, None, 81.3, 0.6, None, 87.7, None),
    _Row("resampled", "baseline", 482, 95.9, 87.2, 0.8, 8.7, 92.5, 3.3),
    _Row("resampled", "justification", 471, 95.5, 86.7, 1.0, 8.9, 90.9, 4.7),
    _Row("resampled", "crowd", 472, 94.8, 83.5, 1.0, 11.3, 90.5, 4.3),
    _Row("resampled", "expert", 464, 92.8, 80.6, 1.1, 12.2, 89.8, 3.0),
    _Row("high", "baseline", 436, 97.7, 89.3, 0.8, 8.4, 94.0, 3.7),
    _Row("high", "justification", 419, 97.8, 89.5, 0.6, 8.3, 93.1, 4.8),
    _Row("high", "crowd", 410, 96.8, 86.2, 0.9, 10.6, 93.6, 3.2),
    _Row("high", "expert", 383, 98.2, 84.7, 1.3, 13.5, 92.9, 5.3),
    _Row("unanimous", "baseline", 340, 99.1, 92.1, 0.7, 7.0, 96.2, 2.9),
    _Row("unanimous", "justification", 307, 98.7, 93.2, 0.3, 5.5, 95.8, 2.9),
    _Row("unanimous", "crowd", 277, 98.6, 88.9, 0.9, 9.7, 97.1, 1.4),
    _Row("unanimous", "expert", 271, 99.3, 85.4, 1.1, 13.9, 92.5, 6.7),
)
_SECTION_NAMES = {"all": "full", "resampled": "10-way", "high": "high agreement", "unanimous": "unanimous"}
_TABLE_2 = {
    "baseline": (69.9, 41.9, 34.9),
    "justification": (57.9, 38.3, 33.9),
    "crowd": (57.7, 43.9, 35.2),
    "expert": (52.0, 42.8, 35.7),
}
_TABLE_3 = {"baseline": (0.81, 0.79), "justification": (0.77, 0.74), "crowd": (0.71, 0.69), "expert": (0.67, 0.64)}
_TABLE_4 = {
    "baseline": (88.8, 74.1, 80.5),
    "justification": (86.5, 65.9, 68.8),
    "crowd": (81.8, 65.1, 62.7),
    "expert": (81.3, 56.8, 52.4),
}
_TABLE_5 = {
    "baseline": (None, 88.2, 87.4, 87.8, 87.9),
    "justification": (84.9, None, 85.3, 84.9, 85.6),
    "crowd": (81.6, 83.2, None, 81.7, 82.5),
    "expert": (80.6, 81.2, 81.7, None, 82.8),
}
_MANY_VOTES, _MANY_VALIDATED = 10, 500
_COLLECTED = {"baseline": 1558, "justification": 1534, "crowd": 1600, "expert": 1580}
_WORDS = {"baseline": 3.7, "justification": 4.1, "crowd": 6.9, "expert": 9.1}
_LONGEST = {"baseline": 34.2, "justification": 31.7, "crowd": 31.5, "expert": 34.3}
_GENERIC = {"baseline": 3, "justification": 10, "crowd": 4, "expert": 15}
_DROP = {"justification": -2.7, "crowd": 1.0, "expert": 0.7}


@dataclass(frozen=True, slots=True)
class _Measured:
    questions: McqQuestions
    measures: McqMeasures
    scores: dict[str, float]
    intervals: dict[str, Interval]


def _cells(data: Path, progress: Callable[[int, int], None]) -> Iterator[Cell]:
    measured = {}
    for number, name in enumerate(_DATASETS, 1):
        path = find(data, f"nangia/{name}.json")
        if path is not None:
            questions, _ = read_mcq(path)
            measures = measure_mcq(questions)
            drawn = measures.resampled(draws=_DRAWS, seed=_SEED)
            measured[name] = _Measured(questions, measures, measures.scores(), drawn)
        progress(number, len(_DATASETS))
    for row in _TABLE_1:
        yield from _table_1(row, measured.get(row.dataset))
    yield from _table_2()
    for name, values in _TABLE_3.items():
        yield from _table_3(name, values, measured.get(name))
    yield from _tables_4_and_5(measured)
    yield from _section_5(measured)


def _table_1(row: _Row, measured: _Measured | None) -> Iterator[Cell]:
    section = row.section
    wanted: list[tuple[str, str, float | None, float, int]] = [
        ("N", f"kept {section}", row.kept, 1, 0),
        ("human", f"human {section}", row.human, 100, 1),
        ("RoBERTa", f"{_ROBERTA} {section}", row.roberta, 100, 1),
        ("human − RoBERTa", f"gap {_ROBERTA} {section}", row.roberta_gap, 100, 1),
        ("UnifiedQA", f"{_UNIFIED} {section}", row.unified, 100, 1),
        ("human − UnifiedQA", f"gap {_UNIFIED} {section}", row.unified_gap, 100, 1),
    ]
    for column, key, paper, scale, digits in wanted:
        if paper is not None:
            name = f"{_SECTION_NAMES[section]}, {row.dataset}: {column}"
            yield _drawn(name, row.dataset, measured, key, paper, scale, digits)
    yield _spread(row, measured)


def _drawn(
    name: str, dataset: str, measured: _Measured | None, key: str, paper: float, scale: float, digits: int
) -> Cell:
    """A number that depends on the draw of the gold votes."""
    if measured is None or key not in measured.scores:
        return Cell("Table 1", name, paper, None, digits, _why_missing(dataset, measured))
    interval = measured.intervals[key]
    cell = Cell(
        "Table 1",
        name,
        paper,
        scale * measured.scores[key],
        digits,
        interval=Interval(scale * interval.low, scale * interval.high),
    )
    if cell.agrees:
        return cell
    reasons = [_MISSING_RUN if _ROBERTA in key else _OTHER_DRAW]
    if key.startswith(_ROBERTA) and _beyond_a_sixth_run(measured, key, paper / scale):
        reasons.append(_NO_SIXTH_RUN)
    if dataset in ("baseline", "justification"):
        reasons.append(_MISSING_RECORDS)
    return replace(cell, reason=" ".join(reasons))


def _beyond_a_sixth_run(measured: _Measured, key: str, paper: float) -> bool:
    """Whether the run that was not released would have to be unlike all others to lead to the paper's mean."""
    section = key.rpartition(" ")[2]
    runs = [measured.scores[f"{run} {section}"] for run in measured.measures.runs.get(_ROBERTA, ())]
    if not runs:
        return False
    needed = (len(runs) + 1) * paper - sum(runs)
    return abs(needed - float(np.mean(runs))) > 5 * max(float(np.std(runs, ddof=1)), 0.005)


def _why_missing(dataset: str, measured: _Measured | None) -> str:
    if measured is not None:
        return "The file has no predictions of this model."
    return _NO_FILE.get(dataset, f"nangia/{dataset}.json is not in the data folder.")


def _spread(row: _Row, measured: _Measured | None) -> Cell:
    name = f"{_SECTION_NAMES[row.section]}, {row.dataset}: RoBERTa, deviation over runs"
    if measured is None or _ROBERTA not in measured.measures.runs:
        return Cell("Table 1", name, row.spread, None, 1, _why_missing(row.dataset, measured))
    runs = [measured.scores[f"{run} {row.section}"] for run in measured.measures.runs[_ROBERTA]]
    ours = 100 * float(np.std(runs, ddof=1))
    cell = Cell("Table 1", name, row.spread, ours, 1)
    return cell if cell.agrees else replace(cell, reason=_MISSING_RUN.replace("mean", "deviation"))


def _table_2() -> Iterator[Cell]:
    for name, values in _TABLE_2.items():
        for column, paper in zip(("passage and answers", "question and answers", "answers"), values, strict=True):
            yield Cell("Table 2", f"{name}: {column}", paper, None, 1, _PARTIAL)


def _table_3(name: str, values: tuple[float, float], measured: _Measured | None) -> Iterator[Cell]:
    """The draw of the gold votes decides which records are kept, so α depends on it as well."""
    drawn = {} if measured is None else alpha_over_draws(measured.questions, draws=_DRAWS, seed=_SEED)
    for column, section, paper in (("all", "all", values[0]), ("10-way", "resampled", values[1])):
        cell = f"{name}: α, {column}"
        ours = drawn.get(section)
        if ours is None:
            yield Cell("Table 3", cell, paper, None, 2, _why_missing(name, None))
        else:
            yield Cell("Table 3", cell, paper, ours.value, 2, _WHICH_ALPHA, interval=ours.interval)


def _tables_4_and_5(measured: dict[str, _Measured]) -> Iterator[Cell]:
    for name, (race, *others) in _TABLE_4.items():
        file, key = measured.get(name), f"{_ROBERTA} all"
        yield replace(_drawn(f"{name}: trained on RACE", name, file, key, race, 100, 1), table="Table 4")
        for column, paper in zip(("CosmosQA", "QuAIL"), others, strict=True):
            yield Cell("Table 4", f"{name}: trained on {column}", paper, None, 1, _TRANSFER)
    for name, values in _TABLE_5.items():
        for column, transfer in zip((*_DATASETS, "itself, cross-validated"), values, strict=True):
            if transfer is not None:
                yield Cell("Table 5", f"{name}: trained on {column}", transfer, None, 1, _TRANSFER)


def _section_5(measured: dict[str, _Measured]) -> Iterator[Cell]:
    for name in _DATASETS:
        file = measured.get(name)
        missing = _why_missing(name, None) if file is None else ""
        size = None if file is None else float(len(file.questions))
        reason = missing or ("" if size == _COLLECTED[name] else _MISSING_RECORDS)
        yield Cell("Section 5", f"{name}: questions collected", _COLLECTED[name], size, 0, reason)
        many = None if file is None else float(np.count_nonzero(file.questions.votes.sum(axis=1) >= _MANY_VOTES))
        reason = missing or ("" if many == _MANY_VALIDATED else _RELEASED)
        yield Cell("Section 4", f"{name}: questions with ten validators", _MANY_VALIDATED, many, 0, reason)
        words = None if file is None else float(np.nanmean(file.questions.words))
        cell = Cell("Section 5.3", f"{name}: words of an answer", _WORDS[name], words, 1, missing)
        yield cell if cell.agrees else replace(cell, reason=missing or _RELEASED)
        longest = _drawn(f"{name}: choosing the longest answer", name, file, "longest all", _LONGEST[name], 100, 1)
        yield replace(longest, table="Section 5.3")
        has_texts = file is not None and any(text.question for text in file.questions.texts)
        generic = None
        if file is not None and has_texts:
            generic = 100 * float(np.mean([is_generic(text.question) for text in file.questions.texts]))
        yield Cell("Section 5.3", f"{name}: generic questions", _GENERIC[name], generic, 0, missing or _BY_HAND)
        if name in _DROP:
            drops = {} if file is None else _drops(file)
            column = f"{name}: accuracy, first question less second"
            why = missing or _why_drops(drops)
            yield Cell("Section 5.3", column, _DROP[name], drops.get(_ROBERTA), 1, why)
    for what, low, high in (("discrimination", 0.6, 2.1), ("guessing", 0.03, 0.74)):
        yield Cell("Section 5.4", f"IRT, lowest {what}", low, None, 2, _FOR_IRT)
        yield Cell("Section 5.4", f"IRT, highest {what}", high, None, 2, _FOR_IRT)


def _drops(measured: _Measured) -> dict[str, float]:
    """RoBERTa's accuracy on the first question about a passage, less that on the second: the mean, and of every run."""
    numbers = np.array([text.place or 0 for text in measured.questions.texts])
    rows, runs = measured.measures.statistics.rows, measured.measures.runs.get(_ROBERTA, ())
    if not runs or not {1, 2} <= set(numbers.tolist()):
        return {}
    first, second = (measured.measures.metric.formula(rows[numbers == one].sum(axis=0)) for one in (1, 2))
    return {name: 100 * float(first[f"{name} all"] - second[f"{name} all"]) for name in (_ROBERTA, *runs)}


def _why_drops(drops: Mapping[str, float]) -> str:
    runs = [value for name, value in drops.items() if name != _ROBERTA]
    if not runs:
        return "The file has no predictions of RoBERTa, or does not say which question came first."
    return (
        "Which model's accuracy is meant is not stated; here it is the mean of RoBERTa's released runs, which lie "
        f"between {min(runs):.1f} and {max(runs):.1f}. The paper has six of them."
    )


PAPER = Paper(
    name="nangia2021",
    title="What Ingredients Make for an Effective Crowdsourcing Protocol for Difficult NLU Data Collection Tasks?",
    repositories=(
        Repository(
            name="nyu-mll/crowdsourcing-protocol-comparison",
            address="https://github.com/nyu-mll/crowdsourcing-protocol-comparison",
            commit="b4db09611c0eb855715c3a7d0b778fad17523eff",
            licence="CC BY 4.0",
            files=(
                NeededFile("nangia/baseline.json", "data/baseline.json", "191a39f6"),
                NeededFile("nangia/crowd.json", "data/crowd.json", "a46ca82b"),
                NeededFile("nangia/justification.json", "data/justification.json", optional=True),
            ),
        ),
    ),
    cells=_cells,
)
