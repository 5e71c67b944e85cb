"""Aggregation of vectors and texts as classes, with the interface of crowd-kit.

Rows are processed in the order of tasks, answers and workers (for ROVER: tasks and workers), whatever their order in
the table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from chorale.files.judgment_columns import columns_of
from chorale.metrics import FloatArray
from chorale.metrics.aggregation.limits import check_limits
from chorale.metrics.aggregation.rover import rover
from chorale.metrics.aggregation.tables_by_name import coded, series_by_name, table_by_name
from chorale.metrics.aggregation.text_vectors import gleu, hashed_tfidf
from chorale.metrics.aggregation.vector_answers import (
    Closest,
    Similarity,
    VectorAnswers,
    closest_to_average,
    hrrasa,
    ranks,
    rasa,
)

Encoder = Callable[[str], Any]


@dataclass(frozen=True, slots=True, eq=False)
class _AnswerTable:
    """Answers with vectors, and the original values of tasks, workers and answers."""

    given: VectorAnswers
    tasks: tuple[Any, ...]
    workers: tuple[Any, ...]
    answers: tuple[Any, ...]
    columns: Mapping[str, Sequence[Any]]

    @classmethod
    def of(cls, data: Any, answer: str, encoder: Encoder | None = None, *, encoded: bool = False) -> Self:
        """Reads a table with task, worker, an answer and, unless answers are `encoded` here, their `embedding`."""
        names = ("task", "worker", answer) if encoded else ("task", "worker", answer, "embedding")
        columns = {name: list(column) for name, column in columns_of(data, names).items()}
        (tasks, task_names), (workers, worker_names) = (coded(columns[name], name) for name in ("task", "worker"))
        answers, answer_names = coded(columns[answer], answer)
        vectors = _encoded(answer_names, encoder)[answers] if encoded else _stacked(columns["embedding"])
        given = VectorAnswers.of(tasks, workers, answers, vectors)
        return cls(given, task_names, worker_names, answer_names, columns)

    def known(self, vectors: Mapping[Any, Any] | None) -> dict[int, FloatArray]:
        """True vectors by task code. Vectors of other tasks are ignored."""
        place = {task: code for code, task in enumerate(self.tasks)}
        given = {} if vectors is None else dict(vectors.items())
        return {place[task]: np.asarray(vector, np.float64) for task, vector in given.items() if task in place}


def _encoded(texts: Sequence[str], encoder: Encoder | None) -> FloatArray:
    return hashed_tfidf(texts) if encoder is None else _stacked([encoder(text) for text in texts])


def _stacked(vectors: Sequence[Any]) -> FloatArray:
    try:
        return np.array([np.asarray(vector, dtype=np.float64) for vector in vectors], dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("every answer must have a vector of finite numbers, all of the same length") from None


@dataclass(eq=False)
class _VectorEstimator:
    """Base class of aggregators that choose one of a task's answers by its vector."""

    embeddings_and_outputs_: Any = field(init=False, repr=False)
    """The answer to each task, with its vector."""
    scores_: Any = field(init=False, repr=False)
    """Distance of every answer to the aggregated vector of its task."""
    result_: Closest = field(init=False, repr=False)

    def fit(self, data: Any, true_embeddings: Any = None) -> Self:
        """Fits a table with the columns task, worker, output and embedding, a vector.

        `true_embeddings`, a mapping or pandas Series from task to vector, are fixed.
        """
        table = _AnswerTable.of(data, "output")
        self.result_ = self._closest(table, table.known(true_embeddings))
        columns, chosen = table.columns, self.result_.chosen.tolist()
        best = {name: [columns[name][place] for place in chosen] for name in ("output", "embedding")}
        self.embeddings_and_outputs_ = table_by_name(data, "task", table.tasks, best)
        every = {"output": columns["output"], "score": self.result_.distances, "embedding": columns["embedding"]}
        self.scores_ = table_by_name(data, "task", columns["task"], every)
        self._learnt(data, table)
        return self

    def _closest(self, table: _AnswerTable, known: dict[int, FloatArray]) -> Closest:
        raise NotImplementedError

    def _learnt(self, data: Any, table: _AnswerTable) -> None:
        """Other estimates of the method."""

    def fit_predict(self, data: Any, true_embeddings: Any = None) -> Any:
        """The answer to each task, with its vector."""
        return self.fit(data, true_embeddings).embeddings_and_outputs_

    def fit_predict_scores(self, data: Any, true_embeddings: Any = None) -> Any:
        """Distance of every answer to the aggregated vector of its task."""
        return self.fit(data, true_embeddings).scores_


