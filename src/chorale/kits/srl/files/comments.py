"""Sentence metadata in the comments of a CoNLL-U file: document and sentence ID."""

import re
from pathlib import Path

from chorale.files.source import read_source
from chorale.kits.srl.files.model import Corpus

_COMMENT = re.compile(r"#\s*([\w ]+?)\s*=\s*(\S.*)")
_DOCUMENT = "newdoc id"


def comment_columns(path: Path, corpus: Corpus) -> dict[str, dict[str, str]]:
    """For each comment name, the value that applies to each sentence. `document` is the value of `newdoc id`.

    A comment applies until the next comment with its name. Sentences are identified by their numbers, as in the
    statistics.
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
        # Comments may follow the line where the sentence is recorded to begin.
        while begun < len(lines) and lines[begun].startswith("#"):
            if match := _COMMENT.match(lines[begun]):
                said[match[1]] = match[2].strip()
            begun += 1
        for name, value in said.items():
            columns.setdefault(name, {})[str(number)] = value
    if _DOCUMENT in columns:
        columns["document"] = columns[_DOCUMENT]
    return columns
