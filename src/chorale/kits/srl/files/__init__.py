"""Semantic roles in CoNLL-2005 props, CoNLL-2009, CoNLL-2012, CoNLL-U and CoNLL-U Plus files, as one model."""

from chorale.kits.srl.files.comments import comment_columns
from chorale.kits.srl.files.frame_files import SenseInventory, read_frame_files
from chorale.kits.srl.files.frame_relations import FrameRelations, read_frame_relations
from chorale.kits.srl.files.model import Corpus, Sentence, SrlArgument, SrlPredicate, canonical, lemma_of
from chorale.kits.srl.files.reading import READERS, check_alignment, parse_srl, read_srl
from chorale.kits.srl.files.spans import as_spans, subtrees, tokens_under, with_spans

__all__ = [
    "READERS",
    "Corpus",
    "FrameRelations",
    "SenseInventory",
    "Sentence",
    "SrlArgument",
    "SrlPredicate",
    "as_spans",
    "canonical",
    "check_alignment",
    "comment_columns",
    "lemma_of",
    "parse_srl",
    "read_frame_files",
    "read_frame_relations",
    "read_srl",
    "subtrees",
    "tokens_under",
    "with_spans",
]
