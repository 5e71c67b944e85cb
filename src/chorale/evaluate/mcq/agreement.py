"""How far validators agree: Krippendorff's α, for nominal answers ("invalid" is one of them).

The paper does not say which records and votes entered its Table 3. Two readings match its values over all questions, so
both are offered: all questions with the writer's answer as one more vote, and the kept questions with the validators'
votes alone.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chorale.agreement import krippendorff_alpha
from chorale.formats.judgments import Judgments
from chorale.formats.mcq_files import McqQuestions

AlphaVariant = Literal["with-writer", "kept"]
ALPHA_VARIANTS: tuple[AlphaVariant, ...] = ("with-writer", "kept")


@dataclass(frozen=True, slots=True)
class McqAlpha:
    """None where there are not two votes on one question, or all votes are the same answer."""

    all: float | None
    resampled: float | None
    """Of the questions with more votes than make the gold."""


def mcq_alpha(questions: McqQuestions, variant: AlphaVariant = "with-writer", *, drawn: int = 4) -> McqAlpha:
    """α of a file's votes. A question is kept here if the majority of all its votes and the writer's says so."""
    with_writer = questions.votes.copy()
    with_writer[np.arange(len(questions)), questions.writers] += 1
    many = questions.votes.sum(axis=1) > drawn
    if variant == "with-writer":
        counted, table = np.ones(len(questions), dtype=bool), with_writer
    else:
        most = with_writer.max(axis=1)
        majority = 2 * most > with_writer.sum(axis=1)
        counted, table = majority & (with_writer.argmax(axis=1) != questions.invalid), questions.votes
    return McqAlpha(_alpha(table[counted]), _alpha(table[counted & many]))


def _alpha(table: NDArray[np.int64]) -> float | None:
    sizes = table.sum(axis=1)
    table = table[sizes > 1]
    if not len(table) or np.count_nonzero(table.sum(axis=0)) < 2:
        return None
    tasks, labels = np.nonzero(table)
    counts = table[tasks, labels]
    tasks, labels = np.repeat(tasks, counts), np.repeat(labels, counts)
    sizes = table.sum(axis=1)
    workers = np.arange(len(tasks)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    judgments = Judgments(
        tasks=tasks.astype(np.int32),
        workers=workers.astype(np.int32),
        labels=labels.astype(np.int32),
        task_names=tuple(str(number) for number in range(len(table))),
        worker_names=tuple(str(number) for number in range(int(sizes.max()))),
        label_names=tuple(str(number) for number in range(table.shape[1])),
        options=tuple(str(number) for number in range(table.shape[1])),
    )
    value = krippendorff_alpha(judgments).value
    return None if value is None else float(value)
