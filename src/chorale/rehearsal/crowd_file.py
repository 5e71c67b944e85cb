"""The crowd a study is rehearsed with: `rehearsal.toml` in its folder, if there is one."""

from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from chorale.formats.judgment_files import read_judgments
from chorale.formats.judgments import Judgments
from chorale.model import UserError
from chorale.rehearsal.preparing import Crowd
from chorale.rehearsal.sizing import usual_workers
from chorale.simulate import CrowdSettings, WorkerModel
from chorale.simulate.answering import listed_answers
from chorale.simulate.difficulty import fit_spread
from chorale.simulate.fitting import fit_workers
from chorale.simulate.models import label_of
from chorale.study import StudyFolder
from chorale.study.checking.report import Report, did_you_mean
from chorale.study.checking.settings_file import read_settings
from chorale.study.checking.settings_shape import parsed_settings

CROWD_FILE = "rehearsal.toml"
_SHOWN_LABELS = 5
_SHOWN_LETTERS = 40


class FitColumns(NamedTuple):
    """The columns of real judgments, where they are not called `task`, `worker` and `label`; and what splits labels."""

    task: str | None = None
    worker: str | None = None
    label: str | None = None
    sep: str | None = None


USUAL_COLUMNS = FitColumns()


def read_crowd(
    folder: StudyFolder, workers: int | None = None, fit: Path | None = None, columns: FitColumns = USUAL_COLUMNS
) -> Crowd:
    """Who comes: as the file says, or like the workers of real judgments. `workers`, if given, says how many."""
    settings = _read_settings(folder)
    # The same number for all variations of a study.
    workers = workers or settings.workers or usual_workers(folder)
    settings = settings.model_copy(update={"workers": workers})
    if fit is None:
        return Crowd(settings)
    judgments = read_judgments(fit, **columns._asdict()).judgments
    people = _fitted(judgments)
    spread = fit_spread(judgments, people)
    notes = _unrelated(fit, judgments, folder)
    if spread and settings.difficulty is None:
        notes += (
            f"what was judged in {fit} differs in how hard it is, by {spread:g} in log-odds. So do the items of this "
            "forecast: simulated people err together on the hard ones.",
        )
    return Crowd(settings, tuple(people), notes, spread)


def _read_settings(folder: StudyFolder) -> CrowdSettings:
    if not (folder.path / CROWD_FILE).exists():
        return CrowdSettings()
    report = Report(folder.path, CROWD_FILE)
    raw = read_settings(report)
    settings = None if raw is None else parsed_settings(CrowdSettings, raw, (), report)
    if settings is not None:
        _check_names(settings, folder, report)
    if settings is None or report.problems:
        problems = report.told()
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise UserError(f"{folder.path / CROWD_FILE} has {count}", problems)
    return settings


def _check_names(settings: CrowdSettings, folder: StudyFolder, report: Report) -> None:
    known = {name for content in folder.stages for name in (content.settings.name, content.settings.task)}
    for index, kind in enumerate(settings.kind):
        for name in kind.abilities:
            if name not in known:
                at = ("kind", index, "abilities", name)
                report.setting(at, "there is no such stage or task in this study", did_you_mean(name, known), name)


def _fitted(judgments: Judgments) -> list[WorkerModel]:
    usual = CrowdSettings().kind[0]
    like = WorkerModel("fitted", learning=0.0, dropout=usual.dropout)
    return fit_workers(judgments, like)


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