@dataclass(eq=False)
class ClosestToAverage(_VectorEstimator):
    """For each task, the answer whose vector is closest to the mean of the task's vectors.

    `distance` takes two vectors; default: cosine distance.
    """

    distance: Callable[[FloatArray, FloatArray], float] | None = None

    def _closest(self, table: _AnswerTable, known: dict[int, FloatArray]) -> Closest:
        return closest_to_average(table.given, known=known, distance=self.distance)


@dataclass(eq=False)
class _Reliable(_VectorEstimator):
    skills_: Any = field(init=False, repr=False)
    """The reliability of each worker."""
    aggregated_embeddings_: Any = field(init=False, repr=False)
    """The aggregated vector of each task."""

    def _learnt(self, data: Any, table: _AnswerTable) -> None:
        self.skills_ = series_by_name(data, "worker", table.workers, "skill", np.asarray(self.result_.reliability))
        vectors = list(self.result_.vectors)
        self.aggregated_embeddings_ = series_by_name(data, "task", table.tasks, "embedding", vectors)


@dataclass(eq=False)
class RASA(_Reliable):
    """For each task, the answer closest to the task's mean vector, weighted by worker reliability."""

    n_iter: int = 100
    tol: float = 1e-9
    alpha: float = 0.05

    def __post_init__(self) -> None:
        check_limits(self.n_iter, self.tol)

    def _closest(self, table: _AnswerTable, known: dict[int, FloatArray]) -> Closest:
        return rasa(table.given, iterations=self.n_iter, tolerance=self.tol, alpha=self.alpha, known=known)


@dataclass(eq=False)
class HRRASA(_Reliable):
    """Like `RASA`, but each answer is also weighted by its similarity to the other answers to its task.

    `output_similarity` compares two outputs; default: GLEU of their words.
    """

    n_iter: int = 100
    tol: float = 1e-9
    lambda_emb: float = 0.5
    lambda_out: float = 0.5
    alpha: float = 0.05
    calculate_ranks: bool = False
    output_similarity: Similarity = gleu
    ranks_: Any = field(init=False, repr=False)
    """Estimated quality of every answer, if `calculate_ranks` is set."""

    def __post_init__(self) -> None:
        check_limits(self.n_iter, self.tol)

    def _closest(self, table: _AnswerTable, known: dict[int, FloatArray]) -> Closest:
        return _by_hrrasa(self, table, known)

    def _learnt(self, data: Any, table: _AnswerTable) -> None:
        _Reliable._learnt(self, data, table)
        if self.calculate_ranks:
            columns = {"output": table.columns["output"], "rank": ranks(table.given, self.result_)}
            self.ranks_ = table_by_name(data, "task", table.columns["task"], columns)


