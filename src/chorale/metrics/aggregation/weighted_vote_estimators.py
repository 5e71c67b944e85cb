"""M-MSR, KOS and zero-based skill as classes, with the interface of crowd-kit."""

from dataclasses import dataclass, field
from typing import Any

from chorale.metrics.aggregation.dataframes import Table
from chorale.metrics.aggregation.estimators import Fitted
from chorale.metrics.aggregation.kos import kos
from chorale.metrics.aggregation.limits import check_limits
from chorale.metrics.aggregation.mmsr import mmsr
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.aggregation.zero_based_skill import zero_based_skill


@dataclass(eq=False)
class MMSR(Fitted):
    """M-MSR (Ma and Olshevsky 2020): worker accuracies from pairwise agreement, robust to adversarial workers."""

    command_name = "mmsr"

    n_iter: int = 10_000
    tol: float = 1e-10
    random_state: int = 0
    skills_: Any = field(init=False, repr=False)
    """The weight of each worker's vote."""

    def __post_init__(self) -> None:
        check_limits(self.n_iter, self.tol)

    def _aggregated(self, table: Table) -> Aggregation:
        result = mmsr(table.judgments, iterations=self.n_iter, tolerance=self.tol, seed=self.random_state)
        self.skills_ = table.of_workers(result.details["weights"], "skill")
        return result


@dataclass(eq=False)
class KOS(Fitted):
    """KOS (Karger et al. 2014): tasks and workers exchange messages about reliability. Only for two labels."""

    command_name = "kos"

    n_iter: int = 100
    random_state: int = 0

    def __post_init__(self) -> None:
        check_limits(self.n_iter, 0.0)

    def _aggregated(self, table: Table) -> Aggregation:
        return kos(table.judgments, iterations=self.n_iter, seed=self.random_state)


@dataclass(eq=False)
class ZeroBasedSkill(Fitted):
    """A vote that weights workers by their skill: how often they agree with the weighted vote."""

    command_name = "zero-based-skill"

    n_iter: int = 100
    lr_init: float = 1.0
    lr_steps_to_reduce: int = 20
    lr_reduce_factor: float = 0.5
    eps: float = 1e-5
    skills_: Any = field(init=False, repr=False)
    """Agreement rate of each worker with the weighted vote."""

    def _aggregated(self, table: Table) -> Aggregation:
        result = zero_based_skill(
            table.judgments,
            iterations=self.n_iter,
            rate=self.lr_init,
            rounds_to_reduce=self.lr_steps_to_reduce,
            factor=self.lr_reduce_factor,
            above_guessing=self.eps,
            ties=self.ties,
        )
        self.skills_ = table.of_workers(result.quality["skill"], "skill")
        return result
