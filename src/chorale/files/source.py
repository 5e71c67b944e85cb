"""A complete file as text: decoded, decompressed, and with a digest for signatures."""

import codecs
import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chorale.model import Problem, UserError
from chorale.model import problems as reported

MOST_PROBLEMS = reported.MOST_PROBLEMS
"""Maximum number of problems reported per file."""
UNREADABLE = (OSError, EOFError, zlib.error)
"""Exceptions that reading and decompressing a file may raise."""
_DIGEST_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Source:
    """The content of a file."""

    name: str
    """Its name in messages."""
    text: str
    digest: str
    """The first digits of the SHA-256 of the (decompressed) file."""


def read_source(path: Path, *, may_be_empty: bool = False) -> Source:
    """Read a UTF-8 text file, with or without a byte order mark, plain or .gz. Anything else is refused.

    All line breaks become `\\n`.
    """
    raw = read_bytes(path)
    return Source(str(path), _decoded(raw, str(path), may_be_empty), digest_of(raw))


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, decompressed if its name ends in .gz."""
    with refusing_unreadable(path):
        raw = path.read_bytes()
        return gzip.decompress(raw) if path.suffix.lower() == ".gz" else raw


@contextmanager
def refusing_unreadable(path: Path) -> Iterator[None]:
    """Turn errors of reading or decompressing a file into UserError."""
    try:
        yield
    except UNREADABLE as error:
        raise refused(path, None, *why_unreadable(error)) from None


def why_unreadable(error: Exception) -> tuple[str, str]:
    """The problem and fix for a file that raised one of `UNREADABLE`."""
    if isinstance(error, FileNotFoundError):
        return "does not exist", "Create the file or correct its name"
    if isinstance(error, IsADirectoryError):
        return "is a folder", "Name a file in it"
    if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
        return f"can't be read: {error.strerror}", "Make the file readable"
    return f"can't be unpacked: {error}", "Copy or download it again"


def digest_of(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:_DIGEST_LENGTH]


class StreamedFile:
    """A file read as a stream, with the number of bytes read and, at the end, its digest."""

    def __init__(self, came_by: Callable[[int], None] = lambda _more: None) -> None:
        self.unpacked = 0
        """Bytes so far."""
        self.packed = came_by
        """Called with the number of bytes read from the file itself."""
        self._hash = hashlib.sha256()

    def take(self, raw: memoryview) -> None:
        self.unpacked += len(raw)
        self._hash.update(raw)

    @property
    def digest(self) -> str:
        """The `digest_of` all bytes read so far."""
        return self._hash.hexdigest()[:_DIGEST_LENGTH]


def refused(path: Path | str, line: int | None, message: str, fix: str, value: str | None = None) -> UserError:
    """The error for a file with one problem."""
    return UserError(f"{path} can't be used", [Problem(str(path), line, message, f"{fix}.", value)])


def _decoded(raw: bytes, name: str, may_be_empty: bool) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise refused(name, 1, "is UTF-16 text, not UTF-8", "Save the file as UTF-8 (in Excel: “CSV UTF-8”)")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        bytes_there = repr(raw[error.start : error.end])
        raise refused(name, line, "is not UTF-8 text", "Save the file as UTF-8", bytes_there) from None
    if not text.strip() and not may_be_empty:
        raise refused(name, None, "is empty", "Check the file name")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise refused(name, line, "contains a NUL character", "Remove it")
    return text.replace("\r\n", "\n") if "\r" in text else text
