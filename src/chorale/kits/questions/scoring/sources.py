"""Sources of questions and answers: files, or a study."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from chorale.files.source import digest_of, read_bytes
from chorale.kits.questions.files.answers import add_predictions, add_validations
from chorale.kits.questions.files.questions import read_mcq
from chorale.kits.questions.scoring.measured import NamedQuestions, arms_of
from chorale.metrics.family import path_of, paths_of
from chorale.metrics.options import File
from chorale.model import UserError

if TYPE_CHECKING:
    # Files are scored without a database.
    from chorale.kits.questions.scoring.study import StudyQuestions


def read_sources(
    files: list[Path],
    study: "StudyQuestions | None",
    against: File | None,
    round_files: Sequence[File],
    answers: Mapping[str, Path],
    by_arm: bool,
    irt: bool,
) -> tuple[list[NamedQuestions], NamedQuestions | None, list[NamedQuestions]]:
    """The questions to measure, the questions to compare with, and earlier rounds. With a study, its questions are
    measured. An arm to compare with is measured too.
    """
    is_arm = by_arm and against is not None and not path_of(against).exists()
    others = [] if against is None or is_arm else read_questions([path_of(against)])
    if study is None:
        measured, rounds = read_questions(files), read_questions(paths_of(round_files))
    else:
        # Models may have answered all written questions.
        measured = [NamedQuestions("study", study.questions, "")]
        rounds = list(study.rounds) if irt or "predictions" in answers else []
    questions = [one.questions for one in (*measured, *others, *rounds)]
    if "validations" in answers:
        questions = add_validations(questions, answers["validations"])
    if "predictions" in answers:
        questions = add_predictions(questions, answers["predictions"])
    answered = iter(questions)
    measured, others, rounds = (
        [replace(one, questions=next(answered)) for one in group] for group in (measured, others, rounds)
    )
    if by_arm:
        measured = arms_of(measured, () if study is None else study.arms)
    if not is_arm:
        return measured, others[0] if others else None, rounds
    other = _arm_called(str(against), measured)
    if len(measured) == 1:
        raise UserError(f"--against {other.name}: this is the only arm, so there is nothing to compare.")
    return measured, other, rounds


def read_questions(paths: list[Path]) -> list[NamedQuestions]:
    named = []
    for path in paths:
        questions, source = read_mcq(path)
        named.append(NamedQuestions(path.name.partition(".")[0] or path.name, questions, source.digest))
    return named


def _arm_called(name: str, arms: list[NamedQuestions]) -> NamedQuestions:
    arm = next((one for one in arms if one.name == name), None)
    if arm is None:
        known = ", ".join(one.name for one in arms)
        raise UserError(f"--against {name}: no such file or arm. Arms: {known}.")
    return arm


def digests_of(files: Mapping[str, Path], rounds: list[NamedQuestions]) -> dict[str, str]:
    """Digests of the files read in addition to the questions."""
    digests = {name: digest_of(read_bytes(path)) for name, path in files.items()}
    return digests | {f"round/{one.name}": one.digest for one in rounds if one.digest}
