"""Check whether a paper's data files exist and are the expected version."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from chorale.files.source import digest_of, read_bytes
from chorale.reproduce.contract import NeededFile, Paper, PaperData, Repository


class FileState(StrEnum):
    AS_KNOWN = "as known"
    """Identical to the file that the numbers in the docs were computed from."""
    DIFFERENT = "different"
    """Differs from the expected file: another version, or damaged."""
    UNKNOWN = "unknown"
    """Exists, but the expected digest is unknown."""
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class CheckedFile:
    repository: Repository
    file: NeededFile
    state: FileState
    digest: str | None = None
    """The digest of the file; None if it is missing."""


def check_data(paper: Paper, *folders: Path) -> list[CheckedFile]:
    """The state of every file that the paper needs. Without a folder, all are missing."""
    return list(_checked(paper, paper.data(*folders)))


def _checked(paper: Paper, data: PaperData) -> Iterator[CheckedFile]:
    for repository in paper.repositories:
        for file in repository.files:
            digests = [digest_of(read_bytes(path)) for path in data.find_all(file.path)]
            digest = digests[0] if len(digests) == 1 else digest_of("".join(digests).encode()) if digests else None
            yield CheckedFile(repository, file, _state(digest, file), digest)


def _state(digest: str | None, file: NeededFile) -> FileState:
    if digest is None:
        return FileState.MISSING
    if file.digest is None:
        return FileState.UNKNOWN
    return FileState.AS_KNOWN if digest == file.digest else FileState.DIFFERENT
