"""What it takes to compute a paper's numbers again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from chorale.metrics import Interval
from chorale.model import UserError


@dataclass(frozen=True, slots=True)
class NeededFile:
    """A file of somebody's public repository, and where it is expected under the data folder."""

    path: str
    """Relative to a folder given with `--data`. A packed file (the same name and .gz) will do as well. With `*` it
    stands for several files."""
    origin: str
    """Its path in the repository: where a clone has it."""
    digest: str | None = None
    """The first eight digits of the SHA-256 of its unpacked bytes, where they are known."""
    optional: bool = False
    """Whether some cells can be computed without it."""


@dataclass(frozen=True, slots=True)
class Repository:
    """Where files come from."""

    name: str
    """`owner/name` on GitHub, or the name of a release."""
    address: str
    commit: str | None
    """The commit the digests are of; None where the data are released in versions instead."""
    licence: str
    files: tuple[NeededFile, ...]

    @property
    def clone(self) -> str:
        """The folder that `git clone` makes."""
        return self.address.rpartition("/")[2].removesuffix(".git")


@dataclass(frozen=True, slots=True)
class PaperData:
    """A paper's files in the folders given with `--data`.

    A folder is laid out as the command asks, is a clone of one of the repositories, or holds such clones.
    """

    folders: tuple[Path, ...]
    repositories: tuple[Repository, ...]

    def find(self, path: str) -> Path | None:
        """A needed file, plain or packed."""
        return next(iter(self.find_all(path)), None)

    def needed(self, path: str) -> Path:
        """A file without which nothing can be computed."""
        file = self.find(path)
        if file is None:
            message = f"{' and '.join(map(str, self.folders))} has no file {path}"
            raise UserError(f"{message}. Without --data, `chorale reproduce` says where to get it.")
        return file

    def find_all(self, path: str) -> list[Path]:
        """The files that a needed path with `*` stands for, all from the first place that has any."""
        origins = [(each.clone, file.origin) for each in self.repositories for file in each.files if file.path == path]
        places = [path, *(place for clone, origin in origins for place in (origin, f"{clone}/{origin}"))]
        for folder in self.folders:
            for place in places:
                files = sorted(file for ending in ("", ".gz") for file in folder.glob(place + ending) if file.is_file())
                if files:
                    return files
        return []


class CellAgreement(StrEnum):
    """How a paper's number and ours stand to each other."""

    EQUAL = "equal"
    """Equal when rounded to the digits the paper prints."""
    IN_INTERVAL = "in the interval"
    """Not equal, but the paper's lies in our interval, of a number that depends on chance."""
    DIFFERENT = "different"
    NOT_COMPUTED = "not computed"
    NOT_IN_PAPER = "not in the paper"


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a paper beside ours."""

    table: str
    """Where it stands: `Table 2`, `Section 4`."""
    name: str
    """Row and column."""
    paper: float | None
    """None where the paper has no such number."""
    ours: float | None
    """None where the data do not allow to compute it."""
    digits: int
    """As many as the paper prints behind the point: equal means equal when rounded to them."""
    reason: str = ""
    """Why they differ, or why there is none of ours."""
    interval: Interval | None = None
    """Where ours lies, for a number that depends on chance in the paper."""
    shown: int | None = None
    """Digits of ours to print, where more than the paper's tell the two apart."""

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
        """Whether the two are equal or the paper's lies in our interval; None if one is missing."""
        if self.agreement in (CellAgreement.NOT_COMPUTED, CellAgreement.NOT_IN_PAPER):
            return None
        return self.agreement is not CellAgreement.DIFFERENT


@dataclass(frozen=True, slots=True)
class Paper:
    name: str
    """As the command takes it: `roit2020`."""
    title: str
    repositories: tuple[Repository, ...]
    cells: Callable[[PaperData, Callable[[int, int], None]], Iterator[Cell]]
    """Computes from the data, and reports progress as `done, total`."""

    def data(self, *folders: Path) -> PaperData:
        return PaperData(folders, self.repositories)
