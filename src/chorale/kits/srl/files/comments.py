"""What comments of a CoNLL-U file say of its sentences: their document, their id."""

import re
from pathlib import Path

from chorale.files.source import read_source
from chorale.kits.srl.files.model import Corpus

_COMMENT = re.compile(r"#\s*([\w ]+?)\s*=\s*(\S.*)")
_DOCUMENT = "newdoc id"


def comment_columns(path: Path, corpus: Corpus) -> dict[str, dict[str, str]]:
    """By its name, what a comment last said before each sentence, or in front of it; `document` is that of `newdoc id`.

    Sentences are called by their numbers, as in statistics.
    """
    lines = read_source(path).text.split("\n")
    starts = [sentence.line for sentence in corpus.sentences]
    columns: dict[str, dict[str, str]] = {}
    said: dict[str, str] = {}
    begun = 0
    for number, start in enumerate(starts, 1):
        for line in lines[begun:start]:
            if match := _COMMENT.match(line):
                said[match[1]] = match[2].strip()
        begun = start
        # Comments may stand behind the place where the sentence is said to begin.
        while begun < len(lines) and lines[begun].startswith("#"):
            if match := _COMMENT.match(lines[begun]):
                said[match[1]] = match[2].strip()
            begun += 1
        for name, value in said.items():
            columns.setdefault(name, {})[str(number)] = value
    if _DOCUMENT in columns:
        columns["document"] = columns[_DOCUMENT]
    return columns
