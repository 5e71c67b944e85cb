"""Simulated workers who err as real ones did: fitted to judgments, by Dawid and Skene's model."""

from dataclasses import replace

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.dawid_skene import dawid_skene
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.judgments import Judgments
from chorale.rehearsal.simulated.models import WorkerModel

CAUTION = 5.0
"""How many judgments of the whole crowd are added to everybody's own: three of somebody's own are little evidence."""


def fit_workers(judgments: Judgments, like: WorkerModel) -> list[WorkerModel]:
    """A model for every worker: `like` in everything but how often they are right, and what they mistake for what.

    >>> votes = Judgments.from_columns([1, 1, 1, 2, 2, 2], ["a", "b", "c"] * 2, ["x", "x", "y", "y", "y", "y"])
    >>> [model.accuracy > 0.8 for model in fit_workers(votes, WorkerModel("fitted"))]
    [True, True, False]
    """
    aggregation = dawid_skene(judgments)
    given = aggregation.quality["judgments"]
    mean = float(np.average(aggregation.quality["accuracy"], weights=given))
    accuracies = (aggregation.quality["accuracy"] * given + mean * CAUTION) / (given + CAUTION)
    confusions = [{} for _ in aggregation.workers] if aggregation.multiple else _confusions(aggregation, given)
    return [
        replace(like, accuracy=float(accuracy), confusion=confusion, share=float(count))
        for accuracy, confusion, count in zip(accuracies, confusions, given, strict=True)
    ]


def _confusions(aggregation: Aggregation, given: FloatArray) -> list[dict[str, dict[str, float]]]:
    labels = aggregation.options
    errors = np.zeros((len(aggregation.workers), len(labels), len(labels)))
    errors[aggregation.details["error_workers"], aggregation.details["error_labels"]] = aggregation.details["errors"]
    crowd = np.average(errors, axis=0, weights=given)
    mixed = (errors * given[:, None, None] + crowd * CAUTION) / (given + CAUTION)[:, None, None]
    return [
        {
            true: {given_label: float(worker_errors[row, column]) for row, given_label in enumerate(labels)}
            for column, true in enumerate(labels)
        }
        for worker_errors in mixed
    ]
