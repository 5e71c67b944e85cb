"""A crowd fitted to real judgments: accuracy, confusions and item difficulty."""

from pathlib import Path
from textwrap import shorten

from chorale.folder.reading import StudyFolder
from chorale.metrics.judgments import Judgments
from chorale.metrics.reading.judged import Reading
from chorale.rehearsal.fitted_answers import fit_answers, has_recorded_answers, like_answers
from chorale.rehearsal.preparing import Crowd, FitColumns
from chorale.rehearsal.simulated import CrowdSettings, WorkerModel
from chorale.rehearsal.simulated.answering import listed_answers
from chorale.rehearsal.simulated.fitting import fit_spread, fit_workers
from chorale.rehearsal.simulated.models import label_of

_SHOWN_LABELS = 5
_SHOWN_LETTERS = 40


def fitted_crowd(settings: CrowdSettings, folder: StudyFolder, fit: Path, columns: FitColumns) -> Crowd:
    """A crowd fitted to the judgments in a file, or to a model's recorded answers."""
    usual = CrowdSettings().kind[0]
    like = WorkerModel("fitted", learning=0.0, dropout=usual.dropout)
    if has_recorded_answers(fit):
        answers = fit_answers(folder, fit)
        return Crowd(settings, (like_answers(answers, like),), tuple(one.note for one in answers))
    judgments = Reading(**columns._asdict()).file(fit).judgments
    people = fit_workers(judgments, like)
    spread = fit_spread(judgments, people)
    notes = _unrelated(fit, judgments, folder)
    if spread and settings.difficulty is None:
        notes += (
            f"the tasks in {fit} differ in difficulty, by {spread:g} in log-odds. The items of this forecast "
            "differ as much, so simulated people err together on hard items.",
        )
    return Crowd(settings, tuple(people), notes, spread)


def _unrelated(file: Path, judgments: Judgments, folder: StudyFolder) -> tuple[str, ...]:
    """A note if no label of the file is an answer in the study, so that confusions can't be used."""
    labels = set(judgments.options)
    answers = {label_of(choice) for content in folder.stages for choice in listed_answers(content.task) or ()}
    if labels & answers:
        return ()
    shown = ", ".join(shorten(label, _SHOWN_LETTERS, placeholder="…") for label in sorted(labels)[:_SHOWN_LABELS])
    more = ", …" if len(labels) > _SHOWN_LABELS else ""
    return (
        f"no label of {file} ({shown}{more}) is an answer in this study. Simulated people have the same accuracy, but "
        "not the same confusions.",
    )
