"""XML of a release, with its mistakes told by file and line."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from chorale.files.source import refused
from chorale.kits.frames.framenet.release_files import ReleaseFiles

FOLDER_FIX = "Name FrameNet's folder, the one that holds frameIndex.xml, as the release or NLTK has it"


def parsed(release: ReleaseFiles, file: str) -> ET.Element:
    """The root of a file that must be there."""
    content = release.read(file)
    if content is None:
        raise refused(f"{release.name}/{file}", None, "does not exist", FOLDER_FIX)
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
