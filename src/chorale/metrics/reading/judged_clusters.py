"""Clusters of items from columns of judgments, for `--cluster`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chorale.metrics.clusters import Clusters
from chorale.metrics.reading.cluster_columns import values_of_items
from chorale.metrics.reading.judged import Reading, judged_in
from chorale.model.problems import Problem, UserError


def judged_clusters(data: Any, reading: Reading, cluster: str | Sequence[str] | None) -> Clusters | None:
    """Cluster columns of judgments in any form. Each column is read like the labels."""
    columns = {}
    for name in Clusters.named(cluster):
        try:
            judgments = judged_in(data, replace(reading, label=name, sep=None, empty=None)).judgments
        except UserError as error:
            raise UserError(error.message, [_about_cluster(problem) for problem in error.problems]) from error
        pairs = zip(judgments.tasks.tolist(), judgments.labels.tolist(), strict=True)
        named = ((judgments.task_names[task], judgments.label_names[label]) for task, label in pairs)
        columns[name] = values_of_items(named, name)
    return Clusters.chosen(tuple(columns), columns)


def _about_cluster(problem: Problem) -> Problem:
    """The problem of a column that was read like the labels, with advice about its own option."""
    is_column = problem.fix.startswith("Name the column of labels with --label.")
    return replace(problem, fix="Name one of these columns with --cluster.") if is_column else problem
