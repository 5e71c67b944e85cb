"""Where finished parts of a computation are kept, so that it can be interrupted and continued later.

Every part is a Parquet file, or a folder of them, that appears under its name when it is whole. A folder belongs to one
input and one set of options: its name is made of them.
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
    """Computes parts that are not there, and counts both kinds."""

    path: Path
    progress: Callable[[int, int], None] = lambda _done, _total: None
    expected: int = 0
    done: int = 0
    reused: list[str] = field(default_factory=list)
    """Parts that were there already."""

    def table(self, engine: Engine, name: str, make: Callable[[], Any]) -> Any:
        """A part as a table, computed if it is not there."""
        path = self.path / f"{name}.parquet"
        if path.exists():
            self.reused.append(name)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            engine.write(make(), path)
        self.tick()
        return engine.table(path)

    def folder(self, name: str, fill: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
        """A part that is a folder of files and some facts about it."""
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
                os.replace(draft, facts)  # noqa: PTH105 - says in one word that it is put in place
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
    """Keep a second command from the folder while one is working there: they would write the same files.

    A folder that was made for this and in which nothing was kept goes again.
    """
    made = not parent.exists()
    try:
        parent.mkdir(parents=True, exist_ok=True)
        file = (parent / _LOCK).open("a")
    except OSError as error:
        raise _unwritable(parent, error) from None
    with file:
        try:
            # The system lets go of it when the process ends, however it ends.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(
                f"Another command is working in {parent}. Wait for it, or name another folder with --work."
            ) from None
        try:
            yield
        finally:
            if made and not any(each.is_file() and each.name != _LOCK for each in parent.rglob("*")):
                shutil.rmtree(parent, ignore_errors=True)


def _unwritable(path: Path, error: Exception) -> UserError:
    why = getattr(error, "strerror", None) or error
    return UserError(f"{path} can't be written: {why}. Make room there, or name another folder with --work.")


def key_of(settings: Mapping[str, Any]) -> str:
    """A short name for settings: the same for the same."""
    written = json.dumps(settings, sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:_KEY_LENGTH]
