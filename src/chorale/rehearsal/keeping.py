"""Saves a simulated run as a separate study, with files and database."""

import json
import shutil
from pathlib import Path

from chorale.engine.opening import DATABASE
from chorale.folder.draft import draft_folder
from chorale.folder.reading import SETTINGS_FILE, StudyFolder, load_folder
from chorale.model import UserError
from chorale.rehearsal.preparing import Crowd, Rehearsal
from chorale.store import open_loading_store
from chorale.store.loading import disk_errors

KEEP = "--keep"
MARKER = ".chorale-simulated"
"""The file that marks a folder whose people are simulated."""


def keep_run(folder: StudyFolder, crowd: Crowd, seed: int, directory: Path) -> None:
    """Copy a study's files to a new folder, and simulate the study there once, all or nothing."""
    if directory.resolve().is_relative_to(folder.path.resolve()):
        raise UserError(f"{directory} is the study's own folder or inside it. Name a folder elsewhere with {KEEP}.")
    with draft_folder(directory, KEEP) as draft, disk_errors():
        copy_as_simulated(folder, draft.study)
        store = open_loading_store(draft.study / DATABASE, indexed=True)
        try:
            rehearsal = Rehearsal(load_folder(draft.study), crowd)
            try:
                rehearsal.perform_on(store, seed)
            finally:
                rehearsal.close()
            store.finish()
        finally:
            store.close()


def copy_as_simulated(folder: StudyFolder, target: Path) -> None:
    """Copy a study's files without its database and outputs, and mark the copy as simulated."""
    left_out = shutil.ignore_patterns(f"{DATABASE}*", "replaced-*.zip", "reports", ".*", "__pycache__")
    shutil.copytree(folder.path, target, ignore=left_out)
    settings = target / SETTINGS_FILE
    settings.write_text(_marked(settings.read_text("utf-8"), folder.settings.study.title), "utf-8")
    (target / MARKER).write_text(
        "The people of this study are simulated. `chorale simulate` may replace it.\n", "utf-8"
    )


def _marked(settings: str, title: str) -> str:
    """A study file whose title shows that people are simulated, so that its numbers are not mistaken for results."""
    as_it_is, marked = (json.dumps(text, ensure_ascii=False) for text in (title, f"Simulated: {title}"[:200]))
    return settings.replace(as_it_is, marked, 1)
