"""FrameNet's annotated texts: sentences, their tokens, and the words that evoke a frame."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass

from chorale.kits.frames.framenet.xml_files import children

_TAG_LAYERS = ("PENN", "BNC")
_LONGEST_NUMBER = 9
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class FrameTarget:
    """A word, or several, that evoke a frame."""

    frame: str
    lexical_unit: str
    """As FrameNet names it: `give up.v`."""
    spans: tuple[tuple[int, int], ...]
    """In characters of the sentence, the end not included; a verb and its particle are two."""
    tokens: tuple[int, ...]
    """Indexes of the tokens the spans touch."""


@dataclass(frozen=True, slots=True)
class FulltextSentence:
    document: str
    """The file's name without its ending."""
    number: str
    """FrameNet's own id of the sentence."""
    text: str
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    tags: tuple[str, ...]
    """Parts of speech as the file has them, in the Penn or the BNC set; empty where it has none."""
    targets: tuple[FrameTarget, ...]


@dataclass(frozen=True, slots=True)
class Document:
    name: str
    """The file's name without its ending."""
    sentences: tuple[FulltextSentence, ...]


def document(name: str, root: ET.Element) -> Document:
    """A file of FrameNet's `fulltext` folder."""
    return Document(name, tuple(_sentence(name, element) for element in children(root, "sentence")))


def _sentence(name: str, element: ET.Element) -> FulltextSentence:
    text = next((child.text or "" for child in children(element, "text")), "")
    sets = list(children(element, "annotationSet"))
    offsets, tags = _tokens(text, sets)
    targets = sorted(_targets(sets, offsets), key=lambda target: (target.spans, target.frame, target.lexical_unit))
    return FulltextSentence(
        document=name,
        number=element.get("ID", ""),
        text=text,
        tokens=tuple(text[start:end] for start, end in offsets),
        offsets=offsets,
        tags=tags,
        targets=tuple(dict.fromkeys(targets)),
    )


def _tokens(text: str, sets: list[ET.Element]) -> tuple[tuple[tuple[int, int], ...], tuple[str, ...]]:
    """Where FrameNet's own tokens stand. A label may be there twice, and some overlap: the first one holds."""
    labels = sorted(
        (start, end, label.get("name", ""))
        for each in sets
        for layer in children(each, "layer")
        if layer.get("name") in _TAG_LAYERS
        for label in children(layer, "label")
        for start, end in _span(label, len(text))
    )
    offsets: list[tuple[int, int]] = []
    tags: list[str] = []
    for start, end, tag in labels:
        if not offsets or start >= offsets[-1][1]:
            offsets.append((start, end))
            tags.append(tag)
    if offsets:
        return tuple(offsets), tuple(tags)
    spans = tuple(match.span() for match in _WORD.finditer(text))
    return spans, tuple("" for _ in spans)


def _targets(sets: list[ET.Element], offsets: tuple[tuple[int, int], ...]) -> Iterator[FrameTarget]:
    last = offsets[-1][1] if offsets else 0
    for each in sets:
        frame, unit = each.get("frameName"), each.get("luName")
        if not frame or not unit:
            continue
        spans = sorted(
            {
                span
                for layer in children(each, "layer")
                if layer.get("name") == "Target"
                for label in children(layer, "label")
                for span in _span(label, last)
            }
        )
        touched = tuple(
            index for index, (start, end) in enumerate(offsets) if any(start < to and at < end for at, to in spans)
        )
        if touched:
            yield FrameTarget(frame, unit, tuple(spans), touched)


def _span(label: ET.Element, length: int) -> Iterator[tuple[int, int]]:
    """FrameNet's ends are of the last character; labels of what is left unsaid have no place."""
    start, end = label.get("start", ""), label.get("end", "")
    if (
        start.isdecimal()
        and end.isdecimal()
        and max(len(start), len(end)) <= _LONGEST_NUMBER
        and int(start) <= int(end) < length
    ):
        yield int(start), int(end) + 1
