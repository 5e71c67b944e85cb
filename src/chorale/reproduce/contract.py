"""What it takes to compute a paper's numbers again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chorale.metrics import Interval


@dataclass(frozen=True, slots=True)
class NeededFile:
    """A file of somebody's public repository, and where it is expected under the data folder."""

    path: str
    """Relative to the folder given with `--data`. A packed file (the same name and .gz) will do as well."""
    origin: str
    """Its path in the repository."""
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

    @property
    def agrees(self) -> bool | None:
        """Whether the two are equal as printed, or the paper's lies in our interval; None if one is missing."""
        if self.paper is None or self.ours is None:
            return None
        half = 0.5 * 0.1**self.digits + 1e-9
        if self.interval is not None:
            return bool(self.interval.low - half <= self.paper <= self.interval.high + half)
        return bool(abs(self.paper - self.ours) <= half)


@dataclass(frozen=True, slots=True)
class Paper:
    name: str
    """As the command takes it: `roit2020`."""
    title: str
    repositories: tuple[Repository, ...]
    cells: Callable[[Path, Callable[[int, int], None]], Iterator[Cell]]
    """Computes from the data folder, and reports progress as `done, total`."""
