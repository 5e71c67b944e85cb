"""The questions of a study folder, for `chorale evaluate mcq`."""

from pathlib import Path

from chorale.engine.settling import settle_everything
from chorale.engine.started import started_study
from chorale.exchange.export import note_export
from chorale.kits.questions.scoring.study import StudyQuestions, study_questions
from chorale.metrics.resampling import Resampling
from chorale.model import UserError


def questions_of_folder(folder: Path, db: str | None, resampling: Resampling, hourly: int) -> StudyQuestions:
    """Reads questions from the study database. Access to the arms is logged as an export."""
    with started_study(folder, db) as study:
        settle_everything(study)
        questions = study.store.read(lambda tx: study_questions(tx, study, resampling, expert_hourly=hourly)).result()
        study.store.write(lambda tx: note_export(tx, study, "mcq", "chorale evaluate mcq")).result()
    if questions is None:
        raise UserError(
            f"{folder} has no written questions with validations. They come from stages with the tasks mcq-write and "
            "mcq-validate."
        )
    return questions
