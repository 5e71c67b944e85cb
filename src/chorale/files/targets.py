"""Output files of commands."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from chorale.files.tables import replacing
from chorale.model import UserError


def check_target(path: Path | None, option: str | None, *, force: bool, endings: Sequence[str] = ()) -> None:
    """Refuse a file that can't or should not be written, before any work is done.

    `path` is None if there is no file to write. `option` is the option that names the file; None if its name is fixed.
    """
    if path is None:
        return
    named = str(path) if option is None else f"{option} {path}"
    if endings and path.suffix.lower() not in endings:
        named_endings = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise UserError(f"{named}: use a name that ends in {named_endings}.")
    if not path.parent.is_dir():
        raise UserError(f"{named} can't be written: there is no folder {path.parent}. Create it first.")
    if path.is_dir():
        raise UserError(f"{named} is a folder. {'Move it away.' if option is None else 'Name a file in it.'}")
    if path.exists() and not force:
        other = "" if option is None else f", or name another file with {option}"
        raise UserError(f"{path} already exists. Add --force to overwrite it{other}.")


@contextmanager
def writing(path: Path, option: str | None) -> Iterator[None]:
    """Turn errors of writing a file into UserError."""
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        fix = f"Allow writing in {path.parent}" if option is None else f"Name another file with {option}"
        raise UserError(f"{path} can't be written: {why}. {fix}.") from None


def write_text(path: Path, option: str | None, text: str) -> None:
    """Write a file completely or not at all. Lone surrogates, which can't be encoded, become question marks."""
    with writing(path, option), replacing(path) as draft:
        draft.write_text(text, "utf-8", errors="replace")
