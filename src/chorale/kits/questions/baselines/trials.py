"""How well a model does on questions it has not learnt from: cross-validation, and transfer from other questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from chorale.kits.questions.baselines.choice_models import ChoiceModel, FittedChoice
from chorale.kits.questions.baselines.examples import ChoiceExample, Given
from chorale.metrics import Metric, Statistics

NONE_CHOSEN = -1
"""What a model chooses that holds no option likely."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelTrial:
    """A model's answers to questions it had not learnt from, sorted by the questions' ids."""

    ids: tuple[str, ...]
    chosen: NDArray[np.intp]
    right: NDArray[np.bool_]
    fold: NDArray[np.intp]
    """The fold in which each question was asked; 0 where there is but one."""
    guessing: float
    """What guessing would get: the mean of 1 over the number of options."""

    @property
    def accuracy(self) -> float:
        return float(self.right.mean())

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation over folds; None where there is but one."""
        accuracies = [self.right[self.fold == number].mean() for number in np.unique(self.fold)]
        return float(np.std(accuracies, ddof=1)) if len(accuracies) > 1 else None

    def statistics(self) -> Statistics:
        """For intervals and tests: a row a question."""
        return Statistics(self.ids, np.column_stack([self.right, np.ones(len(self.right))]).astype(np.float64))


def accuracy_metric() -> Metric:
    return Metric(
        lambda sums: {"accuracy": sums[..., 0] / sums[..., 1]}, wholes=lambda sums: {"accuracy": sums[..., 1]}
    )


def cross_validate(
    model: ChoiceModel, examples: Sequence[ChoiceExample], given: Given, *, folds: int = 5, seed: int = 1
) -> ModelTrial:
    """Every question is asked once, of a model that learnt from the other folds.

    Questions about the same passage are in the same fold, so that no passage is learnt from and asked about. Which fold
    follows from the seed and the passage alone; there are as many questions in each as passages allow.
    """
    ordered = sorted(examples, key=lambda one: one.id)
    fold = folds_of(ordered, folds, seed)
    shown = [one.seen(given) for one in ordered]
    chosen = np.zeros(len(ordered), dtype=np.intp)
    for number in range(folds):
        inside = np.flatnonzero(fold == number)
        fitted = model.fit([shown[place] for place in np.flatnonzero(fold != number)], seed)
        chosen[inside] = _chosen(fitted, [shown[place] for place in inside])
    return _trial(ordered, chosen, fold)


def transfer(
    model: ChoiceModel, sets: Mapping[str, Sequence[ChoiceExample]], given: Given, *, seed: int = 1
) -> dict[tuple[str, str], ModelTrial]:
    """For every pair of sets, how a model that learnt from the source (second) does on the target (first).

    Questions about passages that the target has as well are not learnt from.
    """
    trials = {}
    pairs = [(target, source) for target in sets for source in sets if target != source]
    for target, source in pairs:
        asked = sorted(sets[target], key=lambda one: one.id)
        known = {one.passage for one in asked if one.passage}
        learnt = [one.seen(given) for one in sets[source] if one.passage not in known]
        if not learnt:
            raise ValueError(f"{source} has no questions about passages that {target} has not")
        fitted = model.fit(learnt, seed)
        chosen = _chosen(fitted, [one.seen(given) for one in asked])
        trials[target, source] = _trial(asked, chosen, np.zeros(len(asked), dtype=np.intp))
    return trials


def folds_of(examples: Sequence[ChoiceExample], folds: int, seed: int) -> NDArray[np.intp]:
    """The fold of each example. Passages are assigned in random order, each to the smallest fold."""
    passages: dict[str, list[int]] = {}
    for place, example in enumerate(examples):
        passages.setdefault(example.passage or example.id, []).append(place)
    if not 2 <= folds <= len(passages):
        raise ValueError(f"{folds} folds can't be made of {len(passages)} passages")

    def drawn(passage: str) -> bytes:
        return sha256(f"{seed}\n{passage}".encode("utf-8", "surrogatepass")).digest()

    sizes = [0] * folds
    fold = np.zeros(len(examples), dtype=np.intp)
    for passage in sorted(passages, key=drawn):
        number = sizes.index(min(sizes))
        sizes[number] += len(passages[passage])
        fold[passages[passage]] = number
    return fold


def _chosen(fitted: FittedChoice, examples: Sequence[ChoiceExample]) -> NDArray[np.intp]:
    chances = fitted.predict(examples)
    return np.asarray([int(one.argmax()) if one.any() else NONE_CHOSEN for one in chances], dtype=np.intp)


def _trial(examples: Sequence[ChoiceExample], chosen: NDArray[np.intp], fold: NDArray[np.intp]) -> ModelTrial:
    return ModelTrial(
        tuple(one.id for one in examples),
        chosen,
        chosen == np.asarray([one.right for one in examples]),
        fold,
        float(np.mean([1 / len(one.options) for one in examples])),
    )
