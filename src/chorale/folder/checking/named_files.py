"""The files that settings name: found inside the study folder, and read as text."""

import codecs
import difflib
from pathlib import Path, PureWindowsPath

from chorale.files.shortening import shortened
from chorale.files.toml_lines import TomlPath
from chorale.folder.checking.report import CheckReport

_CLOSE = 0.75
"""Minimum similarity of a suggested file name, from 0 to 1."""


def read_markdown(relative: str | None, at: TomlPath, report: CheckReport) -> str:
    """The text of the file that the setting at `at` names; empty if there is none."""
    path = None if relative is None else located(relative, at, report)
    if relative is None or path is None:
        return ""
    try:
        text = decoded(path.read_bytes(), relative, report)
    except OSError as error:
        report.add(relative, None, f"can't be read: {error.strerror}", "Make the file readable.")
        return ""
    if text is not None and not text.strip():
        report.add(relative, None, "is empty", "Write what workers should read, in Markdown.")
    return text or ""


def located(relative: str, at: TomlPath, report: CheckReport) -> Path | None:
    """The file that a setting names. It must be inside the study folder, since only the folder is copied."""
    name = PureWindowsPath(relative)  # recognises drives and both kinds of slashes, on every system
    if name.anchor or ".." in name.parts:
        report.setting(
            at, "is outside the study folder", "Copy the file into the folder, and use its path there.", relative
        )
        return None
    try:
        path = (report.root / relative).resolve(strict=True)
        inside = path.is_relative_to(report.root.resolve())
    except (FileNotFoundError, NotADirectoryError):
        report.setting(at, "there is no such file", _other_files(relative, report.root), relative, missing=True)
        return None
    except (OSError, RuntimeError):  # a name too long, no permission, a link to itself
        report.setting(at, "can't be opened", "Name a file that can be read.", relative)
        return None
    if not inside:
        report.setting(
            at,
            "is a symbolic link to a file outside the study folder",
            "Copy the file itself into the study folder.",
            relative,
        )
    elif not path.is_file():
        report.setting(at, "is not a file", "Name a file.", relative)
    else:
        # By its own name, also if it is a link to another file of the folder: a restored study looks for this name.
        report.named.add(Path(relative).as_posix())
        return path
    return None


def _other_files(relative: str, root: Path) -> str:
    """Suggest a file of nearly the same name. Folders and endings are not compared: they make all names similar."""
    path = root / relative
    others = [other for other in path.parent.iterdir() if other.is_file()] if path.parent.is_dir() else []
    by_stem = {other.stem.lower(): other for other in sorted(others, key=lambda other: other.suffix == path.suffix)}
    near = difflib.get_close_matches(path.stem.lower(), by_stem, n=1, cutoff=_CLOSE)
    if near:
        return f"Did you mean `{by_stem[near[0]].relative_to(root).as_posix()}`?"
    return "Create the file or correct its name."


def decoded(raw: bytes, shown_as: str, report: CheckReport) -> str | None:
    """Decode bytes as text that can be stored; None if that fails, with the problem reported."""
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        report.add(
            shown_as, line, "is not UTF-8 text", "Save the file as UTF-8.", shortened(raw[error.start : error.end])
        )
        return None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        report.add(shown_as, line, "contains a NUL character", "Remove it.")
        return None
    return text
