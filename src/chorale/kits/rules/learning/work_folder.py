"""Stores finished parts of a computation, so that it can be interrupted and resumed.

Every part is a Parquet file or a folder of them, which gets its name when it is complete. A work folder belongs to one
input and one set of options, which determine its name.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from chorale.kits.rules.learning.engines import Engine
from chorale.model import UserError

_KEY_LENGTH = 16
_LOCK = ".lock"


@dataclass(slots=True)
class WorkFolder:
    """Computes missing parts, and counts computed and reused parts."""

    path: Path
    progress: Callable[[int, int], None] = lambda _done, _total: None
    expected: int = 0
    done: int = 0
    reused: list[str] = field(default_factory=list)
    """Parts that already existed."""

    def table(self, engine: Engine, name: str, make: Callable[[], Any]) -> Any:
        """A part as a table, computed if it does not exist."""
        path = self.path / f"{name}.parquet"
        if path.exists():
            self.reused.append(name)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            engine.write(make(), path)
        self.tick()
        return engine.table(path)

    def folder(self, name: str, fill: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
        """A part that is a folder of files, with metadata."""
        path = self.path / name
        facts = path / "facts.json"
        if facts.exists():
            self.reused.append(name)
        else:
            shutil.rmtree(path, ignore_errors=True)
            try:
                path.mkdir(parents=True)
                draft = path / ".facts.part"
                draft.write_text(json.dumps(fill(path)), "utf-8")
                os.replace(draft, facts)  # noqa: PTH105 - its name says that a file is replaced
            except (OSError, pl.exceptions.ComputeError) as error:
                raise _unwritable(path, error) from None
            finally:
                if not facts.exists():
                    shutil.rmtree(path, ignore_errors=True)
        self.tick()
        stored: dict[str, Any] = json.loads(facts.read_text("utf-8"))
        return stored

    def tick(self) -> None:
        self.done += 1
        self.progress(self.done, max(self.done, self.expected))


def work_folder(parent: Path, settings: Mapping[str, Any], progress: Callable[[int, int], None]) -> WorkFolder:
    """The folder of one input and one set of options, under `parent`."""
    path = parent / key_of(settings)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from None
    return WorkFolder(path, progress)


@contextmanager
def alone_in(parent: Path) -> Iterator[None]:
    """Locks the folder, because two commands would write the same files.

    A new folder in which nothing was stored is deleted again.
    """
    made = not parent.exists()
    try:
        parent.mkdir(parents=True, exist_ok=True)
        file = (parent / _LOCK).open("a")
    except OSError as error:
        raise _unwritable(parent, error) from None
    with file:
        try:
            # The system releases the lock when the process ends for any reason.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(
                f"Another command is using {parent}. Wait until it finishes, or set --work to another folder."
            ) from None
        try:
            yield
        finally:
            if made and not any(each.is_file() and each.name != _LOCK for each in parent.rglob("*")):
                shutil.rmtree(parent, ignore_errors=True)


def _unwritable(path: Path, error: Exception) -> UserError:
    why = getattr(error, "strerror", None) or error
    return UserError(f"Cannot write {path}: {why}. Free disk space, or set --work to another folder.")


def key_of(settings: Mapping[str, Any]) -> str:
    """A short name that depends only on the settings."""
    written = json.dumps(settings, sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:_KEY_LENGTH]
