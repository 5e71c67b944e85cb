"""The curves of frame disambiguation: how a system agrees with the crowd, from the best sentence to the worst.

As in Figure 2 of Dumitrache, Aroyo and Welty (2019). The area under a curve, over the number of sentences, is the AUC.
"""

from collections.abc import Mapping

import numpy as np

from chorale.kits.frames.metrics.agreement import FrameAgreement
from chorale.metrics import FloatArray
from chorale.present.svg import Axis, Curve, curve_chart, stacked, standalone

_MOST_POINTS = 300
"""Of a curve: more than these can't be told apart in a picture."""


def frame_curves(systems: Mapping[str, FrameAgreement]) -> str:
    """An SVG file with the curves of Kendall's τ and of the cosine, one for each system."""
    panels = []
    for named, values in (
        ("Kendall's τ", {name: one.tau for name, one in systems.items()}),
        ("Cosine", {name: one.cosine for name, one in systems.items()}),
    ):
        curves = [
            Curve(name, _points(of_sentences), number, dash=number)
            for number, (name, of_sentences) in enumerate(values.items())
        ]
        title = f"{named} of every sentence, in descending order"
        agreement = Axis(shown=lambda value: f"{value:.1f}", zero=True)
        chart = curve_chart(title, curves, Axis("sentences", zero=True), agreement)
        panels.append((title, chart))
    return standalone(stacked("How systems agree with the crowd, sentence by sentence", panels))


def _points(values: FloatArray) -> list[tuple[float, float]]:
    """In descending order; sentences that have no value are left out."""
    ordered = np.sort(values[~np.isnan(values)])[::-1]
    if not len(ordered):
        return []
    places = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST_POINTS)).round().astype(np.intp))
    return [(float(place + 1), float(ordered[place])) for place in places]
