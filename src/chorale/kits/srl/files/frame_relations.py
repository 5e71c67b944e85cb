"""Relations between FrameNet's frames and frame elements, read from a folder in NLTK's layout."""

import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from chorale.files.source import digest_of, refused

NOT_LINKS = frozenset({"See_also", "CoreSet", "Excludes", "Requires"})
"""Relations that SemEval-2007's scorer does not follow."""
FARTHEST = 9
"""Maximum number of links between related frames."""

Element = tuple[str, str]
"""A frame's name and the name of one of its elements."""
_Node = TypeVar("_Node", str, Element)


@dataclass(frozen=True, slots=True)
class FrameRelations:
    """Links between frames and between their elements, in both directions."""

    frames: dict[str, set[str]]
    elements: dict[Element, set[Element]]
    peripheral: frozenset[Element] = frozenset()
    """Elements that are not core to their frame."""
    known: frozenset[str] = frozenset()
    """Frames that have a file of their own, or a relation."""
    digest: str = ""
    """Digest of the relations, for signatures."""
    _frames: dict[str, dict[str, int]] = field(default_factory=dict, repr=False)
    _elements: dict[Element, dict[Element, int]] = field(default_factory=dict, repr=False)

    def distance(self, frame: str, other: str) -> int | None:
        """Length of the shortest path between two frames, or None if it is longer than nine links."""
        if frame not in self._frames:
            self._frames[frame] = _distances(frame, self.frames)
        return self._frames[frame].get(other)

    def element_distance(self, element: Element, other: Element) -> int | None:
        if element not in self._elements:
            self._elements[element] = _distances(element, self.elements)
        return self._elements[element].get(other)


def read_frame_relations(folder: Path, used: Iterable[str] = ()) -> FrameRelations:
    """Reads `frRelation.xml`, and the coreness of frame elements from `frame/NAME.xml` where that file exists."""
    folder = folder / "framenet_v17" if (folder / "framenet_v17").is_dir() else folder
    frames: defaultdict[str, set[str]] = defaultdict(set)
    elements: defaultdict[Element, set[Element]] = defaultdict(set)
    root = _parsed(folder / "frRelation.xml")
    for kind in _children(root, "frameRelationType"):
        if kind.get("name") in NOT_LINKS:
            continue
        for relation in _children(kind, "frameRelation"):
            sub, above = relation.get("subFrameName", ""), relation.get("superFrameName", "")
            frames[sub].add(above)
            frames[above].add(sub)
            for link in _children(relation, "FERelation"):
                lower, upper = (sub, link.get("subFEName", "")), (above, link.get("superFEName", ""))
                elements[lower].add(upper)
                elements[upper].add(lower)
    # Senses of PropBank are not file names.
    names = [name for name in sorted(set(used)) if name.replace("_", "").replace("-", "").isalnum()]
    files = {name: path for name in names if (path := folder / "frame" / f"{name}.xml").is_file()}
    peripheral = frozenset(
        (name, element.get("name", ""))
        for name, path in files.items()
        for element in _children(_parsed(path), "FE")
        if element.get("coreType") != "Core"
    )
    # Only content that can change a score is part of the digest.
    links = sorted((name, *sorted(others)) for name, others in frames.items())
    of_elements = sorted((element, *sorted(others)) for element, others in elements.items())
    digest = digest_of(repr((links, of_elements, sorted(peripheral))).encode())
    return FrameRelations(dict(frames), dict(elements), peripheral, frozenset({*frames, *files}), digest)


def _distances(start: _Node, links: dict[_Node, set[_Node]]) -> dict[_Node, int]:
    distances, edge = {start: 0}, {start}
    for steps in range(1, FARTHEST + 1):
        edge = {node for reached in edge for node in links.get(reached, ()) if node not in distances}
        if not edge:
            break
        distances.update(dict.fromkeys(edge, steps))
    return distances


def _parsed(path: Path) -> ET.Element:
    try:
        return ET.parse(path).getroot()  # noqa: S314 - the user's own file; entities are not expanded without bound
    except FileNotFoundError:
        fix = "Set --framenet to a FrameNet folder in NLTK's layout: the folder that contains frRelation.xml"
        raise refused(path, None, "does not exist", fix) from None
    except ET.ParseError as error:
        line = error.position[0]
        raise refused(path, line, f"is not valid XML: {error.msg}", "Copy or download the file again") from None
    except OSError as error:
        raise refused(path, None, f"can't be read: {error.strerror}", "Check the permissions of the file") from None


def _children(element: ET.Element, name: str) -> Iterable[ET.Element]:
    """Children with this name, in any XML namespace."""
    return [child for child in element if child.tag.rpartition("}")[2] == name]
