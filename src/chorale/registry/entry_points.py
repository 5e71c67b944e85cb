"""The entry points of kits, read from the folders that packages are installed in.

`importlib.metadata` parses those of every package, and takes 20 ms to load: more than `chorale --help` does beside it.
Packages inside archives are not looked through, since kits have files beside their code.
"""

import os
import sys
from collections.abc import Container, Iterator
from pathlib import Path
from typing import NamedTuple

_INFO = (".dist-info", ".egg-info")


class EntryPoint(NamedTuple):
    """A place that a package registers under a name."""

    name: str
    package: str
    group: str
    place: str


def entry_points(groups: Container[str]) -> Iterator[EntryPoint]:
    """The entry points in these groups. Of a package installed twice, those of the one that would be imported."""
    packages = set()
    for folder in dict.fromkeys(sys.path):
        for package, file in _files(folder or "."):
            if package not in packages:
                packages.add(package)
                yield from _parsed(package, _text(file), groups)


def _files(folder: str) -> Iterator[tuple[str, Path]]:
    try:
        inside = os.listdir(folder)  # noqa: PTH208 - a path for each name would double the time
    except OSError:  # missing, closed to us, or an archive
        return
    for name in inside:
        if name.endswith(_INFO) and os.path.isfile(file := f"{folder}/{name}/entry_points.txt"):  # noqa: PTH113
            yield name.rpartition(".")[0].partition("-")[0].replace("_", "-").lower(), Path(file)


def _text(file: Path) -> str:
    """The file's text; nothing of a file that can't be read, which is another package's matter."""
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
