"""Agreement of validators: Krippendorff's α for nominal answers, including "invalid".

The paper does not specify the records and votes for its Table 3. Two readings match the values in
its column “all”. Both are available: all questions with the writer's answer as an additional vote, and the kept
questions with only the validators' votes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chorale.kits.questions.files.questions import MISSING, McqQuestions
from chorale.kits.questions.metrics.outcomes import DISCARDED, outcomes_of
from chorale.metrics import FloatArray, Interval, Metric, Statistics
from chorale.metrics.agreement import Agreement, krippendorff_alpha
from chorale.metrics.judgments import Judgments
from chorale.metrics.sampling import interval_of

AlphaVariant = Literal["with-writer", "kept"]
ALPHA_VARIANTS: tuple[AlphaVariant, ...] = ("with-writer", "kept")


@dataclass(frozen=True, slots=True)
class McqAlpha:
    """Values of α. A value is None if no question has two votes, or if all votes are equal."""

    all: float | None
    resampled: float | None
    """α of the questions with more votes than needed for the gold."""
    evidence: Mapping[str, tuple[Statistics, Metric]] = field(default_factory=dict, repr=False)
    """Statistics of each defined α: one row per question of the file, counted or not."""


def mcq_alpha(
    questions: McqQuestions, variant: AlphaVariant = "with-writer", *, drawn: int = 4, options: int | None = None
) -> McqAlpha:
    """α of the votes in a file. A question is kept if all its votes and the writer's have a majority for one option.

    To compare with a file with more options, set `options` to the maximum over both files.
    """
    many = questions.votes.sum(axis=1) > drawn
    if variant == "with-writer":
        counted, table = np.ones(len(questions), dtype=bool), questions.with_writers
    else:
        counted, table = questions.majority() != MISSING, questions.votes
    if options is not None and options > questions.invalid:
        more = np.zeros((len(table), options - questions.invalid), dtype=table.dtype)
        table = np.hstack([table[:, :-1], more, table[:, -1:]])
    alphas = {"all": _alpha(questions, table, counted), "resampled": _alpha(questions, table, counted & many)}
    values = {name: None if one.value is None else float(one.value) for name, one in alphas.items()}
    evidence = {name: one.statistics(all_items=True) for name, one in alphas.items() if one.value is not None}
    return McqAlpha(values["all"], values["resampled"], evidence)


def _alpha(questions: McqQuestions, table: NDArray[np.int64], counted: NDArray[np.bool_]) -> Agreement:
    """α of the counted questions. Workers are positions among the votes of a question, because α ignores
    identities.
    """
    table = np.where((counted & (table.sum(axis=1) > 1))[:, None], table, 0)
    tasks, labels = np.nonzero(table)
    counts = table[tasks, labels]
    tasks, labels = np.repeat(tasks, counts), np.repeat(labels, counts)
    sizes = table.sum(axis=1)
    workers = np.arange(len(tasks)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    answers = tuple(str(number) for number in range(table.shape[1]))
    return krippendorff_alpha(
        Judgments(
            tasks=tasks.astype(np.int32),
            workers=workers.astype(np.int32),
            labels=labels.astype(np.int32),
            task_names=questions.ids,
            worker_names=tuple(str(number) for number in range(int(sizes.max(initial=0)))),
            label_names=answers,
            options=answers,
        )
    )


@dataclass(frozen=True, slots=True)
class DrawnAlpha:
    """α of the validators' votes on the questions kept by a sample of the gold votes: mean and central 95% over
    samples.
    """

    value: float
    interval: Interval


def alpha_over_draws(
    questions: McqQuestions, *, drawn: int = 4, draws: int = 1000, seed: int = 1
) -> dict[str, DrawnAlpha]:
    """α over all kept questions (`all`), and over the kept questions with remaining votes (`resampled`), if any.

    The kept questions depend on the sample, and so does α. All four values of Table 3 that the published data cover are
    within these intervals; no reading without sampling matches all of them.
    """
    votes = questions.votes.astype(np.float64)
    sizes = votes.sum(axis=1)
    possible = (
        outcomes_of(tuple(row), int(writer), drawn)
        for row, writer in zip(questions.votes.tolist(), questions.writers, strict=True)
    )
    chance = np.array([sum(one.probability for one in outcomes if one.gold != DISCARDED) for outcomes in possible])
    kept = np.random.default_rng(seed).random((draws, len(questions))) < chance
    alphas = {}
    for name, counted in (("all", sizes > 1), ("resampled", sizes > drawn)):
        values = _alphas(votes, np.where(counted, kept, False))
        if values is not None:
            alphas[name] = DrawnAlpha(float(values.mean()), interval_of(values))
    return alphas


def _alphas(votes: FloatArray, kept: NDArray[np.bool_]) -> FloatArray | None:
    """α for every row of `kept`; None if the expected disagreement is zero."""
    sizes = votes.sum(axis=1)
    apart = np.divide(sizes**2 - (votes**2).sum(axis=1), sizes - 1, out=np.zeros_like(sizes), where=sizes > 1)
    chosen = kept.astype(np.float64)
    observed, totals = chosen @ apart, chosen @ votes
    everything = totals.sum(axis=1)
    expected = everything**2 - (totals**2).sum(axis=1)
    if not len(votes) or not (expected > 0).all():
        return None
    return np.asarray(1 - observed * (everything - 1) / expected, dtype=np.float64)
