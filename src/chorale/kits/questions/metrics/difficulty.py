"""Difficulty of questions for models: the 3PL model of item response theory (Nangia et al. 2021, section 5.4)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from chorale.kits.questions.files.questions import MISSING, McqQuestions
from chorale.metrics import FloatArray
from chorale.metrics.irt import IrtFit, fit_irt

FEW_MODELS = 20
"""Minimum number of responders for informative difficulties. The paper has 90."""


@dataclass(frozen=True, slots=True)
class Difficulties:
    fit: IrtFit
    models: tuple[str, ...]
    items: tuple[str, ...]
    groups: tuple[str, ...]
    """The file of each question."""
    difficulty: FloatArray

    def by_group(self) -> Mapping[str, FloatArray]:
        groups = np.array(self.groups)
        return {name: self.difficulty[groups == name] for name in dict.fromkeys(self.groups)}


def difficulties(
    files: Mapping[str, McqQuestions], *, progress: Callable[[int, int], None] | None = None
) -> Difficulties | None:
    """Fits all files together for a common scale. None if there are no model answers."""
    models = sorted({model for file in files.values() for model in file.models})
    columns: list[FloatArray] = []
    items: list[str] = []
    groups: list[str] = []
    for name, file in files.items():
        gold = file.majority()
        right = np.full((len(models), len(file)), np.nan)
        for row, model in enumerate(models):
            answers = file.models.get(model)
            if answers is not None:
                right[row] = np.where(answers == MISSING, np.nan, answers == gold)
        answered = (gold != MISSING) & ~np.isnan(right).all(axis=0)
        columns.append(right[:, answered])
        items += [file.ids[place] for place in np.flatnonzero(answered)]
        groups += [name] * int(answered.sum())
    if not items:
        return None
    fit = fit_irt(np.hstack(columns), progress=progress)
    return Difficulties(fit, tuple(models), tuple(items), tuple(groups), fit.difficulty.mean)
