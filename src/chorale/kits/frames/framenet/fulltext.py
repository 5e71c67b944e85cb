"""FrameNet's annotated texts: sentences, and the words in them that evoke a frame."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass

from chorale.kits.frames.framenet.release_files import children

_TAG_LAYERS = ("PENN", "BNC")
_LONGEST_NUMBER = 9


@dataclass(frozen=True, slots=True)
class FrameTarget:
    """One or several words that evoke a frame."""

    frame: str
    lexical_unit: str
    """FrameNet's name of the lexical unit: `give up.v`."""
    spans: tuple[tuple[int, int], ...]
    """Character spans in the sentence, end exclusive. A verb and its particle are two spans."""


@dataclass(frozen=True, slots=True)
class FulltextSentence:
    number: str
    """FrameNet's ID of the sentence."""
    text: str
    targets: tuple[FrameTarget, ...]


@dataclass(frozen=True, slots=True)
class Document:
    name: str
    """File name without extension."""
    sentences: tuple[FulltextSentence, ...]


def document(name: str, root: ET.Element) -> Document:
    """Reads a file of FrameNet's `fulltext` folder."""
    return Document(name, tuple(map(_sentence, children(root, "sentence"))))


def _sentence(element: ET.Element) -> FulltextSentence:
    text = next((child.text or "" for child in children(element, "text")), "")
    targets = sorted(_targets(element, text), key=lambda target: (target.spans, target.frame, target.lexical_unit))
    return FulltextSentence(element.get("ID", ""), text, tuple(dict.fromkeys(targets)))


def _targets(sentence: ET.Element, text: str) -> Iterator[FrameTarget]:
    sets = list(children(sentence, "annotationSet"))
    tokens = _spans(sets, _TAG_LAYERS, text)
    for each in sets:
        frame, unit = each.get("frameName"), each.get("luName")
        spans = _spans([each], ("Target",), text)
        # If words have tags, targets are tagged words. FrameNet did not annotate the others.
        known = any(start < to and at < end for start, end in spans for at, to in tokens) if tokens else bool(spans)
        if frame and unit and known:
            yield FrameTarget(frame, unit, tuple(sorted(spans)))


def _spans(sets: list[ET.Element], layers: tuple[str, ...], text: str) -> set[tuple[int, int]]:
    labels = (
        (label.get("start", ""), label.get("end", ""))
        for each in sets
        for layer in children(each, "layer")
        if layer.get("name") in layers
        for label in children(layer, "label")
    )
    # FrameNet's ends are inclusive. Labels of null instantiations have no position.
    numbers = (
        (int(start), int(end) + 1)
        for start, end in labels
        if start.isdecimal() and end.isdecimal() and max(len(start), len(end)) <= _LONGEST_NUMBER
    )
    return {(start, end) for start, end in numbers if end <= len(text) and text[start:end].strip()}
