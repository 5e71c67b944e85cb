"""What a fitted aggregator has to say for itself: how certain it is, with intervals and a signature."""

from collections.abc import Mapping
from typing import Any

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.dataframes import Table
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.aggregation.task_evidence import task_evidence
from chorale.metrics.aggregation.worker_evidence import worker_evidence
from chorale.metrics.reading.judged import judgments_digest
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.scoring.aggregation import aggregation_scored
from chorale.metrics.scoring.aggregation_intervals import with_intervals
from chorale.metrics.signatures import Setting, signature


def fitted_score(
    method: str,
    parameters: Mapping[str, Any],
    table: Table,
    result: Aggregation,
    trust: FloatArray | None,
    more: Mapping[str, str],
) -> Score:
    """The mean certainty over tasks, with its interval; tables have the least certain tasks and the weakest workers.

    `more` are digests of what the labels rest on beside the judgments.
    """
    resampling = Resampling(ci=True)
    settings: dict[str, Setting] = {"method": method, **{name: _setting(value) for name, value in parameters.items()}}
    inputs = {**(table.inputs or {"data": judgments_digest(table.judgments)}), **more}
    line = signature("aggregate", {**settings, **resampling.settings()}, inputs)
    scored = aggregation_scored(result, method=method, signature=line, for_scripts=False)
    evidence = (
        worker_evidence(table.judgments, method, result),
        task_evidence(table.judgments, method, result, trust=trust),
    )
    return with_intervals(scored, result, evidence, resampling, for_scripts=False)


def _setting(value: Any) -> Setting:
    return value if value is None or isinstance(value, bool | int | float | str) else type(value).__name__
