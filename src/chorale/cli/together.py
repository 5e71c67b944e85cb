"""The studies that `chorale serve` opens together, and their names."""

from collections.abc import Sequence
from pathlib import Path

from chorale.folder.reading import SETTINGS_FILE
from chorale.model import UserError
from chorale.web.several import check_names

PLACE_OF_NAME = "{study}"


def studies_together(directories: Sequence[Path]) -> dict[str, Path]:
    """The folders of several studies by name; empty for a single study."""
    if len(directories) == 1 and (directories[0] / SETTINGS_FILE).is_file():
        return {}
    inside = sorted(file.parent for file in directories[0].glob(f"*/{SETTINGS_FILE}") if file.is_file())
    folders = inside if len(directories) == 1 else list(directories)
    for folder in folders:
        if not (folder / SETTINGS_FILE).is_file():
            raise UserError(f"{folder} has no {SETTINGS_FILE}. Name folders of studies only.")
    names = [folder.resolve().name for folder in folders]
    check_names(names)
    return dict(zip(names, folders, strict=True))


def database_of(name: str, db: str | None) -> str | None:
    """The database of one of several studies; None for the SQLite file in its folder."""
    if db is not None and PLACE_OF_NAME not in db:
        raise UserError(
            f"With several studies, --db must contain {PLACE_OF_NAME}, which is replaced by the name of each study: "
            f"postgresql+psycopg://user@host/{PLACE_OF_NAME}. Leave --db out to use the SQLite file in each folder."
        )
    return None if db is None else db.replace(PLACE_OF_NAME, name)
