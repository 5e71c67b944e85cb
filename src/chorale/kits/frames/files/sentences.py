"""Sentences with the frames a crowd chose for a word, in the format of the published corpus and `chorale export`."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chorale.files.rows import Row
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS, refused
from chorale.kits.frames.files.reading import RowReading, digest_of_files, is_zero, number_of, text_of
from chorale.kits.frames.framenet import FrameNet

NONE = "none"
_SCORE, _INITIAL = "fss_sent_centric", "fss_sent_centric_initial"
_MOST = 1 + 1e-9
"""Tolerance for a fraction, because sums of weights are rounded."""
_NEEDED = ("frame", _SCORE, "sent_id", "sentence", "word")


@dataclass(frozen=True, slots=True)
class FrameScore:
    """Frame-sentence score: the fraction of workers who chose the frame."""

    final: float
    """Weighted by worker quality (FSS)."""
    initial: float
    """Before weighting."""


@dataclass(frozen=True, slots=True)
class FrameSentence:
    """A word in a sentence and its candidates."""

    id: str
    sentence: str
    word: str
    frames: Mapping[str, FrameScore]
    """All candidates, and `none` for workers who found that no candidate fits."""
    quality: float | None = None
    """Sentence quality (SQS), if known."""
    in_framenet: bool | None = None
    """Whether FrameNet has the word's lemma as a lexical unit, if known."""
    judgments: int | None = None

    def ranked(self, at_least: float = 0.0) -> list[tuple[str, FrameScore]]:
        """The frames without `none`, best first."""
        scored = [(name, score) for name, score in self.frames.items() if name != NONE and score.final > at_least]
        return sorted(scored, key=lambda pair: (-pair[1].final, pair[0]))


@dataclass(frozen=True, slots=True)
class FrameSentences:
    sentences: tuple[FrameSentence, ...]
    """By id."""
    digest: str


@dataclass
class _CorpusReading(RowReading):
    framenet: FrameNet | None = None
    sentences: dict[str, FrameSentence] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)


def read_frame_sentences(
    scores: Sequence[Path], *, qualities: Path | None = None, framenet: FrameNet | None = None
) -> FrameSentences:
    """Reads FSS files of the corpus or the export `frames-fss`, and sentence quality from the export
    `frames-sqs`.

    With FrameNet, every frame must be one of its frames, under its current name.
    """
    reading = _CorpusReading(framenet=framenet)
    for path in scores:
        _read_scores(path, reading)
    if qualities is not None and not reading.problems:
        _read_qualities(qualities, reading)
    reading.check("The sentences can't be used")
    if not reading.sentences:
        raise refused(scores[0], None, "has no sentences", "Check the file name")
    digest = digest_of_files([*scores, *([qualities] if qualities else [])])
    return FrameSentences(tuple(reading.sentences[name] for name in sorted(reading.sentences)), digest)


def _read_scores(path: Path, reading: _CorpusReading) -> None:
    frames: dict[str, dict[str, FrameScore]] = {}
    checked = False
    for row in reading.rows(path):
        if not checked and (missing := [name for name in _NEEDED if name not in row.values]):
            fix = f"The file must have the columns of the published corpus: {', '.join(_NEEDED)}"
            raise refused(path, 1, f"has no column {missing[0]!r}", fix, f"the columns {', '.join(row.values)[:200]}")
        checked = True
        _add_score(path, row, reading, frames)
        if len(reading.problems) >= MOST_PROBLEMS:
            return
    for name, scores in frames.items():
        reading.sentences[name] = replace(reading.sentences[name], frames=scores)


