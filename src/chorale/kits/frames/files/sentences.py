"""Sentences with the frames a crowd chose for a word, as the published corpus and `chorale export` have them."""

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chorale.files.rows import Row, read_rows, shortened
from chorale.files.source import MOST_PROBLEMS, digest_of, read_bytes, refused
from chorale.kits.frames.framenet import FrameNet
from chorale.model import Problem, UserError

NONE = "none"
_SCORE, _INITIAL = "fss_sent_centric", "fss_sent_centric_initial"
_NEEDED = ("frame", _SCORE, "sent_id", "sentence", "word")


@dataclass(frozen=True, slots=True)
class FrameScore:
    """How far a frame fits a word: the share of the workers who chose it."""

    final: float
    """Weighted by the workers' quality (FSS)."""
    initial: float
    """Before weighting."""


@dataclass(frozen=True, slots=True)
class FrameSentence:
    """A word in a sentence and its candidates."""

    id: str
    sentence: str
    word: str
    frames: Mapping[str, FrameScore]
    """All candidates, and `none` for those who found that nothing fits."""
    quality: float | None = None
    """How clear the sentence is (SQS), where that is known."""
    in_framenet: bool | None = None
    """Whether FrameNet has the word's lemma as a lexical unit, where that is known."""
    judgments: int | None = None

    def ranked(self, at_least: float = 0.0) -> list[tuple[str, FrameScore]]:
        """The frames, the best first; without `none`."""
        scored = [(name, score) for name, score in self.frames.items() if name != NONE and score.final > at_least]
        return sorted(scored, key=lambda pair: (-pair[1].final, pair[0]))


@dataclass(frozen=True, slots=True)
class FrameSentences:
    sentences: tuple[FrameSentence, ...]
    """By id."""
    digest: str


@dataclass
class _CorpusReading:
    framenet: FrameNet | None
    problems: list[Problem] = field(default_factory=list)
    sentences: dict[str, FrameSentence] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)

    def report(self, path: Path, line: int, message: str, fix: str, value: Any = None) -> None:
        self.problems.append(Problem(str(path), line, message, fix, None if value is None else shortened(value)))


def read_frame_sentences(
    scores: Sequence[Path],
    *,
    qualities: Path | None = None,
    framenet: FrameNet | None = None,
) -> FrameSentences:
    """The corpus's FSS files, or the export `frames-fss`; with the export `frames-sqs`, how clear each sentence is.

    With FrameNet, every frame must be one of its own, under the name it has now.
    """
    reading = _CorpusReading(framenet)
    for path in scores:
        _read_scores(path, reading)
    if qualities is not None and not reading.problems:
        _read_qualities(qualities, reading)
    if reading.problems:
        raise UserError("The sentences can't be used", reading.problems[:MOST_PROBLEMS])
    if not reading.sentences:
        raise refused(scores[0], None, "has no sentences", "Check that the right file was named")
    paths = [*scores, *([qualities] if qualities else [])]
    digest = digest_of("".join(sorted(digest_of(read_bytes(path)) for path in paths)).encode())
    return FrameSentences(tuple(reading.sentences[name] for name in sorted(reading.sentences)), digest)


def _read_scores(path: Path, reading: _CorpusReading) -> None:
    checked = False
    frames: dict[str, dict[str, FrameScore]] = {}
    for row in read_rows(path, shown_as=str(path), problems=reading.problems):
        if not checked:
            missing = [name for name in _NEEDED if name not in row.values]
            if missing:
                fix = f"Give it the columns of the published corpus: {', '.join(_NEEDED)}"
                raise refused(
                    path, 1, f"has no column {missing[0]!r}", fix, f"the columns {', '.join(row.values)[:200]}"
                )
            checked = True
        _add_score(path, row, reading, frames)
        if len(reading.problems) >= MOST_PROBLEMS:
            return
    for name, scores in frames.items():
        reading.sentences[name] = replace(reading.sentences[name], frames=scores)


