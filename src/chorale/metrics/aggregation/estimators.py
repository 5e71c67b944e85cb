"""Aggregators as classes with `fit` and `fit_predict`, with the interface of crowd-kit.

For a pandas table they return pandas objects like those of crowd-kit; for other tables, Polars tables. Values keep
their type: a task with the number 7 stays the number 7.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from typing import Any, ClassVar, Literal, Self

import numpy as np

from chorale.files.source import digest_of
from chorale.metrics import FloatArray
from chorale.metrics.aggregation.dataframes import Table
from chorale.metrics.aggregation.dawid_skene import dawid_skene
from chorale.metrics.aggregation.glad import GladPriors, glad
from chorale.metrics.aggregation.limits import check_limits
from chorale.metrics.aggregation.mace import MaceSettings, mace
from chorale.metrics.aggregation.majority import agreement, majority
from chorale.metrics.aggregation.one_coin import one_coin
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.aggregation.task_evidence import task_evidence
from chorale.metrics.aggregation.ties import TieRule
from chorale.metrics.aggregation.trust import confidence
from chorale.metrics.aggregation.wawa import wawa
from chorale.metrics.aggregation.worker_evidence import worker_evidence
from chorale.metrics.reading.judged import judgments_digest
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.scoring.aggregation import aggregation_scored
from chorale.metrics.scoring.aggregation_intervals import with_intervals
from chorale.metrics.signatures import Setting, signature


@dataclass(eq=False)
class Estimator:
    """Common attributes after fitting."""

    labels_: Any = field(init=False, repr=False)
    """The label of each task."""
    probas_: Any = field(init=False, repr=False)
    """The probability of every label of each task."""
    _source_: Callable[[], Score] = field(init=False, repr=False)
    _answer_: Any = field(init=False, repr=False)
    ties: TieRule = field(default="random", kw_only=True)
    """Rule for tied labels; `first` is crowd-kit's rule."""
    ties_seed: int = field(default=1, kw_only=True)

    command_name: ClassVar[str]
    """Name in `--method`."""

    @property
    def score_(self) -> Score:
        """The certainty of the labels, with intervals, notes and a signature."""
        return self._source_()

    def _take(
        self,
        table: Table,
        result: Aggregation,
        *,
        trust: FloatArray | None = None,
        more: Mapping[str, str] | None = None,
    ) -> Self:
        """`more` are digests of additional input."""
        result = replace(result, tie_rule=self.ties, tie_seed=self.ties_seed)
        self.labels_ = table.labels(result)
        self.probas_ = table.probabilities(result)
        parameters = {one.name: getattr(self, one.name) for one in fields(self) if one.init}
        method = self.command_name if trust is None else "confidence"
        self._source_ = cache(partial(_fitted_score, method, parameters, table, result, trust, more or {}))
        self._answer_ = table.scored_labels(result, self._source_)
        return self


class Fitted(Estimator):
    """Base class of aggregators that learn only from judgments."""

    def fit(self, data: Any) -> Self:
        """Fits a table with the columns task, worker and label."""
        table = Table.of(data)
        return self._take(table, self._aggregated(table))

    def _aggregated(self, table: Table) -> Aggregation:
        raise NotImplementedError

    def fit_predict(self, data: Any) -> Any:
        """The label of each task."""
        return self.fit(data)._answer_

    def fit_predict_proba(self, data: Any) -> Any:
        """The probability of every label of each task."""
        return self.fit(data).probas_


Strategy = Literal["assign", "addition"]


@dataclass(eq=False)
class MajorityVote(Estimator):
    """The most frequent label of each task; `skills`, a mapping or pandas Series from worker to weight, weights votes.

    A worker without a skill has the default skill. Without a default, a missing skill is an error; with
    `on_missing_skill="ignore"`, the worker has no vote. A task without any votes is always an error.
    """

    command_name = "majority"

    default_skill: float | None = None
    on_missing_skill: Literal["error", "ignore", "value"] = "error"
    skills_: Any = field(init=False, repr=False)
    """Agreement rate of each worker with the aggregated labels."""

    def __post_init__(self) -> None:
        if self.on_missing_skill not in ("error", "ignore", "value"):
            raise ValueError(f"on_missing_skill must be error, ignore or value, not {self.on_missing_skill!r}")
        if self.on_missing_skill == "value" and self.default_skill is None:
            raise ValueError('on_missing_skill="value" requires default_skill')

    def fit(self, data: Any, skills: Any = None) -> Self:
        table = Table.of(data)
        weights = None if skills is None else self._weights(table, skills)
        result = majority(table.judgments) if weights is None else confidence(table.judgments, trust=weights)
        self.skills_ = table.of_workers(agreement(table.judgments, result.probabilities, self.ties), "skill")
        more = {} if weights is None else {"skills": digest_of(weights.tobytes())}
        return self._take(table, result, trust=weights, more=more)

    def _weights(self, table: Table, skills: Any) -> FloatArray:
        known = dict(skills.items())
        given = [known.get(worker, self.default_skill) for worker in table.worker_values]
        missing = np.array([weight is None for weight in given], dtype=np.bool_)
        if missing.any() and self.on_missing_skill == "error":
            name = table.worker_values[int(missing.argmax())]
            raise ValueError(f"worker {name!r} has no skill. Set default_skill, or give every worker a skill")
        judged = np.bincount(table.judgments.tasks[~missing[table.judgments.workers]], minlength=len(table.task_values))
        if not judged.all():
            task = f"task {table.task_values[int(judged.argmin())]!r}"
            raise ValueError(f"{task} has no judgments of workers with a skill. Remove the task, or set default_skill")
        return np.asarray([weight or 0.0 for weight in given], dtype=np.float64)[table.judgments.workers]

    def fit_predict(self, data: Any, skills: Any = None) -> Any:
        return self.fit(data, skills)._answer_

    def fit_predict_proba(self, data: Any, skills: Any = None) -> Any:
        return self.fit(data, skills).probas_


