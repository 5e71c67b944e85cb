"""Where questions and the answers to them come from: files, or a study."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from chorale.files.source import digest_of, read_bytes
from chorale.kits.questions.files.answers import add_predictions, add_validations
from chorale.kits.questions.files.questions import read_mcq
from chorale.kits.questions.scoring.measured import NamedQuestions, arms_of
from chorale.model import UserError

if TYPE_CHECKING:
    # Files are scored without a database.
    from chorale.kits.questions.scoring.study import StudyQuestions


@dataclass(frozen=True, slots=True)
class Sources:
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
        measured, others, rounds = self._with_more_answers(
            self._measured(), read_questions(other_file), self._rounds(irt=irt)
        )
        if by_arm:
            measured = arms_of(measured)
        if not is_arm:
            return measured, others[0] if others else None, rounds
        other = _arm_called(str(self.against), measured)
        return [one for one in measured if one is not other], other, rounds

    def _measured(self) -> list[NamedQuestions]:
        return [NamedQuestions("study", self.study.questions, "")] if self.study else read_questions(self.files)

    def _rounds(self, *, irt: bool) -> list[NamedQuestions]:
        if self.study is None:
            return read_questions(self.round_files)
        # Models may have answered all that was written.
        return list(self.study.rounds) if irt or self.predictions is not None else []

    def _with_more_answers(self, *groups: list[NamedQuestions]) -> list[list[NamedQuestions]]:
        questions = [one.questions for group in groups for one in group]
        if self.validations is not None:
            questions = add_validations(questions, self.validations)
        if self.predictions is not None:
            questions = add_predictions(questions, self.predictions)
        answered = iter(questions)
        return [[replace(one, questions=next(answered)) for one in group] for group in groups]


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
        raise UserError(f"--against {name}: there is neither such a file nor such an arm. The arms are {known}.")
    return arm


def digests_of(files: Mapping[str, Path | None], rounds: list[NamedQuestions]) -> dict[str, str]:
    """Of what was read beside the questions themselves."""
    digests = {name: digest_of(read_bytes(path)) for name, path in files.items() if path is not None}
    return digests | {f"round/{one.name}": one.digest for one in rounds if one.digest}
