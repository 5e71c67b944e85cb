"""The aggregators as classes with `fit` and `fit_predict`, called and parametrised as in crowd-kit.

Given a pandas table they give pandas objects of the same form as crowd-kit's; given a Polars table (or any other),
Polars tables. Values keep their type: a task that is the number 7 stays the number 7.
"""

from collections.abc import Callable, Mapping
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
from chorale.metrics.aggregation.majority import majority
from chorale.metrics.aggregation.one_coin import one_coin
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.aggregation.trust import confidence
from chorale.metrics.aggregation.wawa import wawa
from chorale.metrics.score import Score
from chorale.metrics.scoring.fitted import fitted_score


class _Estimator:
    """What all of them have once they are fitted."""

    labels_: Any
    """The answer to each task."""
    probas_: Any
    """The probability of every label of each task."""
    _source_: Callable[[], Score]
    _answer_: Any

    def __repr__(self) -> str:
        """As it was made: what is fitted has an underscore at its end."""
        given = (f"{name}={value!r}" for name, value in vars(self).items() if not name.endswith("_"))
        return f"{type(self).__name__}({', '.join(given)})"

    command_name: ClassVar[str]
    """What `--method` calls it."""

    @property
    def score_(self) -> Score:
        """How certain the labels are, with intervals, notes and a signature."""
        return self._source_()

    def _take(
        self,
        table: Table,
        result: Aggregation,
        *,
        trust: FloatArray | None = None,
        more: Mapping[str, str] | None = None,
    ) -> Self:
        """`more` are digests of what the labels rest on beside the judgments."""
        self.labels_ = table.labels(result)
        self.probas_ = table.probabilities(result)
        parameters = {name: value for name, value in vars(self).items() if not name.endswith("_") and name[0] != "_"}
        method = self.command_name if trust is None else "confidence"
        self._source_ = cache(partial(fitted_score, method, parameters, table, result, trust, more or {}))
        self._answer_ = table.scored_labels(result, self._source_)
        return self


class _Fitted(_Estimator):
    """Of those that learn from judgments alone."""

    def fit(self, data: Any) -> Self:
        """Learn from a table with the columns task, worker and label."""
        table = Table.of(data)
        return self._take(table, self._aggregated(table))

    def _aggregated(self, table: Table) -> Aggregation:
        raise NotImplementedError

    def fit_predict(self, data: Any) -> Any:
        """The answer to each task."""
        return self.fit(data)._answer_

    def fit_predict_proba(self, data: Any) -> Any:
        """The probability of every label of each task."""
        return self.fit(data).probas_


Strategy = Literal["assign", "addition"]


def _checked(strategy: Any) -> Strategy | None:
    if strategy not in (None, "assign", "addition"):
        raise ValueError(f"initial_error_strategy is assign, addition or None, not {strategy!r}")
    checked: Strategy | None = strategy
    return checked


class MajorityVote(_Estimator):
    """See `majority`. `skills`, a mapping or pandas Series from worker to weight, makes it a weighted vote.

    A worker without a skill has the default one; without that, it is an error, or with `on_missing_skill="ignore"` the
    worker has no vote. A task that only such workers judged is an error in any case.
    """

    command_name = "majority"

    def __init__(
        self, default_skill: float | None = None, on_missing_skill: Literal["error", "ignore", "value"] = "error"
    ) -> None:
        if on_missing_skill not in ("error", "ignore", "value"):
            raise ValueError(f"on_missing_skill is error, ignore or value, not {on_missing_skill!r}")
        if on_missing_skill == "value" and default_skill is None:
            raise ValueError('on_missing_skill="value" needs a default_skill')
        self.default_skill = default_skill
        self.on_missing_skill = on_missing_skill

    skills_: Any
    """How often each worker agrees with the answer."""

    def fit(self, data: Any, skills: Any = None) -> Self:
        table = Table.of(data)
        weights = None if skills is None else self._weights(table, skills)
        result = majority(table.judgments) if weights is None else confidence(table.judgments, trust=weights)
        right = result.leading[table.judgments.tasks] == table.judgments.labels
        size = len(table.judgments.worker_names)
        judged = np.bincount(table.judgments.workers, minlength=size)
        agreed = np.bincount(table.judgments.workers[right], minlength=size)
        self.skills_ = table.of_workers(agreed / judged, "skill")
        more = {} if weights is None else {"skills": digest_of(weights.tobytes())}
        return self._take(table, result, trust=weights, more=more)

    def _weights(self, table: Table, skills: Any) -> FloatArray:
        known = dict(skills.items())
        given = [known.get(worker, self.default_skill) for worker in table.worker_values]
        missing = np.array([weight is None for weight in given], dtype=np.bool_)
        if missing.any() and self.on_missing_skill == "error":
            raise ValueError("a worker has no skill; give default_skill, or a skill for everybody")
        judged = np.bincount(table.judgments.tasks[~missing[table.judgments.workers]], minlength=len(table.task_values))
        if not judged.all():
            raise ValueError("a task was judged by nobody with a skill; leave it out, or give default_skill")
        return np.asarray([weight or 0.0 for weight in given], dtype=np.float64)[table.judgments.workers]

    def fit_predict(self, data: Any, skills: Any = None) -> Any:
        return self.fit(data, skills)._answer_

    def fit_predict_proba(self, data: Any, skills: Any = None) -> Any:
        return self.fit(data, skills).probas_


