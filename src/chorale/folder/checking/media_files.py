"""Checks that pictures, audio and video of items are in the study folder."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from chorale.contract import Task
from chorale.files.shortening import shortened
from chorale.files.toml_lines import TomlPath
from chorale.folder.checking.report import CheckReport, printable
from chorale.model import NewItem
from chorale.model.plural import plural

HEAVY_MB = 5
"""Larger files are slow to load on a phone."""


def check_media(task: Task, items: Sequence[NewItem], at: TomlPath, report: CheckReport) -> None:
    """Report missing files, and files too large for a phone: one message for each kind of problem."""
    named = {
        item.payload[name] for item in items for name in task.form.media if isinstance(item.payload.get(name), str)
    }
    files = {name: report.root / name for name in sorted(named) if "://" not in name}
    missing = [name for name, file in files.items() if not file.is_file()]
    root = report.root.resolve()
    report.named.update(
        PurePosixPath(name).as_posix()
        for name, file in files.items()
        if name not in missing and ".." not in PurePosixPath(name).parts and file.resolve().is_relative_to(root)
    )
    if missing:
        first = shortened(missing[0])
        some = f"items name {len(missing):,} files that the study folder does not have, such as {first}"
        message = some if len(missing) > 1 else f"items name a file that the study folder does not have: {first}"
        report.setting(at, message, "Copy what is missing into the folder, or correct the items file.")
    pictures = [name for name in files if name.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"))]
    heavy = [name for name in pictures if name not in missing and files[name].stat().st_size > HEAVY_MB * 10**6]
    if heavy:
        count = plural(len(heavy), "picture", "pictures")
        message = f"items name {count} of more than {HEAVY_MB} MB, which phones cannot load in reasonable time"
        report.setting(at, message, "Make them smaller.", printable(heavy[0]))
