"""SemEval-2007 task 19 (Baker, Ellsworth and Erk 2007): frames and frame elements, with credit for near misses.

The correct frame on a target earns one point. A related frame earns 0.8 ** n, where n is the number of FrameNet
relations between the two frames, at most nine. A frame element with the correct span and name earns one point if it is
core to its frame, and half a point otherwise. Under a related frame, these points are multiplied by 0.8 ** n, provided
that n relations also connect the two elements. Precision divides the points by the maximum for the system's frames and
elements, recall by the maximum for the gold's.
"""

from collections.abc import Sequence

import numpy as np

from chorale.kits.srl.files import FrameRelations, Sentence, SrlPredicate
from chorale.kits.srl.metrics.names import Names
from chorale.kits.srl.metrics.outcome import (
    MetricOutcome,
    Of,
    fractions,
    fractions_metric,
    sentence_pairs,
    statistics_of,
)
from chorale.kits.srl.metrics.wholes import Whole, wholes
from chorale.metrics import FloatArray

COLUMNS = ("frames", "system_frames", "gold_frames", "elements", "system_elements", "gold_elements")
DECAY = 0.8
PERIPHERAL = 0.5


def semeval07(system: Sequence[Sentence], gold: Sequence[Sentence], *, relations: FrameRelations) -> MetricOutcome:
    """Scores frames (the senses of predicates) and frame elements (their arguments)."""
    rows = []
    names = Names()
    for theirs, ours in sentence_pairs(system, gold):
        by_position = {each.position: each for each in ours.predicates}
        points = [0.0] * len(COLUMNS)
        for predicate in ours.predicates:
            points[2] += 1
            points[5] += sum(_worth(predicate, whole, relations) for whole in wholes(ours, predicate, "span"))
        for other in theirs.predicates:
            returned = wholes(theirs, other, "span")
            points[1] += 1
            points[4] += sum(_worth(other, whole, relations) for whole in returned)
            predicate_there = by_position.get(other.position)
            if predicate_there is not None:
                expected = wholes(ours, predicate_there, "span")
                frame, elements = _earned(predicate_there, expected, other, returned, relations)
                points[0] += frame
                points[3] += elements
                if predicate_there.sense == other.sense:
                    names.right.append(other.sense)
        names.returned.extend([each.sense for each in theirs.predicates])
        names.wanted.extend([each.sense for each in ours.predicates])
        rows.append(points)
        names.close_sentence()
    statistics = statistics_of(rows)
    lost = statistics.rows @ np.asarray([-2.0, 1.0, 1.0, -2.0, 1.0, 1.0])
    wrong = np.ceil(np.round(lost, 9)).astype(np.int64)
    return MetricOutcome("semeval07", COLUMNS, statistics, fractions_metric(_formula), wrong, {"frames": names})


def _worth(predicate: SrlPredicate, whole: Whole, relations: FrameRelations) -> float:
    return PERIPHERAL if (predicate.sense, whole.label) in relations.peripheral else 1.0


def _earned(
    predicate: SrlPredicate,
    expected: list[Whole],
    other: SrlPredicate,
    returned: list[Whole],
    relations: FrameRelations,
) -> tuple[float, float]:
    """Points for the frame, and for its elements."""
    distance = 0 if predicate.sense == other.sense else relations.distance(predicate.sense, other.sense)
    if distance is None:
        return 0.0, 0.0
    elements = 0.0
    left = list(returned)
    for whole in expected:
        match = next((each for each in left if _same(predicate, whole, other, each, distance, relations)), None)
        if match is not None:
            left.remove(match)
            elements += _worth(other, match, relations) * DECAY**distance
    return DECAY**distance, elements


def _same(
    predicate: SrlPredicate, whole: Whole, other: SrlPredicate, answer: Whole, distance: int, relations: FrameRelations
) -> bool:
    if whole.place != answer.place:
        return False
    if distance == 0:
        return whole.label == answer.label
    apart = relations.element_distance((predicate.sense, whole.label), (other.sense, answer.label))
    return apart == distance


def _formula(sums: FloatArray, of: Of) -> dict[str, FloatArray]:
    frames, elements = sums[..., :3], sums[..., 3:]
    both = frames + elements
    return {
        **fractions("frame", frames[..., 0], frames[..., 1], frames[..., 2], of),
        **fractions("element", elements[..., 0], elements[..., 1], elements[..., 2], of),
        **fractions("all", both[..., 0], both[..., 1], both[..., 2], of),
    }
