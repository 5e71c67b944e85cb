"""Nangia et al. (2021): which crowdsourcing protocol yields difficult questions that people can answer.

The authors' repository has the final data of all four protocols. Numbers of protocols without a file in the folder are
not computed. The random sample of four of ten votes for the gold was not published, so the paper's numbers are compared
with the interval of 95% of all samples.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chorale.kits.questions.files.questions import McqQuestions, read_mcq
from chorale.kits.questions.metrics import McqMeasures, Section, alpha_over_draws, measure_mcq
from chorale.kits.questions.metrics.artifacts import by_place
from chorale.kits.questions.metrics.wording import is_generic
from chorale.metrics import Interval
from chorale.reproduce.contract import Cell, NeededFile, Paper, PaperData, Repository

_DRAWS = 2000
_SEED = 1
_ROBERTA, _UNIFIED = "roberta_large", "unifiedqa_v2_11b"
_DATASETS = ("baseline", "justification", "crowd", "expert")
_NO_FILE = "Requires nangia/{dataset}.json, which is data/{dataset}.json in the authors' repository."
_MISSING_RUN = "Mean of the five published runs; the paper's mean is over six."
_MISSING_RUN_SPREAD = "Deviation over the five published runs; the paper's deviation is over six."
_MISSING_RECORDS = "18 baseline and 24 justification records are missing from the release."
_OTHER_DRAW = "The paper's number is outside the 95% interval of our random samples of the gold votes."
_RELEASED = "The release may differ from the data of the paper."
_PARTIAL = (
    "The predictions of the partial-input models were not published. `chorale baseline mcq` computes those of a light "
    "model."
)
_TRANSFER = "The predictions of the models trained on the other datasets were not published."
_FOR_IRT = "The responses of the 90 models to these questions were not published. `chorale irt` reads such files."
_WHICH_ALPHA = (
    "The paper does not state which records and votes it used. We use validators' votes on the kept questions, "
    f"averaged over {_DRAWS:,} random samples of the gold votes."
)
_NO_SIXTH_RUN = (
    "No sixth run could explain the difference, so the published predictions are not those behind the paper's number."
)
_BY_HAND = "The paper's number is from 200 questions judged by hand; ours is from all questions, judged by rules."


_TABLE_1_COLUMNS = {
    "N": "kept",
    "human": "human",
    "RoBERTa": _ROBERTA,
    "human − RoBERTa": f"gap {_ROBERTA}",
    "UnifiedQA": _UNIFIED,
    "human − UnifiedQA": f"gap {_UNIFIED}",
}
# These columns, then the deviation over RoBERTa's runs. The gaps are the paper's, which sometimes rounds before
# subtracting.
_TABLE_1: dict[tuple[Section, str], tuple[float | None, ...]] = {
    ("all", "baseline"): (1492, None, 88.8, None, 93.6, None, 0.2),
    ("all", "justification"): (1437, None, 86.5, None, 91.4, None, 0.6),
    ("all", "crowd"): (1544, None, 81.8, None, 88.1, None, 0.7),
    ("all", "expert"): (1500, None, 81.3, None, 87.7, None, 0.6),
    ("resampled", "baseline"): (482, 95.9, 87.2, 8.7, 92.5, 3.3, 0.8),
    ("resampled", "justification"): (471, 95.5, 86.7, 8.9, 90.9, 4.7, 1.0),
    ("resampled", "crowd"): (472, 94.8, 83.5, 11.3, 90.5, 4.3, 1.0),
    ("resampled", "expert"): (464, 92.8, 80.6, 12.2, 89.8, 3.0, 1.1),
    ("high", "baseline"): (436, 97.7, 89.3, 8.4, 94.0, 3.7, 0.8),
    ("high", "justification"): (419, 97.8, 89.5, 8.3, 93.1, 4.8, 0.6),
    ("high", "crowd"): (410, 96.8, 86.2, 10.6, 93.6, 3.2, 0.9),
    ("high", "expert"): (383, 98.2, 84.7, 13.5, 92.9, 5.3, 1.3),
    ("unanimous", "baseline"): (340, 99.1, 92.1, 7.0, 96.2, 2.9, 0.7),
    ("unanimous", "justification"): (307, 98.7, 93.2, 5.5, 95.8, 2.9, 0.3),
    ("unanimous", "crowd"): (277, 98.6, 88.9, 9.7, 97.1, 1.4, 0.9),
    ("unanimous", "expert"): (271, 99.3, 85.4, 13.9, 92.5, 6.7, 1.1),
}
_SECTION_NAMES = {"all": "full", "resampled": "10-way", "high": "high agreement", "unanimous": "unanimous"}
_TABLE_2 = {
    "baseline": (69.9, 41.9, 34.9),
    "justification": (57.9, 38.3, 33.9),
    "crowd": (57.7, 43.9, 35.2),
    "expert": (52.0, 42.8, 35.7),
}
_TABLE_2_DEVIATIONS = {
    "baseline": (4.7, 2.9, 2.4),
    "justification": (1.3, 2.2, 6.3),
    "crowd": (3.1, 2.0, 1.9),
    "expert": (1.5, 1.8, 1.4),
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
_TABLE_5_DEVIATIONS = {"baseline": 2.0, "justification": 2.4, "crowd": 1.9, "expert": 1.4}
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


def _cells(data: PaperData, progress: Callable[[int, int], None]) -> Iterator[Cell]:
    measured = {}
    for number, name in enumerate(_DATASETS, 1):
        path = data.find(f"nangia/{name}.json")
        if path is not None:
            questions, _ = read_mcq(path)
            measures = measure_mcq(questions)
            drawn = measures.resampled(draws=_DRAWS, seed=_SEED)
            measured[name] = _Measured(questions, measures, measures.scores(), drawn)
        progress(number, len(_DATASETS))
    for (section, name), row in _TABLE_1.items():
        yield from _table_1(section, name, row, measured.get(name))
    inputs = ("passage and answers", "question and answers", "answers")
    for name, partial in _TABLE_2.items():
        yield from _unreleased("Table 2", name, inputs, partial)
        deviations = [f"{each}, deviation over folds" for each in inputs]
        yield from _unreleased("Table 2", name, deviations, _TABLE_2_DEVIATIONS[name])
    for name, alphas in _TABLE_3.items():
        yield from _table_3(name, alphas, measured.get(name))
    yield from _tables_4_and_5(measured)
    yield from _section_5(measured)


def _table_1(section: Section, name: str, row: tuple[float | None, ...], measured: _Measured | None) -> Iterator[Cell]:
    *papers, spread = row
    for (column, score), paper in zip(_TABLE_1_COLUMNS.items(), papers, strict=True):
        if paper is not None:
            title, key = f"{_SECTION_NAMES[section]}, {name}: {column}", f"{score} {section}"
            yield _drawn(title, name, measured, key, paper, *((1, 0) if score == "kept" else (100, 1)))
    if spread is not None:
        yield _spread(section, name, spread, measured)


def _drawn(
    name: str, dataset: str, measured: _Measured | None, key: str, paper: float, scale: float, digits: int
) -> Cell:
    """A number that depends on the sample of the gold votes."""
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
    """Whether the unpublished run would have to be an outlier to give the paper's mean."""
    section = key.rpartition(" ")[2]
    runs = [measured.scores[f"{run} {section}"] for run in measured.measures.runs.get(_ROBERTA, ())]
    if not runs:
        return False
    needed = (len(runs) + 1) * paper - sum(runs)
    return abs(needed - float(np.mean(runs))) > 5 * max(float(np.std(runs, ddof=1)), 0.005)


