"""Descriptions of a paper's data and of its reproduced numbers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from chorale.metrics import Interval
from chorale.model import UserError


@dataclass(frozen=True, slots=True)
class NeededFile:
    """A file of a public repository, and its expected place in the data folder."""

    path: str
    """Relative to a folder given with `--data`.

    A gzipped file (with .gz added to the name) works as well. A path with `*` stands for several files.
    """
    origin: str
    """Its path in the repository."""
    digest: str | None = None
    """The first eight digits of the SHA-256 of the uncompressed file, if known."""
    optional: bool = False
    """Whether some cells can be computed without it."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A source of files."""

    name: str
    """`owner/name` on GitHub, or the name of a release."""
    address: str
    commit: str | None
    """The commit that the digests belong to; None if the data have numbered versions instead."""
    licence: str
    files: tuple[NeededFile, ...]

    @property
    def clone(self) -> str:
        """The folder that `git clone` makes."""
        return self.address.rpartition("/")[2].removesuffix(".git")


@dataclass(frozen=True, slots=True)
class PaperData:
    """A paper's files in the folders given with `--data`.

    A folder has the layout that the command lists, is a clone of one of the repositories, or contains such clones.
    """

    folders: tuple[Path, ...]
    repositories: tuple[Repository, ...]

    def find(self, path: str) -> Path | None:
        """Find a needed file, plain or gzipped."""
        return next(iter(self.find_all(path)), None)

    def needed(self, path: str) -> Path:
        """Find a file that is required for all numbers."""
        file = self.find(path)
        if file is None:
            have = "has" if len(self.folders) == 1 else "have"
            message = f"{' and '.join(map(str, self.folders))} {have} no file {path}"
            raise UserError(f"{message}. Without --data, `chorale reproduce PAPER` shows where to get it.")
        return file

    def find_all(self, path: str) -> list[Path]:
        """Find the files that match a needed path with `*`, all from the first folder that has any."""
        origins = [(each.clone, file.origin) for each in self.repositories for file in each.files if file.path == path]
        places = [path, *(place for clone, origin in origins for place in (origin, f"{clone}/{origin}"))]
        for folder in self.folders:
            for place in places:
                files = sorted(file for ending in ("", ".gz") for file in folder.glob(place + ending) if file.is_file())
                if files:
                    return files
        return []


class CellAgreement(StrEnum):
    """How a paper's number compares with ours."""

    EQUAL = "equal"
    """Equal when rounded to the digits the paper prints."""
    IN_INTERVAL = "in the interval"
    """Not equal, but the paper's number lies in our interval, for a number that depends on chance."""
    DIFFERENT = "different"
    NOT_COMPUTED = "not computed"
    NOT_IN_PAPER = "not in the paper"


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a paper, with ours."""

    table: str
    """Its place in the paper: `Table 2`, `Section 4`."""
    name: str
    """Row and column."""
    paper: float | None
    """None if the paper has no such number."""
    ours: float | None
    """None if it can't be computed from the data."""
    digits: int
    """Number of decimals that the paper prints. Numbers that are equal when rounded to it count as equal."""
    reason: str = ""
    """Why the numbers differ, or why ours is missing."""
    interval: Interval | None = None
    """Our interval, for a number that depends on chance in the paper."""
    shown: int | None = None
    """Number of decimals of ours to print, if the paper's are too few to show the difference."""

    @property
    def agreement(self) -> CellAgreement:
        if self.ours is None:
            return CellAgreement.NOT_COMPUTED
        if self.paper is None:
            return CellAgreement.NOT_IN_PAPER
        half = 0.5 * 0.1**self.digits + 1e-9
        if abs(self.paper - self.ours) <= half:
            return CellAgreement.EQUAL
        if self.interval is not None and self.interval.low - half <= self.paper <= self.interval.high + half:
            return CellAgreement.IN_INTERVAL
        return CellAgreement.DIFFERENT

    @property
    def agrees(self) -> bool | None:
        """Whether the numbers are equal, or the paper's lies in our interval; None if one is missing."""
        if self.agreement in (CellAgreement.NOT_COMPUTED, CellAgreement.NOT_IN_PAPER):
            return None
        return self.agreement is not CellAgreement.DIFFERENT


@dataclass(frozen=True, slots=True)
class Paper:
    name: str
    """Its name for the command: `roit2020`."""
    title: str
    repositories: tuple[Repository, ...]
    cells: Callable[[PaperData, Callable[[int, int], None]], Iterator[Cell]]
    """Computes the numbers from the data, and reports progress as `done, total`."""

    def data(self, *folders: Path) -> PaperData:
        return PaperData(folders, self.repositories)