@dataclass(eq=False)
class _TextEstimator:
    """Base class of aggregators that choose one of a task's texts."""

    texts_: Any = field(init=False, repr=False)
    """The text of each task."""
    skills_: Any = field(init=False, repr=False)
    """The reliability of each worker."""
    result_: Closest = field(init=False, repr=False)

    encoder: Encoder | None = None
    n_iter: int = 100
    tol: float = 1e-5

    def __post_init__(self) -> None:
        check_limits(self.n_iter, self.tol)

    def fit(self, data: Any, true_objects: Any = None) -> Self:
        """Fits a table with the columns task, worker and text. `true_objects` are known texts by task."""
        table = _AnswerTable.of(data, "text", self.encoder, encoded=True)
        self.result_ = self._closest(table, table.known(self._true_vectors(true_objects)))
        chosen = [table.columns["text"][place] for place in self.result_.chosen.tolist()]
        self.texts_ = series_by_name(data, "task", table.tasks, "text", chosen)
        self.skills_ = series_by_name(data, "worker", table.workers, "skill", np.asarray(self.result_.reliability))
        return self

    def _true_vectors(self, texts: Any) -> dict[Any, FloatArray] | None:
        if texts is None:
            return None
        if self.encoder is None:
            raise ValueError(
                "true_objects require an encoder, because hashed TF-IDF depends on the texts it is made from"
            )
        known = dict(texts.items())
        return dict(zip(known, _encoded(list(known.values()), self.encoder), strict=True))

    def _closest(self, table: _AnswerTable, known: dict[int, FloatArray]) -> Closest:
        raise NotImplementedError

    def fit_predict(self, data: Any, true_objects: Any = None) -> Any:
        """The text of each task."""
        return self.fit(data, true_objects).texts_


@dataclass(eq=False)
class TextRASA(_TextEstimator):
    """RASA for texts, with vectors from `encoder` or hashed TF-IDF."""

    alpha: float = 0.05

    def _closest(self, table: _AnswerTable, known: dict[int, FloatArray]) -> Closest:
        return rasa(table.given, iterations=self.n_iter, tolerance=self.tol, alpha=self.alpha, known=known)


@dataclass(eq=False)
class TextHRRASA(_TextEstimator):
    """HRRASA for texts, with vectors from `encoder` or hashed TF-IDF."""

    lambda_emb: float = 0.5
    lambda_out: float = 0.5
    alpha: float = 0.05
    output_similarity: Similarity = gleu

    def _closest(self, table: _AnswerTable, known: dict[int, FloatArray]) -> Closest:
        return _by_hrrasa(self, table, known)


def _by_hrrasa(estimator: HRRASA | TextHRRASA, table: _AnswerTable, known: dict[int, FloatArray]) -> Closest:
    return hrrasa(
        table.given,
        table.answers,
        estimator.output_similarity,
        iterations=estimator.n_iter,
        tolerance=estimator.tol,
        weight_of_vectors=estimator.lambda_emb,
        weight_of_texts=estimator.lambda_out,
        alpha=estimator.alpha,
        known=known,
    )


@dataclass(eq=False)
class ROVER:
    """ROVER (Fiscus 1997): aligns the texts of a task, and takes the most frequent word at every position.

    Texts are aligned in the order of their workers' names. `silent` exists for compatibility with crowd-kit.
    """

    tokenizer: Callable[[str], Sequence[str]] = str.split
    detokenizer: Callable[[list[str]], str] = " ".join
    silent: bool = True
    texts_: Any = field(init=False, repr=False)
    """The text of each task."""

    def fit(self, data: Any) -> Self:
        """Fits a table with the columns task, worker and text."""
        columns = columns_of(data, ("task", "worker", "text"))
        tasks, names = coded(columns["task"], "task")
        workers, _ = coded(columns["worker"], "worker")
        texts = list(columns["text"])
        hypotheses: list[list[Sequence[str]]] = [[] for _ in names]
        for place in np.lexsort((workers, tasks)).tolist():
            hypotheses[tasks[place]].append(self.tokenizer(texts[place]))
        joined = [self.detokenizer(rover(each)[0]) for each in hypotheses]
        self.texts_ = series_by_name(data, "task", names, "text", joined)
        return self

    def fit_predict(self, data: Any) -> Any:
        """The text of each task."""
        return self.fit(data).texts_
