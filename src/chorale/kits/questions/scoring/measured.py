"""Measured questions: the data for tables, comparisons and charts of a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chorale.kits.questions.files.questions import McqQuestions
from chorale.kits.questions.metrics import (
    ALPHA_VARIANTS,
    AlphaVariant,
    McqAlpha,
    McqMeasures,
    Ties,
    mcq_alpha,
    measure_mcq,
)
from chorale.metrics import Clusters, Interval
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import ScoreTable
from chorale.model import UserError
from chorale.model.plural import plural

_WRITER = "worker_id"


@dataclass(frozen=True, slots=True)
class NamedQuestions:
    name: str
    """Name of the file in the result."""
    questions: McqQuestions
    digest: str


@dataclass(frozen=True, slots=True)
class McqOptions:
    ties: Ties = "share"
    drawn: int = 4
    alpha: AlphaVariant = "with-writer"
    more: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Requested extras for the signature."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Digests of additional files."""
    cluster: tuple[str, ...] = ()
    """Clusters for resampling. Default: the questions of each writer, if all writers are known."""

    def clusters(self, questions: McqQuestions) -> Clusters | None:
        columns = questions.columns()
        return Clusters.chosen(self.cluster or [_WRITER] * (_WRITER in columns), columns)

    def clustered(self, resampling: Resampling, questions: McqQuestions) -> Resampling:
        """Resampling of the questions of one file."""
        return replace(resampling, clusters=self.clusters(questions))


@dataclass(frozen=True, slots=True)
class MeasuredQuestions:
    file: NamedQuestions
    measures: McqMeasures
    scores: Mapping[str, float]
    over_draws: Mapping[str, Interval]
    ci: Mapping[str, Interval] | None
    alphas: Mapping[AlphaVariant, McqAlpha]
    alpha_ci: Mapping[AlphaVariant, Mapping[str, Interval]]
    """Intervals of the defined scores; empty if not requested."""


def arms_of(files: Sequence[NamedQuestions], order: Sequence[str] = ()) -> list[NamedQuestions]:
    """The questions of each arm, named after the arm. Arms in `order` come first, then the others by name."""
    named = []
    for file in files:
        arms = file.questions.by_protocol()
        if "" in arms:
            count = plural(len(arms[""]), "question", "questions")
            raise UserError(
                f"--by-arm requires the arm of every question, but {file.name} has {count} without one, such as "
                f"{arms[''].ids[0]}. Set `protocol` to the arm of each question."
            )
        names = sorted(arms, key=lambda name: order.index(name) if name in order else len(order))
        named += [NamedQuestions(name, arms[name], file.digest) for name in names]
    return named


def check_names(files: Sequence[NamedQuestions]) -> None:
    names = [file.name for file in files]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"Two files have the name {twice}, but results are listed by file name. Rename one of them.")


def measured(file: NamedQuestions, options: McqOptions, resampling: Resampling) -> MeasuredQuestions:
    questions = file.questions
    resampling = options.clustered(resampling, questions)
    measures = measure_mcq(questions, drawn=options.drawn, ties=options.ties)
    over_draws = measures.resampled(draws=resampling.resamples, seed=resampling.seed, progress=resampling.progress)
    ci = None
    alphas = {variant: mcq_alpha(questions, variant, drawn=options.drawn) for variant in ALPHA_VARIANTS}
    alpha_ci: dict[AlphaVariant, dict[str, Interval]] = {}
    if resampling.ci:
        ci = resampling.intervals(measures.statistics, measures.metric)
        alpha_ci = {
            variant: {name: resampling.intervals(*evidence)["value"] for name, evidence in alpha.evidence.items()}
            for variant, alpha in alphas.items()
        }
    return MeasuredQuestions(file, measures, measures.scores(), over_draws, ci, alphas, alpha_ci)


def shown_models(measures: McqMeasures) -> list[str]:
    """Means instead of single runs. `--json` has both."""
    single = {run for runs in measures.runs.values() for run in runs}
    return [name for name in measures.models if name not in single]


@dataclass(frozen=True, slots=True)
class McqSection:
    """An optional part of a result: its name in `--json`, and its content."""

    name: str
    json: Mapping[str, Any]
    tables: Sequence[ScoreTable]
    notes: Sequence[str] = field(default=())


def with_sections(scored: Score, sections: Sequence[McqSection]) -> Score:
    """Appends parts to a result."""
    return replace(
        scored,
        json={**scored.json, **{one.name: one.json for one in sections}},
        tables=[*scored.tables, *(table for one in sections for table in one.tables)],
        notes=[*scored.notes, *(note for one in sections for note in one.notes)],
    )
