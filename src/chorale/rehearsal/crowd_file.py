"""The crowd for simulating a study: `rehearsal.toml` in its folder, if there is one."""

from collections.abc import Iterator
from pathlib import Path

from chorale.folder.checking.report import CheckReport, did_you_mean
from chorale.folder.checking.settings_file import read_settings
from chorale.folder.checking.settings_shape import parsed_settings
from chorale.folder.reading import StudyFolder
from chorale.model import UserError
from chorale.rehearsal.fitted_answers import fit_answers
from chorale.rehearsal.preparing import USUAL_COLUMNS, Crowd, FitColumns, usual_workers
from chorale.rehearsal.simulated import CrowdSettings, KindSettings

CROWD_FILE = "rehearsal.toml"


def read_crowd(
    folder: StudyFolder, workers: int | None = None, fit: Path | None = None, columns: FitColumns = USUAL_COLUMNS
) -> Crowd:
    """The crowd from the file, or one like the workers of real judgments. `workers` sets their number."""
    settings = _read_settings(folder)
    # The same number for all variations of a study.
    workers = workers or settings.workers or usual_workers(folder)
    settings = settings.model_copy(update={"workers": workers, "kind": tuple(_fitted_kinds(settings, folder))})
    if fit is None:
        return Crowd(settings)
    # Imported here: table libraries load slowly, and most simulations have no judgments to fit.
    from chorale.rehearsal.fitted_crowd import fitted_crowd  # noqa: PLC0415

    return fitted_crowd(settings, folder, fit, columns)


def _fitted_kinds(settings: CrowdSettings, folder: StudyFolder) -> Iterator[KindSettings]:
    """The kinds of workers, with the accuracy of recorded answers for those that name a file."""
    for kind in settings.kind:
        if kind.answers is None:
            yield kind
            continue
        fitted = {one.stage: (one.accuracy, one.accuracy) for one in fit_answers(folder, folder.path / kind.answers)}
        yield kind.model_copy(update={"abilities": {**fitted, **kind.abilities}})


def _read_settings(folder: StudyFolder) -> CrowdSettings:
    if not (folder.path / CROWD_FILE).exists():
        return CrowdSettings()
    report = CheckReport(folder.path, CROWD_FILE)
    raw = read_settings(report)
    settings = None if raw is None else parsed_settings(CrowdSettings, raw, (), report)
    if settings is not None:
        _check_names(settings, folder, report)
    if settings is None or report.problems:
        problems = report.condensed_problems()
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise UserError(f"{folder.path / CROWD_FILE} has {count}", problems)
    return settings


def _check_names(settings: CrowdSettings, folder: StudyFolder, report: CheckReport) -> None:
    models = {model.name for model in folder.settings.model}
    for index, model in enumerate(settings.model):
        if model.name not in models:
            fix = did_you_mean(model.name, models) if models else "Add a [[model]] of this name to study.toml."
            report.setting(
                ("model", index, "name"), "there is no such model in this study", fix, model.name, missing=True
            )
    known = {name for content in folder.stages for name in (content.settings.name, content.settings.task)}
    for index, kind in enumerate(settings.kind):
        for name in kind.abilities:
            if name not in known:
                at = ("kind", index, "abilities", name)
                fix = did_you_mean(name, known)
                report.setting(at, "there is no such stage or task in this study", fix, name, missing=True)
