"""Creates a folder under a temporary name, and renames it when it is complete."""

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from chorale.model import UserError


@dataclass(frozen=True, slots=True)
class DraftFolder:
    path: Path
    """A folder for temporary files."""
    study: Path
    """The final content, created by the caller."""
    notes: tuple[str, ...]


@contextmanager
def draft_folder(directory: Path, option: str = "--out") -> Iterator[DraftFolder]:
    """A draft next to `directory`, which is renamed to it on success and removed otherwise.

    `option` is the option that named it. A killed process leaves its draft behind; the next one with the same name
    removes it.
    """
    if os.path.lexists(directory):
        raise _there_already(directory, option)
    try:
        made = _make_parents(directory.parent)
        notes = _clear_drafts(directory)
        path = directory.with_name(f".{directory.name}.{secrets.token_hex(4)}.part")
        path.mkdir()
        held = _hold(path)
    except OSError as error:
        raise UserError(
            f"{directory} can't be created: {error.strerror}. Choose another location with {option}."
        ) from None
    draft = DraftFolder(path, path / "study", notes)
    try:
        yield draft
        _put_in_place(draft.study, directory, option)
        made = []
    except OSError as error:
        raise UserError(
            f"{directory} can't be written: {error.strerror or error}. Choose another location with {option}."
        ) from error
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if held is not None:
            os.close(held)
        for parent in made:
            with suppress(OSError):
                parent.rmdir()


def _there_already(directory: Path, option: str) -> UserError:
    return UserError(f"{directory} already exists. Name a new folder with {option}.")


def _make_parents(folder: Path) -> list[Path]:
    """Create the folder; returns all created parents, innermost first."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _hold(path: Path) -> int | None:
    """Lock a draft for this process until it ends, even after a crash; None if another process has it."""
    held = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held


def _clear_drafts(directory: Path) -> tuple[str, ...]:
    """Remove drafts of interrupted processes; returns notes about it."""
    removed = []
    for left in sorted(directory.parent.glob(f".{_literal(directory.name)}.????????.part")):
        held = _hold(left)
        if held is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(held)
            removed.append(left)
    return tuple(f"Removed {left}, left over from an interrupted command." for left in removed)


def _literal(name: str) -> str:
    """A name escaped for a glob pattern."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)


def _put_in_place(folder: Path, directory: Path, option: str) -> None:
    for path in (*folder.iterdir(), folder):
        write_to_disk(path)
    if os.path.lexists(directory):
        raise _there_already(directory, option)
    folder.rename(directory)
    write_to_disk(directory.parent)


def write_to_disk(path: Path) -> None:
    """Flush a file, or the names in a folder, to disk."""
    held = os.open(path, os.O_RDONLY)
    try:
        os.fsync(held)
    finally:
        os.close(held)
