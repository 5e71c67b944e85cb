"""Studies that have been started, with the settings stored in their database.

`chorale serve` imports a folder's files into the database. So do commands that start a study, or run its models while
its site is closed. All other commands use the stored settings. So they can run while a server is running or files are
being edited, and the server and the database always agree about the settings.
"""

import json
import tomllib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from chorale.contract import installed_tasks
from chorale.engine.ledger_currency import refuse_other_currency
from chorale.engine.opening import (
    DATABASE,
    OpenElsewhereError,
    forbidden_changes,
    open_study,
    serving_alone,
    steady_clock,
)
from chorale.engine.planning import note_forecast
from chorale.engine.running import RunningStage, Study, running_gates, running_stage
from chorale.folder.checking.settings_file import which_folder
from chorale.folder.reading import SETTINGS_FILE, ReadFolder, StudyFolder, did_you_mean
from chorale.model import Problem, StageSettings, StudySettings, UserError
from chorale.model.shared_options import with_shared_options
from chorale.present.shell import argument
from chorale.store import Store, Tx, consents, gold, open_store, stages, store_url
from chorale.store.consents import ConsentForm
from chorale.store.settings import fees_by_platform, repeats_scarce_gold, setting_value, ties_at_random


@contextmanager
def started_study(directory: Path, database: str | None) -> Iterator[Study]:
    """A study that `chorale serve` has started."""
    with closing(_open_existing(directory, database)) as store:
        study = _as_recorded(directory, store)
        try:
            yield study
        except UserError as error:
            if SETTINGS_FILE in error.message and _has_changed(directory, store):
                raise UserError(
                    f"{directory / SETTINGS_FILE} has changed since the site was last started. Restart `chorale serve "
                    f"{directory}` to apply the change. With the earlier settings: {error.message}",
                    error.problems,
                ) from error
            raise


@contextmanager
def study_to_prepare(directory: Path, database: str | None) -> Iterator[Study]:
    """A study; this starts it if it has not been started yet."""
    _check_is_study(directory)
    if _file_is_missing(directory, database) or not _has_started(directory, database):
        with closing(open_study(directory, database)) as study:
            yield study
    else:
        with started_study(directory, database) as study:
            yield study


@contextmanager
def study_for_models(directory: Path, database: str | None) -> Iterator[Study]:
    """A study for running models: updated from its files, unless its site is open."""
    _check_is_study(directory)
    try:
        with serving_alone(directory, database):
            study = open_study(directory, database)
    except OpenElsewhereError:
        with started_study(directory, database) as study:
            yield study
        return
    with closing(study):
        yield study


def changes_refused(directory: Path, database: str | None, read: ReadFolder) -> list[Problem]:
    """Changes of a folder that are refused because people have worked in the study; empty if nobody has."""
    if _file_is_missing(directory, database):
        return []
    with closing(_open_existing(directory, database)) as store:
        return store.look(partial(refused_of, read=read))


def refused_of(tx: Tx, read: ReadFolder) -> list[Problem]:
    """Changes of a folder that are refused because people have worked in the study of this database."""
    if read.folder is not None:
        return forbidden_changes(tx, read.folder)
    return [] if stages.is_untouched(tx) else read.problems


def refuse_changes(directory: Path, database: str | None, folder: StudyFolder) -> None:
    """Raise an error if the site can't be opened, because the folder no longer matches the study's database."""
    if problems := changes_refused(directory, database, ReadFolder(folder, [], folder.settings, folder.stages)):
        raise UserError(
            f"{directory} no longer matches the study's database, so `chorale serve` will not open it", problems
        )


def keep_forecast(directory: Path) -> None:
    """Log a saved forecast in the folder's study, if it has been started."""
    if not _file_is_missing(directory, None) and _has_started(directory, None):
        with started_study(directory, None) as study:
            study.store.do(lambda tx: note_forecast(tx, directory, study.clock()))


def stage_called(study: Study, name: str) -> RunningStage:
    if name not in study.stages:
        raise UserError(f"This study has no stage `{name}`. {did_you_mean(name, study.stages)}")
    return study.stages[name]


def _check_is_study(directory: Path) -> None:
    if not directory.exists():
        raise UserError(f"{directory}: no such folder. {which_folder(directory)}")
    if not (directory / SETTINGS_FILE).is_file():
        raise UserError(f"{directory} is not a study: there is no {SETTINGS_FILE} in it. {which_folder(directory)}")


def _file_is_missing(directory: Path, database: str | None) -> bool:
    url = store_url(database, directory / DATABASE)
    return url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file()


def is_unstarted(directory: Path, database: str | None) -> bool:
    """Whether a folder is a study without a database yet."""
    _check_is_study(directory)
    return _file_is_missing(directory, database)


def _has_started(directory: Path, database: str | None) -> bool:
    with closing(_open_existing(directory, database)) as store:
        return _recorded_settings(store) is not None


def _open_existing(directory: Path, database: str | None) -> Store:
    _check_is_study(directory)
    if _file_is_missing(directory, database):
        raise _not_started(directory)
    return open_store(store_url(database, directory / DATABASE), create=False)


def _not_started(directory: Path) -> UserError:
    return UserError(
        f"{directory} has not been started: it has no database yet. Start it with `chorale serve "
        f"{argument(directory)}`, or name the database it runs on with --db."
    )


def _recorded_settings(store: Store) -> str | None:
    return store.look(lambda tx: setting_value(tx, "study"))


def _has_changed(directory: Path, store: Store) -> bool:
    """Whether the study file differs from the settings in force."""
    try:
        now = tomllib.loads((directory / SETTINGS_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return True
    return now != tomllib.loads(_recorded_settings(store) or "")


def _as_recorded(directory: Path, store: Store) -> Study:
    text = _recorded_settings(store)
    if text is None:
        raise _not_started(directory)
    store.look(lambda tx: refuse_other_currency(tx, directory, text))
    try:
        settings = StudySettings.model_validate(with_shared_options(tomllib.loads(text)))
    except ValidationError:
        raise UserError(
            f"{directory} was last started by another version of Chorale. Update it: `chorale "
            f"check {argument(directory)}`, then `chorale serve {argument(directory)}`."
        ) from None
    ids = {row.name: row.id for row in store.look(stages.all_stages)}
    texts = json.loads(store.look(lambda tx: setting_value(tx, "texts")) or "{}")
    return Study(
        settings=settings,
        consent=store.look(_latest_form),
        stages={
            stage.name: _stage_as_recorded(store, stage, ids[stage.name], settings)
            for stage in settings.stage
            if stage.name in ids
        },
        store=store,
        clock=steady_clock(store),
        gates=running_gates(settings, texts),
        fees_by_platform=store.look(fees_by_platform),
        repeats_scarce_gold=store.look(repeats_scarce_gold),
    ).with_tables()


def _latest_form(tx: Tx) -> ConsentForm:
    """The consent form in force; an empty one for a study started by an early version of Chorale."""
    known = consents.forms(tx)
    return known[-1] if known else ConsentForm(0, "", "", 0)


def _stage_as_recorded(store: Store, stage: StageSettings, stage_id: int, settings: StudySettings) -> RunningStage:
    task = installed_tasks().get(stage.task)
    if task is None:
        raise UserError(f"Stage `{stage.name}` needs the task `{stage.task}`: install the package that provides it.")
    options = task.options.model.model_validate(stage.options)
    return running_stage(
        settings,
        stage,
        stage_id,
        task.configured(options),
        options,
        lambda: store.look(lambda tx: len(gold.gold_by_key(tx, stage_id))),
        ties_at_random=store.look(ties_at_random),
    )
