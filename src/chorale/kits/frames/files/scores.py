"""Frame scores: how far each candidate frame fits a word in a sentence, by a crowd or a system."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chorale.files.rows import FlawError, Row, parsed_json, read_rows, shortened
from chorale.files.source import MOST_PROBLEMS, Source, digest_of, read_bytes, read_source, refused
from chorale.model import Problem, UserError

_JSON = (".json", ".json.gz")
_SENTENCE = ("sent_id", "sentence_id", "unit", "task", "id")
_FRAME = ("frame", "label")
_SCORE = ("fss_sent_centric", "fss", "score")
_INITIAL = ("fss_sent_centric_initial", "fss_initial", "score_initial")
_QUALITY = ("sqs", "uqs")


@dataclass(frozen=True, slots=True, eq=False)
class FrameScores:
    """Parallel arrays, one place per sentence and frame, sorted by both; codes index the names, which are sorted.

    Names of frames are folded: lower case, with underscores for spaces, so that `Cause harm` is `cause_harm`.
    """

    sentences: tuple[str, ...]
    frames: tuple[str, ...]
    sentence: NDArray[np.intp]
    frame: NDArray[np.intp]
    score: NDArray[np.float64]
    quality: NDArray[np.float64] | None = None
    """SQS of each sentence, where the file has it."""
    digest: str = ""
    """Of the bytes of the file or files."""

    @classmethod
    def from_columns(
        cls,
        sentences: Sequence[str],
        frames: Sequence[str],
        scores: Sequence[float] | None = None,
        *,
        quality: Mapping[str, float] | None = None,
        digest: str = "",
    ) -> "FrameScores":
        """From columns of equal length; without scores every frame that is there has 1.

        >>> FrameScores.from_columns(["s1", "s1"], ["Motion", "Cause harm"], [0.2, 0.9]).frames
        ('cause_harm', 'motion')
        """
        values = np.ones(len(sentences)) if scores is None else np.asarray(scores, dtype=np.float64)
        if not len(sentences) == len(frames) == len(values):
            message = f"columns must be equally long, not {len(sentences)}, {len(frames)} and {len(values)}"
            raise ValueError(message)
        if not (np.isfinite(values) & (values >= 0)).all():
            raise ValueError("scores must be numbers of at least 0")
        folded = [fold(frame) for frame in frames]
        names, known = tuple(sorted(set(sentences))), tuple(sorted(set(folded)))
        place = {name: number for number, name in enumerate(names)}
        code = {name: number for number, name in enumerate(known)}
        sentence = np.asarray([place[name] for name in sentences], dtype=np.intp)
        frame = np.asarray([code[name] for name in folded], dtype=np.intp)
        order = np.lexsort((frame, sentence))
        sentence, frame = sentence[order], frame[order]
        if ((sentence[1:] == sentence[:-1]) & (frame[1:] == frame[:-1])).any():
            raise ValueError("a frame stands twice under one sentence")
        of_sentence = None if quality is None else np.asarray([quality[name] for name in names], dtype=np.float64)
        return cls(names, known, sentence, frame, values[order], of_sentence, digest)

    def only(self, sentences: Collection[str]) -> "FrameScores":
        """What is said of these sentences; those that are not there are no mistake."""
        wanted = frozenset(sentences)
        kept = np.asarray([name in wanted for name in self.sentences], dtype=np.bool_)
        rows = kept[self.sentence]
        return FrameScores(
            tuple(name for name in self.sentences if name in wanted),
            self.frames,
            (np.cumsum(kept) - 1)[self.sentence[rows]],
            self.frame[rows],
            self.score[rows],
            None if self.quality is None else self.quality[kept],
            self.digest,
        )


def fold(frame: str) -> str:
    return "_".join(frame.split()).casefold()


def read_frame_scores(
    paths: Sequence[Path],
    *,
    sentence: str | None = None,
    frame: str | None = None,
    score: str | None = None,
    initial: bool = False,
    need_scores: bool = False,
) -> FrameScores:
    """Scores from one file or several that have different sentences.

    A .csv, .tsv or .jsonl file has a row per sentence and frame. `sentence`, `frame` and `score` name its columns;
    without them the names of the published files are looked for. With `initial` those are the scores before workers
    were weighted. A file without a score column has the frames that were chosen, unless scores are needed. A .json
    file is what `chorale aggregate --method crowdtruth --json` printed.
    """
    wanted = _ReadOptions(sentence, frame, score, initial, need_scores)
    problems: list[Problem] = []
    collected = _CollectedScores({}, {})
    for path in paths:
        rows = _from_json(path, wanted) if path.name.lower().endswith(_JSON) else _from_rows(path, wanted, problems)
        collected.add_all(path, rows, problems)
    if problems:
        more = len(problems) - MOST_PROBLEMS
        summary = "Frame scores can't be used" + (f" ({more:,} more problems)" if more > 0 else "")
        raise UserError(summary, problems[:MOST_PROBLEMS])
    if not collected.scores:
        raise refused(paths[0], None, "has no frame scores", "Check that the right file was named")
    return collected.frame_scores(_digest(paths))


@dataclass(frozen=True, slots=True)
class _ReadOptions:
    sentence: str | None
    frame: str | None
    score: str | None
    initial: bool
    need_scores: bool


@dataclass(frozen=True, slots=True)
class _Line:
    number: int | None
    sentence: str
    frame: str
    score: float
    quality: float | None


@dataclass(frozen=True, slots=True)
class _CollectedScores:
    scores: dict[tuple[str, str], float]
    qualities: dict[str, float | None]

    def add_all(self, path: Path, lines: Iterator[_Line], problems: list[Problem]) -> None:
        elsewhere = set(self.qualities)
        for line in lines:
            key = (line.sentence, fold(line.frame))
            if line.sentence in elsewhere:
                message, fix = "has a sentence that another file has as well", "Leave it in one of them."
                problems.append(Problem(str(path), line.number, message, fix, shortened(line.sentence)))
            elif key in self.scores:
                message, fix = "has a sentence and frame for the second time", "Remove one of the two rows."
                value = shortened(f"{line.sentence}, {line.frame}")
                problems.append(Problem(str(path), line.number, message, fix, value))
            elif self.qualities.setdefault(line.sentence, line.quality) != line.quality:
                message = "has another sentence quality than the sentence's earlier rows"
                fix = "Give all rows of a sentence the same."
                problems.append(Problem(str(path), line.number, message, fix, shortened(line.quality)))
            else:
                self.scores[key] = line.score

    def frame_scores(self, digest: str) -> FrameScores:
        complete = {name: value for name, value in self.qualities.items() if value is not None}
        return FrameScores.from_columns(
            [sentence for sentence, _ in self.scores],
            [frame for _, frame in self.scores],
            list(self.scores.values()),
            quality=complete if len(complete) == len(self.qualities) else None,
            digest=digest,
        )


def _digest(paths: Sequence[Path]) -> str:
    """Of one file, its own; of several, of their digests, in any order."""
    digests = sorted(digest_of(read_bytes(path)) for path in paths)
    return digests[0] if len(digests) == 1 else digest_of("".join(digests).encode())


# Tables


@dataclass(frozen=True, slots=True)
class _Columns:
    sentence: str
    frame: str
    score: str | None
    quality: str | None


def _from_rows(path: Path, wanted: _ReadOptions, problems: list[Problem]) -> Iterator[_Line]:
    columns = None
    for row in read_rows(path, shown_as=str(path), problems=problems):
        columns = columns or _columns(path, row, wanted)
        line = _line(path, row, columns, problems)
        if line is not None:
            yield line


def _columns(path: Path, row: Row, wanted: _ReadOptions) -> _Columns:
    names = list(row.values)
    score = _column(path, names, wanted.score, _INITIAL if wanted.initial else _SCORE, "--score", "scores")
    if score is None and (wanted.need_scores or wanted.initial):
        raise _no_column(path, names, "scores", "--score")
    sentence = _column(path, names, wanted.sentence, _SENTENCE, "--sentence", "the sentence")
    frame = _column(path, names, wanted.frame, _FRAME, "--frame", "the frame")
    if sentence is None:
        raise _no_column(path, names, "the sentence", "--sentence")
    if frame is None:
        raise _no_column(path, names, "the frame", "--frame")
    return _Columns(sentence, frame, score, next((name for name in _QUALITY if name in names), None))


def _column(
    path: Path, names: list[str], named: str | None, usual: Sequence[str], option: str, what: str
) -> str | None:
    if named is not None and named not in names:
        raise _no_column(path, names, what, option, named)
    return named if named is not None else next((name for name in usual if name in names), None)


def _no_column(path: Path, names: list[str], what: str, option: str, named: str | None = None) -> UserError:
    missing = f"has no column {named!r}" if named else f"has no column that is known to hold {what}"
    there = ", ".join(names[:20])
    return refused(path, 1, missing, f"Name one with {option}", f"the columns {there}")


def _line(path: Path, row: Row, columns: _Columns, problems: list[Problem]) -> _Line | None:
    def wrong(message: str, fix: str, value: Any) -> None:
        problems.append(Problem(str(path), row.line, message, fix, shortened(value)))

    texts = []
    for name in (columns.sentence, columns.frame):
        value = row.values.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            wrong(f"has nothing usable under {name!r}", "Fill it in, or leave the row out.", value)
            return None
        texts.append(str(value).strip())
    numbers: list[float | None] = []
    for column in (columns.score, columns.quality):
        number = None if column is None else number_of(row.values.get(column))
        if column is not None and number is None:
            fix = "Write a number of at least 0, where 0 says that the frame does not apply."
            wrong(f"has no number of at least 0 under {column!r}", fix, row.values.get(column))
            return None
        numbers.append(number)
    score = 1.0 if numbers[0] is None else numbers[0]
    return _Line(row.line, texts[0], texts[1], score, numbers[1])


def number_of(value: Any) -> float | None:
    """A number of at least 0; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