def _add_score(path: Path, row: Row, reading: _CorpusReading, frames: dict[str, dict[str, FrameScore]]) -> None:
    name, sentence, word, frame = (text_of(row.values.get(key)) for key in ("sent_id", "sentence", "word", "frame"))
    final = number_of(row.values.get(_SCORE), _MOST)
    initial = number_of(row.values[_INITIAL], _MOST) if _INITIAL in row.values else final
    if name and not frame and is_zero(row.values.get(_SCORE)):
        return
    if not name or not sentence or not word or not frame:
        fix = "Fill in sent_id, sentence, word and frame."
        reading.report(path, row.line, "has an empty cell", fix, shortened(row.values))
    elif final is None or initial is None:
        value = _shown(row.values.get(_SCORE))
        reading.report(path, row.line, "has no score from 0 to 1", "Write the fraction of workers.", value)
    elif name not in reading.files and word.casefold() not in sentence.casefold():
        reading.files[name] = str(path)
        fix = "Spell the word as in the sentence."
        reading.report(path, row.line, "has a word that is not in its sentence", fix, shortened(word))
    elif reading.files.setdefault(name, str(path)) != str(path):
        fix = "Keep it in only one file."
        reading.report(path, row.line, "has a sentence that is also in another file", fix, shortened(name))
    else:
        known = reading.sentences.setdefault(name, FrameSentence(name, sentence, word, {}))
        if (known.sentence, known.word) != (sentence, word):
            fix = "Give every pair of sentence and word a unique ID."
            reading.report(
                path,
                row.line,
                "has a different sentence or word than an earlier row with the same ID",
                fix,
                shortened(name),
            )
            return
        spelled = _spelled(path, row.line, frame, reading)
        there = frames.setdefault(name, {})
        if spelled in there:
            message = "repeats a sentence and frame"
            reading.report(path, row.line, message, "Remove one of the rows.", shortened(frame))
        elif spelled is not None:
            there[spelled] = FrameScore(final, initial)


def _spelled(path: Path, line: int, frame: str, reading: _CorpusReading) -> str | None:
    """The frame in FrameNet's spelling; unchanged without FrameNet."""
    if frame.casefold() == NONE:
        return NONE
    if reading.framenet is None:
        return frame
    known = reading.framenet.known(frame)
    if known is None and frame not in reading.unknown:
        reading.unknown.add(frame)
        near = difflib.get_close_matches(frame.casefold(), [name.casefold() for name in reading.framenet.frames], n=1)
        meant = next((name for name in reading.framenet.frames if near and name.casefold() == near[0]), None)
        fix = f"Did you mean {meant}?" if meant else "Correct it, or omit FrameNet."
        reading.report(path, line, "has a frame that FrameNet does not have", fix, shortened(frame))
    return known


def _shown(value: Any) -> str | None:
    return None if value is None else shortened(value)


def _read_qualities(path: Path, reading: _CorpusReading) -> None:
    for row in reading.rows(path):
        name = str(row.values.get("sent_id", "")).strip()
        if name not in reading.sentences:
            if row.values.get("sqs") in (None, ""):
                continue  # A sentence without two annotations to compare yet.
            fix = "Remove the row, or add the frame scores of the sentence."
            reading.report(path, row.line, "has a sentence without frame scores", fix, shortened(name))
            continue
        quality = number_of(row.values.get("sqs"), _MOST)
        if quality is None:
            reading.report(path, row.line, "has no SQS from 0 to 1", "Fill in the SQS.", _shown(row.values.get("sqs")))
            continue
        reading.sentences[name] = replace(
            reading.sentences[name],
            quality=quality,
            in_framenet={"true": True, "false": False}.get(str(row.values.get("in_framenet")).strip().casefold()),
            judgments=_whole(row.values.get("judgments")),
        )


def _whole(value: Any) -> int | None:
    text = str(value).strip()
    return int(text) if text.isdecimal() and len(text) < 10 else None


def with_lexical_units(sentences: FrameSentences, known: Callable[[str], bool]) -> FrameSentences:
    """Fills in whether FrameNet has each sentence's word, if unknown. `known` takes a word form."""
    judged = (
        each if each.in_framenet is not None else replace(each, in_framenet=known(each.word))
        for each in sentences.sentences
    )
    return FrameSentences(tuple(judged), sentences.digest)
