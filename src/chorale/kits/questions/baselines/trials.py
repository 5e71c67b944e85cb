"""Accuracy of a model on unseen questions: cross-validation, and transfer from other questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from chorale.kits.questions.baselines.choice_models import ChoiceModel, FittedChoice
from chorale.kits.questions.baselines.examples import ChoiceExample, Given
from chorale.metrics import Metric, Statistics

NONE_CHOSEN = -1
"""The choice of a model that gives no option a probability."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelTrial:
    """The answers of a model to unseen questions, sorted by question ID."""

    ids: tuple[str, ...]
    chosen: NDArray[np.intp]
    right: NDArray[np.bool_]
    fold: NDArray[np.intp]
    """The test fold of each question; 0 if there is only one."""
    guessing: float
    """Chance accuracy: the mean of 1 / number of options."""

    @property
    def accuracy(self) -> float:
        return float(self.right.mean())

    @property
    def deviation(self) -> float | None:
        """Sample standard deviation over folds; None if there is only one."""
        accuracies = [self.right[self.fold == number].mean() for number in np.unique(self.fold)]
        return float(np.std(accuracies, ddof=1)) if len(accuracies) > 1 else None

    def statistics(self) -> Statistics:
        """Statistics for intervals and tests, one row per question."""
        return Statistics(self.ids, np.column_stack([self.right, np.ones(len(self.right))]).astype(np.float64))


def accuracy_metric() -> Metric:
    return Metric(
        lambda sums: {"accuracy": sums[..., 0] / sums[..., 1]}, wholes=lambda sums: {"accuracy": sums[..., 1]}
    )


def cross_validate(
    model: ChoiceModel, examples: Sequence[ChoiceExample], given: Given, *, folds: int = 5, seed: int = 1
) -> ModelTrial:
    """Tests every question once, with a model trained on the other folds.

    Questions about the same passage are in the same fold, so no passage is in both training and test data. The fold
    depends only on the seed and the passage, and folds are as equal in size as passages allow.
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
    model: ChoiceModel, sets: Mapping[str, Sequence[ChoiceExample]], given: Given, *, folds: int = 5, seed: int = 1
) -> dict[tuple[str, str], ModelTrial]:
    """For every pair of sets (target, source), the accuracy on the target of models trained on the source.

    If the sets share passages, as the arms of a trial do, the target is tested in folds. The model for a fold is
    trained without the passages of the fold.
    """
    return {
        (target, source): _transferred(model, sets[target], sets[source], given, folds, seed)
        for target, source in permutations(sets, 2)
    }


def _transferred(
    model: ChoiceModel,
    target: Sequence[ChoiceExample],
    source: Sequence[ChoiceExample],
    given: Given,
    folds: int,
    seed: int,
) -> ModelTrial:
    asked = sorted(target, key=lambda one: one.id)
    fold = _folds_apart(asked, source, folds, seed)
    chosen = np.zeros(len(asked), dtype=np.intp)
    for number in np.unique(fold):
        inside = np.flatnonzero(fold == number)
        tested = {asked[place].passage for place in inside} - {""}
        learnt = [one.seen(given) for one in source if one.passage not in tested]
        chosen[inside] = _chosen(model.fit(learnt, seed), [asked[place].seen(given) for place in inside])
    return _trial(asked, chosen, fold)


def _folds_apart(
    asked: Sequence[ChoiceExample], source: Sequence[ChoiceExample], folds: int, seed: int
) -> NDArray[np.intp]:
    """The fold of each target question; 0 without overlap.

    For every fold, there are source questions about other passages to train on.
    """
    passages = {one.passage for one in source} - {""}
    if passages.isdisjoint(one.passage for one in asked):
        return np.zeros(len(asked), dtype=np.intp)
    ordered = sorted(source, key=lambda one: one.id)
    of_passage = dict(zip((one.passage for one in ordered), folds_of(ordered, folds, seed), strict=True))
    places = [of_passage.get(one.passage, place % folds) for place, one in enumerate(asked)]
    return np.asarray(places, dtype=np.intp)


def folds_of(examples: Sequence[ChoiceExample], folds: int, seed: int) -> NDArray[np.intp]:
    """The fold of each example. Passages are assigned in random order to the smallest fold."""
    passages: dict[str, list[int]] = {}
    for place, example in enumerate(examples):
        passages.setdefault(example.passage or example.id, []).append(place)
    if not 2 <= folds <= len(passages):
        raise ValueError(f"cannot make {folds} folds from {len(passages)} passages")

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