# JSON


def _from_json(path: Path, wanted: _ReadOptions) -> Iterator[_Line]:
    source = read_source(path)
    units = _units(source)
    for unit, values in units.items():
        name = "uas_initial" if wanted.initial else "uas"
        scores = values.get(name) if isinstance(values, dict) else None
        quality = number_of(values.get("uqs")) if isinstance(values, dict) else None
        if not isinstance(scores, dict) or quality is None:
            raise _not_crowdtruth(source, f"unit {unit!r}")
        for frame, value in scores.items():
            score = number_of(value)
            if score is None or not frame.strip():
                raise _not_crowdtruth(source, f"{frame!r} of unit {unit!r}")
            yield _Line(None, unit, frame, score, quality)


def _units(source: Source) -> dict[str, Any]:
    try:
        content = parsed_json(source.text)
    except FlawError as flaw:
        raise refused(source.name, None, flaw.message, "Print it again", flaw.value) from None
    except (ValueError, RecursionError) as error:
        raise refused(source.name, None, "is not JSON", "Print it again", shortened(str(error))) from None
    units = content.get("units") if isinstance(content, dict) else None
    if not isinstance(units, dict):
        raise _not_crowdtruth(source, "no units")
    return units


def _not_crowdtruth(source: Source, content: str) -> UserError:
    message = "is not what `chorale aggregate --method crowdtruth --json` prints"
    return refused(source.name, None, message, "Print it again, or give a .csv, .tsv or .jsonl file", content)
