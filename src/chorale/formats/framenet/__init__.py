"""FrameNet 1.7 from the folder a user has: frames, lexical units, relations, annotated texts."""

from chorale.formats.framenet.fulltext import Document, FrameTarget, FulltextSentence
from chorale.formats.framenet.markup import Marked
from chorale.formats.framenet.names import frame_key, newer_names, read_name_changes
from chorale.formats.framenet.reading import Frame, FrameNet, read_framenet
from chorale.formats.framenet.relations import FrameLink, FrameLinks

__all__ = [
    "Document",
    "Frame",
    "FrameLink",
    "FrameLinks",
    "FrameNet",
    "FrameTarget",
    "FulltextSentence",
    "Marked",
    "frame_key",
    "newer_names",
    "read_framenet",
    "read_name_changes",
]