@dataclass(eq=False)
class Wawa(Fitted):
    """A vote that weights workers by how often they are in the majority (“worker agreement with aggregate”)."""

    command_name = "wawa"

    skills_: Any = field(init=False, repr=False)
    """Rate at which each worker is in the majority."""

    def _aggregated(self, table: Table) -> Aggregation:
        result = wawa(table.judgments, ties=self.ties)
        self.skills_ = table.of_workers(result.quality["skill"], "skill")
        self._skills = dict(zip(table.worker_values, result.quality["skill"].tolist(), strict=True))
        return result

    def predict(self, data: Any) -> Any:
        """Labels for other judgments by the same workers."""
        return self._voted(data).labels_

    def predict_proba(self, data: Any) -> Any:
        return self._voted(data).probas_

    def _voted(self, data: Any) -> MajorityVote:
        if not hasattr(self, "_skills"):
            raise ValueError("call fit before predict")
        return MajorityVote(ties=self.ties, ties_seed=self.ties_seed).fit(data, self._skills)


@dataclass(eq=False)
class _Iterating(Estimator):
    """Base class of the Dawid–Skene models."""

    n_iter: int = 100
    tol: float = 1e-5
    initial_error_strategy: Strategy | None = None
    priors_: Any = field(init=False, repr=False)
    """Prior probability of each label."""
    loss_history_: list[float] = field(init=False, repr=False)
    """The bound on the log-likelihood, per judgment, after each iteration."""

    def __post_init__(self) -> None:
        check_limits(self.n_iter, self.tol)
        if self.initial_error_strategy not in (None, "assign", "addition"):
            given = self.initial_error_strategy
            raise ValueError(f"initial_error_strategy must be assign, addition or None, not {given!r}")

    def _learnt(self, table: Table, result: Aggregation) -> None:
        self.priors_ = table.of_labels(result.details["priors"], "prior")
        self.loss_history_ = list(result.details["bounds"])


