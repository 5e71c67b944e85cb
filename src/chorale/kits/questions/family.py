"""The family of metrics for multiple-choice questions: reads files and computes scores, for the command line and for
Python.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import Database
from chorale.kits.questions import commands
from chorale.kits.questions.baselines import choice_model
from chorale.kits.questions.files.questions import McqQuestions, read_mcq
from chorale.kits.questions.files.study_exports import read_grades, read_paid, read_worked
from chorale.kits.questions.metrics import AlphaVariant, Ties, measure_mcq
from chorale.kits.questions.metrics.costs import costs_by_arm
from chorale.kits.questions.scoring import charts
from chorale.kits.questions.scoring.difficulty import difficulty_section
from chorale.kits.questions.scoring.exported import costs_section, grades_section
from chorale.kits.questions.scoring.measured import McqOptions, McqSection, NamedQuestions, with_sections
from chorale.kits.questions.scoring.partial_inputs import partial_section
from chorale.kits.questions.scoring.scores import score_mcq
from chorale.kits.questions.scoring.sources import digests_of, read_sources
from chorale.kits.questions.scoring.written_questions import written_section
from chorale.metrics import Clusters
from chorale.metrics.family import Family, Measured, path_of, paths_of
from chorale.metrics.options import Cluster, File, Resamples, Seed, WithIntervals
from chorale.metrics.resampling import Resampling, checked_resampling
from chorale.metrics.sampling import Progress
from chorale.metrics.score import Score
from chorale.model import UserError
from chorale.registry.options import Argument, Option

Files = Annotated[
    File | Sequence[File],
    Argument(
        metavar="FILE...",
        help="Questions with options, validations and predictions: .json or .jsonl, optionally compressed (.gz). Or a "
        "study folder, to evaluate its arms with texts, grades and costs.",
    ),
]
TiesName = Annotated[
    Ties,
    Option(
        metavar="HOW",
        help="Score of a tie among people that includes the gold answer: share (1 divided by the number of tied "
        "answers), wrong (0) or right (1).",
    ),
]
GoldVotes = Annotated[int, Option(min=1, max=20, help="Number of validator votes to sample for each gold answer.")]
AlphaName = Annotated[
    AlphaVariant,
    Option(
        metavar="NAME",
        help="Which alpha to print: with-writer (all questions, including the writer's vote) or kept (kept questions, "
        "validators only).",
    ),
]
Other = Annotated[
    File | None,
    Option(
        help=(
            "Other questions, to test whether the difference is significant. The test is paired if both files have "
            "the same questions."
        )
    ),
]
ByArm = Annotated[
    bool,
    Option(help="Score the questions of each arm (`protocol`) separately. --against may then be an arm."),
]
Validations = Annotated[
    File | None,
    Option(help="Additional validations, one per row: question_id, worker_id and answer (.csv, .tsv, .jsonl)."),
]
Predictions = Annotated[
    File | None,
    Option(help="Additional predictions, one per row: question_id, model and answer (.csv, .tsv, .jsonl)."),
]
Written = Annotated[
    bool, Option(help="Also analyse the texts: lengths, overlap, question words, explanations, repetitions.")
]
Rounds = Annotated[
    Sequence[File],
    Option(
        "--round",
        help="Questions of an earlier round (`chorale export --format mcq-written`), for --irt. Not needed for a "
        "study folder. Repeatable.",
    ),
]
Partial = Annotated[
    str | None,
    Option(
        metavar="MODEL",
        help="Compute the accuracy of a model without question or passage: light (built in), or the folder of a "
        "Hugging Face multiple-choice model.",
    ),
]
Folds = Annotated[int, Option(min=2, max=50, help="Number of folds for cross-validation.")]
Grades = Annotated[
    Sequence[File],
    Option(help="Grades (`chorale export --format mcq-grades`), to compute agreement between graders. Repeatable."),
]
Responses = Annotated[
    File | None,
    Option(
        help="Responses of the study (`chorale export --format jsonl`). With --ledger, computes the cost per question."
    ),
]
ExpertHourly = Annotated[
    int, Option(metavar="CENTS", min=0, help="Cost of an hour of expert time, for the cost table.")
]


def score(
    files: Files,
    *,
    ties: TiesName = "share",
    gold_votes: GoldVotes = 4,
    alpha: AlphaName = "with-writer",
    ci: WithIntervals = True,
    cluster: Cluster = (),
    against: Other = None,
    by_arm: ByArm = False,
    validations: Validations = None,
    predictions: Predictions = None,
    written: Written = False,
    irt: Annotated[bool, Option(help="Estimate each question's difficulty for models (3PL).")] = False,
    round_files: Rounds = (),
    partial_inputs: Partial = None,
    folds: Folds = 5,
    grades: Grades = (),
    responses: Responses = None,
    ledger: Annotated[File | None, Option(help="Ledger of the study (`chorale export --format ledger`).")] = None,
    expert_hourly: ExpertHourly = 0,
    pictures: Annotated[File | None, Option(metavar="DIR", help="Folder for the figures, as SVG files.")] = None,
    db: Database = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    progress: Progress | None = None,
) -> Score:
    """Human performance on multiple-choice questions, and the gap to models.

    `files` are questions with the answers of validators and models, or a study folder. `validations` and `predictions`
    are additional answers. `against` is another file to compare with or, with `by_arm`, an arm. `written` adds an
    analysis of the texts: lengths, overlap, types of questions.
    """
    paths = paths_of(files)
    is_study = len(paths) == 1 and paths[0].is_dir()
    _check_together({"--grades": grades, "--responses": responses, "--round": round_files}, ledger, is_study, irt)
    named_files = _given(validations=validations, predictions=predictions, responses=responses, ledger=ledger)
    resampling = checked_resampling(ci, resamples, seed)
    study = commands.questions_of_folder(paths[0], db, resampling, expert_hourly) if is_study else None
    by_arm |= is_study
    model = None if partial_inputs is None else choice_model(partial_inputs)
    measured, other, rounds = read_sources(paths, study, against, round_files, named_files, by_arm, irt)
    of_model: dict[str, str | int] = {} if model is None else {"partial-inputs": model.signature, "folds": folds}
    more, inputs = {"irt": irt, "by-arm": by_arm, **of_model}, digests_of(named_files, rounds)
    options = McqOptions(ties, gold_votes, alpha, more, inputs, Clusters.named(cluster))
    scored = score_mcq(measured, options, replace(resampling, progress=progress), other)
    everything = _with_arm(measured, other if by_arm else None)
    looks = written or is_study or pictures is not None
    sections, difficulties = [written_section(everything, options, resampling)] if looks else [], None
    if irt:
        section, difficulties = difficulty_section(everything, rounds, progress=progress)
        sections.append(section)
    if model is not None and partial_inputs is not None:
        tried = everything, model, partial_inputs, options, resampling
        sections.append(partial_section(*tried, folds=folds, progress=progress))
    sections += study.sections if study else _of_exports(paths_of(grades), named_files, expert_hourly, resampling)
    scored = with_sections(scored, sections)
    if pictures is not None:
        charts.write_pictures(path_of(pictures), charts.pictures(scored.json, difficulties))
    return scored


def _given(**files: File | None) -> dict[str, Path]:
    return {name: path_of(path) for name, path in files.items() if path is not None}


def _with_arm(measured: list[NamedQuestions], other: NamedQuestions | None) -> list[NamedQuestions]:
    """The arm that others are compared with comes first."""
    return measured if other is None else [other, *(one for one in measured if one is not other)]


def _check_together(own: Mapping[str, object], ledger: File | None, is_study: bool, irt: bool) -> None:
    """Rejects options that require each other, and options that have no effect for a study folder."""
    if (own["--responses"] is None) != (ledger is None):
        raise UserError("--responses and --ledger require each other. Use both or neither.")
    if is_study and (given := [name for name, value in own.items() if value]):
        omit = "Omit this option." if len(given) == 1 else "Omit these options."
        raise UserError(f"{', '.join(given)} can only be used with files. A study folder contains these data. {omit}")
    if own["--round"] and not irt:
        raise UserError("--round requires --irt. Add --irt, or omit --round.")


def _of_exports(grades: list[Path], files: Mapping[str, Path], hourly: int, resampling: Resampling) -> list[McqSection]:
    """Results from a study's exports: agreement of graders, and cost per question."""
    sections = [grades_section(read_grades(grades), resampling)] if grades else []
    if "ledger" in files:
        costs = costs_by_arm(read_worked(files["responses"]), read_paid(files["ledger"]))
        sections.append(costs_section(costs, hourly))
    return sections


def read(path: File) -> McqQuestions:
    """Reads questions with the answers of validators and models."""
    return read_mcq(path_of(path))[0]


def measure(questions: McqQuestions, *, gold_votes: int = 4, ties: Ties = "share") -> Measured:
    """One row per question, with accuracies of people and models. The gold comes from people's votes."""
    measures = measure_mcq(questions, drawn=gold_votes, ties=ties)
    return measures.statistics, measures.metric


FAMILY = Family("mcq", "Human performance on multiple-choice questions, and the gap to models.", read, measure, score)
