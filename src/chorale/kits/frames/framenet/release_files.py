"""The XML files of a release, in a folder or an archive. Errors name the file and line."""

import tarfile
import xml.etree.ElementTree as ET
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path

from chorale.files.source import refused

_FOLDER_FIX = "Name FrameNet's folder, the one that holds frameIndex.xml, as the release or NLTK has it"
_LARGEST = 64 * 1024 * 1024
"""Bytes of one file of a packed release: FrameNet's largest that is read has three million."""
_LARGEST_TOGETHER = 512 * 1024 * 1024
"""Of all files that are kept: FrameNet's have sixty-five million."""
_FOLDERS = ("frame", "fulltext")
"""What is read besides the files beside `needed`. The folder `lu` is by far the largest, and not needed."""
_SPOILED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, LZMAError, EOFError, OSError, RuntimeError, ValueError)
"""What unpackers say of files that are cut off, locked, packed in unknown ways, or no archives at all."""


@dataclass(frozen=True, slots=True)
class ReleaseFiles:
    name: str
    """As messages show it."""
    _files: Mapping[str, Path | bytes]
    """By their paths in the release: unpacked ones lie elsewhere, packed ones are here. No name leads to others."""

    def read(self, file: str) -> bytes | None:
        """The bytes of a file; None if it is not there."""
        content = self._files.get(file)
        if not isinstance(content, Path):
            return content
        try:
            return content.read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            return None
        except OSError as error:
            raise refused(content, None, f"can't be read: {error.strerror}", "Make it readable") from None

    def under(self, folder: str) -> list[str]:
        """The names of the XML files in a folder, sorted, without the folder."""
        files = (file.rpartition("/") for file in self._files if file.endswith(".xml"))
        return sorted(name for parent, _, name in files if parent == folder)


def open_release(path: Path, needed: str) -> ReleaseFiles:
    """The release at a folder, one folder below it, or in a .tar.gz, .tgz, .tar or .zip file.

    `needed` is a file that tells where in it the release begins.
    """
    if path.is_dir():
        start = _start(path, needed)
        folders = ("", *(f"{folder}/" for folder in _FOLDERS))
        return ReleaseFiles(
            str(start), {f"{folder}{file.name}": file for folder in folders for file in (start / folder).glob("*.xml")}
        )
    if not path.exists():
        raise refused(path, None, "does not exist", "Name the folder that holds the release, or its packed file")
    try:
        if zipfile.is_zipfile(path):
            return ReleaseFiles(str(path), _beginning(path, _kept(path, _unzipped(path)), needed))
        if tarfile.is_tarfile(path):
            return ReleaseFiles(str(path), _beginning(path, _kept(path, _untarred(path)), needed))
    except _SPOILED as error:
        raise refused(path, None, f"can't be unpacked: {error}", "Copy or download it again") from None
    raise refused(path, None, "is neither a folder nor a packed release", "Name the folder that holds the release")


def _start(path: Path, needed: str) -> Path:
    """The folder itself, or the only one in it (as unpacking makes) that has the file."""
    if (path / needed).is_file():
        return path
    inner = sorted(each.parent for each in path.glob(f"*/{needed}"))
    return inner[0] if len(inner) == 1 else path


def _untarred(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile() and _is_wanted(member.name) and member.size <= _LARGEST:
                content = archive.extractfile(member)
                if content is not None:
                    yield member.name, content.read()


def _unzipped(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if _is_wanted(member.filename) and member.file_size <= _LARGEST:
                yield member.filename, archive.read(member)


def _is_wanted(name: str) -> bool:
    """Whether it is XML at the top of the release or in a folder that is read; where it begins is not known yet."""
    *_, folder, file = ("", *name.split("/"))
    return file.endswith(".xml") and (folder in _FOLDERS or file.endswith(("Index.xml", "Relation.xml")))


def _kept(path: Path, files: Iterator[tuple[str, bytes]]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    together = 0
    for name, content in files:
        together += len(content)
        if together > _LARGEST_TOGETHER:
            fix = "Unpack it, and name the folder"
            raise refused(path, None, f"unpacks to more than {_LARGEST_TOGETHER // 1024**2} MB", fix)
        contents[name] = content
    return contents


def _beginning(path: Path, files: dict[str, bytes], needed: str) -> dict[str, bytes]:
    starts = sorted(name.removesuffix(needed) for name in files if name == needed or name.endswith(f"/{needed}"))
    if not starts:
        raise refused(path, None, f"has no {needed} in it", "Name the packed release")
    return {name.removeprefix(starts[0]): content for name, content in files.items() if name.startswith(starts[0])}


# XML


def parsed(release: ReleaseFiles, file: str) -> ET.Element:
    """The root of a file that must be there."""
    content = release.read(file)
    if content is None:
        raise refused(f"{release.name}/{file}", None, "does not exist", _FOLDER_FIX)
    return parsed_bytes(content, f"{release.name}/{file}")


def parsed_bytes(content: bytes, name: str) -> ET.Element:
    fix = "Copy or download it again"
    if b"\0" in content:
        raise refused(name, 1, "is not in UTF-8, as FrameNet's files are", fix)
    # FrameNet has no document type: without one there are no entities that could blow up. In what is no UTF-16 it is
    # written in these letters, and nowhere else but in comments.
    if b"<!DOCTYPE" in content:
        raise refused(name, 1, "has a document type, which FrameNet's files do not", fix)
    try:
        return ET.fromstring(content)  # noqa: S314 - see above
    except ET.ParseError as error:
        raise refused(name, error.position[0], f"is not XML: {error.msg}", fix) from None
    except (ValueError, LookupError) as error:
        raise refused(name, 1, f"is in an encoding that can't be read: {error}", fix) from None


def children(element: ET.Element, name: str) -> Iterator[ET.Element]:
    """Children of that name, whatever the file's namespace."""
    return (child for child in element if child.tag.rpartition("}")[2] == name)


def every(root: ET.Element, name: str) -> Iterator[ET.Element]:
    """All elements of that name below an element."""
    return (element for element in root.iter() if element.tag.rpartition("}")[2] == name)
