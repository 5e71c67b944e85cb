"""XML from outside, read with care: no document types, hence no entities; limited in size and depth."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from chorale.platforms.mturk.errors import bad_xml, out_of_range

MOST_BYTES = 131_072
MOST_ELEMENTS = 5_000
DEEPEST = 60
_DECLARED = re.compile(r"<!(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST)", re.IGNORECASE)
_CDATA = re.compile(r"<!\[CDATA\[.*?\]\]>", re.DOTALL)


def parsed(name: str, text: str) -> ET.Element:
    """The root of the XML in the parameter `name`."""
    if len(text.encode()) > MOST_BYTES:
        raise out_of_range(name, f"is larger than {MOST_BYTES:,} bytes")
    # A page in a CDATA section has a document type, and is only text here.
    if _DECLARED.search(_CDATA.sub("", text)):
        raise bad_xml(name, "declares a document type or an entity, which is not allowed")
    try:
        # Any encoding it claims is over: it has come as text. Without a document type there are no entities.
        root = ET.fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text).strip())  # noqa: S314
    except ET.ParseError as error:
        raise bad_xml(name, f"is not well-formed XML (line {error.position[0]}: {error.msg})") from None
    _check_extent(root, name)
    return root


def _check_extent(root: ET.Element, name: str) -> None:
    count, level, depth = 0, [root], 0
    while level:
        count, depth = count + len(level), depth + 1
        if depth > DEEPEST or count > MOST_ELEMENTS:
            raise bad_xml(name, "has too many elements, or elements nested too deeply")
        level = [below for element in level for below in element]


def kind_of(element: ET.Element) -> str:
    """An element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def children(element: ET.Element, *names: str) -> Iterator[ET.Element]:
    return (child for child in element if not names or kind_of(child) in names)


def child(element: ET.Element, name: str) -> ET.Element | None:
    return next(children(element, name), None)


def text_of(element: ET.Element | None, name: str) -> str:
    """The text of a child, or none."""
    found = None if element is None else child(element, name)
    return "" if found is None else (found.text or "").strip()


def whole_number(text: str, name: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise bad_xml(name, f"has a {what} that is not a whole number") from None
