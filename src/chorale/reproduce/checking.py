"""Is the data a paper's numbers need there, and is it the data they were computed from?"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from chorale.files.source import digest_of, read_bytes
from chorale.reproduce.contract import NeededFile, Paper, Repository


class FileState(StrEnum):
    AS_KNOWN = "as known"
    """The very bytes the numbers in the docs were computed from."""
    DIFFERENT = "different"
    """There, but not those bytes: another version, or spoiled."""
    UNKNOWN = "unknown"
    """There, and nobody has noted what it should look like."""
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class CheckedFile:
    repository: Repository
    file: NeededFile
    state: FileState
    digest: str | None = None
    """Of the bytes that are there; None if it is missing."""


def check_data(paper: Paper, data: Path | None) -> list[CheckedFile]:
    """Every file the paper needs, and how it stands with it. Without a folder everything is missing."""
    return list(_checked(paper, data))


def find(data: Path, needed: str) -> Path | None:
    """The file in the data folder, plain or packed."""
    plain = data / needed
    return next((path for path in (plain, plain.with_name(f"{plain.name}.gz")) if path.is_file()), None)


def _checked(paper: Paper, data: Path | None) -> Iterator[CheckedFile]:
    for repository in paper.repositories:
        for file in repository.files:
            path = find(data, file.path) if data is not None else None
            digest = None if path is None else digest_of(read_bytes(path))
            yield CheckedFile(repository, file, _state(digest, file), digest)


def _state(digest: str | None, file: NeededFile) -> FileState:
    if digest is None:
        return FileState.MISSING
    if file.digest is None:
        return FileState.UNKNOWN
    return FileState.AS_KNOWN if digest == file.digest else FileState.DIFFERENT
