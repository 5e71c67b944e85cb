"""Collects problems, with suggestions for unknown names."""

import difflib
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from chorale.files.shortening import shortened
from chorale.files.toml_lines import TomlPath, line_of
from chorale.model import Problem
from chorale.model.problems import condensed

SETTINGS_FILE = "study.toml"


class CheckReport:
    """The problems found so far, and the places of settings in the study file or another settings file."""

    def __init__(self, root: Path, file: str = SETTINGS_FILE) -> None:
        self.root = root
        self.file = file
        self.text = ""
        self.problems: list[Problem] = []
        self.named: set[str] = set()
        """The files in the study folder that settings name."""
        self.lost_keys: set[str] = set()
        """Settings on lines that are not TOML. They are not also reported as missing."""
        self._reported: list[TomlPath] = []

    def add(self, file: str, line: int | None, message: str, fix: str, value: str | None = None) -> None:
        self.problems.append(Problem(file, line, message, fix, value))

    def condensed_problems(self) -> list[Problem]:
        """One problem for each cause."""
        problems = [each for each in self.problems if not self._follows_from_a_lost_line(each.file, each.message)]
        return condensed(problems)

    def _follows_from_a_lost_line(self, file: str, message: str) -> bool:
        missing = re.fullmatch(r"`(?:\w+\.)*(\w+)` is missing", message)
        return file == self.file and missing is not None and missing[1] in self.lost_keys

    def setting(self, path: TomlPath, message: str, fix: str, value: Any = None, *, missing: bool = False) -> None:
        """Add a problem of a setting, unless the setting or a part of it already has one.

        `missing`: the value is the name of something that does not exist.
        """
        if any(reported[: len(path)] == path for reported in self._reported):
            return
        self._reported.append(path)
        shown = None if value is None else shortened(value)
        self.problems.append(Problem(self.file, line_of(self.text, path), message, fix, shown, path, missing))


def nearest(name: str, known: Collection[str]) -> str | None:
    """The most similar known name; None if none is similar."""
    return next(iter(difflib.get_close_matches(name[:100].lower(), known, n=1)), None)


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Suggest the most similar known name, or list all if none is similar."""
    near = nearest(name, known)
    names = ", ".join(f"`{printable(each)}`" for each in sorted(known))
    if near:
        return f"Did you mean `{printable(near)}`?"
    return f"Use one of: {names}." if names else "None exist. Add one, or remove this setting."


def printable(name: str) -> str:
    """A name for a message: shortened, and without control characters."""
    return shortened(name)[1:-1]
