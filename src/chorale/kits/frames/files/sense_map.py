"""Maps from WordNet senses to frames, read from published files."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chorale.files.rows import suffix_of
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS, read_source
from chorale.kits.frames.files.reading import RowReading, digest_of_files
from chorale.kits.frames.framenet import FrameNet, newer_names
from chorale.text.wordnet import WordNet

_FRAME_COLUMNS = ("frame", "framenet", "frame_name")
_SENSE_COLUMNS = ("synset", "sense", "sense_key", "wordnet")
_TURTLE = (".ttl", ".nt")
_IN_TURTLE = re.compile(
    r"(?:frame/|frame:|fn:|fn15:|fn17:)([A-Z][\w-]*)|(synset-[^\s<>;,]+-[a-z]+-\d{1,6})|([;,.])(?=\s|$)"
)
_NAMED_SENSE = re.compile(r"synset-(.+)-(noun|verb|adjective|adjectivesatellite|adverb)-(\d{1,6})")
_DOTTED_SENSE = re.compile(r"(.+)\.([nvasr])\.(\d{1,6})")
_OFFSET = re.compile(r"(\d{8})-?([nvasr])|([nvasr])(\d{8})")
_POS = {"noun": "n", "verb": "v", "adjective": "a", "adjectivesatellite": "a", "adverb": "r", "s": "a"}


@dataclass(frozen=True, slots=True)
class FrameMap:
    """Frames by the name of a WordNet synset."""

    frames: Mapping[str, frozenset[str]]
    digest: str
    unknown_senses: int
    """Senses that this WordNet does not have, mostly from another version."""
    unknown_frames: tuple[str, ...]
    """Frames that this FrameNet does not have under any known name."""


def read_frame_map(
    paths: Sequence[Path], framenet: FrameNet, wordnet: WordNet, changes: Mapping[str, tuple[str, ...]] | None = None
) -> FrameMap:
    """Reads and merges files that map senses to frames.

    A .ttl or .nt file has Framester's statements; a .csv, .tsv or .jsonl file has one row per frame and sense, in the
    columns `frame` and `synset`; other files have lines like FnWnVerbMap: a frame, a verb, and its sense keys. A sense
    is an offset with its part of speech, a sense key, or a name like `synset-run-verb-1` or `run.v.01`. Frames of
    earlier releases are renamed to their current names.
    """
    reading = RowReading()
    frames_by_synset: defaultdict[str, set[str]] = defaultdict(set)
    unknown_senses, unknown_frames = 0, set()
    for path in paths:
        for name, sense in _pairs(path, reading):
            frames = [known for new in newer_names(name, changes) if (known := framenet.known(new))]
            synset = _resolved(sense, wordnet)
            if not frames:
                unknown_frames.add(name)
            elif synset is None:
                unknown_senses += 1
            else:
                frames_by_synset[synset].update(frames)
    reading.check("The frame map can't be used")
    plain = {synset: frozenset(frames) for synset, frames in sorted(frames_by_synset.items())}
    return FrameMap(plain, digest_of_files(paths), unknown_senses, tuple(sorted(unknown_frames)))


def _pairs(path: Path, reading: RowReading) -> Iterator[tuple[str, str]]:
    suffix = suffix_of(path)
    if suffix in _TURTLE:
        return _from_turtle(path, reading)
    if suffix in (".csv", ".tsv", ".jsonl", ".ndjson"):
        return _from_rows(path, reading)
    return _from_lines(path, reading)


def _from_lines(path: Path, reading: RowReading) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_source(path).text.split("\n"), start=1):
        cells = line.split()
        if not cells or line.startswith("#"):
            continue
        if len(cells) < 2 or not all("%" in sense or sense == "0" for sense in cells[2:]):
            fix = "Write a frame, a verb and sense keys such as run%2:38:00::, separated by spaces."
            reading.report(path, number, "is not a line of a frame map", fix, shortened(line))
            if len(reading.problems) >= MOST_PROBLEMS:
                return
        yield from ((cells[0], sense) for sense in cells[2:] if sense != "0")


def _from_rows(path: Path, reading: RowReading) -> Iterator[tuple[str, str]]:
    for row in reading.rows(path):
        frame, sense = (
            next((row.values[name] for name in names if name in row.values), None)
            for names in (_FRAME_COLUMNS, _SENSE_COLUMNS)
        )
        if isinstance(frame, str) and isinstance(sense, str) and frame.strip() and sense.strip():
            yield frame.strip(), sense.strip()
        else:
            fix = "Give every row a frame and a synset."
            reading.report(path, row.line, "has no frame or no sense", fix, shortened(row.values))


def _from_turtle(path: Path, reading: RowReading) -> Iterator[tuple[str, str]]:
    """All pairs of frame and sense in a statement, in either direction."""
    pairs = 0
    frames: list[str] = []
    senses: list[str] = []
    for frame, sense, mark in _IN_TURTLE.findall(read_source(path).text):
        if frame:
            frames.append(frame)
        elif sense:
            senses.append(sense)
        elif mark == ".":
            pairs += len(frames) * len(senses)
            yield from ((name, each) for name in frames for each in senses)
            frames, senses = [], []
    if not pairs:
        fix = "Use a Framester file that maps frames to synsets."
        reading.report(path, None, "has no statement about a frame and a synset", fix)


def _resolved(sense: str, wordnet: WordNet) -> str | None:
    """The name of the synset of a sense."""
    if "%" in sense:
        return wordnet.of_key(sense)
    if match := _OFFSET.fullmatch(sense):
        offset, pos = (match[1], match[2]) if match[1] else (match[4], match[3])
        name = f"{offset}-{_POS.get(pos, pos)}"
        return name if wordnet.synset(name) else None
    if match := _NAMED_SENSE.fullmatch(sense) or _DOTTED_SENSE.fullmatch(sense):
        senses = wordnet.senses(match[1], _POS.get(match[2], match[2]))
        number = int(match[3])
        return senses[number - 1] if 0 < number <= len(senses) else None
    return None
