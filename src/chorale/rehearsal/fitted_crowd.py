"""A crowd like the people of real judgments: right as often, mistaken in the same ways, on items as hard."""

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
    """People like those who gave the judgments in a file, or who err like a model's recorded answers."""
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
            f"what was judged in {fit} differs in how hard it is, by {spread:g} in log-odds. So do the items of this "
            "forecast: simulated people err together on the hard ones.",
        )
    return Crowd(settings, tuple(people), notes, spread)


def _unrelated(file: Path, judgments: Judgments, folder: StudyFolder) -> tuple[str, ...]:
    """What people mistook for what says something of stages only whose answers are those labels."""
    labels = set(judgments.options)
    answers = {label_of(choice) for content in folder.stages for choice in listed_answers(content.task) or ()}
    if labels & answers:
        return ()
    shown = ", ".join(shorten(label, _SHOWN_LETTERS, placeholder="…") for label in sorted(labels)[:_SHOWN_LABELS])
    more = ", …" if len(labels) > _SHOWN_LABELS else ""
    return (
        f"no label of {file} ({shown}{more}) is an answer in this study. Simulated people are right as often as those "
        "were, and what those mistook for what is left aside.",
    )
