"""The format of backups: a ZIP file with a manifest, the database and the study's files, optionally encrypted.

Damage is detected before anything is used: the manifest has the length and SHA-256 hash of every part.
"""

import json
import os
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, BinaryIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chorale.exchange.sealing import is_sealed, seal, unseal
from chorale.model import UserError

MANIFEST = "manifest.json"
DATABASE_MEMBER = "study.db"
FILES_FOLDER = "files"
FORMAT = "chorale backup"
VERSION = 1
_DATABASE_FILES = frozenset(DATABASE_MEMBER + ending for ending in ("", "-wal", "-shm", "-journal"))
_STEP = 1 << 20
_LONGEST_MANIFEST = 16 << 20
_LAST_MOMENT = 253_402_300_799_999
"""The end of the year 9999, in milliseconds: later times can't be shown."""
_COMPRESSION = 3
"""Compression level (1 to 9): a third of the size, at the speed of a disk."""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(BaseModel):
    """The description of a backup and its parts."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    format: str = FORMAT
    version: int = VERSION
    chorale: str
    """The version of Chorale that made it."""
    title: str
    study: str
    """The mark of the study's first epoch, which identifies the study."""
    made_at: int = Field(ge=0, le=_LAST_MOMENT)
    epoch: int
    source: str
    """sqlite or postgresql."""
    rows: dict[str, int]
    """Number of rows, by table."""
    parts: dict[str, Part]


def part_of(file: Path) -> Part:
    digest = sha256()
    with file.open("rb") as source:
        while chunk := source.read(_STEP):
            digest.update(chunk)
    return Part(bytes=file.stat().st_size, sha256=digest.hexdigest())


def write_backup(target: Path, manifest: Manifest, members: Mapping[str, Path], passphrase: str | None) -> None:
    """Write the file. With a passphrase, no unencrypted data are written to the folder of `target`."""
    if passphrase is None:
        _zip(target, manifest, members)
        return
    plain = members[DATABASE_MEMBER].with_name("backup.zip")
    _zip(plain, manifest, members)
    seal(plain, target, passphrase)
    plain.unlink()


def _zip(target: Path, manifest: Manifest, members: Mapping[str, Path]) -> None:
    with target.open("wb") as stream:
        os.fchmod(stream.fileno(), 0o600)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION) as archive:
            archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
            for name, file in members.items():
                archive.write(file, name)
        stream.flush()
        os.fsync(stream.fileno())


def read_backup(file: Path, shown: Path, folder: Path, passphrase: str | None) -> Manifest:
    """Unpack a backup into a folder and check every part; `shown` is its name in messages."""
    try:
        if passphrase is not None and is_sealed(file):
            plain = folder / "backup.zip"
            unseal(file, shown, plain, passphrase)
            manifest = _unzip(plain, shown, folder)
            plain.unlink()
            return manifest
        return _unzip(file, shown, folder)
    except OSError as error:
        raise UserError(f"{shown} can't be unpacked: {error.strerror or error}.") from None


def _unzip(file: Path, shown: Path, folder: Path) -> Manifest:
    if not zipfile.is_zipfile(file):
        with file.open("rb") as source:
            begins_as_zip = source.read(4) == b"PK\x03\x04"
        if begins_as_zip:
            raise UserError(f"{shown} is truncated. Use another copy of the backup.")
        raise UserError(f"{shown} is not a Chorale backup. Name a file made by `chorale backup`.")
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _manifest(archive, shown)
            for name, part in manifest.parts.items():
                _extract(archive, name, part, _place(folder, name, shown), shown)
    except (zipfile.BadZipFile, RuntimeError, EOFError, ValueError, zipfile.zlib.error) as error:  # type: ignore[attr-defined]
        # RuntimeError: an encrypted part, an unknown compression, or a manifest that is nested too deeply.
        raise _damaged(shown, str(error)) from None
    return manifest


def _manifest(archive: zipfile.ZipFile, shown: Path) -> Manifest:
    if MANIFEST not in archive.namelist():
        raise UserError(f"{shown} is a ZIP file, but not a Chorale backup. Name a file made by `chorale backup`.")
    if archive.getinfo(MANIFEST).file_size > _LONGEST_MANIFEST:
        raise _damaged(shown, f"{MANIFEST} is too long")
    raw: Any = json.loads(archive.read(MANIFEST))
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise UserError(f"{shown} is a ZIP file, but not a Chorale backup. Name a file made by `chorale backup`.")
    if raw.get("version") != VERSION:
        raise UserError(
            f"{shown} was made by a newer Chorale (format {raw.get('version')}). Update Chorale and restore again."
        )
    try:
        manifest = Manifest.model_validate(raw)
    except ValidationError as error:
        raise _damaged(shown, f"{MANIFEST}: {error.errors()[0]['msg']}") from None
    if DATABASE_MEMBER not in manifest.parts:
        raise _damaged(shown, "it has no database")
    return manifest


def _place(folder: Path, name: str, shown: Path) -> Path:
    """The path of a part, always inside the folder, whatever its name."""
    if name != DATABASE_MEMBER and not is_file_of_study(name):
        raise _damaged(shown, f"it has an unexpected part {name!r}")
    return folder / name


def is_file_of_study(name: str) -> bool:
    """Whether a part is a file of the study, inside its folder with and without `files/` in front.

    >>> [is_file_of_study(name) for name in ("files/gold/a.csv", "files/../a.csv", "files//etc/a.csv", "files")]
    [True, False, False, False]
    """
    path, windows = PurePosixPath(name), PureWindowsPath(name)
    if str(path) != name or windows.anchor or ".." in windows.parts or len(path.parts) < 2:
        return False
    # A file with the name of the database would replace it after it was checked.
    return path.parts[0] == FILES_FOLDER and path.parts[1] not in _DATABASE_FILES


def _extract(archive: zipfile.ZipFile, name: str, part: Part, place: Path, shown: Path) -> None:
    try:
        member = archive.open(name)
    except KeyError:
        raise _damaged(shown, f"{name} is missing") from None
    place.parent.mkdir(parents=True, exist_ok=True)
    with member as source, place.open("wb") as target:
        os.fchmod(target.fileno(), 0o600)
        length, digest = _copy(source, target, part.bytes)
    if (length, digest) != (part.bytes, part.sha256):
        raise _damaged(shown, f"{name} differs from the file that was backed up")


def _copy(source: Any, target: BinaryIO, most: int) -> tuple[int, str]:
    length, digest = 0, sha256()
    while length <= most and (chunk := source.read(_STEP)):
        length += len(chunk)
        digest.update(chunk)
        target.write(chunk)
    return length, digest.hexdigest()


def _damaged(shown: Path, why: str) -> UserError:
    return UserError(f"{shown} is damaged: {why}. Use another copy of the backup.")
