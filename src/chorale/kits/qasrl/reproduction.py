"""Roit et al. (2020), Controlled Crowdsourcing for High-Quality QA-SRL Annotation.

The authors published the gold standard, its sentences, and the expert annotation for about half the predicates of
Table 4. The Dense set is part of the QA-SRL Bank. They did not publish the annotations before consolidation
(agreement), the Wall Street Journal sentences (Table 5), the parser's output (Table 6) and the manual corrections.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from chorale.kits.qasrl.files import QuestionAnswers, read_bank, read_qasrl
from chorale.kits.qasrl.metrics import Rules, align, counts, statistics
from chorale.metrics import Counts
from chorale.reproduce.contract import Cell, NeededFile, Paper, PaperData, Repository

NEWS = "qasrl-gs/wikinews.dev.gold.csv"
WIKIPEDIA = "qasrl-gs/wikipedia.dev.gold.csv"
EXPERTS = "qasrl-gs/wikinews.dev.large_sample.ground_truth.csv"
DENSE = "qasrl-bank/dense-dev.jsonl"
PARSER = "qasrl-parser/joint_on_qasrl_generated_predictions.csv"
OUR_PARSER = "chorale-parser/wikinews.dev.csv"
"""Output of `chorale parse qasrl` for the sentences of Wikinews dev. Its cells are omitted if the file is missing."""

_RULES = Rules(questions="authors")
"""The authors' own script compares one question per argument."""
_GOLD_STANDARD = "https://github.com/plroit/qasrl-gs"
REPOSITORIES = (
    Repository(
        "plroit/qasrl-gs",
        _GOLD_STANDARD,
        "b9871a1e131e2d4f56339f1c8dbeb2f466cfac3c",
        "MIT",
        (
            NeededFile(NEWS, "data/gold/wikinews.dev.gold.csv", "54cc51b0"),
            NeededFile(EXPERTS, "data/ground_truth/wikinews.dev.large_sample.ground_truth.csv", "af6b74f4"),
        ),
    ),
    Repository(
        "plroit/qasrl-gs",
        _GOLD_STANDARD,
        "5ea2c15ecae63cba7a164e3b17043051de543cab",
        "MIT",
        (NeededFile(WIKIPEDIA, "data/gold/wikipedia.dev.gold.csv", "3c6e0002"),),
    ),
    Repository(
        "julianmichael/qasrl.org (QA-SRL Bank 2.1)",
        "https://github.com/julianmichael/qasrl.org",
        "edc67a0187706fc7626b0f1c30b8d8ce6cfac1d3",
        "MIT",
        (NeededFile(DENSE, "data/qasrl-v2_1/dense/dev.jsonl.gz", "7a4277f2"),),
    ),
    Repository(
        "kleinay/qasrl-seq2seq",
        "https://github.com/kleinay/qasrl-seq2seq",
        "78f870ad60a57d5bd73be46b1a524d51edd8e2ab",
        "not stated",
        (NeededFile(PARSER, "notebooks/joint_on_qasrl_generated_predictions.csv", "d27fa353", optional=True),),
    ),
)

_HALF = (
    "The paper has 100 predicates, but the experts' file used here has {verbs}. The files may be newer than the paper. "
)
_BY_HAND = "The manual corrections are not published."
_NOT_CONSOLIDATED = "The annotations of single workers and the second consolidations are not published."
_WSJ = "The annotated Wall Street Journal sentences are not published. CoNLL-2009 is licensed by the LDC."
_NO_PARSER = "The output of FitzGerald et al.'s parser for these sentences is not published."
_NO_TEST = "This requires the test data and the parser's output for it."
_ALL_WRITTEN = (
    "Dense: all questions written by people and called valid by at least one judge. The paper does not specify which "
    "questions it counts. This choice reproduces its 2.3 roles per predicate: with one judge, there are 2.34. With at "
    "least three of the six judges, there are 2.25; with four, 2.16; with five, 1.99."
)


@dataclass(frozen=True, slots=True)
class _Data:
    """The content of the files."""

    news: QuestionAnswers
    wikipedia: QuestionAnswers
    dense: QuestionAnswers
    """Questions by people that at least one judge called valid, chosen to match the paper's 2.3 roles per verb."""
    experts: QuestionAnswers
    parser: QuestionAnswers | None
    our_parser: QuestionAnswers | None