@dataclass(eq=False)
class DawidSkene(_Iterating):
    """Dawid and Skene (1979): a confusion matrix for every worker, and the labels that fit best.

    `true_labels` (a mapping or pandas Series from task to label) are fixed.

    `initial_error` is a table by worker and label with a column per true label. With the strategy `assign`, the first
    iteration uses it as the workers' errors, and it must have a row for every worker and label that the worker gave;
    with `addition`, it is added as counts to the estimate from the votes.
    """

    command_name = "dawid-skene"

    errors_: Any = field(init=False, repr=False)
    """Probability that a worker gives a label, given the true label."""

    def fit(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Self:
        table = Table.of(data)
        initial = None
        if initial_error is not None:
            if self.initial_error_strategy is None:
                raise ValueError("initial_error requires initial_error_strategy: assign or addition")
            initial = table.initial_errors(initial_error, replaces=self.initial_error_strategy == "assign")
        known = None
        if true_labels is not None:
            known = {str(task): str(label) for task, label in true_labels.items()}
        result = dawid_skene(table.judgments, iterations=self.n_iter, tolerance=self.tol, known=known, initial=initial)
        self._learnt(table, result)
        self.errors_ = table.errors(result)
        more = {} if known is None else {"true-labels": digest_of(repr(sorted(known.items())).encode())}
        more |= {} if initial is None else {"initial-error": digest_of(initial.values.tobytes())}
        return self._take(table, result, more=more)

    def fit_predict(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        return self.fit(data, true_labels, initial_error)._answer_

    def fit_predict_proba(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        return self.fit(data, true_labels, initial_error).probas_


@dataclass(eq=False)
class OneCoinDawidSkene(_Iterating, Fitted):
    """Dawid and Skene's model with one accuracy per worker: all wrong labels are equally likely.

    `initial_error_strategy` exists for compatibility with crowd-kit and has no effect.
    """

    command_name = "one-coin"

    skills_: Any = field(init=False, repr=False)
    """Accuracy of each worker."""

    def _aggregated(self, table: Table) -> Aggregation:
        result = one_coin(table.judgments, iterations=self.n_iter, tolerance=self.tol)
        self._learnt(table, result)
        self.skills_ = table.of_workers(result.quality["skill"], "skill")
        return result


@dataclass(eq=False)
class MACE(Fitted):
    """MACE (Hovy et al. 2013): each worker knows the label with some probability, and otherwise guesses.

    Unlike in crowd-kit, restarts differ from each other and stop on convergence.

    `verbose` exists for compatibility with crowd-kit and has no effect.
    """

    command_name = "mace"

    n_restarts: int = 10
    n_iter: int = 50
    method: Literal["vb", "em"] = "vb"
    smoothing: float = 0.01
    default_noise: float = 0.5
    alpha: float = 0.5
    beta: float = 0.5
    random_state: int = 0
    verbose: int = 0
    tol: float = field(default=1e-7, kw_only=True)
    skills_: Any = field(init=False, repr=False)
    """The probability that each worker knows the true label."""
    spamming_: FloatArray = field(init=False, repr=False)
    """One row per worker, in the order of `skills_`: the probabilities of not knowing and of knowing."""
    thetas_: FloatArray = field(init=False, repr=False)
    """One row per worker: the distribution of labels when they do not know, one column per label."""

    def __post_init__(self) -> None:
        check_limits(self.n_iter, self.tol, restarts=self.n_restarts)
        if self.method not in ("vb", "em"):
            raise ValueError(f"the method must be 'vb' or 'em', not {self.method!r}")

    def _aggregated(self, table: Table) -> Aggregation:
        settings = MaceSettings(
            method=self.method,
            restarts=self.n_restarts,
            iterations=self.n_iter,
            tolerance=self.tol,
            noise=self.default_noise,
            alpha=self.alpha,
            beta=self.beta,
            smoothing=self.smoothing,
            seed=self.random_state,
        )
        result = mace(table.judgments, settings)
        competence = result.quality["competence"]
        self.skills_ = table.of_workers(competence, "skill")
        self.spamming_ = np.column_stack([1 - competence, competence])
        self.thetas_ = result.details["habits"]
        return result


@dataclass(eq=False)
class GLAD(Fitted):
    """GLAD (Whitehill et al. 2009): an ability for every worker, and a difficulty for every task.

    `tol` is smaller than in crowd-kit, which stops far from the optimum.

    `silent` and the limits of the M-step exist for compatibility with crowd-kit and have no effect. The priors are
    mappings or pandas Series: probabilities of labels (including labels that nobody gave), means of α for workers, and
    means of b for tasks.
    """

    command_name = "glad"

    n_iter: int = 500
    tol: float = 1e-9
    silent: bool = True
    labels_priors: Any = None
    alphas_priors_mean: Any = None
    betas_priors_mean: Any = None
    m_step_max_iter: int = 25
    m_step_tol: float = 0.01
    alphas_: Any = field(init=False, repr=False)
    """The ability of each worker."""
    betas_: Any = field(init=False, repr=False)
    """The ease of each task, as a logarithm."""
    priors_: Any = field(init=False, repr=False)
    """Prior probability of each label."""
    loss_history_: list[float] = field(init=False, repr=False)
    """Final log posterior per judgment."""

    def __post_init__(self) -> None:
        check_limits(self.n_iter, self.tol)

    def fit(self, data: Any) -> Self:
        table = Table.of(data)
        if self.labels_priors is not None:
            table = table.with_labels(dict(self.labels_priors.items()))
        return self._take(table, self._aggregated(table))

    def _aggregated(self, table: Table) -> Aggregation:
        priors = GladPriors(
            self._labels(table),
            table.numbers(self.alphas_priors_mean, table.worker_values, "alphas_priors_mean"),
            table.numbers(self.betas_priors_mean, table.task_values, "betas_priors_mean"),
        )
        result = glad(table.judgments, iterations=self.n_iter, tolerance=self.tol, priors=priors)
        self.alphas_ = table.of_workers(result.quality["ability"], "alpha")
        self.betas_ = table.of_tasks(result.details["ease"], "beta")
        count = len(table.label_values)
        self.priors_ = table.of_labels(np.full(count, 1 / count) if priors.labels is None else priors.labels, "prior")
        self.loss_history_ = [result.details["log_posterior"] / len(table.judgments)]
        return result

    def _labels(self, table: Table) -> FloatArray | None:
        priors = table.numbers(self.labels_priors, table.label_values, "labels_priors")
        if priors is None:
            return None
        if (priors <= 0).any():
            raise ValueError("labels_priors must be above 0, because a label with prior 0 could never be chosen")
        return np.asarray(priors / priors.sum())


def _fitted_score(
    method: str,
    parameters: Mapping[str, Any],
    table: Table,
    result: Aggregation,
    trust: FloatArray | None,
    more: Mapping[str, str],
) -> Score:
    """The mean certainty over tasks with its interval, and tables of the least certain tasks and the weakest workers.

    `more` are digests of additional input.
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
