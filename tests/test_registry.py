"""Kits are found among installed packages."""

import importlib.metadata
import sys
from pathlib import Path

import pytest

from chorale.registry.entry_points import EntryPoint, entry_points


@pytest.mark.parametrize("group", ["chorale.kits", "console_scripts", "pytest11"])
def test_entry_points_are_those_of_the_standard_library(group: str) -> None:
    expected = {(point.name, point.value) for point in importlib.metadata.entry_points(group=group)}
    assert {(point.name, point.place) for point in entry_points({group})} == expected
    assert expected


def test_of_a_package_that_is_there_twice_the_first_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, name, kit in (("one", "My_Kit-2.0", "new"), ("two", "my_kit-1.0", "old"), ("two", "other-1", "other")):
        info = tmp_path / folder / f"{name}.dist-info"
        info.mkdir(parents=True)
        (info / "entry_points.txt").write_text(f"[x]\na = b:c\n\n[chorale.kits]\n# none\n{kit} = {kit}:KIT [extra]\n")
    (tmp_path / "archive.zip").write_bytes(b"PK")
    monkeypatch.setattr(sys, "path", [str(tmp_path / name) for name in ("one", "archive.zip", "missing", "two", "one")])
    assert list(entry_points({"chorale.kits"})) == [
        EntryPoint("new", "my-kit", "chorale.kits", "new:KIT"),
        EntryPoint("other", "other", "chorale.kits", "other:KIT"),
    ]
