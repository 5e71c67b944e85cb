"""A FrameNet and a WordNet of a few frames and verbs, in the layouts of the real ones, for tests to write."""

import random
import zlib
from collections.abc import Sequence
from pathlib import Path

NAMESPACE = 'xmlns="http://framenet.icsi.berkeley.edu"'
UNITS = {
    "run.v": ("Operating", "Self_motion"),
    "give.v": ("Giving",),
    "write.v": ("Statement", "Text_creation"),
    "speak.v": ("Statement",),
}
FRAMES = sorted({frame for frames in UNITS.values() for frame in frames})
PEOPLE = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Fay")
FIRMS = ("the shop", "the bakery", "the firm", "a farm", "the school")
PLACES = ("to the river", "through the park", "over the hill", "to town", "across the field")

SENTENCES: Sequence[tuple[str, str, str, str]] = tuple(
    (f"{person} {word} {rest} .", word, unit, frame)
    for person in PEOPLE
    for word, unit, frame, rests in (
        ("ran", "run.v", "Operating", FIRMS),
        ("ran", "run.v", "Self_motion", PLACES),
        ("gave", "give.v", "Giving", ("a book", "some bread")),
        ("wrote", "write.v", "Text_creation", ("a long book", "two poems")),
        ("wrote", "write.v", "Statement", ("that it rained", "that all was well")),
    )
    for rest in rests
)


def write_framenet(folder: Path, sentences: Sequence[tuple[str, str, str, str]] = SENTENCES) -> Path:
    """Three of four sentences are to learn from; the rest is in texts that are held out."""
    (folder / "frame").mkdir(parents=True)
    (folder / "fulltext").mkdir()
    _write(folder / "frameIndex.xml", "frameIndex", "".join(f'<frame name="{name}"/>' for name in FRAMES))
    units = "".join(f'<lu name="{unit}" frameName="{frame}"/>' for unit, frames in UNITS.items() for frame in frames)
    _write(folder / "luIndex.xml", "luIndex", units)
    relation = '<frameRelation subFrameName="Text_creation" superFrameName="Statement"/>'
    _write(
        folder / "frRelation.xml",
        "frameRelations",
        f'<frameRelationType name="Inheritance">{relation}</frameRelationType>',
    )
    for name in FRAMES:
        _write(folder / "frame" / f"{name}.xml", "frame", f"<definition>What {name} is.</definition>")
    shuffled = random.Random(7).sample(sentences, len(sentences))
    parts = {
        "Some__Text": [one for place, one in enumerate(shuffled) if place % 4 < 3],
        "KBEval__MIT": shuffled[3::8],
        "KBEval__atm": shuffled[7::8],
    }
    for name, some in parts.items():
        _write(folder / "fulltext" / f"{name}.xml", "fullTextAnnotation", "".join(map(_sentence, some)))
    return folder


def _write(path: Path, root: str, content: str) -> None:
    path.write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} {NAMESPACE}>{content}</{root}>\n', "utf-8")


def _sentence(one: tuple[str, str, str, str]) -> str:
    text, word, unit, frame = one
    start = text.index(f" {word} ") + 1
    label = f'<label start="{start}" end="{start + len(word) - 1}" name="Target"/>'
    return (
        f'<sentence ID="{zlib.crc32(text.encode())}"><text>{text}</text>'
        f'<annotationSet status="MANUAL" frameName="{frame}" luName="{unit}">'
        f'<layer name="Target" rank="1">{label}</layer></annotationSet></sentence>'
    )


SYNSETS = (
    # Offset, words, gloss: as WordNet's data files have them, without links.
    ("00000100", ("run",), "move fast by using one's feet; “he ran across the field to the river”"),
    ("00000200", ("run", "operate"), "direct or control; projects, businesses; “she runs a bakery and a farm”"),
    ("00000300", ("give",), "transfer possession of something"),
    ("00000400", ("speak", "talk"), "express in speech"),
)


def write_wordnet(folder: Path) -> Path:
    """Verbs only."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for offset, words, gloss in SYNSETS:
        listed = " ".join(f"{word} 0" for word in words)
        lines.append(f"{offset} 30 v {len(words):02x} {listed} 000 00 | {gloss}")
    (folder / "data.verb").write_text("  1 a licence\n" + "\n".join(lines) + "\n", "utf-8")
    senses: dict[str, list[str]] = {}
    for offset, words, _ in SYNSETS:
        for word in words:
            senses.setdefault(word, []).append(offset)
    index = [f"{word} v {len(found)} 0 {len(found)} 0 {' '.join(found)}" for word, found in sorted(senses.items())]
    (folder / "index.verb").write_text("\n".join(index) + "\n", "utf-8")
    (folder / "verb.exc").write_text("ran run\ngave give\nspoke speak\n", "utf-8")
    return folder


MAP = {
    "Self_motion": "00000100-v",
    "Operating": "00000200-v",
    "Giving": "00000300-v",
    "Statement": "00000400-v",
}


def write_map(path: Path) -> Path:
    """Rows of frames and senses."""
    path.write_text("frame,synset\n" + "".join(f"{frame},{sense}\n" for frame, sense in MAP.items()), "utf-8")
    return path
