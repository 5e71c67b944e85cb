"""Files that scoring commands write beside what they print."""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

Force = Annotated[bool, typer.Option("--force", help="Overwrite the file that is written if it is there.")]


def check_target(path: Path | None, option: str, *, force: bool, endings: Sequence[str] = ()) -> None:
    """Refuse, before any work is done, a file that can't or should not be written. Nothing to write is fine."""
    from chorale.model import UserError

    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise UserError(f"{option} {path}: use a name that ends in {' or '.join(endings)}.")
    if not path.parent.is_dir():
        raise UserError(f"{option} {path} can't be written: there is no folder {path.parent}. Create it first.")
    if path.is_dir():
        raise UserError(f"{option} {path} is a folder. Name a file in it.")
    if path.exists() and not force:
        raise UserError(f"{path} is there already. Add --force to overwrite it, or name another file with {option}.")


@contextmanager
def writing(path: Path, option: str) -> Iterator[None]:
    """A file that can't be written after all is the user's to put right."""
    from chorale.model import UserError

    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise UserError(f"{path} can't be written: {why}. Name another file with {option}.") from None


def write_text(path: Path, option: str, text: str) -> None:
    """Write a file whole or not at all. Half a surrogate pair, which no encoding has, becomes a question mark."""
    from chorale.formats import replacing

    with writing(path, option), replacing(path) as draft:
        draft.write_text(text, "utf-8", errors="replace")
