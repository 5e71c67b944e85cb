"""`chorale evaluate mcq`"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import click

from chorale.cli.arguments import AsJson, Database
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import AsLatex, Resamples, Seed, WithIntervals, print_scored
from chorale.kits.questions import commands
from chorale.kits.questions.baselines import choice_model
from chorale.kits.questions.files.study_exports import read_grades, read_paid, read_worked
from chorale.kits.questions.metrics.costs import costs_by_arm
from chorale.kits.questions.scoring import charts
from chorale.kits.questions.scoring.difficulty import difficulty_section
from chorale.kits.questions.scoring.exported import costs_section, grades_section
from chorale.kits.questions.scoring.measured import McqOptions, McqSection, with_sections
from chorale.kits.questions.scoring.partial_inputs import partial_section
from chorale.kits.questions.scoring.scores import score_mcq
from chorale.kits.questions.scoring.sources import digests_of, read_sources
from chorale.kits.questions.scoring.written_questions import written_section
from chorale.metrics.resampling import Resampling

Files = Annotated[
    list[Path],
    Argument(
        metavar="FILE...",
        help="Questions with options, validations and predictions: .json or .jsonl, perhaps packed (.gz). Or a study's "
        "folder: its arms, with what was written, grades and costs.",
    ),
]
TiesName = Annotated[
    Literal["share", "wrong", "right"],
    Option(
        "--ties",
        metavar="HOW",
        help="What a tie among people is worth if the gold answer is in it: its share of the tied answers, wrong "
        "(nothing) or right (everything).",
    ),
]
GoldVotes = Annotated[
    int, Option("--gold-votes", metavar="N", min=1, max=20, help="Validators' votes drawn for the gold answer.")
]
AlphaName = Annotated[
    Literal["with-writer", "kept"],
    Option(
        "--alpha",
        metavar="NAME",
        help="The alpha to print: with-writer (all questions, the writer votes too) or kept (kept questions, "
        "validators only).",
    ),
]
Other = Annotated[
    Path | None,
    Option(
        "--against",
        metavar="FILE",
        help="Other questions: is the difference more than luck? Paired only if they are the same questions.",
    ),
]
ByArm = Annotated[
    bool,
    Option(
        "--by-arm",
        help="Take the questions of every arm by themselves, by their `protocol`. --against may then name an arm.",
    ),
]
Validations = Annotated[
    Path | None,
    Option(
        "--validations",
        metavar="FILE",
        help="More validations of the questions: question_id, worker_id and answer, one a row (.csv, .tsv, .jsonl).",
    ),
]
Predictions = Annotated[
    Path | None,
    Option(
        "--predictions",
        metavar="FILE",
        help="More predictions for the questions: question_id, model and answer, one a row (.csv, .tsv, .jsonl).",
    ),
]
Written = Annotated[
    bool,
    Option(
        "--written", help="Look at what was written too: lengths, overlap, question words, explanations, repetitions."
    ),
]
Irt = Annotated[bool, Option("--irt", help="Fit how hard every question is for models, by the 3PL model.")]
Rounds = Annotated[
    list[Path] | None,
    Option(
        "--round",
        metavar="FILE",
        help="Questions of an earlier round (`chorale export --format mcq-written`), for --irt; may be repeated. A "
        "study's folder has its own.",
    ),
]
Partial = Annotated[
    str | None,
    Option(
        "--partial-inputs",
        metavar="MODEL",
        help="How well a model guesses without question or passage: light (built in), or the folder of a Hugging Face "
        "multiple-choice model.",
    ),
]
Folds = Annotated[int, Option("--folds", metavar="N", min=2, max=50, help="Folds of the cross-validation.")]
Grades = Annotated[
    list[Path] | None,
    Option(
        "--grades",
        metavar="FILE",
        help="What graders said, as `chorale export --format mcq-grades` writes it: how far they agree.",
    ),
]
Responses = Annotated[
    Path | None,
    Option(
        "--responses",
        metavar="FILE",
        help="The study's responses (`chorale export --format jsonl`): with --ledger, what a question costs.",
    ),
]
Ledger = Annotated[
    Path | None, Option("--ledger", metavar="FILE", help="The study's ledger (`chorale export --format ledger`).")
]
ExpertHourly = Annotated[
    int, Option("--expert-hourly", metavar="CENTS", min=0, help="What an hour of an expert costs, for the costs.")
]
Pictures = Annotated[Path | None, Option("--pictures", metavar="DIR", help="Write the figures there, as SVG files.")]


def mcq(
    files: Files,
    ties: TiesName = "share",
    gold_votes: GoldVotes = 4,
    alpha: AlphaName = "with-writer",
    ci: WithIntervals = False,
    against: Other = None,
    by_arm: ByArm = False,
    validations: Validations = None,
    predictions: Predictions = None,
    written: Written = False,
    irt: Irt = False,
    round_files: Rounds = None,
    partial_inputs: Partial = None,
    folds: Folds = 5,
    grades: Grades = None,
    responses: Responses = None,
    ledger: Ledger = None,
    expert_hourly: ExpertHourly = 0,
    pictures: Pictures = None,
    db: Database = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Measure human performance on multiple-choice questions, and the gap to models."""
    is_study = len(files) == 1 and files[0].is_dir()
    own = {"--grades": grades, "--responses": responses, "--round": round_files} if is_study else {}
    _check_together(own, pair=(responses, ledger), rounds_alone=bool(round_files) and not irt)
    resampling = Resampling(ci, resamples, seed)
    study = commands.questions_of_folder(files[0], db, resampling, expert_hourly) if is_study else None
    by_arm = by_arm or is_study
    model = None if partial_inputs is None else choice_model(partial_inputs)
    named, other, rounds = read_sources(files, study, against, round_files, validations, predictions, by_arm, irt)
    beside = {"validations": validations, "predictions": predictions, "responses": responses, "ledger": ledger}
    more: dict[str, str | int] = {"irt": irt, "by-arm": by_arm}
    more |= {"partial-inputs": model.signature, "folds": folds} if model else {}
    options = McqOptions(ties, gold_votes, alpha, more, digests_of(beside, rounds))
    with patiently("draws") as progress:
        scored = score_mcq(named, options, replace(resampling, progress=progress), other)
    # An arm that others are compared with is still one of the arms.
    everything = [*([other] if other is not None and by_arm else []), *named]
    sections, difficulties = [], None
    if written or is_study or pictures is not None:
        sections.append(written_section(everything, options, resampling))
    if irt:
        with patiently("fits") as progress:
            section, difficulties = difficulty_section(everything, rounds, seed=seed, progress=progress)
        sections.append(section)
    if model is not None and partial_inputs is not None:
        with patiently("folds") as progress:
            section = partial_section(everything, model, partial_inputs, resampling, folds=folds, progress=progress)
        sections.append(section)
    sections += study.sections if study else _of_exports(grades or [], responses, ledger, expert_hourly, resampling)
    scored = with_sections(scored, sections)
    if pictures is not None:
        charts.write_pictures(pictures, charts.pictures(scored.json, difficulties))
    print_scored(scored, as_json=as_json, as_latex=as_latex)


def _check_together(own: Mapping[str, object], *, pair: tuple[Path | None, Path | None], rounds_alone: bool) -> None:
    """Options that need each other, and those that a study's folder has no use for."""
    if (pair[0] is None) != (pair[1] is None):
        raise click.BadParameter("--responses and --ledger belong together: name both, or neither.")
    if given := [name for name, value in own.items() if value]:
        raise click.BadParameter(f"{', '.join(given)}: for files only. A study's folder has its own.")
    if rounds_alone:
        raise click.BadParameter("--round is for --irt: name both, or leave it out.")


def _of_exports(
    grades: list[Path], responses: Path | None, ledger: Path | None, hourly: int, resampling: Resampling
) -> list[McqSection]:
    """What a study's own exports tell: how far graders agree, and what a question costs."""
    sections = [grades_section(read_grades(grades), resampling)] if grades else []
    if responses is not None and ledger is not None:
        sections.append(costs_section(costs_by_arm(read_worked(responses), read_paid(ledger)), hourly))
    return sections
