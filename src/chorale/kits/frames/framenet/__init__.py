"""Reads FrameNet 1.7 from the user's copy: frames, lexical units, relations, annotated texts."""

from chorale.kits.frames.framenet.fulltext import Document, FrameTarget, FulltextSentence
from chorale.kits.frames.framenet.markup import Marked
from chorale.kits.frames.framenet.names import frame_key, newer_names, read_name_changes
from chorale.kits.frames.framenet.reading import Frame, FrameNet, read_framenet
from chorale.kits.frames.framenet.relations import FrameLink, FrameLinks

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
