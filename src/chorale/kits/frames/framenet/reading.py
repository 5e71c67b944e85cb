"""Reads a FrameNet folder: names, lexical units and relations at once, frames and texts on demand."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from chorale.files.source import MOST_PROBLEMS, digest_of, refused
from chorale.kits.frames.framenet.fulltext import Document, document
from chorale.kits.frames.framenet.markup import Marked, brief, readable
from chorale.kits.frames.framenet.names import frame_key
from chorale.kits.frames.framenet.relations import FrameLink, FrameLinks
from chorale.kits.frames.framenet.release_files import (
    ReleaseFiles,
    children,
    every,
    open_release,
    parsed,
    parsed_bytes,
)
from chorale.model import Problem, UserError

_INDEX = "frameIndex.xml"
_LONGEST_UNIT = 200
_REMARK = re.compile(r"\s*[\[(].*?[\])]\s*")
"""Annotations in a lemma: `cover [in clothes].v`, `(can't) help.v`."""


@dataclass(frozen=True, slots=True)
class Frame:
    name: str
    definition: str
    """Readable text in paragraphs, with role names as words."""
    examples: tuple[Marked, ...]
    """Examples of the definition."""
    own_words: bool = False
    """Whether the definition was written for annotators and is shown unchanged."""

    @property
    def brief(self) -> str:
        """The part of the definition that workers see."""
        return self.definition if self.own_words else brief(self.definition)


@dataclass(frozen=True, slots=True)
class FrameNet:
    """A release. Frames and annotated texts are read on first use and cached."""

    name: str
    """Name of the folder in messages."""
    frames: tuple[str, ...]
    """The names of all frames, sorted."""
    lexical_units: Mapping[str, tuple[str, ...]]
    """Sorted frames by lexical unit (`lemma.pos` in lower case, e.g. `give up.v`)."""
    links: FrameLinks
    digest: str
    """Digest of the indexes and relations."""
    _shelf: ReleaseFiles = field(repr=False)
    _by_key: Mapping[str, str] = field(repr=False)
    _frames: dict[str, Frame] = field(default_factory=dict, repr=False)
    _documents: dict[str, Document] = field(default_factory=dict, repr=False)

    def known(self, name: str) -> str | None:
        """The frame in FrameNet's spelling, ignoring case and with spaces or underscores; None if unknown."""
        return self._by_key.get(frame_key(name))

    def units(self, lemma: str, pos: str) -> tuple[str, ...]:
        """The frames that a lemma evokes with a part of speech (`v`, `n`, `a`, `adv`, …)."""
        return self.lexical_units.get(f"{lemma.casefold()}.{pos}", ())

    def frame(self, name: str) -> Frame:
        """Reads a frame with its definition from its file."""
        if name not in self._frames:
            self._frames[name] = self._read(name)
        return self._frames[name]

    def check_frames(self) -> None:
        """Raises an error if files of frames are missing, before any work that needs them."""
        there = {file.removesuffix(".xml") for file in self._shelf.under("frame")}
        missing = [name for name in self.frames if name not in there]
        if missing:
            fix = "frameIndex.xml lists this frame. Copy or download FrameNet again."
            problems = [Problem(f"{self.name}/frame/{name}.xml", None, "does not exist", fix) for name in missing]
            raise UserError(f"{self.name} is incomplete: {len(missing):,} frames are missing", problems[:MOST_PROBLEMS])

    def documents(self) -> tuple[str, ...]:
        """The names of the annotated texts in the release."""
        return tuple(file.removesuffix(".xml") for file in self._shelf.under("fulltext"))

    def missing_documents(self) -> tuple[str, ...]:
        """Texts that are listed in the index but missing."""
        content = self._shelf.read("fulltextIndex.xml")
        if content is None:
            return ()
        there = set(self.documents())
        root = parsed_bytes(content, f"{self.name}/fulltextIndex.xml")
        named = (
            f"{corpus.get('name')}__{text.get('name')}"
            for corpus in every(root, "corpus")
            for text in children(corpus, "document")
        )
        return tuple(sorted(set(named) - there))

    def fulltext(self) -> Iterator[Document]:
        """All annotated texts, by name."""
        names = self.documents()
        if not names:
            fix = "Add the release's fulltext folder"
            raise refused(f"{self.name}/fulltext", None, "has no annotated texts", fix)
        for name in names:
            if name not in self._documents:
                self._documents[name] = document(name, parsed(self._shelf, f"fulltext/{name}.xml"))
            yield self._documents[name]

    def _read(self, name: str) -> Frame:
        if name not in self.frames:
            raise refused(self.name, None, f"has no frame named {name!r}", "Correct the name of the frame")
        root = parsed(self._shelf, f"frame/{name}.xml")
        text = next((child.text or "" for child in children(root, "definition")), "")
        definition, examples = readable(text)
        return Frame(name, definition, examples)


def read_framenet(folder: Path) -> FrameNet:
    """Opens FrameNet 1.7 in the layout of the release or of NLTK: a folder, or the archive as downloaded.

    Requires `frameIndex.xml`, `luIndex.xml`, `frRelation.xml`, and a file for every requested frame. Files of single
    lexical units are not read.
    """
    release = open_release(folder, _INDEX)
    frames = tuple(
        sorted({name for each in children(parsed(release, _INDEX), "frame") if (name := each.get("name")) is not None})
    )
    if not frames:
        raise refused(f"{release.name}/{_INDEX}", None, "lists no frames", "Copy or download FrameNet again")
    units = _lexical_units(release)
    links = FrameLinks(tuple(_links(release)))
    digest = digest_of(repr((frames, sorted(units.items()), links.links)).encode())
    by_key = {frame_key(name): name for name in frames}
    return FrameNet(release.name, frames, units, links, digest, release, by_key)


def _lexical_units(release: ReleaseFiles) -> dict[str, tuple[str, ...]]:
    units: defaultdict[str, set[str]] = defaultdict(set)
    for unit in every(parsed(release, "luIndex.xml"), "lu"):
        name, frame = unit.get("name", "").casefold(), unit.get("frameName")
        if not frame or "." not in name or len(name) > _LONGEST_UNIT:
            continue
        units[name].add(frame)
        lemma, _, pos = name.rpartition(".")
        bare = " ".join(_REMARK.sub(" ", lemma).split())
        if bare and bare != lemma:
            units[f"{bare}.{pos}"].add(frame)
    if not units:
        raise refused(f"{release.name}/luIndex.xml", None, "lists no lexical units", "Copy or download FrameNet again")
    return {name: tuple(sorted(frames)) for name, frames in sorted(units.items())}


def _links(release: ReleaseFiles) -> Iterator[FrameLink]:
    links = {
        FrameLink(kind.get("name", ""), each.get("subFrameName", ""), each.get("superFrameName", ""))
        for kind in children(parsed(release, "frRelation.xml"), "frameRelationType")
        for each in children(kind, "frameRelation")
    }
    return iter(sorted(links, key=lambda link: (link.kind, link.below, link.above)))
