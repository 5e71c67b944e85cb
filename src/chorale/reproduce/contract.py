"""What it takes to compute a paper's numbers again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class NeededFile:
    """A file of somebody's public repository, and where it is expected under the data folder."""

    path: str
    """Relative to the folder given with `--data`. A packed file (the same name and .gz) will do as well."""
    origin: str
    """Its path in the repository."""
    digest: str
    """The first eight digits of the SHA-256 of its unpacked bytes: whether the numbers below were made from it."""


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

    @property
    def agrees(self) -> bool | None:
        """Whether the two are equal as printed; None if one is missing."""
        if self.paper is None or self.ours is None:
            return None
        return abs(self.paper - self.ours) <= 0.5 * 10**-self.digits + 1e-9


@dataclass(frozen=True, slots=True)
class Paper:
    name: str
    """As the command takes it: `roit2020`."""
    title: str
    repositories: tuple[Repository, ...]
    cells: Callable[[Path, Callable[[int, int], None]], Iterator[Cell]]
    """Computes from the data folder, and reports progress as `done, total`."""
