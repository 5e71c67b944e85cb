"""New studies from the templates that come with Chorale."""

import secrets
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from chorale.folder.reading import SETTINGS_FILE, did_you_mean
from chorale.kits.mturk.from_batch import study_from_batch
from chorale.model import UserError

_TEMPLATES = Path(__file__).with_name("templates")


def template_names() -> list[str]:
    return sorted(path.parent.name for path in _TEMPLATES.glob(f"*/{SETTINGS_FILE}"))


def create_study(directory: Path, template: str) -> list[Path]:
    """Copy a template into a folder that is new or empty; the files that are there now. All or none are written."""
    return _write(directory, partial(_copy, template_folder(template)))


def create_study_from_batch(directory: Path, html: Path, csv: Path) -> list[Path]:
    """A study from a layout for Mechanical Turk and its batch file, in the same way."""
    files = list(study_from_batch(template_folder("mturk"), html, csv))

    def fill(target: Path) -> None:
        target.mkdir()
        for name, content in files:
            (target / name).write_text(content, "utf-8", newline="\n")

    return _write(directory, fill)


def template_folder(template: str) -> Path:
    """Where a template lies."""
    names = template_names()
    if template not in names:
        raise UserError(f"there is no template `{template}`. {did_you_mean(template, names)}")
    return _TEMPLATES / template


def is_from_template(folder: Path, name: str) -> bool:
    """Whether a file of a study is still as it came with a template."""
    file = folder / name
    size = file.stat().st_size
    there = (template_folder(template) / name for template in template_names())
    return any(
        path.is_file() and path.stat().st_size == size and path.read_bytes() == file.read_bytes() for path in there
    )


def _write(directory: Path, fill: Callable[[Path], None]) -> list[Path]:
    target = directory.absolute()
    try:
        _refuse_if_taken(target, directory)
        target.parent.mkdir(parents=True, exist_ok=True)
        staged = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        try:
            fill(staged)
            _move(staged, target)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    except OSError as error:
        raise UserError(f"{directory} can't be written: {error.strerror}. Choose another folder.") from error
    return sorted(path for path in directory.rglob("*") if path.is_file())


def _refuse_if_taken(target: Path, shown_as: Path) -> None:
    if target.is_dir():
        if any(target.iterdir()):
            raise UserError(f"{shown_as} is not empty. Choose a new folder, or empty this one first.")
    elif target.exists() or target.is_symlink():
        raise UserError(f"{shown_as} is a file. Choose a new folder.")


def _copy(source: Path, target: Path) -> None:
    """Copy contents alone: installed templates may be read-only, and the study is to be edited."""
    target.mkdir()
    for path in source.iterdir():
        if path.is_dir():
            _copy(path, target / path.name)
        else:
            shutil.copyfile(path, target / path.name)


def _move(staged: Path, target: Path) -> None:
    if not target.exists():
        staged.rename(target)
        return
    # An empty folder is filled rather than replaced, since a shell may be standing in it. The study file comes last:
    # until it is there, the folder is no study.
    for path in sorted(staged.iterdir(), key=lambda path: path.name == SETTINGS_FILE):
        path.rename(target / path.name)
