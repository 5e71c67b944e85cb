"""`chorale evaluate mcq`"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from chorale.cli.arguments import AsJson, Database
from chorale.cli.progress import patiently
from chorale.cli.scoring import AsLatex, Resamples, Seed, WithIntervals, print_scored
from chorale.kits.questions import commands
from chorale.kits.questions.baselines import ChoiceModel, choice_model
from chorale.kits.questions.commands.evaluate_options import (
    AlphaName,
    ByArm,
    ExpertHourly,
    Files,
    Folds,
    GoldVotes,
    Grades,
    Irt,
    Ledger,
    Other,
    Partial,
    Pictures,
    Predictions,
    Responses,
    Rounds,
    TiesName,
    Validations,
    Written,
)
from chorale.kits.questions.files.study_exports import read_grades, read_paid, read_worked
from chorale.kits.questions.metrics.costs import costs_by_arm
from chorale.kits.questions.scoring.charts import pictures, write_pictures
from chorale.kits.questions.scoring.costs import costs_section
from chorale.kits.questions.scoring.difficulty import difficulty_section
from chorale.kits.questions.scoring.grades import grades_section
from chorale.kits.questions.scoring.measured import McqOptions, NamedQuestions
from chorale.kits.questions.scoring.partial_inputs import partial_section
from chorale.kits.questions.scoring.scores import score_mcq
from chorale.kits.questions.scoring.sections import McqSection, with_sections
from chorale.kits.questions.scoring.sources import Sources, digests_of
from chorale.kits.questions.scoring.written_questions import written_section
from chorale.metrics import FloatArray
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Result


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
    given = {"--grades": grades, "--responses": responses, "--round": round_files}
    _check_together(
        [name for name, value in given.items() if value and is_study],
        pair=(responses, ledger),
        rounds_alone=bool(round_files) and not irt,
    )
    resampling = Resampling(ci, resamples, seed)
    study = commands.questions_of_folder(files[0], db, resampling, expert_hourly) if is_study else None
    by_arm = by_arm or is_study
    guessing = None if partial_inputs is None else _guessing(partial_inputs, folds)
    sources = Sources(files, study, against, round_files or [], validations, predictions)
    named, other, rounds = sources.read(by_arm=by_arm, irt=irt)
    more = {"irt": irt, "by-arm": by_arm} | (guessing.settings if guessing else {})
    beside = {"validations": validations, "predictions": predictions, "responses": responses, "ledger": ledger}
    options = McqOptions(
        ties, gold_votes, alpha, {name: value for name, value in more.items() if value}, digests_of(beside, rounds)
    )
    with patiently("draws") as progress:
        scored = score_mcq(named, options, Resampling(ci, resamples, seed, progress), other)
    # An arm that others are compared with is still one of the arms.
    everything = [*([other] if other is not None and by_arm else []), *named]
    sections, difficulties = _sections(
        everything, rounds, options, resampling, written=written or is_study or pictures is not None, irt=irt
    )
    if guessing:
        sections.append(guessing.section(everything, resampling))
    sections += study.sections if study else _of_exports(grades or [], responses, ledger, expert_hourly, resampling)
    scored = with_sections(scored, sections)
    if pictures is not None:
        _draw(scored, difficulties, pictures)
    print_scored(scored, as_json=as_json, as_latex=as_latex)


def _check_together(own: list[str], *, pair: tuple[Path | None, Path | None], rounds_alone: bool) -> None:
    """Options that need each other, and those that a study's folder has no use for."""
    if (pair[0] is None) != (pair[1] is None):
        raise click.BadParameter("--responses and --ledger belong together: name both, or neither.")
    if own:
        raise click.BadParameter(f"{', '.join(own)}: for files only. A study's folder has its own.")
    if rounds_alone:
        raise click.BadParameter("--round is for --irt: name both, or leave it out.")


def _draw(scored: "Result", difficulties: "Mapping[str, FloatArray] | None", folder: Path) -> None:

    write_pictures(folder, pictures(scored.json, difficulties))


def _sections(
    files: "list[NamedQuestions]",
    rounds: "list[NamedQuestions]",
    options: "McqOptions",
    resampling: "Resampling",
    *,
    written: bool,
    irt: bool,
) -> "tuple[list[McqSection], Mapping[str, FloatArray] | None]":
    """What was asked for of the questions themselves, and how hard they are if that was."""

    sections = [written_section(files, options, resampling)] if written else []
    if not irt:
        return sections, None

    with patiently("fits") as progress:
        section, difficulties = difficulty_section(files, rounds, seed=resampling.seed, progress=progress)
    return [*sections, section], difficulties


@dataclass(frozen=True, slots=True)
class _Guessing:
    """How well a model guesses without question or passage."""

    name: str
    model: "ChoiceModel"
    folds: int

    @property
    def settings(self) -> dict[str, str | int]:
        return {"partial-inputs": self.model.signature, "folds": self.folds}

    def section(self, files: "list[NamedQuestions]", resampling: "Resampling") -> "McqSection":

        with patiently("folds") as progress:
            return partial_section(files, self.model, self.name, resampling, folds=self.folds, progress=progress)


def _guessing(name: str, folds: int) -> _Guessing:

    return _Guessing(name, choice_model(name), folds)


def _of_exports(
    grades: list[Path], responses: Path | None, ledger: Path | None, hourly: int, resampling: "Resampling"
) -> "list[McqSection]":
    """What a study's own exports tell: how far graders agree, and what a question costs."""

    sections = [grades_section(read_grades(grades), resampling)] if grades else []
    if responses is not None and ledger is not None:
        sections.append(costs_section(costs_by_arm(read_worked(responses), read_paid(ledger)), hourly))
    return sections
