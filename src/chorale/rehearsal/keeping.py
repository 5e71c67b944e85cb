"""One run of a rehearsal as a study of its own: its files and its database, to look at as at any other."""

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


def keep_run(folder: StudyFolder, crowd: Crowd, seed: int, directory: Path) -> None:
    """Copy a study's files to a new folder, and run it there once. All of it, or nothing and UserError."""
    if directory.resolve().is_relative_to(folder.path.resolve()):
        raise UserError(f"{directory} is in the study's own folder. Name a folder elsewhere with {KEEP}.")
    with draft_folder(directory, KEEP) as draft, disk_errors():
        shutil.copytree(folder.path, draft.study, ignore=shutil.ignore_patterns(f"{DATABASE}*", ".*", "__pycache__"))
        settings = draft.study / SETTINGS_FILE
        settings.write_text(_marked(settings.read_text("utf-8"), folder.settings.study.title), "utf-8")
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


def _marked(settings: str, title: str) -> str:
    """A study file whose title says that its people are simulated, so that nobody takes its numbers for results."""
    as_it_is, marked = (json.dumps(text, ensure_ascii=False) for text in (title, f"Simulated: {title}"[:200]))
    return settings.replace(as_it_is, marked, 1)
