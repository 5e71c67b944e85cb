"""Safe parsing of untrusted XML: no document types or entities, and limited size and depth."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from xml.parsers import expat

from chorale.kits.mturk.api.errors import bad_xml, out_of_range

MOST_BYTES = 2_000_000
MOST_ELEMENTS = 5_000
DEEPEST = 60
LARGEST = 2**31 - 1


def parsed(name: str, text: str) -> ET.Element:
    """Parses the XML in the parameter `name`."""
    if len(text.encode()) > MOST_BYTES:
        raise out_of_range(name, f"is larger than {MOST_BYTES:,} bytes")
    # The declared encoding no longer applies, because the XML arrives as text.
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text).strip()
    try:
        _scan(name, text)
        return ET.fromstring(text)  # noqa: S314 - it was found to have no document type, hence no entities
    except (ET.ParseError, expat.ExpatError) as error:
        line, why = error.lineno if isinstance(error, expat.ExpatError) else error.position[0], str(error)
        raise bad_xml(name, f"is not well-formed XML (line {line}: {why.partition(':')[0]})") from None


def _scan(name: str, text: str) -> None:
    """Parses once without storing anything, to reject documents that are too large."""
    scanner = expat.ParserCreate()
    count = depth = 0

    def begin(*_: object) -> None:
        nonlocal count, depth
        count, depth = count + 1, depth + 1
        if depth > DEEPEST or count > MOST_ELEMENTS:
            raise bad_xml(name, "has too many elements, or elements nested too deeply")

    def end(*_: object) -> None:
        nonlocal depth
        depth -= 1

    def declare(*_: object) -> None:
        raise bad_xml(name, "declares a document type or an entity, which is not allowed")

    scanner.StartElementHandler, scanner.EndElementHandler = begin, end
    scanner.StartDoctypeDeclHandler = declare
    scanner.Parse(text, True)


def kind_of(element: ET.Element) -> str:
    """An element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def children(element: ET.Element, *names: str) -> Iterator[ET.Element]:
    return (child for child in element if not names or kind_of(child) in names)


def child(element: ET.Element, name: str) -> ET.Element | None:
    return next(children(element, name), None)


def text_of(element: ET.Element | None, name: str) -> str:
    """The text of a child, or empty."""
    part = None if element is None else child(element, name)
    return "" if part is None else (part.text or "").strip()


def whole_number(text: str, name: str, part: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or abs(number) > LARGEST:
        raise bad_xml(name, f"has a {part} that is not a valid whole number")
    return number