def _why_missing(dataset: str, measured: _Measured | None) -> str:
    if measured is not None:
        return "The file has no predictions of this model."
    return _NO_FILE.format(dataset=dataset)


def _spread(section: Section, dataset: str, paper: float, measured: _Measured | None) -> Cell:
    name = f"{_SECTION_NAMES[section]}, {dataset}: RoBERTa, deviation over runs"
    if measured is None or _ROBERTA not in measured.measures.runs:
        return Cell("Table 1", name, paper, None, 1, _why_missing(dataset, measured))
    runs = [measured.scores[f"{run} {section}"] for run in measured.measures.runs[_ROBERTA]]
    cell = Cell("Table 1", name, paper, 100 * float(np.std(runs, ddof=1)), 1)
    return cell if cell.agrees else replace(cell, reason=_MISSING_RUN_SPREAD)


def _unreleased(
    table: str, name: str, columns: Sequence[str], values: Sequence[float | None], reason: str = _PARTIAL
) -> Iterator[Cell]:
    for column, paper in zip(columns, values, strict=True):
        if paper is not None:
            yield Cell(table, f"{name}: {column}", paper, None, 1, reason)


def _table_3(name: str, values: tuple[float, float], measured: _Measured | None) -> Iterator[Cell]:
    """The sample of the gold votes decides which records are kept, so α depends on it too."""
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
        yield from _unreleased("Table 4", name, ("trained on CosmosQA", "trained on QuAIL"), others, _TRANSFER)
    columns = [f"trained on {source}" for source in (*_DATASETS, "itself, cross-validated")]
    for name, values in _TABLE_5.items():
        yield from _unreleased("Table 5", name, columns, values, _TRANSFER)
        deviation = ("cross-validated, deviation over folds",), (_TABLE_5_DEVIATIONS[name],)
        yield from _unreleased("Table 5", name, *deviation, _TRANSFER)


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
            column = f"{name}: accuracy, first question minus second"
            why = missing or _why_drops(drops)
            yield Cell("Section 5.3", column, _DROP[name], drops.get(_ROBERTA), 1, why)
    for parameter, low, high in (("discrimination", 0.6, 2.1), ("guessing", 0.03, 0.74)):
        yield Cell("Section 5.4", f"IRT, lowest {parameter}", low, None, 2, _FOR_IRT)
        yield Cell("Section 5.4", f"IRT, highest {parameter}", high, None, 2, _FOR_IRT)


def _drops(measured: _Measured) -> dict[str, float]:
    """RoBERTa's accuracy on the first question about a passage minus the second: the mean, and for each run."""
    runs = measured.measures.runs.get(_ROBERTA, ())
    places = by_place(measured.questions, measured.measures)
    wanted = [name for name in (_ROBERTA, *runs) if runs and {1, 2} <= places.get(name, {}).keys()]
    return {name: 100 * (places[name][1] - places[name][2]) for name in wanted}


def _why_drops(drops: Mapping[str, float]) -> str:
    runs = [value for name, value in drops.items() if name != _ROBERTA]
    if not runs:
        return "The file has no predictions of RoBERTa, or does not state which question came first."
    return (
        "The paper does not state the model. Ours is the mean of RoBERTa's published runs, which range from "
        f"{min(runs):.1f} to {max(runs):.1f}. The paper has six runs."
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
                NeededFile("nangia/expert.json", "data/expert.json", optional=True),
            ),
        ),
    ),
    cells=_cells,
)
