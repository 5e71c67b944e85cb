"""The aggregation method `borda`: the best text of every task."""

from collections import defaultdict

import numpy as np

from chorale.metrics.aggregation.methods import MethodOptions
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.tie_draw import TIE
from chorale.metrics.judgments import Judgments
from chorale.model import UserError
from chorale_ranking.rankings import Ranking, borda_points, parse_ranking


def rankings_by_task(judgments: Judgments) -> dict[str, list[Ranking]]:
    """The rankings of every task."""
    try:
        ranked = [parse_ranking(label) for label in judgments.label_names]
    except ValueError as error:
        raise UserError(f"The judgments can't be used: {error}. Correct the label, or choose its column.") from None
    said: dict[str, list[Ranking]] = defaultdict(list)
    for task, label in zip(judgments.tasks.tolist(), judgments.labels.tolist(), strict=True):
        said[judgments.task_names[task]].append(ranked[label])
    return said


def borda(judgments: Judgments, _options: MethodOptions, _progress: Progress | None) -> Aggregation:
    """Labels such as `b>a>c` are votes; the probability of a text is its share of the task's Borda points."""
    said = rankings_by_task(judgments)
    texts = tuple(sorted({name for votes in said.values() for vote in votes for name in vote}))
    shares = np.zeros((len(judgments.task_names), len(texts)))
    for row, task in enumerate(judgments.task_names):
        points = borda_points((vote, 1.0) for vote in said[task])
        total = sum(points.values())
        for name, number in points.items():
            shares[row, texts.index(name)] = number / total if total else 1 / len(points)
    first = np.asarray([texts.index(parse_ranking(label)[0]) for label in judgments.label_names])
    workers = len(judgments.worker_names)
    made = np.bincount(judgments.workers, minlength=workers).astype(np.float64)
    ranked = shares[judgments.tasks, first[judgments.labels]] >= shares.max(axis=1)[judgments.tasks] - TIE
    agreed = np.bincount(judgments.workers[ranked], minlength=workers) / np.maximum(made, 1)
    quality = {"agreement": agreed, "judgments": made}
    return Aggregation(judgments.task_names, texts, shares, judgments.worker_names, quality, notes=judgments.notes)
