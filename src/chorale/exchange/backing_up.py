"""Making a backup: a consistent copy of a study's database and files, checked before it gets its final name."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chorale import __version__
from chorale.engine.clock import wall_clock
from chorale.engine.opening import DATABASE
from chorale.engine.parts import tables_by_kit
from chorale.exchange.backup_files import (
    DATABASE_MEMBER,
    FILES_FOLDER,
    Manifest,
    is_file_of_study,
    part_of,
    read_backup,
    write_backup,
)
from chorale.files.tables import replacing
from chorale.folder.draft import write_to_disk
from chorale.folder.reading import study_files
from chorale.model import UserError
from chorale.store import DatabaseAddress, store_url
from chorale.store.copying import RowCounts, copy_database, facts_of_copy, problems_of_copy

BESIDE = ("-wal", "-shm")
"""Endings of the files that SQLite keeps next to a database."""


def make_backup(
    directory: Path,
    database: str | None,
    target: Path,
    passphrase: str | None,
    examine: Callable[[Path], None],
) -> Manifest:
    """Write a backup of a study; its site may be running.

    The file is read back and checked, and `examine` inspects its database, before it is renamed to its final name.
    """
    url = store_url(database, directory / DATABASE)
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).is_file():
        raise UserError(
            f"{directory} has no database at {url.database}: there is nothing to back up. If the study uses another "
            "database, name it with --db."
        )
    _refuse_own_file(directory, url, target)
    with scratch_folder(directory) as scratch:
        copy = scratch / DATABASE_MEMBER
        made_at = wall_clock()
        rows = copy_database(url, copy, tables_by_kit)
        members = {DATABASE_MEMBER: copy, **_copied_files(directory, scratch)}
        manifest = manifest_of(copy, rows, members, made_at, url)
        with replacing(target) as draft:
            write_backup(draft, manifest, members, passphrase)
            back = scratch / "read-back"
            back.mkdir()
            check_backup(draft, target, back, passphrase)
            examine(back / DATABASE_MEMBER)
        write_to_disk(target.parent)
    return manifest


def _refuse_own_file(directory: Path, url: DatabaseAddress, target: Path) -> None:
    """Refuse to overwrite what is backed up."""
    own = [directory / name for name in study_files(directory)]
    if url.get_backend_name() == "sqlite":
        own += [Path(f"{url.database}{suffix}") for suffix in ("", *BESIDE)]
    if target.resolve() in {path.resolve() for path in own}:
        raise UserError(f"{target} is a file of the study itself. Name another file for the backup.")


def manifest_of(copy: Path, rows: RowCounts, members: dict[str, Path], made_at: int, url: DatabaseAddress) -> Manifest:
    facts = facts_of_copy(copy)
    return Manifest(
        chorale=__version__,
        title=facts.title,
        study=facts.study,
        made_at=made_at,
        epoch=facts.epoch,
        source=url.get_backend_name(),
        rows=rows,
        parts={name: part_of(file) for name, file in members.items()},
    )


def check_backup(file: Path, shown: Path, folder: Path, passphrase: str | None) -> Manifest:
    """Unpack a backup into a folder and check all of it; `shown` is its name in messages."""
    manifest = read_backup(file, shown, folder, passphrase)
    if problems := problems_of_copy(folder / DATABASE_MEMBER, manifest.rows):
        raise UserError(f"{shown} is damaged: {'; '.join(problems)}. Use another copy of the backup.")
    return manifest


@contextmanager
def scratch_folder(directory: Path) -> Iterator[Path]:
    """A private folder next to the database, since its content is equally confidential."""
    try:
        with tempfile.TemporaryDirectory(prefix=".chorale-backup-", dir=directory) as made:
            yield Path(made)
    except PermissionError as error:
        raise UserError(
            f"{directory} can't be written: {error.strerror}. Backups are prepared in this folder: "
            f"allow Chorale to write there."
        ) from None


def _copied_files(directory: Path, scratch: Path) -> dict[str, Path]:
    """Copies of the study's files, by their names in the backup."""
    members = {}
    for name in study_files(directory):
        member = f"{FILES_FOLDER}/{name}"
        if not is_file_of_study(member):
            continue
        place = scratch / member
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(directory / name, place)
        members[member] = place
    return members