def _read(files: PaperData) -> _Data:
    news, wikipedia = read_qasrl(files.needed(NEWS)), read_qasrl(files.needed(WIKIPEDIA))
    dense, experts = read_bank(files.needed(DENSE)).answers(valid=1), read_qasrl(files.needed(EXPERTS))
    parsers = (None if path is None else read_qasrl(path) for path in map(files.find, (PARSER, OUR_PARSER)))
    return _Data(news, wikipedia, dense, experts, *parsers)


def cells(files: PaperData, progress: Callable[[int, int], None]) -> Iterator[Cell]:
    """Every number of the paper's tables and of its sections 3 and 4, in the order of the paper."""
    data = _read(files)
    parts = (_section_1, _section_3, _section_4, _table_4, _table_5, _table_6)
    for number, part in enumerate(parts):
        progress(number, len(parts))
        yield from part(data)
    progress(len(parts), len(parts))


_Three = tuple[float | None, float | None, float | None]
_NONE: _Three = (None, None, None)
_DEV_ONLY = "Our value is for the dev part, the paper's for dev and test."


def _section_1(data: _Data) -> Iterator[Cell]:
    more = 100 * (_gold_roles(data) / _dense_roles(data) - 1)
    yield Cell("Section 1", "additional roles compared with Dense, percent", 25, more, 0, f"{_DEV_ONLY} {_ALL_WRITTEN}")


def _section_3(data: _Data) -> Iterator[Cell]:
    where = "Section 3.1"
    for name, table in (("Wikinews", data.news), ("Wikipedia", data.wikipedia)):
        yield Cell(where, f"{name}, sentences in dev", 500, len({verb.sentence for verb in table.verbs}), 0)
    yield Cell(where, "roles per predicate, this work", 2.9, _gold_roles(data), 1, _DEV_ONLY)
    yield Cell(where, "roles per predicate, Dense", 2.3, _dense_roles(data), 1, f"{_DEV_ONLY} {_ALL_WRITTEN}")
    no_pay = "Payments are not published."
    yield Cell(where, "cost per predicate, cents", 54.2, None, 1, no_pay)
    yield Cell(where, "cost per predicate of Dense, cents", 51, None, 0, no_pay)


def _gold_roles(data: _Data) -> float:
    """Per verb."""
    tables = (data.news, data.wikipedia)
    roles = sum(np.count_nonzero(table.rows.question >= 0) for table in tables)
    return roles / sum(len(table.verbs) for table in tables)


def _dense_roles(data: _Data) -> float:
    """Per verb of the gold standard."""
    wanted = {*data.news.verbs, *data.wikipedia.verbs}
    there = np.array([verb in wanted for verb in data.dense.verbs])
    rows = data.dense.rows
    return int(np.count_nonzero(there[rows.verb] & (rows.question >= 0))) / len(wanted)


def _section_4(_data: _Data) -> Iterator[Cell]:
    where = "Section 4"
    yield Cell(where, "worker against worker, UA F1", 79.8, None, 1, _NOT_CONSOLIDATED)
    yield Cell(where, "consolidated by disjoint triplets, UA F1", 84.1, None, 1, _NOT_CONSOLIDATED)
    yield Cell(where, "agreement, LA F1", 67.8, None, 1, _NOT_CONSOLIDATED)
    for name, value in (("QAs", 1593), ("adjunct QAs", 604), ("QAs of 2015", 1315), ("adjunct QAs of 2015", 336)):
        yield Cell(where, f"PropBank sample, {name}", value, None, 0, _WSJ)


def _table_4(data: _Data) -> Iterator[Cell]:
    half = _HALF.format(verbs=len(data.experts.verbs))
    this_work = {"ua": (79.9, 89.4, 84.4), "la": (71.0, 79.5, 75.0)}
    dense = {"ua": (67.1, 69.5, 68.3), "la": (49.5, 51.3, 50.4)}
    by_hand = {
        "This work": {"ua": (88.0, 95.5, 91.6), "la": (88.0, 95.5, 91.6)},
        "Dense": {"ua": (86.4, 70.5, 77.6), "la": (83.1, 67.8, 74.7)},
    }
    for name, table, paper, why in (
        ("This work", data.news, this_work, half),
        ("Dense", data.dense, dense, half + _ALL_WRITTEN),
    ):
        ours = counts(statistics(align(table, data.experts, _RULES)))
        for measure in ("ua", "la"):
            yield from _three("Table 4", f"{name}, {measure.upper()} automatic", paper[measure], ours[measure], why)
            yield from _three("Table 4", f"{name}, {measure.upper()} manual", by_hand[name][measure], None, _BY_HAND)
    yield from _beyond_table_4(data)


