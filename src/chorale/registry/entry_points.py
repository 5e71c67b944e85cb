"""The entry points of kits, read from the folders that packages are installed in.

`importlib.metadata` parses the entry points of every package and takes 20 ms to load, longer than the rest of `chorale
--help`. Packages inside archives are ignored, since kits need data files on disk.
"""

import os
import sys
from collections.abc import Container, Iterator
from pathlib import Path
from typing import NamedTuple

_INFO = (".dist-info", ".egg-info")


class EntryPoint(NamedTuple):
    """An object that a package registers under a name."""

    name: str
    package: str
    group: str
    place: str


def entry_points(groups: Container[str]) -> Iterator[EntryPoint]:
    """The entry points in these groups. If a package is installed twice, only those of the importable copy."""
    packages = set()
    for folder in dict.fromkeys(sys.path):
        for package, file in _files(folder or "."):
            if package not in packages:
                packages.add(package)
                yield from _parsed(package, _text(file), groups)


def _files(folder: str) -> Iterator[tuple[str, Path]]:
    try:
        inside = os.listdir(folder)  # noqa: PTH208 - a path for each name would double the time
    except OSError:  # missing, not readable, or an archive
        return
    for name in inside:
        if name.endswith(_INFO) and os.path.isfile(file := f"{folder}/{name}/entry_points.txt"):  # noqa: PTH113
            yield name.rpartition(".")[0].partition("-")[0].replace("_", "-").lower(), Path(file)


def _text(file: Path) -> str:
    """The file's text; empty if it can't be read, since it belongs to another package."""
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


def _parsed(package: str, text: str, groups: Container[str]) -> Iterator[EntryPoint]:
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[] ")
        elif group in groups and "=" in line and not line.startswith("#"):
            name, _, place = line.partition("=")
            yield EntryPoint(name.strip(), package, group, place.partition("[")[0].replace(" ", ""))
