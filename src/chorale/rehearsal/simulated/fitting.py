"""Simulated workers who err as real ones did: fitted to judgments, by Dawid and Skene's model."""

from dataclasses import replace

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.dawid_skene import dawid_skene
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.judgments import Judgments
from chorale.rehearsal.simulated.models import WorkerModel

CAUTION = 5.0
"""How many judgments of the whole crowd are added to everybody's own: who gave three tells little about themselves."""


def fit_workers(judgments: Judgments, like: WorkerModel) -> list[WorkerModel]:
    """A model for every worker: `like` in everything but how often they are right, and what they mistake for what.

    >>> votes = Judgments.from_columns([1, 1, 1, 2, 2, 2], ["a", "b", "c"] * 2, ["x", "x", "y", "y", "y", "y"])
    >>> [model.accuracy > 0.8 for model in fit_workers(votes, WorkerModel("fitted"))]
    [True, True, False]
    """
    found = dawid_skene(judgments)
    given = found.quality["judgments"]
    mean = float(np.average(found.quality["accuracy"], weights=given))
    accuracies = (found.quality["accuracy"] * given + mean * CAUTION) / (given + CAUTION)
    confusions = [{} for _ in found.workers] if found.multiple else _confusions(found, given)
    return [
        replace(like, accuracy=float(accuracy), confusion=confusion, share=float(count))
        for accuracy, confusion, count in zip(accuracies, confusions, given, strict=True)
    ]


def _confusions(found: Aggregation, given: FloatArray) -> list[dict[str, dict[str, float]]]:
    labels = found.options
    errors = np.zeros((len(found.workers), len(labels), len(labels)))
    errors[found.details["error_workers"], found.details["error_labels"]] = found.details["errors"]
    crowd = np.average(errors, axis=0, weights=given)
    mixed = (errors * given[:, None, None] + crowd * CAUTION) / (given + CAUTION)[:, None, None]
    return [
        {true: {said: float(one[row, column]) for row, said in enumerate(labels)} for column, true in enumerate(labels)}
        for one in mixed
    ]
