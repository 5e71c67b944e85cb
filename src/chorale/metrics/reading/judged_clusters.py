"""Clusters of items from columns of judgments, for `--cluster`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chorale.metrics.clusters import Clusters
from chorale.metrics.reading.cluster_columns import values_of_items
from chorale.metrics.reading.judged import Reading, judged_in


def judged_clusters(data: Any, reading: Reading, cluster: str | Sequence[str] | None) -> Clusters | None:
    """Cluster columns of judgments in any form. Each column is read like the labels."""
    columns = {}
    for name in Clusters.named(cluster):
        judgments = judged_in(data, replace(reading, label=name, sep=None, empty=None)).judgments
        pairs = zip(judgments.tasks.tolist(), judgments.labels.tolist(), strict=True)
        named = ((judgments.task_names[task], judgments.label_names[label]) for task, label in pairs)
        columns[name] = values_of_items(named, name)
    return Clusters.chosen(tuple(columns), columns)