class Wawa(_Fitted):
    """See `wawa`."""

    command_name = "wawa"

    skills_: Any
    """How often each worker is in the majority."""

    def _aggregated(self, table: Table) -> Aggregation:
        result = wawa(table.judgments)
        self.skills_ = table.of_workers(result.quality["skill"], "skill")
        self._skills = dict(zip(table.worker_values, result.quality["skill"].tolist(), strict=True))
        return result

    def predict(self, data: Any) -> Any:
        """The answer to each task of other judgments by the same workers."""
        return self._voted(data).labels_

    def predict_proba(self, data: Any) -> Any:
        return self._voted(data).probas_

    def _voted(self, data: Any) -> MajorityVote:
        if not hasattr(self, "_skills"):
            raise ValueError("fit comes before predict")
        return MajorityVote().fit(data, self._skills)


class DawidSkene(_Estimator):
    """See `dawid_skene`. `true_labels`, a mapping or pandas Series from task to label, are kept as they are.

    `initial_error` is a table by worker and label with a column per true label. With the strategy `assign` the first
    iteration takes it for workers' errors, and it needs every worker and label of the data; with `addition` it is
    added, as counts, to what the votes say.
    """

    command_name = "dawid-skene"

    def __init__(self, n_iter: int = 100, tol: float = 1e-5, initial_error_strategy: Strategy | None = None) -> None:
        check_limits(n_iter, tol)
        self.n_iter = n_iter
        self.tol = tol
        self.initial_error_strategy = _checked(initial_error_strategy)

    priors_: Any
    """How probable each label is before any vote."""
    errors_: Any
    """How probable it is that a worker says a label, given the true one."""
    loss_history_: list[float]
    """The bound on the log-likelihood, per judgment, after each iteration."""

    def fit(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Self:
        table = Table.of(data)
        initial = None
        if initial_error is not None:
            if self.initial_error_strategy is None:
                raise ValueError("initial_error needs an initial_error_strategy: assign or addition")
            initial = table.initial_errors(initial_error, replaces=self.initial_error_strategy == "assign")
        known = None
        if true_labels is not None:
            known = {str(task): str(label) for task, label in true_labels.items()}
        result = dawid_skene(table.judgments, iterations=self.n_iter, tolerance=self.tol, known=known, initial=initial)
        self.priors_ = table.of_labels(result.details["priors"], "prior")
        self.errors_ = table.errors(result)
        self.loss_history_ = list(result.details["bounds"])
        more = {} if known is None else {"true-labels": digest_of(repr(sorted(known.items())).encode())}
        more |= {} if initial is None else {"initial-error": digest_of(initial.values.tobytes())}
        return self._take(table, result, more=more)

    def fit_predict(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        return self.fit(data, true_labels, initial_error)._answer_

    def fit_predict_proba(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        return self.fit(data, true_labels, initial_error).probas_


class OneCoinDawidSkene(_Fitted):
    """See `one_coin`. `initial_error_strategy` is there for crowd-kit's sake, where it changes nothing either."""

    command_name = "one-coin"

    def __init__(self, n_iter: int = 100, tol: float = 1e-5, initial_error_strategy: Strategy | None = None) -> None:
        check_limits(n_iter, tol)
        self.n_iter = n_iter
        self.tol = tol
        self.initial_error_strategy = _checked(initial_error_strategy)

    priors_: Any
    skills_: Any
    """How often each worker is right."""
    loss_history_: list[float]

    def _aggregated(self, table: Table) -> Aggregation:
        result = one_coin(table.judgments, iterations=self.n_iter, tolerance=self.tol)
        self.priors_ = table.of_labels(result.details["priors"], "prior")
        self.skills_ = table.of_workers(result.quality["skill"], "skill")
        self.loss_history_ = list(result.details["bounds"])
        return result


class MACE(_Fitted):
    """See `mace`. Restarts differ from each other, which crowd-kit's do not, and stop when they have arrived.

    `verbose` is there for crowd-kit's sake: nothing is ever printed.
    """

    command_name = "mace"

    def __init__(
        self,
        n_restarts: int = 10,
        n_iter: int = 50,
        method: Literal["vb", "em"] = "vb",
        smoothing: float = 0.01,
        default_noise: float = 0.5,
        alpha: float = 0.5,
        beta: float = 0.5,
        random_state: int = 0,
        verbose: int = 0,
        *,
        tol: float = 1e-7,
    ) -> None:
        check_limits(n_iter, tol, restarts=n_restarts)
        if method not in ("vb", "em"):
            raise ValueError(f"the method must be 'vb' or 'em', not {method!r}")
        self.n_restarts = n_restarts
        self.n_iter = n_iter
        self.method: Literal["vb", "em"] = method
        self.smoothing = smoothing
        self.default_noise = default_noise
        self.alpha = alpha
        self.beta = beta
        self.random_state = random_state
        self.verbose = verbose
        self.tol = tol

    skills_: Any
    """The probability that each worker knows."""
    spamming_: FloatArray
    """A row per worker, in the order of `skills_`: the probabilities of not knowing and of knowing."""
    thetas_: FloatArray
    """A row per worker: what they say when they don't know, a column per label."""

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


class GLAD(_Fitted):
    """See `glad`. `tol` is finer than crowd-kit's, which stops far from the optimum.

    `silent` and the limits of the M-step are there for crowd-kit's sake and change nothing. The priors are mappings or
    pandas Series: of labels their probabilities (also of labels that nobody gave), of workers the mean of α, of tasks
    the mean of b.
    """

    command_name = "glad"

    def __init__(
        self,
        n_iter: int = 500,
        tol: float = 1e-9,
        silent: bool = True,
        labels_priors: Any = None,
        alphas_priors_mean: Any = None,
        betas_priors_mean: Any = None,
        m_step_max_iter: int = 25,
        m_step_tol: float = 0.01,
    ) -> None:
        check_limits(n_iter, tol)
        self.n_iter = n_iter
        self.tol = tol
        self.silent = silent
        self.labels_priors = labels_priors
        self.alphas_priors_mean = alphas_priors_mean
        self.betas_priors_mean = betas_priors_mean
        self.m_step_max_iter = m_step_max_iter
        self.m_step_tol = m_step_tol

    alphas_: Any
    """The ability of each worker."""
    betas_: Any
    """The ease of each task, as a logarithm."""

    priors_: Any
    """How probable each label is before any vote."""
    loss_history_: list[float]
    """The logarithm of the posterior, per judgment, where it stopped."""

    def fit(self, data: Any) -> Self:
        table = Table.of(data)
        if self.labels_priors is not None:
            table = table.with_labels(dict(self.labels_priors.items()))
        return self._take(table, self._aggregated(table))

    def _aggregated(self, table: Table) -> Aggregation:
        priors = GladPriors(
            self._labels(table),
            self._means(table, self.alphas_priors_mean, table.worker_values, "alphas_priors_mean"),
            self._means(table, self.betas_priors_mean, table.task_values, "betas_priors_mean"),
        )
        result = glad(table.judgments, iterations=self.n_iter, tolerance=self.tol, priors=priors)
        self.alphas_ = table.of_workers(result.quality["ability"], "alpha")
        self.betas_ = table.of_tasks(result.details["ease"], "beta")
        count = len(table.label_values)
        self.priors_ = table.of_labels(np.full(count, 1 / count) if priors.labels is None else priors.labels, "prior")
        self.loss_history_ = [result.details["log_posterior"] / len(table.judgments)]
        return result

    def _labels(self, table: Table) -> FloatArray | None:
        if self.labels_priors is None:
            return None
        priors = table.numbers(self.labels_priors, table.label_values, "labels_priors")
        if (priors <= 0).any():
            raise ValueError("labels_priors must be above 0: what is impossible before any vote stays impossible")
        return np.asarray(priors / priors.sum())

    @staticmethod
    def _means(table: Table, given: Any, values: Any, what: str) -> FloatArray | None:
        return None if given is None else table.numbers(given, values, what)
