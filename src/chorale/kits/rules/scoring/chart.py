"""The curves of resources of rules as a picture that stands alone."""

from collections.abc import Mapping, Sequence

import numpy as np

from chorale.kits.rules.metrics.curves import RuleScores
from chorale.present.svg import Axis, Curve, curve_chart, standalone

_MOST_POINTS = 2000
_FEW = 3
"""A curve of at most so many points is drawn with dots, and named beside the last."""


def rule_chart(scores: Mapping[str, RuleScores]) -> str:
    """Precision over recall, a line for every resource, as an SVG file."""
    curves = []
    for number, (name, score) in enumerate(scores.items()):
        few = len(score.curve.recall) <= _FEW
        label = f"{name} (area {score.auc:.3f})"
        curves.append(Curve(label, _points(score), number, dash=number, dots=few, tag=name if few else ""))
    reached = max((recall for curve in curves for recall, _ in curve.drawn), default=1.0)
    recall = Axis("recall, of all valid applications", low=0, high=min(1.0, reached * 1.05) or 1.0)
    title = "Precision and recall of rules"
    return standalone(curve_chart(title, curves, recall, Axis("precision", low=0, high=1), height=420))


def _points(score: RuleScores) -> Sequence[tuple[float, float]]:
    """At most so many, evenly over recall, the first and the last among them."""
    curve = score.curve
    places = np.arange(len(curve.recall))
    if len(places) > _MOST_POINTS:
        places = np.unique(np.searchsorted(curve.recall, np.linspace(curve.recall[0], curve.recall[-1], _MOST_POINTS)))
    return [(float(curve.recall[place]), float(curve.precision[place])) for place in places]
