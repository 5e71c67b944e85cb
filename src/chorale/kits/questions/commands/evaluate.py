"""`chorale evaluate mcq`"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chorale.cli import evaluate
from chorale.cli.arguments import AsJson, Database
from chorale.cli.progress import patiently
from chorale.cli.scoring import AsLatex, Resamples, Seed, WithIntervals, print_scored
from chorale.files.source import digest_of, read_bytes
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
from chorale.kits.questions.files.answers import add_predictions, add_validations
from chorale.kits.questions.files.files import read_mcq
from chorale.kits.questions.files.study import read_grades, read_paid, read_worked
from chorale.kits.questions.metrics.costs import costs_by_arm
from chorale.kits.questions.scoring.costs import costs_section
from chorale.kits.questions.scoring.difficulty import difficulty_section
from chorale.kits.questions.scoring.grades import grades_section
from chorale.kits.questions.scoring.measured import McqOptions, NamedQuestions, arms_of
from chorale.kits.questions.scoring.partial import partial_section
from chorale.kits.questions.scoring.pictures import pictures, write_pictures
from chorale.kits.questions.scoring.scores import score_mcq
from chorale.kits.questions.scoring.sections import McqSection, with_sections
from chorale.kits.questions.scoring.written import written_section
from chorale.metrics import FloatArray
from chorale.metrics.drawing import Drawing
from chorale.model import UserError
from chorale.present.scoring import Scored

if TYPE_CHECKING:
    # It needs a study's database, which files do without.
    from chorale.kits.questions.scoring.study import StudyQuestions


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
    drawing = Drawing(ci, resamples, seed)
    study = evaluate.questions_of_folder(files[0], db, drawing, expert_hourly) if is_study else None
    by_arm = by_arm or is_study
    guessing = None if partial_inputs is None else _guessing(partial_inputs, folds)
    sources = _Sources(files, study, against, round_files or [], validations, predictions)
    named, other, rounds = sources.read(by_arm=by_arm, irt=irt)
    more = {"irt": irt, "by-arm": by_arm} | (guessing.settings if guessing else {})
    beside = {"validations": validations, "predictions": predictions, "responses": responses, "ledger": ledger}
    options = McqOptions(
        ties, gold_votes, alpha, {name: value for name, value in more.items() if value}, _digests(beside, rounds)
    )
    with patiently("draws") as progress:
        scored = score_mcq(named, options, Drawing(ci, resamples, seed, progress), other)
    # An arm that others are compared with is still one of the arms.
    everything = [*([other] if other is not None and by_arm else []), *named]
    sections, difficulties = _sections(
        everything, rounds, options, drawing, written=written or is_study or pictures is not None, irt=irt
    )
    if guessing:
        sections.append(guessing.section(everything, drawing))
    sections += study.sections if study else _of_exports(grades or [], responses, ledger, expert_hourly, drawing)
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


def _draw(scored: Scored, difficulties: Mapping[str, FloatArray] | None, folder: Path) -> None:
    write_pictures(folder, pictures(scored.json, difficulties))


def _digests(files: Mapping[str, Path | None], rounds: list[NamedQuestions]) -> dict[str, str]:
    """Of what was read beside the questions themselves."""
    digests = {name: digest_of(read_bytes(path)) for name, path in files.items() if path is not None}
    return digests | {f"round/{named.name}": named.digest for named in rounds if named.digest}


def _sections(
    files: list[NamedQuestions],
    rounds: list[NamedQuestions],
    options: McqOptions,
    drawing: Drawing,
    *,
    written: bool,
    irt: bool,
) -> tuple[list[McqSection], Mapping[str, FloatArray] | None]:
    """What was asked for of the questions themselves, and how hard they are if that was."""
    sections = [written_section(files, options, drawing)] if written else []
    if not irt:
        return sections, None

    with patiently("fits") as progress:
        section, difficulties = difficulty_section(files, rounds, seed=drawing.seed, progress=progress)
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

    def section(self, files: list[NamedQuestions], drawing: Drawing) -> McqSection:
        with patiently("folds") as progress:
            return partial_section(files, self.model, self.name, drawing, folds=self.folds, progress=progress)


def _guessing(name: str, folds: int) -> _Guessing:
    return _Guessing(name, choice_model(name), folds)


def _of_exports(
    grades: list[Path], responses: Path | None, ledger: Path | None, hourly: int, drawing: Drawing
) -> list[McqSection]:
    """What a study's own exports tell: how far graders agree, and what a question costs."""
    sections = [grades_section(read_grades(grades), drawing)] if grades else []
    if responses is not None and ledger is not None:
        sections.append(costs_section(costs_by_arm(read_worked(responses), read_paid(ledger)), hourly))
    return sections


@dataclass(frozen=True, slots=True)
class _Sources:
    """Where questions and what was said of them come from. A study's questions stand in for its folder."""

    files: list[Path]
    study: "StudyQuestions | None"
    against: Path | None
    round_files: list[Path]
    validations: Path | None
    predictions: Path | None

    def read(
        self, *, by_arm: bool, irt: bool
    ) -> tuple[list[NamedQuestions], NamedQuestions | None, list[NamedQuestions]]:
        """What is measured, what it is compared with, and earlier rounds."""
        is_arm = by_arm and self.against is not None and not self.against.exists()
        other_file = [] if self.against is None or is_arm else [self.against]
        measured, others, rounds = self._with_more_answers(self._measured(), _read(other_file), self._rounds(irt=irt))
        if by_arm:
            measured = arms_of(measured)
        if not is_arm:
            return measured, others[0] if others else None, rounds
        other = _arm_called(str(self.against), measured)
        return [named for named in measured if named is not other], other, rounds

    def _measured(self) -> list[NamedQuestions]:
        return [NamedQuestions("study", self.study.questions, "")] if self.study else _read(self.files)

    def _rounds(self, *, irt: bool) -> list[NamedQuestions]:
        if self.study is None:
            return _read(self.round_files)
        # Models may have answered all that was written.
        return list(self.study.rounds) if irt or self.predictions is not None else []

    def _with_more_answers(self, *groups: list[NamedQuestions]) -> list[list[NamedQuestions]]:
        questions = [named.questions for group in groups for named in group]
        if self.validations is not None:
            questions = add_validations(questions, self.validations)
        if self.predictions is not None:
            questions = add_predictions(questions, self.predictions)
        answered = iter(questions)
        return [[replace(named, questions=next(answered)) for named in group] for group in groups]


def _read(paths: list[Path]) -> list[NamedQuestions]:
    questions_read = []
    for path in paths:
        questions, source = read_mcq(path)
        questions_read.append(NamedQuestions(path.name.partition(".")[0] or path.name, questions, source.digest))
    return questions_read


def _arm_called(name: str, arms: list[NamedQuestions]) -> NamedQuestions:
    arm = next((named for named in arms if named.name == name), None)
    if arm is None:
        known = ", ".join(named.name for named in arms)
        raise UserError(f"--against {name}: there is neither such a file nor such an arm. The arms are {known}.")
    return arm
