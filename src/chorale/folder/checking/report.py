"""Where problems are gathered, and the words for names that are not known."""

import difflib
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from chorale.files.rows import shortened
from chorale.files.toml_lines import TomlPath, line_of
from chorale.model import Problem

SETTINGS_FILE = "study.toml"
FEW_ALIKE = 3
"""Rows with the same mistake that are reported one by one; more are one problem, with a count."""


class CheckReport:
    """The problems found so far, and where settings stand in the study file, or in another file of settings."""

    def __init__(self, root: Path, file: str = SETTINGS_FILE) -> None:
        self.root = root
        self.file = file
        self.text = ""
        self.problems: list[Problem] = []
        self.named: set[str] = set()
        """The files in the study folder that settings name."""
        self.lost_keys: set[str] = set()
        """Settings on lines that are not TOML: that they are missing is no mistake of its own."""
        self._reported: list[TomlPath] = []

    def add(self, file: str, line: int | None, message: str, fix: str, value: str | None = None) -> None:
        self.problems.append(Problem(file, line, message, fix, value))

    def condensed_problems(self) -> list[Problem]:
        """Every problem; one for a mistake that many rows of a file have, with a count and the first lines."""
        kinds: dict[tuple[str, str], list[Problem]] = {}
        for problem in self.problems:
            kinds.setdefault((problem.file, problem.message), []).append(problem)
        condensed = []
        for (file, message), alike in kinds.items():
            if self._follows_from_a_lost_line(file, message):
                continue
            if len(alike) <= FEW_ALIKE:
                condensed += alike
                continue
            first = alike[0]
            lines = ", ".join(str(one.line) for one in alike[:FEW_ALIKE] if one.line is not None)
            told = f"{message}, in {len(alike):,} rows (lines {lines}, …)"
            condensed.append(Problem(file, first.line, told, first.fix, first.value, first.setting))
        return condensed

    def _follows_from_a_lost_line(self, file: str, message: str) -> bool:
        missing = re.fullmatch(r"`(?:\w+\.)*(\w+)` is missing", message)
        return file == self.file and missing is not None and missing[1] in self.lost_keys

    def setting(self, path: TomlPath, message: str, fix: str, value: Any = None) -> None:
        """Add a problem of a setting, unless it, or a part of it, has one already: the rest follows from that."""
        if any(reported[: len(path)] == path for reported in self._reported):
            return
        self._reported.append(path)
        found = None if value is None else shortened(value)
        self.problems.append(Problem(self.file, line_of(self.text, path), message, fix, found, path))


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The known name nearest to one that is not, or all of them if none is near."""
    near = difflib.get_close_matches(name[:100].lower(), known, n=1)
    names = ", ".join(f"`{printable(each)}`" for each in sorted(known))
    if near:
        return f"Did you mean `{printable(near[0])}`?"
    return f"Use one of: {names}." if names else "There are none to name here."


def printable(name: str) -> str:
    """A name fit for a message: short, and without characters that would disturb it."""
    return shortened(name)[1:-1]
