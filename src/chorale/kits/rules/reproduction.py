"""Zeichner, Berant and Dagan (2012), Crowdsourcing Inference-Rule Evaluation.

The authors published the 6,567 applications with the crowd's judgment and its confidence. They did not publish the
single judgments, their own 200 judgments, or the four scored resources.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from chorale.kits.rules.files.rules import JudgedApplication, read_judged, read_rules
from chorale.kits.rules.metrics.curves import evaluate_rules, scores_of_applications
from chorale.reproduce.contract import Cell, NeededFile, Paper, PaperData, Repository

_ENTAILING = "zeichner/zeichner_entailingAnnotations.txt"
_NON_ENTAILING = "zeichner/zeichner_nonEntailingAnnotations.txt"
_RULE_SETS = {
    "Berant, untyped (TNCF, λ 0.1)": "zeichner/reverb-global-rules-lambda0.1.txt",
    "Berant, typed": "zeichner/berant-typed-rules.txt",
}
_STEPS = 4
_AREA = "Section 4, area under the curve"
_AREAS = {"DIRT": 0.40, "Cover": 0.43, "BInc": 0.44, "Berant et al.": 0.52}
_AGREEMENT = {
    "agreement with the authors, first test": 0.79,
    "κ with the authors, first test": 0.54,
    "false positives, first test": 0.18,
    "false negatives, first test": 0.04,
    "agreement with the authors, final test": 0.90,
    "κ with the authors, final test": 0.79,
    "false positives, final test": 0.06,
    "false negatives, final test": 0.05,
    "annotated unanimously": 0.63,
    "κ at confidence 0.7 and more": 0.99,
}

_NOT_RELEASED = "Not in the release, which has only applications judged with enough confidence."
_NO_SINGLE = "Neither the crowd's single judgments nor the authors' own 200 were published."
_NO_SCORES = "The resource with its scores was not published."
_BY_ORDER = (
    "The file does not state the task of an application. It is ordered by confidence, which starts again at 1 after "
    "the judgments of Task 2."
)
_WITHOUT_SCORES = (
    "A different set by the same authors, published without scores: its curve is a single point, and it contains few "
    "of the judged rules."
)


def _cells(data: PaperData, progress: Callable[[int, int], None]) -> Iterator[Cell]:
    entailing = _read(data, _ENTAILING)
    progress(1, _STEPS)
    non_entailing = _read(data, _NON_ENTAILING)
    progress(2, _STEPS)
    yield from _counts(entailing, non_entailing)
    yield from _unreleased()
    applications = [*entailing, *non_entailing]
    for done, (name, path) in enumerate(_RULE_SETS.items(), 3):
        yield from _of_published(name, path, data, applications)
        progress(done, _STEPS)


def _read(data: PaperData, path: str) -> Sequence[JudgedApplication]:
    return read_judged(data.needed(path)).applications


def _counts(entailing: Sequence[JudgedApplication], non_entailing: Sequence[JudgedApplication]) -> Iterator[Cell]:
    def cell(name: str, paper: float | None, ours: float | None, reason: str = "", digits: int = 0) -> Cell:
        return Cell("Section 4, counts", name, paper, ours, digits, reason)

    both = [*entailing, *non_entailing]
    yes = sum(application.entails for application in both)
    task_2 = _before_a_rise(non_entailing)
    yield cell("rule applications made", 20_000, None, _NOT_RELEASED)
    yield cell("meaningless left side", 281, None, _NOT_RELEASED)
    yield cell("passed on to Task 2", 8_264, None, _NOT_RELEASED)
    yield cell("discarded, low confidence", 10_443, None, _NOT_RELEASED)
    yield cell("annotated in all", 6_567, len(both))
    yield cell("entailing", 2_447, yes)
    yield cell("not entailing, by Task 2", 3_108, task_2, _BY_ORDER)
    yield cell("not entailing, meaningless right side", 1_012, len(both) - yes - task_2, _BY_ORDER)
    yield cell("judged in Task 2 with confidence", 5_555, yes + task_2, _BY_ORDER)
    known = [application.confidence for application in both if application.confidence is not None]
    yield cell("lowest confidence", 0.7, min(known, default=None), digits=1)
    sure = sum(confidence == 1 for confidence in known) / max(1, len(known))
    yield cell(
        "share with confidence 1", None, sure, "The paper does not report this number for all applications.", digits=2
    )


def _before_a_rise(applications: Sequence[JudgedApplication]) -> int:
    """Number of applications before the first one with a higher confidence than its predecessor."""
    confidence = np.array([application.confidence or 0.0 for application in applications])
    rises = np.flatnonzero(np.diff(confidence) > 0)
    return int(rises[0]) + 1 if len(rises) else len(applications)


def _unreleased() -> Iterator[Cell]:
    for name, paper in _AGREEMENT.items():
        yield Cell("Section 4, agreement on 200 applications", name, paper, None, 2, _NO_SINGLE)
    for name, paper in _AREAS.items():
        yield Cell(_AREA, name, paper, None, 2, _NO_SCORES)


def _of_published(name: str, path: str, data: PaperData, applications: Sequence[JudgedApplication]) -> Iterator[Cell]:
    file = data.find(path)
    if file is None:
        yield Cell(_AREA, f"{name}: area", None, None, 2, f"{path} does not exist.")
        return
    entails = np.array([application.entails for application in applications], dtype=np.bool_)
    scores = evaluate_rules(scores_of_applications(applications, read_rules(file).scores), entails)
    for measure, value in (
        ("area", scores.auc),
        ("precision", scores.precision),
        ("recall", scores.recall),
        ("share of applications whose rule is in the set", scores.coverage),
    ):
        yield Cell(_AREA, f"{name}: {measure}", None, value, 2, _WITHOUT_SCORES)


def _repository(commit: str, *files: NeededFile) -> Repository:
    return Repository("simulacrum6/arid", "https://github.com/simulacrum6/arid", commit, "not stated", files)


PAPER = Paper(
    name="zeichner2012",
    title="Crowdsourcing Inference-Rule Evaluation (Zeichner, Berant and Dagan, ACL 2012)",
    repositories=(
        _repository(
            "722b2a7b99d9767c9117cb4fa4de9fce2127beed",
            NeededFile(_ENTAILING, "resources/original-datasets/zeichner_entailingAnnotations.txt", "fd050026"),
            NeededFile(_NON_ENTAILING, "resources/original-datasets/zeichner_nonEntailingAnnotations.txt", "38764c04"),
        ),
        _repository(
            "06adff939b069cee5f80fecbe89593ff7fcb4173",
            NeededFile(
                "zeichner/reverb-global-rules-lambda0.1.txt",
                "resources/EntailmentGraph/reverb_global_clsf_all_tncf_lambda_0.1.txt",
                "91b5b198",
                optional=True,
            ),
        ),
        _repository(
            "e696230cc1dd261c15ad186824f1767979357d27",
            NeededFile(
                "zeichner/berant-typed-rules.txt",
                "resources/entailment-graph/original-edgelist.txt",
                "7657f4a1",
                optional=True,
            ),
        ),
    ),
    cells=_cells,
)