def _beyond_table_4(data: _Data) -> Iterator[Cell]:
    """Results that the paper does not report: the complete dev part of Dense against the gold standard."""
    for name, gold in (("Wikinews", data.news), ("Wikipedia", data.wikipedia)):
        ours = counts(statistics(align(data.dense, gold, _RULES)))
        for measure in ("ua", "la"):
            named = f"Dense against the gold standard, {name} dev, {measure.upper()}"
            yield from _three(
                "In addition to Table 4", named, _NONE, ours[measure], "The paper does not report this number."
            )


def _table_5(_data: _Data) -> Iterator[Cell]:
    paper = {
        "This work": {"all": (73.3, 93.0, 82.0), "core": (87.3, 94.8, 90.9), "adjuncts": (43.4, 85.9, 57.7)},
        "He et al. (2015)": {"all": (81.7, 86.6, 84.1), "core": (86.6, 90.4, 88.5), "adjuncts": (59.7, 64.7, 62.1)},
    }
    for name, kinds in paper.items():
        for kind, values in kinds.items():
            yield from _three("Table 5", f"{name}, {kind}", values, None, _WSJ)


def _table_6(data: _Data) -> Iterator[Cell]:
    test = {"ua": (87.1, 50.2, 63.7), "la": (67.8, 39.1, 49.6)}
    dev = {"ua": (86.6, 58.8, 70.1), "la": (65.0, 44.2, 52.6)}
    manual = {"ua": (87.8, 66.5, 75.5), "la": (83.9, 64.3, 72.8)}
    for measure in ("ua", "la"):
        named = measure.upper()
        yield from _three("Table 6", f"Test, {named} automatic", test[measure], None, _NO_TEST)
        yield from _three("Table 6", f"Dev (Wikinews), {named} automatic", dev[measure], None, _NO_PARSER)
        yield from _three("Table 6", f"Dev (Wikinews), {named} manual", manual[measure], None, _BY_HAND)
    why = (
        "A different parser (seq2seq), evaluated only on the verbs that it parsed (one per sentence). The paper does "
        "not report this number."
    )
    parsed = None if data.parser is None else _on_its_verbs(data.parser, data.news)
    for measure in ("ua", "la"):
        named = f"Seq2seq parser, on its verbs in Wikinews dev, {measure.upper()}"
        ours = None if parsed is None else parsed[measure]
        yield from _three("In addition to Table 6", named, _NONE, ours, why)
    if data.our_parser is not None:
        yield from _by_our_parser(data.our_parser, data.news)


def _by_our_parser(system: QuestionAnswers, gold: QuestionAnswers) -> Iterator[Cell]:
    """Scores of Chorale's parser, first without redundant answers (as in the appendix of the paper), then with them."""
    why = "Chorale's own parser, not the one by FitzGerald et al. The paper does not report this number."
    for redundant, variant in ((True, ""), (False, ", redundant answers counted")):
        ours = counts(statistics(align(system, gold, replace(_RULES, redundant=redundant))))
        for measure in ("ua", "la"):
            named = f"Chorale's parser, Wikinews dev, {measure.upper()}{variant}"
            yield from _three("In addition to Table 6", named, _NONE, ours[measure], why)


def _on_its_verbs(system: QuestionAnswers, gold: QuestionAnswers) -> dict[str, Counts]:
    spoken_of = set(system.verbs)
    there = np.array([verb in spoken_of for verb in gold.verbs])
    return counts(statistics(align(system, gold.taken(there[gold.rows.verb]), _RULES)))


def _three(table: str, name: str, paper: _Three, ours: Counts | None, reason: str) -> Iterator[Cell]:
    """Precision, recall and F1, in percent."""
    scores = _NONE if ours is None else (ours.precision, ours.recall, ours.f1)
    for score, printed, value in zip(("P", "R", "F1"), paper, scores, strict=True):
        yield Cell(table, f"{name}, {score}", printed, None if value is None else 100 * value, 1, reason)


PAPER = Paper(
    "roit2020",
    "Controlled Crowdsourcing for High-Quality QA-SRL Annotation (Roit et al., ACL 2020)",
    REPOSITORIES,
    cells,
)