def _add_score(path: Path, row: Row, reading: _CorpusReading, frames: dict[str, dict[str, FrameScore]]) -> None:
    name, sentence, word, frame = (_text(row.values.get(key)) for key in ("sent_id", "sentence", "word", "frame"))
    final = _share(row.values.get(_SCORE))
    initial = _share(row.values[_INITIAL]) if _INITIAL in row.values else final
    if not name or not sentence or not word or not frame:
        reading.report(path, row.line, "has an empty cell", "Fill in sent_id, sentence, word and frame.", row.values)
    elif final is None or initial is None:
        reading.report(
            path, row.line, "has no score from 0 to 1", "Write the share of workers.", row.values.get(_SCORE)
        )
    elif name not in reading.files and word.casefold() not in sentence.casefold():
        reading.files[name] = str(path)
        reading.report(
            path, row.line, "has a word that is not in its sentence", "Write it as the sentence has it.", word
        )
    elif reading.files.setdefault(name, str(path)) != str(path):
        reading.report(path, row.line, "has a sentence that another file has as well", "Leave it in one of them.", name)
    else:
        known = reading.sentences.setdefault(name, FrameSentence(name, sentence, word, {}))
        if (known.sentence, known.word) != (sentence, word):
            fix = "Give every pair of sentence and word an id of its own."
            reading.report(path, row.line, "has another sentence or word than this id before", fix, name)
            return
        spelled = _spelled(path, row.line, frame, reading)
        there = frames.setdefault(name, {})
        if spelled in there:
            reading.report(path, row.line, "has a sentence and frame for the second time", "Remove one row.", frame)
        elif spelled is not None:
            there[spelled] = FrameScore(final, initial)


def _spelled(path: Path, line: int, frame: str, reading: _CorpusReading) -> str | None:
    """The frame as FrameNet spells it; as it is, without FrameNet."""
    if frame.casefold() == NONE:
        return NONE
    if reading.framenet is None:
        return frame
    known = reading.framenet.known(frame)
    if known is None and frame not in reading.unknown:
        reading.unknown.add(frame)
        near = difflib.get_close_matches(frame.casefold(), [name.casefold() for name in reading.framenet.frames], n=1)
        meant = next((name for name in reading.framenet.frames if near and name.casefold() == near[0]), None)
        fix = f"Did you mean {meant}?" if meant else "Correct it, or leave FrameNet out."
        reading.report(path, line, "names a frame that FrameNet does not have", fix, frame)
    return known


def _text(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _share(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and 0 <= number <= 1 + 1e-9 else None


def _read_qualities(path: Path, reading: _CorpusReading) -> None:
    for row in read_rows(path, shown_as=str(path), problems=reading.problems):
        name = str(row.values.get("sent_id", "")).strip()
        if name not in reading.sentences:
            if row.values.get("sqs") in (None, ""):
                continue  # a sentence that nobody has been compared on yet
            fix = "Give the qualities of the sentences that the scores are of."
            reading.report(path, row.line, "has a sentence without frame scores", fix, name)
            continue
        quality = _share(row.values.get("sqs"))
        if quality is None:
            reading.report(path, row.line, "has no SQS from 0 to 1", "Write one.", row.values.get("sqs"))
            continue
        reading.sentences[name] = replace(
            reading.sentences[name],
            quality=quality,
            in_framenet=_truth(row.values.get("in_framenet")),
            judgments=_whole(row.values.get("judgments")),
        )


def _truth(value: Any) -> bool | None:
    return {"true": True, "false": False}.get(str(value).strip().casefold())


def _whole(value: Any) -> int | None:
    text = str(value).strip()
    return int(text) if text.isdecimal() and len(text) < 10 else None


def with_lexical_units(sentences: FrameSentences, known: Callable[[str], bool]) -> FrameSentences:
    """The sentences with whether FrameNet has their word, where that was not known; `known` takes a word form."""
    return FrameSentences(
        tuple(
            each if each.in_framenet is not None else replace(each, in_framenet=known(each.word))
            for each in sentences.sentences
        ),
        sentences.digest,
    )
