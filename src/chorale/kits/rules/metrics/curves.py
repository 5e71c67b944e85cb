"""Evaluates how well scored inference rules predict the valid applications.

Applications are ranked by the score of their rule. At any threshold,

    precision = valid applications so far / applications so far
    recall    = valid applications so far / all valid applications

All valid applications count, including those of rules that a resource lacks: a resource with few rules has low recall
(Zeichner, Berant and Dagan 2012). Applications with equal scores form one point.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chorale.kits.rules.files.rules import JudgedApplication, Rule
from chorale.metrics import FloatArray, Metric, Statistics, f1_of, ratio
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

Area = Literal["step", "trapezoid", "above-half"]
_NO_RULE = -1


@dataclass(frozen=True, slots=True, eq=False)
class RuleCurve:
    """The points of a recall–precision curve, from the highest score to the lowest."""

    thresholds: FloatArray
    precision: FloatArray
    recall: FloatArray

    def __repr__(self) -> str:
        return brief_repr("RuleCurve", plural(len(self.thresholds), "point", "points"))

    def area(self, rule: Area = "step") -> float:
        """Step: Σ (R_i − R_{i−1}) · P_i, average precision. Trapezoid: the mean of P_i and P_{i−1} instead of P_i, with
        P_0 = P_1.

        Above-half: trapezoids between the points with precision above 0.5, as in papers on Levy/Holt (Hosseini et al.
        2018). The area to the left of the first point does not count.
        """
        precision = self.precision
        if rule == "above-half":
            kept = precision > 0.5
            return float(np.trapezoid(precision[kept], self.recall[kept]))
        if rule == "trapezoid" and len(precision):
            precision = (precision + np.r_[precision[0], precision[:-1]]) / 2
        return float(np.diff(self.recall, prepend=0.0) @ precision)

    def best(self) -> tuple[float, float, float, float | None]:
        """Precision, recall, F1 and threshold at the highest F1; for ties, at the highest threshold."""
        if not len(self.thresholds):
            return 0.0, 0.0, 0.0, None
        f1 = f1_of(self.precision, self.recall)
        best = int(np.argmax(f1))
        return float(self.precision[best]), float(self.recall[best]), float(f1[best]), float(self.thresholds[best])

    def precision_at(self, recall: float) -> float | None:
        """The highest precision with at least this recall, or None if the curve does not reach it."""
        reached = self.recall >= recall - 1e-12
        return float(self.precision[reached].max()) if reached.any() else None


@dataclass(frozen=True, slots=True, eq=False)
class RuleScores:
    """Scores of a resource on judged applications."""

    curve: RuleCurve
    auc: float
    precision: float
    """Precision, recall and F1 are at the point with the highest F1; for ties, with the highest threshold."""
    recall: float
    f1: float
    threshold: float | None
    """The score at that point, or None if no application has a rule."""
    applications: int
    entailing: int
    covered: int
    """Number of applications whose rule is in the resource."""
    covered_entailing: int

    @property
    def coverage(self) -> float:
        return self.covered / self.applications if self.applications else 0.0


def scores_of_applications(applications: Sequence[JudgedApplication], rules: Mapping[Rule, float]) -> FloatArray:
    """The score of each application's rule; NaN if it is not in the resource.

    A rule matches if both predicates and the order of arguments are the same.
    """
    return np.array([rules.get(application.rule, np.nan) for application in applications], dtype=np.float64)


def evaluate_rules(scores: FloatArray, entails: NDArray[np.bool_], *, area: Area = "step") -> RuleScores:
    """Computes the scores from the score of every application (NaN without a rule) and whether it is valid.

    >>> found = evaluate_rules(np.array([0.9, 0.5, 0.5, np.nan]), np.array([True, True, False, True]))
    >>> round(found.auc, 4), round(found.f1, 4), found.coverage
    (0.5556, 0.6667, 0.75)
    """
    if len(scores) != len(entails):
        raise ValueError(f"{len(scores)} scores do not match {len(entails)} judgments")
    curve = curve_of(scores, entails)
    precision, recall, f1, threshold = curve.best()
    covered = ~np.isnan(scores)
    return RuleScores(
        curve=curve,
        auc=curve.area(area),
        precision=precision,
        recall=recall,
        f1=f1,
        threshold=threshold,
        applications=len(scores),
        entailing=int(entails.sum()),
        covered=int(covered.sum()),
        covered_entailing=int(entails[covered].sum()),
    )


def curve_of(scores: FloatArray, entails: NDArray[np.bool_]) -> RuleCurve:
    covered = ~np.isnan(scores)
    thresholds, places = np.unique(-scores[covered], return_inverse=True)
    return _curve(places, entails[covered].astype(np.float64), -thresholds, float(entails.sum()))


def _curve(places: NDArray[np.intp], entails: FloatArray, thresholds: FloatArray, all_entailing: float) -> RuleCurve:
    """One point per threshold with applications, from the index of each application's threshold."""
    there = np.bincount(places, minlength=len(thresholds))
    right = np.bincount(places, weights=entails, minlength=len(thresholds)).astype(np.float64)
    used = there > 0
    right_so_far = np.cumsum(right[used])
    precision = ratio(right_so_far, np.cumsum(there[used], dtype=np.float64))
    return RuleCurve(thresholds[used], precision, ratio(right_so_far, np.asarray(all_entailing)))


def rule_statistics(
    items: Sequence[str],
    scores: FloatArray,
    entails: NDArray[np.bool_],
    *,
    area: Area = "step",
    at_recall: Sequence[float] = (),
    with_threshold: bool = False,
) -> tuple[Statistics, Metric]:
    """The rank and validity of every application, and a metric that scores any sample of these rows.

    A rank is the number of applications with a higher score. Ranks of two resources can be exchanged in a randomisation
    test; their scores cannot, because they may be on different scales. The threshold, which is a score, is therefore
    only defined for a single resource. The area is not a sum over applications. If the curve of a sample does not reach
    a recall, the precision there is 0.
    """
    covered = ~np.isnan(scores)
    ranks = np.full(len(scores), float(_NO_RULE))
    in_order = np.sort(-scores[covered])
    ranks[covered] = np.searchsorted(in_order, -scores[covered])
    points = [(f"precision_at_recall_{recall:g}", recall) for recall in at_recall]

    def formula(rows: FloatArray) -> dict[str, float]:
        has_rule = rows[:, 0] > _NO_RULE
        places = rows[has_rule, 0].astype(np.intp)
        curve = _curve(places, rows[has_rule, 1], -in_order, float(rows[:, 1].sum()))
        precision, recall, f1, threshold = curve.best()
        scores = {
            "auc": curve.area(area),
            "precision": precision,
            "recall": recall,
            "f1": f1,
            "coverage": float(has_rule.mean()),
        }
        if with_threshold:
            scores["threshold"] = threshold or 0.0
        return scores | {name: curve.precision_at(least) or 0.0 for name, least in points}

    rows = np.column_stack([ranks, entails.astype(np.float64)])
    return Statistics(tuple(items), rows), Metric(formula, additive=False)
