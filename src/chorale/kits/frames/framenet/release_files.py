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

_FOLDER_FIX = "Use the FrameNet folder that contains frameIndex.xml, in the layout of the release or of NLTK"
_LARGEST = 64 * 1024 * 1024
"""Maximum size of one file in an archive, in bytes. FrameNet's largest file has three million."""
_LARGEST_TOGETHER = 512 * 1024 * 1024
"""Maximum total size of all files, in bytes. FrameNet's files have sixty-five million."""
_FOLDERS = ("frame", "fulltext")
"""Folders that are read in addition to the files next to `needed`. The largest folder, `lu`, is not needed."""
_SPOILED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, LZMAError, EOFError, OSError, RuntimeError, ValueError)
"""Exceptions for archives that are truncated, encrypted, compressed with an unknown method, or not archives."""


@dataclass(frozen=True, slots=True)
class ReleaseFiles:
    name: str
    """Name in messages."""
    _files: Mapping[str, Path | bytes]
    """Files by their path in the release: paths of unpacked files, or contents of packed files. No path leaves the
    release.
    """

    def read(self, file: str) -> bytes | None:
        """The bytes of a file, or None if it does not exist."""
        content = self._files.get(file)
        if not isinstance(content, Path):
            return content
        try:
            return content.read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            return None
        except OSError as error:
            raise refused(content, None, f"can't be read: {error.strerror}", "Check its permissions") from None

    def under(self, folder: str) -> list[str]:
        """The names of the XML files in a folder, sorted, without the folder."""
        files = (file.rpartition("/") for file in self._files if file.endswith(".xml"))
        return sorted(name for parent, _, name in files if parent == folder)


def open_release(path: Path, needed: str) -> ReleaseFiles:
    """Opens a release in a folder, one folder below it, or in a .tar.gz, .tgz, .tar or .zip file.

    `needed` is a file that marks the root of the release.
    """
    if path.is_dir():
        start = _start(path, needed)
        folders = ("", *(f"{folder}/" for folder in _FOLDERS))
        return ReleaseFiles(
            str(start), {f"{folder}{file.name}": file for folder in folders for file in (start / folder).glob("*.xml")}
        )
    if not path.exists():
        raise refused(path, None, "does not exist", "Use the folder that contains the release, or its archive")
    try:
        if zipfile.is_zipfile(path):
            return ReleaseFiles(str(path), _beginning(path, _kept(path, _unzipped(path)), needed))
        if tarfile.is_tarfile(path):
            return ReleaseFiles(str(path), _beginning(path, _kept(path, _untarred(path)), needed))
    except _SPOILED as error:
        raise refused(path, None, f"cannot be unpacked: {error}", "Copy or download it again") from None
    raise refused(
        path, None, "is neither a folder nor an archive of a release", "Use the folder that contains the release"
    )


def _start(path: Path, needed: str) -> Path:
    """The folder itself, or the only subfolder (as created by unpacking) that contains the file."""
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
    """Whether this may be an XML file in the root of the release or in a folder that is read. The root is not known
    yet.
    """
    *_, folder, file = ("", *name.split("/"))
    return file.endswith(".xml") and (folder in _FOLDERS or file.endswith(("Index.xml", "Relation.xml")))


def _kept(path: Path, files: Iterator[tuple[str, bytes]]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    together = 0
    for name, content in files:
        together += len(content)
        if together > _LARGEST_TOGETHER:
            fix = "Unpack it and use the folder"
            raise refused(path, None, f"contains more than {_LARGEST_TOGETHER // 1024**2} MB", fix)
        contents[name] = content
    return contents


def _beginning(path: Path, files: dict[str, bytes], needed: str) -> dict[str, bytes]:
    starts = sorted(name.removesuffix(needed) for name in files if name == needed or name.endswith(f"/{needed}"))
    if not starts:
        raise refused(path, None, f"does not contain {needed}", "Use the archive of the release")
    return {name.removeprefix(starts[0]): content for name, content in files.items() if name.startswith(starts[0])}


# XML


def parsed(release: ReleaseFiles, file: str) -> ET.Element:
    """The root element of a required file."""
    content = release.read(file)
    if content is None:
        raise refused(f"{release.name}/{file}", None, "does not exist", _FOLDER_FIX)
    return parsed_bytes(content, f"{release.name}/{file}")


def parsed_bytes(content: bytes, name: str) -> ET.Element:
    fix = "Copy or download it again"
    if b"\0" in content:
        raise refused(name, 1, "is not encoded in UTF-8", fix)
    # FrameNet's files have no document type, and without one there are no entities that could expand. Outside UTF-16, a
    # document type is always written with these characters.
    if b"<!DOCTYPE" in content:
        raise refused(name, 1, "has a document type, unlike FrameNet's own files", fix)
    try:
        return ET.fromstring(content)  # noqa: S314 - see above
    except ET.ParseError as error:
        raise refused(name, error.position[0], f"is not XML: {error.msg}", fix) from None
    except (ValueError, LookupError) as error:
        raise refused(name, 1, f"has an unsupported encoding: {error}", fix) from None


def children(element: ET.Element, name: str) -> Iterator[ET.Element]:
    """Children with this name, in any XML namespace."""
    return (child for child in element if child.tag.rpartition("}")[2] == name)


def every(root: ET.Element, name: str) -> Iterator[ET.Element]:
    """All descendants with this name."""
    return (element for element in root.iter() if element.tag.rpartition("}")[2] == name)
